// MPI_Bcast.
//
// The bytes are equal on all ranks although counts and types may differ, so the choice goes by
// them. For the same reason a vector that is cut is cut between bytes; where it is not, each rank
// has its own type.
#include "collectives/block_arguments.hpp"
#include "collectives/blocking/serve.hpp"
#include "collectives/native.hpp"

namespace sibyl {
namespace {

struct Bcast {
  Collective collective = Collective::bcast;
  int root;
  void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
  MPI_Comm comm;
  Caller caller;

  Verdict judge(int, int ranks) const {
    return judge_vector({buffer, count, datatype}, root, ranks);
  }
  OwnData own_data(int, int) const { return {count, datatype}; }
  int native() const { return native_bcast(caller, buffer, count, datatype, root, comm); }
  std::optional<SettledCall> key() const {
    return settled_call(collective, root, caller, comm, buffer).with(count, datatype);
  }
  static constexpr bool key_tells_bytes() { return true; }
  bool find_data(const ShortRun&, const CommunicatorState&, ShortRunData&) const { return false; }
  Outcome serve(CommunicatorState& state, CountedCall& counted, int wrong) const;
};

Outcome Bcast::serve(CommunicatorState& state, CountedCall& counted, int) const {
  UserBuffer vector;
  if (state.type_info(datatype, 0, vector.type) != MPI_SUCCESS) return {.error = MPI_ERR_TYPE};
  CollectiveCall call;
  call.tag_base = state.tags_of(collective);
  call.block_bytes = static_cast<std::size_t>(count) * vector.type.size;
  if (call.block_bytes == 0) return {};
  find_costs(state, caller, collective, call.block_bytes, OperatorUse::none, true);
  const CommunicatorState::CachedChoice& choice =
      choose_for(state, collective, call.block_bytes, OperatorUse::none, true,
                 parts_of_bytes(call.block_bytes));
  const auto [algorithm, cut] = counted.govern(choice);
  if (vector.type.named) counted.settle_site(choice);
  const Prepared* prepared = program_for(state, algorithm, cut, root, false);
  if (prepared == nullptr) return Outcome::library(call.block_bytes, choice, vector.type.named);

  vector.base = static_cast<char*>(buffer);
  vector.count = count;
  (state.rank() == root ? call.send : call.receive) = vector;
  return {algorithm, call.block_bytes, run_prepared(state, *prepared, call)};
}

}  // namespace

[[gnu::hot]] int serve_bcast(Caller caller, void* buffer, MPI_Count count, MPI_Datatype datatype,
                             int root, MPI_Comm comm) {
  const Bcast call{.root = root,
                   .buffer = buffer,
                   .count = count,
                   .datatype = datatype,
                   .comm = comm,
                   .caller = caller};
  return serve(call, caller, comm);
}

}  // namespace sibyl
