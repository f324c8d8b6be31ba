// Checks and places blocks; see block_arguments.hpp.
#include "collectives/block_arguments.hpp"

#include <algorithm>

#include "executor/messages.hpp"

namespace sibyl {
namespace {

UserBuffer buffer_of(const BlockSide& side, const DatatypeInfo& type) {
  UserBuffer out;
  out.base = static_cast<char*>(side.buffer);
  out.count = side.count;
  out.type = type;
  out.stride = static_cast<MPI_Aint>(side.count) * type.extent;
  return out;
}

// A count beyond an int where the MPI library has no functions for it.
bool can_be_sent(MPI_Count count) { return MPI_VERSION >= 4 || !needs_large_count(count); }

}  // namespace

int check_blocks(CommunicatorState& state, const BlockArguments& now, CheckedBlocks& out) {
  const auto& [all, own, root] = now;
  if (root < 0 || root >= state.size()) return MPI_ERR_ROOT;
  out.is_root = state.rank() == root;
  out.in_place = out.is_root && own.buffer == MPI_IN_PLACE;
  if (!out.is_root && own.buffer == MPI_IN_PLACE) return MPI_ERR_BUFFER;
  if (out.is_root && all.buffer == MPI_IN_PLACE) return MPI_ERR_BUFFER;
  if (out.is_root) {
    const int wrong = check_data(all.buffer, all.count, all.type);
    if (wrong != MPI_SUCCESS) return wrong;
    if (state.type_info(all.type, 0, out.all_type) != MPI_SUCCESS) return MPI_ERR_TYPE;
    out.block_bytes = static_cast<std::size_t>(all.count) * out.all_type.size;
  }
  if (!out.in_place) {
    const int wrong = check_data(own.buffer, own.count, own.type);
    if (wrong != MPI_SUCCESS) return wrong;
    if (state.type_info(own.type, 1, out.own_type) != MPI_SUCCESS) return MPI_ERR_TYPE;
    if (!out.is_root) out.block_bytes = static_cast<std::size_t>(own.count) * out.own_type.size;
  }
  return MPI_SUCCESS;
}

void place_blocks(const CommunicatorState& state, Collective collective, const BlockArguments& now,
                  const CheckedBlocks& checked, bool in_place, CollectiveCall& call) {
  UserBuffer& root_side = collective == Collective::gather ? call.receive : call.send;
  UserBuffer& own_side = collective == Collective::gather ? call.send : call.receive;
  if (checked.is_root) root_side = buffer_of(now.all, checked.all_type);
  if (!in_place) {
    own_side = buffer_of(now.own, checked.own_type);
    own_side.base -= static_cast<MPI_Aint>(state.rank()) * own_side.stride;
  }
  call.block_bytes = checked.block_bytes;
  const std::size_t first = state.settings().first_segment;
  call.first_segment = std::min(first, call.block_bytes);
}

int read_root_side(CommunicatorState& state, const IrregularSide& side, IrregularBlocks& blocks) {
  if (!side.counts.given() || !side.displacements.given()) return MPI_ERR_ARG;
  MPI_Count largest = 0;
  for (Rank rank = 0; rank < state.size(); ++rank) {
    if (side.counts[rank] < 0 || !can_be_sent(side.counts[rank])) return MPI_ERR_COUNT;
    largest = std::max(largest, side.counts[rank]);
  }
  const int wrong = check_data(side.buffer, largest, side.type);
  if (wrong != MPI_SUCCESS) return wrong;
  if (state.type_info(side.type, 0, blocks.type) != MPI_SUCCESS) return MPI_ERR_TYPE;
  blocks.base = static_cast<char*>(side.buffer);
  blocks.counts = side.counts;
  blocks.displacements = side.displacements;
  return MPI_SUCCESS;
}

int read_own_side(CommunicatorState& state, const BlockSide& side, UserBuffer& own) {
  const int wrong = check_data(side.buffer, side.count, side.type);
  if (wrong != MPI_SUCCESS) return wrong;
  DatatypeInfo type;
  if (state.type_info(side.type, 1, type) != MPI_SUCCESS) return MPI_ERR_TYPE;
  own = buffer_of(side, type);
  return MPI_SUCCESS;
}

void place_irregular_blocks(Collective collective, Rank rank, Rank ranks, bool is_root,
                            const UserBuffer& own, const IrregularBlocks& all,
                            CollectiveCall& call) {
  const bool up = gathers(collective);
  UserBuffer& own_side = up ? call.send : call.receive;
  UserBuffer& root_side = up ? call.receive : call.send;
  const bool has_own = own.type.handle != MPI_DATATYPE_NULL;
  call.leaves_empty_out = true;
  call.block_bytes = has_own ? static_cast<std::size_t>(own.count) * own.type.size : 0;
  own_side = own;
  own_side.base -= static_cast<MPI_Aint>(rank) * own_side.stride;
  if (!is_root) return;
  root_side.irregular = &all;
  root_side.type = all.type;
  for (Rank r = 0; r < ranks; ++r) {
    call.block_bytes = std::max(call.block_bytes, all.bytes(r));
  }
}

}  // namespace sibyl
