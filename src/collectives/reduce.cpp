// MPI_Reduce.
//
// Count, datatype, operator and root must be equal on all ranks, so they may steer the choice. Only
// the root may have MPI_IN_PLACE, and only its receive buffer is looked at.
#include <algorithm>
#include <limits>
#include <new>

#include "collectives/call.hpp"
#include "collectives/native.hpp"
#include "collectives/operators.hpp"
#include "collectives/predicted.hpp"
#include "collectives/reduction_arguments.hpp"

namespace sibyl {
namespace {

// The choice for this call; costs are measured before the first one that looks at them.
const Algorithm* choose_algorithm(CommunicatorState& state, const CollectiveCall& call,
                                  OperatorUse use, bool commutes) {
  const auto situation = [&] {
    return situation_of(state, Collective::reduce, call.block_bytes, use, commutes);
  };
  if (!state.costs_sought() && wants_costs(state.settings(), situation())) {
    state.find_costs(call.tag_base);
  }
  return choose_for(state, Collective::reduce, call.block_bytes, use, commutes);
}

}  // namespace

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
  call.tag_base = state->take_tags(CommunicatorState::tags_of_a_reduce);
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
  // Pack counts bytes in an int, and one element is not cut.
  constexpr std::size_t most = std::numeric_limits<int>::max();
  const bool countable = count <= static_cast<MPI_Count>(most) && type.size <= most;
  const Algorithm* algorithm = nullptr;
  if (use.has_value() && countable && call.block_bytes != 0) {
    algorithm = choose_algorithm(*state, call, *use, commutes(op, *use));
  }
  algorithm = predicted.choose(Collective::reduce, root, call.block_bytes, algorithm, counted);
  if (algorithm == nullptr) return counted.end(nullptr, call.block_bytes, go_native());

  const bool in_place = send == MPI_IN_PLACE;
  const SegmentPlan& plan =
      state->known_choice[static_cast<std::size_t>(Collective::reduce)].segments;
  const MPI_Count wanted = plan.segments;
  const auto segments = static_cast<std::uint32_t>(std::min(wanted, count));
  const Prepared& prepared = state->plans.get(
      *algorithm, root, in_place, state->settings().outstanding, segments, plan.round_time);
  // The same on all ranks, like the header that says it.
  if (prepared.header.tag_span > CommunicatorState::tags_of_a_reduce) {
    return counted.end(nullptr, call.block_bytes, go_native());
  }
  call.op = op;
  UserBuffer buffer;
  buffer.count = count;
  buffer.type = type;
  buffer.base = static_cast<char*>(in_place ? receive : const_cast<void*>(send));
  call.send = buffer;
  buffer.base = at_root ? static_cast<char*>(receive) : nullptr;
  call.receive = buffer;
  return counted.end(algorithm, call.block_bytes, run_prepared(*state, prepared, call, comm));
} catch (const std::bad_alloc&) {
  return raise(comm, MPI_ERR_NO_MEM);
}

}  // namespace sibyl
