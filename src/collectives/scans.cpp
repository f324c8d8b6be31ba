// MPI_Exscan and MPI_Scan.
//
// Count, datatype and operator must be equal on all ranks, so they may steer the choice.
// MPI_IN_PLACE may differ from rank to rank and steers only this rank's own program.
#include <new>

#include "base/own_failure.hpp"
#include "collectives/call.hpp"
#include "collectives/native.hpp"
#include "collectives/operators.hpp"
#include "collectives/reduction_arguments.hpp"

namespace sibyl {
namespace {

using NativeScan = int (*)(Caller, const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);

int serve(Collective collective, NativeScan native, Caller caller, const ReductionArguments& now,
          MPI_Comm comm) try {
  const auto go_native = [&] {
    return native(caller, now.send, now.receive, now.count, now.datatype, now.op, comm);
  };
  if (comm == MPI_COMM_NULL) return go_native();
  CommunicatorState* state = CommunicatorState::get(comm);
  if (state == nullptr) return go_native();
  CountedCall counted(*state, collective);
  if (!state->serves(comm, !caller.preload)) {
    if (state->refused() && !caller.preload) return raise_refusal(comm, *state);
    return counted.end_native(now.count, now.datatype, go_native());
  }

  CollectiveCall call;
  call.tag_base = state->take_tags(CommunicatorState::tags_of_a_reduction);
  const bool writes = collective != Collective::exscan || state->rank() > 0;
  const int wrong = check_scan(now, writes);
  if (wrong != MPI_SUCCESS) return raise(comm, wrong);
  const int error = state->type_info(now.datatype, 0, call.receive.type);
  if (error != MPI_SUCCESS) return raise(comm, MPI_ERR_TYPE);
  if (now.count == 0) return counted.end(nullptr, 0, MPI_SUCCESS);
  call.block_bytes = static_cast<std::size_t>(now.count) * call.receive.type.size;
  const std::optional<OperatorUse> use =
      operator_use(*state, now.op, now.datatype, call.receive.type.named);
  const CommunicatorState::KnownChoice& choice =
      choose_reduction(*state, collective, now.count, call.receive.type, use);
  const bool in_place = now.send == MPI_IN_PLACE;
  const Prepared* prepared =
      choice.algorithm == nullptr
          ? nullptr
          : reduction_program(*state, *choice.algorithm, choice.segments, 0, in_place);
  if (prepared == nullptr) return counted.end(nullptr, call.block_bytes, go_native());

  call.op = now.op;
  call.receive.base = static_cast<char*>(now.receive);
  call.receive.count = now.count;
  call.send = call.receive;
  if (!in_place) call.send.base = static_cast<char*>(const_cast<void*>(now.send));
  return counted.end(choice.algorithm, call.block_bytes,
                     run_prepared(*state, *prepared, call, comm));
} catch (const std::bad_alloc& failure) {
  if (!is_own(failure)) throw;
  return raise(comm, MPI_ERR_NO_MEM);
}

}  // namespace

int serve_exscan(Caller caller, const void* send, void* receive, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return serve(Collective::exscan, &native_exscan, caller, {send, receive, count, datatype, op},
               comm);
}

int serve_scan(Caller caller, const void* send, void* receive, MPI_Count count,
               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return serve(Collective::scan, &native_scan, caller, {send, receive, count, datatype, op}, comm);
}

}  // namespace sibyl
