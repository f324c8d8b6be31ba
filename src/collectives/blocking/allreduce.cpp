// MPI_Allreduce.
//
// Count, datatype and operator must be equal on all ranks, so they may steer the choice. Programs
// that give the same buffer twice, where they mean MPI_IN_PLACE, are served as if they had said so.
#include "collectives/blocking/predicted.hpp"
#include "collectives/blocking/serve.hpp"
#include "collectives/native.hpp"
#include "collectives/reduction_arguments.hpp"

namespace sibyl {
namespace {

struct Allreduce {
  Collective collective = Collective::allreduce;
  int root = no_rank;
  ReductionArguments now;
  MPI_Comm comm;
  Caller caller;

  Verdict judge(int rank, int) const {
    if (now.count < 0) return {MPI_ERR_COUNT, openmpi_refuses};  // MPICH does not look
    return judge_scan(now, false, rank);
  }
  OwnData own_data(int, int) const { return {now.count, now.datatype}; }
  int native() const {
    return native_allreduce(caller, now.send, now.receive, now.count, now.datatype, now.op, comm);
  }
  static constexpr bool this_rank_is_awaited = false;
  Outcome serve(CommunicatorState& state, CountedCall& counted, int wrong) const;
};

Outcome Allreduce::serve(CommunicatorState& state, CountedCall& counted, int) const {
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
      predicted.choose(collective, 0, call.block_bytes, choice.algorithm, counted);
  const bool in_place = now.send == MPI_IN_PLACE || now.send == now.receive;
  const Prepared* prepared = program_for(state, algorithm, choice.segments, 0, in_place);
  if (prepared == nullptr) return Outcome::library(call.block_bytes, choice);

  call.op = now.op;
  buffer.count = now.count;
  buffer.base = static_cast<char*>(now.receive);
  call.receive = buffer;
  if (!in_place) buffer.base = static_cast<char*>(const_cast<void*>(now.send));
  call.send = buffer;
  return {algorithm, call.block_bytes, run_prepared(state, *prepared, call)};
}

}  // namespace

int serve_allreduce(Caller caller, const void* send, void* receive, MPI_Count count,
                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  const Allreduce call{.now = {send, receive, count, datatype, op}, .comm = comm, .caller = caller};
  return serve(call, caller, comm);
}

}  // namespace sibyl
