// The arguments of gather and scatter, of equal blocks and of blocks of any sizes: checked, and put
// into the executor's terms.
//
// Arguments that are not significant at a rank may be garbage and are not read. Functions that
// return an int return MPI_SUCCESS or the class of what is wrong.
#pragma once

#include <mpi.h>

#include "collectives/call.hpp"
#include "collectives/verdict.hpp"
#include "executor/irregular_blocks.hpp"

namespace sibyl {

// One side of a call with equal blocks.
struct BlockSide {
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
};

// `all` is the root's side of the blocks of all ranks, `own` the side of this rank's block.
struct BlockArguments {
  BlockSide all;
  BlockSide own;
  int root;
};

struct CheckedBlocks {
  bool is_root = false;
  bool in_place = false;
  DatatypeInfo all_type;
  DatatypeInfo own_type;
  std::size_t block_bytes = 0;

  // All types that were looked at are predefined.
  bool named() const { return (!is_root || all_type.named) && (in_place || own_type.named); }
  // A root's own two sides may differ in size, which is an error of the program.
  bool own_block_fits(const BlockArguments& now) const {
    return !is_root || in_place ||
           static_cast<std::size_t>(now.own.count) * own_type.size == block_bytes;
  }
};

// The vector of a broadcast, as one block.
Verdict judge_vector(const BlockSide& vector, int root, int ranks);
Verdict judge_blocks(const BlockArguments& now, int rank, int ranks);
// Of arguments that were judged right.
int check_blocks(CommunicatorState& state, const BlockArguments& now, CheckedBlocks& out);
// Fills in the buffers of the call; `in_place` leaves this rank's own block out.
void place_blocks(const CommunicatorState& state, Collective collective, const BlockArguments& now,
                  const CheckedBlocks& checked, bool in_place, CollectiveCall& call);

// The root's side of blocks of any sizes.
struct IrregularSide {
  void* buffer;
  Counts counts;
  Displacements displacements;
  MPI_Datatype type;
};

Verdict judge_irregular(const IrregularSide& all, const BlockSide& own, int root, int rank,
                        int ranks);
// Of sides that were judged right.
int read_root_side(CommunicatorState& state, const IrregularSide& side, IrregularBlocks& blocks);
int read_own_side(CommunicatorState& state, const BlockSide& side, UserBuffer& own);
// The call of the linear program, which minds sizes only as far as empty blocks are left out. `all`
// must outlive it.
void place_irregular_blocks(Collective collective, Rank rank, Rank ranks, bool is_root,
                            const UserBuffer& own, const IrregularBlocks& all,
                            CollectiveCall& call);

}  // namespace sibyl
