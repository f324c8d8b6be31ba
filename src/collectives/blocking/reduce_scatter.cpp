// MPI_Reduce_scatter and MPI_Reduce_scatter_block.
//
// Counts, datatype and operator must be equal on all ranks, so they may steer the choice; it goes
// by the bytes of the whole vector. In place the vector lies in the receive buffer, and the result
// at its begin.
#include "collectives/blocking/serve.hpp"
#include "collectives/native.hpp"
#include "collectives/operators.hpp"
#include "collectives/reduction_arguments.hpp"

namespace sibyl {
namespace {

struct ReduceScatter {
  Collective collective;
  const void* send;
  void* receive;
  MPI_Count block;  // elements of every block in reduce_scatter_block
  Counts counts;    // and of each in reduce_scatter
  MPI_Datatype datatype;
  MPI_Op op;
  MPI_Comm comm;
  Caller caller;
  int root = no_rank;

  bool irregular() const { return collective == Collective::reduce_scatter; }
  MPI_Count count_of(Rank rank) const { return irregular() ? counts[rank] : block; }
  MPI_Count total(int ranks) const {
    return irregular() ? sizes_of(counts, ranks).all : block * ranks;
  }
  // Elements of the largest block; 0 where all are alike.
  MPI_Count largest(int ranks) const { return irregular() ? sizes_of(counts, ranks).largest : 0; }
  Verdict judge(int rank, int ranks) const;
  bool library_judges(CommunicatorState& state) const { return is_librarys(state, op, datatype); }
  OwnData own_data(int rank, int) const { return {count_of(rank), datatype}; }
  int native() const {
    return irregular()
               ? native_reduce_scatter(caller, send, receive, counts, datatype, op, comm)
               : native_reduce_scatter_block(caller, send, receive, block, datatype, op, comm);
  }
  std::optional<SettledCall> key() const {
    if (irregular() && !counts.given()) return std::nullopt;
    return settled_call(collective, root, caller, comm, send, receive).with(block, datatype).by(op);
  }
  bool key_tells_bytes() const { return !irregular(); }
  std::optional<BlockSizes> sizes(int ranks) const {
    return irregular() ? std::optional(sizes_of(counts, ranks)) : std::nullopt;
  }
  Outcome serve(CommunicatorState& state, CountedCall& counted, int wrong) const;
};

Verdict ReduceScatter::judge(int rank, int ranks) const {
  if (irregular()) {
    if (!counts.given()) return {MPI_ERR_ARG, openmpi_refuses()};
    for (Rank r = 0; r < ranks; ++r) {
      if (counts[r] < 0) return {MPI_ERR_COUNT, any_refuses()};
    }
  } else if (block < 0) {
    return {MPI_ERR_COUNT, openmpi_refuses()};  // MPICH does not look
  }
  ReductionArguments now{send, receive, total(ranks), datatype, op};
  // Who gets nothing needs no room for it.
  const bool gets_nothing = send != MPI_IN_PLACE && count_of(rank) == 0;
  if (gets_nothing && receive == nullptr) now.receive = &now;
  return judge_scan(now, false, rank);
}

Outcome ReduceScatter::serve(CommunicatorState& state, CountedCall& counted, int) const {
  UserBuffer vector;
  if (state.type_info(datatype, 0, vector.type) != MPI_SUCCESS) return {.error = MPI_ERR_TYPE};
  vector.count = total(state.size());
  if (vector.count == 0) return {};
  CollectiveCall call;
  call.tag_base = state.tags_of(collective);
  call.block_bytes = static_cast<std::size_t>(vector.count) * vector.type.size;
  const std::uint64_t own_bytes =
      static_cast<std::uint64_t>(count_of(state.rank())) * vector.type.size;
  const CommunicatorState::CachedChoice& choice = choose_reduction(
      state, caller, collective, vector.count, vector.type, op, largest(state.size()));
  const bool in_place = send == MPI_IN_PLACE || send == receive;
  const auto [algorithm, cut] = counted.govern(choice);
  const Prepared* prepared = program_for(state, algorithm, cut, 0, in_place);
  if (prepared == nullptr) return Outcome::library(own_bytes, choice, vector.type.named);

  call.op = op;
  call.block_begins = begins_of_blocks(state, [&](Rank rank) { return count_of(rank); });
  call.leaves_empty_out = true;
  vector.base = static_cast<char*>(in_place ? receive : const_cast<void*>(send));
  call.send = vector;
  const MPI_Count begin = call.block_begins[static_cast<std::size_t>(state.rank())];
  vector.base = static_cast<char*>(receive);
  // A null pointer may be MPI_BOTTOM.
  if (own_bytes != 0) vector.base -= static_cast<MPI_Aint>(begin) * vector.type.extent;
  call.receive = vector;
  return {algorithm, own_bytes, run_prepared(state, *prepared, call)};
}

}  // namespace

[[gnu::hot]] int serve_reduce_scatter(Caller caller, const void* send, void* receive,
                                      Counts receive_counts, MPI_Datatype datatype, MPI_Op op,
                                      MPI_Comm comm) {
  const ReduceScatter call{.collective = Collective::reduce_scatter,
                           .send = send,
                           .receive = receive,
                           .block = 0,
                           .counts = receive_counts,
                           .datatype = datatype,
                           .op = op,
                           .comm = comm,
                           .caller = caller};
  return serve(call, caller, comm);
}

[[gnu::hot]] int serve_reduce_scatter_block(Caller caller, const void* send, void* receive,
                                            MPI_Count receive_count, MPI_Datatype datatype,
                                            MPI_Op op, MPI_Comm comm) {
  const ReduceScatter call{.collective = Collective::reduce_scatter_block,
                           .send = send,
                           .receive = receive,
                           .block = receive_count,
                           .counts = {},
                           .datatype = datatype,
                           .op = op,
                           .comm = comm,
                           .caller = caller};
  return serve(call, caller, comm);
}

}  // namespace sibyl
