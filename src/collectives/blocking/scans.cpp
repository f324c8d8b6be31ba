// MPI_Exscan and MPI_Scan.
//
// Count, datatype and operator must be equal on all ranks, so they may steer the choice.
// MPI_IN_PLACE may differ from rank to rank and steers only this rank's own program, and so does
// the same buffer twice.
#include "collectives/blocking/serve.hpp"
#include "collectives/native.hpp"
#include "collectives/operators.hpp"
#include "collectives/reduction_arguments.hpp"

namespace sibyl {
namespace {

struct Scan {
  Collective collective;
  ReductionArguments now;
  MPI_Comm comm;
  Caller caller;
  int root = no_rank;

  Verdict judge(int rank, int) const {
    return judge_scan(now, collective == Collective::exscan, rank);
  }
  bool library_judges(CommunicatorState& state) const {
    return is_librarys(state, now.op, now.datatype);
  }
  OwnData own_data(int, int) const { return {now.count, now.datatype}; }
  int native() const {
    const auto library = collective == Collective::exscan ? &native_exscan : &native_scan;
    return library(caller, now.send, now.receive, now.count, now.datatype, now.op, comm);
  }
  std::optional<SettledCall> key() const {
    return settled_call(collective, root, caller, comm, now.send, now.receive)
        .with(now.count, now.datatype)
        .by(now.op);
  }
  static constexpr bool key_tells_bytes() { return true; }
  ShortRunData data() const {
    return {.send = is_in_place(now) ? nullptr : static_cast<char*>(const_cast<void*>(now.send)),
            .receive = static_cast<char*>(now.receive)};
  }
  bool find_data(const ShortRun&, const CommunicatorState&, ShortRunData& found) const {
    found = data();
    return true;
  }
  Outcome serve(CommunicatorState& state, CountedCall& counted, int wrong) const;
};

Outcome Scan::serve(CommunicatorState& state, CountedCall& counted, int) const {
  CollectiveCall call;
  DatatypeInfo type;
  if (state.type_info(now.datatype, 0, type) != MPI_SUCCESS) return {.error = MPI_ERR_TYPE};
  if (now.count == 0) return {};
  call.tag_base = state.tags_of(collective);
  call.block_bytes = static_cast<std::size_t>(now.count) * type.size;
  const CommunicatorState::CachedChoice& choice =
      choose_reduction(state, caller, collective, now.count, type, now.op);
  const bool in_place = is_in_place(now);
  const auto [algorithm, cut] = counted.govern(choice);
  const Prepared* prepared = program_for(state, algorithm, cut, 0, in_place);
  if (prepared == nullptr) return Outcome::library(call.block_bytes, choice, type.named);

  place_vectors(now, type, in_place, true, call);
  const int error = run_prepared(state, *prepared, call);
  if (error == MPI_SUCCESS) counted.settle_run(choice, *prepared, call, data());
  return {algorithm, call.block_bytes, error};
}

}  // namespace

[[gnu::hot]] int serve_exscan(Caller caller, const void* send, void* receive, MPI_Count count,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  if (!caller.preload) receive = receive_buffer_of_exscan(send, receive, comm);
  const Scan call{Collective::exscan, {send, receive, count, datatype, op}, comm, caller};
  return serve(call, caller, comm);
}

[[gnu::hot]] int serve_scan(Caller caller, const void* send, void* receive, MPI_Count count,
                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  const Scan call{Collective::scan, {send, receive, count, datatype, op}, comm, caller};
  return serve(call, caller, comm);
}

}  // namespace sibyl
