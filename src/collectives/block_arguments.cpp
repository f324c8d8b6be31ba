// Checks and places blocks; see block_arguments.hpp.
#include "collectives/block_arguments.hpp"

#include <algorithm>

#include "executor/messages.hpp"

namespace sibyl {
namespace {

// Of a buffer that has its type.
void place_side(const BlockSide& side, UserBuffer& out) {
  out.base = static_cast<char*>(side.buffer);
  out.count = side.count;
  out.stride = static_cast<MPI_Aint>(side.count) * out.type.extent;
}

// A count beyond an int where the MPI library has no functions for it.
bool can_be_sent(MPI_Count count) { return MPI_VERSION >= 4 || !needs_large_count(count); }

// The root and MPI_IN_PLACE, which is the root's alone, and for its own block.
Verdict judge_in_place(const void* all, const void* own, int root, int rank, int ranks) {
  if (root < 0 || root >= ranks) return {MPI_ERR_ROOT, any_refuses()};
  if (rank != root && own == MPI_IN_PLACE) return {MPI_ERR_BUFFER, openmpi_refuses()};
  if (rank == root && all == MPI_IN_PLACE) return {MPI_ERR_BUFFER, any_refuses()};
  return {};
}

// What MPICH refuses: a root's own block that lies where it is to go, or comes from.
Verdict judge_overlap(const BlockSide& all, MPI_Aint place, const BlockSide& own) {
  if (!mpich_refuses() || own.count == 0) return {};
  const bool twice = is_taken_for(own.buffer, all.buffer, place, all.type) && refuses_twice();
  return twice ? Verdict{MPI_ERR_BUFFER, true} : Verdict{};
}

}  // namespace

Verdict judge_vector(const BlockSide& vector, int root, int ranks) {
  if (root < 0 || root >= ranks) return {MPI_ERR_ROOT, any_refuses()};
  if (vector.buffer == MPI_IN_PLACE) return {MPI_ERR_BUFFER, openmpi_refuses()};
  return judge_data(vector.buffer, vector.count, vector.type);
}

Verdict judge_blocks(const BlockArguments& now, int rank, int ranks) {
  const auto& [all, own, root] = now;
  const Verdict places = judge_in_place(all.buffer, own.buffer, root, rank, ranks);
  if (!places.right()) return places;
  const bool is_root = rank == root;
  if (is_root) {
    const Verdict verdict = judge_data(all.buffer, all.count, all.type);
    if (!verdict.right()) return verdict;
  }
  if (is_root && own.buffer == MPI_IN_PLACE) return {};
  const Verdict verdict = judge_data(own.buffer, own.count, own.type);
  if (!verdict.right() || !is_root) return verdict;
  const bool alike = own.type == all.type && own.count == all.count;
  return alike ? judge_overlap(all, MPI_Aint{rank} * static_cast<MPI_Aint>(all.count), own)
               : Verdict{};
}

int check_blocks(CommunicatorState& state, const BlockArguments& now, CheckedBlocks& out) {
  const auto& [all, own, root] = now;
  out.is_root = state.rank() == root;
  out.in_place = out.is_root && own.buffer == MPI_IN_PLACE;
  if (out.is_root) {
    if (state.type_info(all.type, 0, out.all_type) != MPI_SUCCESS) return MPI_ERR_TYPE;
    out.block_bytes = static_cast<std::size_t>(all.count) * out.all_type.size;
  }
  if (!out.in_place) {
    if (state.type_info(own.type, 1, out.own_type) != MPI_SUCCESS) return MPI_ERR_TYPE;
    if (!out.is_root) out.block_bytes = static_cast<std::size_t>(own.count) * out.own_type.size;
  }
  return MPI_SUCCESS;
}

void place_blocks(const CommunicatorState& state, Collective collective, const BlockArguments& now,
                  const CheckedBlocks& checked, bool in_place, CollectiveCall& call) {
  UserBuffer& root_side = collective == Collective::gather ? call.receive : call.send;
  UserBuffer& own_side = collective == Collective::gather ? call.send : call.receive;
  if (checked.is_root) {
    root_side.type = checked.all_type;
    place_side(now.all, root_side);
  }
  if (!in_place) {
    own_side.type = checked.own_type;
    place_side(now.own, own_side);
    own_side.base -= static_cast<MPI_Aint>(state.rank()) * own_side.stride;
  }
  call.block_bytes = checked.block_bytes;
  const std::size_t first = state.settings().first_segment;
  call.first_segment = std::min(first, call.block_bytes);
}

Verdict judge_irregular(const IrregularSide& all, const BlockSide& own, int root, int rank,
                        int ranks) {
  const Verdict places = judge_in_place(all.buffer, own.buffer, root, rank, ranks);
  if (!places.right()) return places;
  const bool is_root = rank == root;
  if (is_root) {
    if (!all.counts.given() || !all.displacements.given()) return {MPI_ERR_ARG, openmpi_refuses()};
    MPI_Count largest = 0;
    for (Rank r = 0; r < ranks; ++r) {
      if (all.counts[r] < 0) return {MPI_ERR_COUNT, any_refuses()};
      if (!can_be_sent(all.counts[r])) return {MPI_ERR_COUNT, false};
      largest = std::max(largest, all.counts[r]);
    }
    const Verdict verdict = judge_data(all.buffer, largest, all.type);
    if (!verdict.right()) return verdict;
  }
  if (is_root && own.buffer == MPI_IN_PLACE) return {};
  const Verdict verdict = judge_data(own.buffer, own.count, own.type);
  if (!verdict.right() || !is_root) return verdict;
  const bool alike = own.type == all.type && own.count == all.counts[rank];
  return alike ? judge_overlap({all.buffer, 0, all.type},
                               static_cast<MPI_Aint>(all.displacements[rank]), own)
               : Verdict{};
}

int read_root_side(CommunicatorState& state, const IrregularSide& side, IrregularBlocks& blocks) {
  if (state.type_info(side.type, 0, blocks.type) != MPI_SUCCESS) return MPI_ERR_TYPE;
  blocks.base = static_cast<char*>(side.buffer);
  blocks.counts = side.counts;
  blocks.displacements = side.displacements;
  return MPI_SUCCESS;
}

int read_own_side(CommunicatorState& state, const BlockSide& side, UserBuffer& own) {
  if (state.type_info(side.type, 1, own.type) != MPI_SUCCESS) return MPI_ERR_TYPE;
  place_side(side, own);
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
