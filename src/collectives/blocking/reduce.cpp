// MPI_Reduce.
//
// Count, datatype, operator and root must be equal on all ranks, so they may steer the choice. Only
// the root may have MPI_IN_PLACE, and only its receive buffer is looked at.
#include "collectives/blocking/predicted.hpp"
#include "collectives/blocking/serve.hpp"
#include "collectives/native.hpp"
#include "collectives/reduction_arguments.hpp"

namespace sibyl {
namespace {

struct Reduce {
  Collective collective = Collective::reduce;
  int root;
  ReductionArguments now;
  MPI_Comm comm;
  Caller caller;

  Verdict judge(int rank, int ranks) const { return judge_reduce(now, root, rank, ranks); }
  OwnData own_data(int, int) const { return {now.count, now.datatype}; }
  int native() const {
    return native_reduce(caller, now.send, now.receive, now.count, now.datatype, now.op, root,
                         comm);
  }
  static constexpr bool this_rank_is_awaited = false;
  Outcome serve(CommunicatorState& state, CountedCall& counted, int wrong) const;
};

Outcome Reduce::serve(CommunicatorState& state, CountedCall& counted, int) const {
  PredictedCall predicted(state);
  UserBuffer buffer;
  if (state.type_info(now.datatype, 0, buffer.type) != MPI_SUCCESS) return {.error = MPI_ERR_TYPE};
  if (now.count == 0) return {};
  CollectiveCall call;
  call.tag_base = state.tags_of(collective);
  call.block_bytes = static_cast<std::size_t>(now.count) * buffer.type.size;
  const CommunicatorState::CachedChoice& choice =
      choose_reduction(state, caller, collective, now.count, buffer.type, now.op);
  const Algorithm* algorithm =
      predicted.choose(collective, root, call.block_bytes, choice.algorithm, counted);
  const bool in_place = now.send == MPI_IN_PLACE;
  const Prepared* prepared = program_for(state, algorithm, choice.segments, root, in_place);
  if (prepared == nullptr) return Outcome::library(call.block_bytes, choice);

  call.op = now.op;
  buffer.count = now.count;
  buffer.base = static_cast<char*>(in_place ? now.receive : const_cast<void*>(now.send));
  call.send = buffer;
  buffer.base = state.rank() == root ? static_cast<char*>(now.receive) : nullptr;
  call.receive = buffer;
  return {algorithm, call.block_bytes, run_prepared(state, *prepared, call)};
}

}  // namespace

int serve_reduce(Caller caller, const void* send, void* receive, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
  const Reduce call{
      .root = root, .now = {send, receive, count, datatype, op}, .comm = comm, .caller = caller};
  return serve(call, caller, comm);
}

}  // namespace sibyl
