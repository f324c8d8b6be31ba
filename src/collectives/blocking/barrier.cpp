// MPI_Barrier.
#include "collectives/blocking/serve.hpp"
#include "collectives/native.hpp"

namespace sibyl {
namespace {

struct Barrier {
  Collective collective = Collective::barrier;
  int root = no_rank;
  MPI_Comm comm;
  Caller caller;

  Verdict judge(int, int) const { return {}; }
  OwnData own_data(int, int) const { return {0, MPI_BYTE}; }
  int native() const { return native_barrier(caller, comm); }
  std::optional<SettledCall> key() const { return settled_call(collective, root, caller, comm); }
  static constexpr bool key_tells_bytes() { return true; }
  Outcome serve(CommunicatorState& state, CountedCall& counted, int) const {
    const CommunicatorState::CachedChoice& choice =
        choose_for(state, collective, 0, OperatorUse::none);
    const Algorithm* algorithm = counted.govern(choice).algorithm;
    if (algorithm == nullptr) return Outcome::library(0, choice, true);
    CollectiveCall call;
    call.tag_base = state.tags_of(collective);
    const Prepared& prepared = state.programs.get({.algorithm = algorithm});
    return {algorithm, 0, run_prepared(state, prepared, call)};
  }
};

}  // namespace

[[gnu::hot]] int serve_barrier(Caller caller, MPI_Comm comm) {
  return serve(Barrier{.comm = comm, .caller = caller}, caller, comm);
}

}  // namespace sibyl
