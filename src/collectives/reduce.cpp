// MPI_Reduce.
//
// Count, datatype, operator and root must be equal on all ranks, so they may steer the choice. Only
// the root may have MPI_IN_PLACE, and only its receive buffer is looked at.
#include <new>

#include "base/own_failure.hpp"
#include "collectives/call.hpp"
#include "collectives/native.hpp"
#include "collectives/operators.hpp"
#include "collectives/predicted.hpp"
#include "collectives/reduction_arguments.hpp"

namespace sibyl {

int serve_reduce(Caller caller, const void* send, void* receive, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) try {
  const auto go_native = [&] {
    return native_reduce(caller, send, receive, count, datatype, op, root, comm);
  };
  if (comm == MPI_COMM_NULL) return go_native();
  CommunicatorState* state = CommunicatorState::get(comm);
  if (state == nullptr) return go_native();
  CountedCall counted(*state, Collective::reduce, root);
  if (!state->serves(comm, !caller.preload)) {
    if (state->refused() && !caller.preload) return raise_refusal(comm, *state);
    return counted.end_native(count, datatype, go_native());
  }

  CollectiveCall call;
  call.tag_base = state->take_tags(CommunicatorState::tags_of_a_reduction);
  PredictedCall predicted(*state);
  if (root < 0 || root >= state->size()) return raise(comm, MPI_ERR_ROOT);
  const bool at_root = state->rank() == root;
  const int wrong = check_reduce({send, receive, count, datatype, op}, at_root);
  if (wrong != MPI_SUCCESS) return raise(comm, wrong);
  DatatypeInfo type;
  if (state->type_info(datatype, 0, type) != MPI_SUCCESS) return raise(comm, MPI_ERR_TYPE);
  if (count == 0) return counted.end(nullptr, 0, MPI_SUCCESS);
  call.block_bytes = static_cast<std::size_t>(count) * type.size;
  const std::optional<OperatorUse> use = operator_use(*state, op, datatype, type.named);
  const bool may_reorder = use.has_value() && commutes(op, *use);
  if (use.has_value() && call.block_bytes != 0) {
    find_costs(*state, call.tag_base, Collective::reduce, call.block_bytes, *use, may_reorder);
  }
  const CommunicatorState::KnownChoice& choice =
      choose_reduction(*state, Collective::reduce, count, type, use, may_reorder);
  const Algorithm* algorithm =
      predicted.choose(Collective::reduce, root, call.block_bytes, choice.algorithm, counted);
  const bool in_place = send == MPI_IN_PLACE;
  const Prepared* prepared =
      algorithm == nullptr ? nullptr
                           : reduction_program(*state, *algorithm, choice.segments, root, in_place);
  if (prepared == nullptr) return counted.end(nullptr, call.block_bytes, go_native());

  call.op = op;
  UserBuffer buffer;
  buffer.count = count;
  buffer.type = type;
  buffer.base = static_cast<char*>(in_place ? receive : const_cast<void*>(send));
  call.send = buffer;
  buffer.base = at_root ? static_cast<char*>(receive) : nullptr;
  call.receive = buffer;
  return counted.end(algorithm, call.block_bytes, run_prepared(*state, *prepared, call, comm));
} catch (const std::bad_alloc& failure) {
  if (!is_own(failure)) throw;
  return raise(comm, MPI_ERR_NO_MEM);
}

}  // namespace sibyl
