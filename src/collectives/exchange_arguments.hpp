// The arguments of allgather and all-to-all, of equal blocks and of blocks of any sizes: checked,
// and put into the executor's terms.
#pragma once

#include <mpi.h>

#include "collectives/block_arguments.hpp"

namespace sibyl {

// One side of a call: blocks of `count` elements, or of as many as `counts` say for each rank.
struct ExchangedSide {
  void* buffer = nullptr;
  MPI_Count count = 0;
  Counts counts;
  Displacements displacements;
  MPI_Datatype type = MPI_DATATYPE_NULL;

  MPI_Count count_of(Rank rank) const { return counts.given() ? counts[rank] : count; }
};

inline ExchangedSide equal_blocks(const void* buffer, MPI_Count count, MPI_Datatype type) {
  return {const_cast<void*>(buffer), count, {}, {}, type};
}
inline ExchangedSide irregular_blocks(const void* buffer, Counts counts,
                                      Displacements displacements, MPI_Datatype type) {
  return {const_cast<void*>(buffer), 0, counts, displacements, type};
}

// `send` holds this rank's own block in an allgather, as a count, and else the blocks to all ranks.
struct ExchangeArguments {
  Collective collective;
  ExchangedSide send;
  ExchangedSide receive;

  // Blocks of any sizes.
  bool irregular() const {
    return collective == Collective::allgatherv || collective == Collective::alltoallv;
  }
  bool sends_to_all() const { return exchanges_all(collective); }
  bool in_place() const { return send.buffer == MPI_IN_PLACE; }
};

Verdict judge_exchange(const ExchangeArguments& now, int rank, int ranks);
// Whether MPICH refuses an alltoallv for its handles alone: it has one buffer and one array of
// counts for both directions, but nothing that is sent lies where something is received, which the
// MPI standard allows.
bool is_refused_for_handles(const ExchangeArguments& now, MPI_Comm comm);

// The same with types that were looked up. Not to be copied: the call refers to it.
class ReadExchange {
 public:
  ReadExchange() = default;
  ReadExchange(const ReadExchange&) = delete;
  ReadExchange& operator=(const ReadExchange&) = delete;

  // Of arguments that were judged right. MPI_SUCCESS or the class of what is wrong.
  int read(CommunicatorState& state, const ExchangeArguments& now);
  // Bytes of all blocks that come in, and of the largest that comes in or goes out.
  std::uint64_t received_bytes() const { return received_; }
  std::size_t largest_block() const { return largest_; }
  // What this rank contributes.
  std::uint64_t own_bytes() const { return own_; }
  // All types are predefined.
  bool named() const { return sent_blocks_.type.named && received_blocks_.type.named; }
  // Fills in the buffers of the call, which must not outlive this.
  void place(const CommunicatorState& state, CollectiveCall& call) const;

 private:
  UserBuffer side(const ExchangedSide& from, const IrregularBlocks& blocks) const;

  const ExchangeArguments* now_ = nullptr;
  IrregularBlocks sent_blocks_;
  IrregularBlocks received_blocks_;
  std::uint64_t received_ = 0;
  std::uint64_t own_ = 0;
  std::size_t largest_ = 0;
};

}  // namespace sibyl
