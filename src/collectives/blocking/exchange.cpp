// MPI_Allgather, MPI_Allgatherv, MPI_Alltoall and MPI_Alltoallv.
//
// What every rank knows steers the choice: the bytes of all blocks in an allgather, of a block in
// an all-to-all of equal blocks. In alltoallv a rank knows its own row and column alone, so that
// the choice goes by the number of ranks, and no size is exchanged.
#include <algorithm>
#include <limits>

#include "collectives/blocking/serve.hpp"
#include "collectives/exchange_arguments.hpp"
#include "collectives/native.hpp"
#include "executor/program/layout.hpp"

namespace sibyl {
namespace {

struct Exchange {
  Collective collective;
  int root = no_rank;
  ExchangeArguments now;
  MPI_Comm comm;
  Caller caller;

  Verdict judge(int rank, int ranks) const { return judge_exchange(now, rank, ranks); }
  // What this rank contributes.
  OwnData own_data(int rank, int ranks) const {
    const ExchangedSide& side = now.in_place() ? now.receive : now.send;
    if (!now.sends_to_all()) return {side.count_of(rank), side.type};
    MPI_Count count = 0;
    for (Rank r = 0; r < ranks; ++r) count += side.count_of(r);
    return {count, side.type};
  }
  int native() const;
  std::optional<SettledCall> key() const;
  bool key_tells_bytes() const { return !now.irregular(); }
  bool lacks_buffer(int) const {
    return collective == Collective::alltoallv &&
           (now.send.buffer == nullptr || now.receive.buffer == nullptr);
  }
  std::optional<BlockSizes> sizes(int ranks) const {
    if (collective != Collective::allgatherv) return std::nullopt;
    return sizes_of(now.receive.counts, ranks);
  }
  Outcome serve(CommunicatorState& state, CountedCall& counted, int wrong) const;

 private:
  std::uint64_t bytes_known_to_all(const ReadExchange& read, int ranks) const;
};

int Exchange::native() const {
  const ExchangedSide& in = now.receive;
  const ExchangedSide& out = now.send;
  switch (collective) {
    case Collective::allgather:
      return native_allgather(caller, out.buffer, out.count, out.type, in.buffer, in.count, in.type,
                              comm);
    case Collective::allgatherv:
      return native_allgatherv(caller, out.buffer, out.count, out.type, in.buffer, in.counts,
                               in.displacements, in.type, comm);
    case Collective::alltoall:
      return native_alltoall(caller, out.buffer, out.count, out.type, in.buffer, in.count, in.type,
                             comm);
    default:
      return native_alltoallv(caller, out.buffer, out.counts, out.displacements, out.type,
                              in.buffer, in.counts, in.displacements, in.type, comm);
  }
}

std::optional<SettledCall> Exchange::key() const {
  SettledCall call =
      settled_call(collective, root, caller, comm, now.send.buffer, now.receive.buffer);
  if (collective == Collective::allgatherv) {
    if (!now.receive.counts.given()) return std::nullopt;
    return call.with(now.send.count, now.send.type).with_other(0, now.receive.type);
  }
  if (now.irregular()) {  // no sizes, which the choice does not know
    call.count = (now.send.counts.given() ? 1U : 0U) | (now.receive.counts.given() ? 2U : 0U);
    call.other_count =
        (now.send.displacements.given() ? 1U : 0U) | (now.receive.displacements.given() ? 2U : 0U);
    return call;
  }
  return call.with(now.send.count, now.send.type).with_other(now.receive.count, now.receive.type);
}

std::uint64_t Exchange::bytes_known_to_all(const ReadExchange& read, int ranks) const {
  if (collective == Collective::alltoallv) return 0;
  const std::uint64_t all = read.received_bytes();
  return collective == Collective::allgatherv ? all : all / static_cast<std::uint64_t>(ranks);
}

// Of an alltoallv, whose sizes are not known to all, as many as are asked for.
std::uint32_t most_segments(std::uint64_t known_bytes) {
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  return parts_of_bytes(known_bytes == 0 ? any : known_bytes);
}

// Of an alltoallv as many as this rank's blocks fill: empty ones are no messages, but steps of its
// program. How a block is cut is known to both its ranks whatever others there are, and in packed
// bytes, which one segment would not be.
std::uint32_t segments_that_fill(std::size_t largest_block, std::uint32_t most) {
  constexpr std::uint32_t fewest = 2;
  constexpr std::uint32_t step = 4;  // few programs
  std::uint32_t segments = std::min(fewest, most);
  while (segments < most && segments * least_segment < largest_block) {
    segments = std::min(step * segments, most);
  }
  return segments;
}

Outcome Exchange::serve(CommunicatorState& state, CountedCall& counted, int) const {
  ReadExchange read;
  if (const int wrong = read.read(state, now); wrong != MPI_SUCCESS) return {.error = wrong};
  const std::uint64_t bytes = bytes_known_to_all(read, state.size());
  if (bytes == 0 && collective != Collective::alltoallv) return {};
  find_costs(state, caller, collective, bytes, OperatorUse::none, true);
  const CommunicatorState::CachedChoice& choice =
      choose_for(state, collective, bytes, OperatorUse::none, true, most_segments(bytes),
                 collective == Collective::allgatherv ? read.largest_block() : 0);
  auto [algorithm, cut] = counted.govern(choice);
  if (collective == Collective::alltoallv && state.settings().segments == 0) {
    const std::int64_t tags = state.tags_of_a_call(collective);  // or some ranks would go native
    const auto most = static_cast<std::uint32_t>(std::min<std::int64_t>(cut.segments, tags));
    cut.segments = segments_that_fill(read.largest_block(), most);
  }
  const Prepared* prepared = program_for(state, algorithm, cut, 0, now.in_place());
  const bool named = collective == Collective::alltoallv || read.named();
  if (prepared == nullptr) return Outcome::library(read.own_bytes(), choice, named);

  CollectiveCall call;
  call.tag_base = state.tags_of(collective);
  call.leaves_empty_out = now.irregular();
  read.place(state, call);
  // In place the blocks of alltoallv are saved in scratch, one after the other in bytes.
  if (collective == Collective::alltoallv && now.in_place()) {
    const auto size = static_cast<MPI_Count>(call.receive.type.size);
    call.block_begins =
        begins_of_blocks(state, [&](Rank rank) { return now.receive.counts[rank] * size; });
  }
  return {algorithm, read.own_bytes(), run_prepared(state, *prepared, call)};
}

[[gnu::hot]] int serve_exchange(Caller caller, const ExchangeArguments& now, MPI_Comm comm) {
  const Exchange call{.collective = now.collective, .now = now, .comm = comm, .caller = caller};
  return serve(call, caller, comm);
}

}  // namespace

[[gnu::hot]] int serve_allgather(Caller caller, const void* send, MPI_Count send_count,
                                 MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                                 MPI_Datatype receive_type, MPI_Comm comm) {
  return serve_exchange(caller,
                        {Collective::allgather, equal_blocks(send, send_count, send_type),
                         equal_blocks(receive, receive_count, receive_type)},
                        comm);
}

[[gnu::hot]] int serve_allgatherv(Caller caller, const void* send, MPI_Count send_count,
                                  MPI_Datatype send_type, void* receive, Counts receive_counts,
                                  Displacements displacements, MPI_Datatype receive_type,
                                  MPI_Comm comm) {
  return serve_exchange(caller,
                        {Collective::allgatherv, equal_blocks(send, send_count, send_type),
                         irregular_blocks(receive, receive_counts, displacements, receive_type)},
                        comm);
}

[[gnu::hot]] int serve_alltoall(Caller caller, const void* send, MPI_Count send_count,
                                MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                                MPI_Datatype receive_type, MPI_Comm comm) {
  return serve_exchange(caller,
                        {Collective::alltoall, equal_blocks(send, send_count, send_type),
                         equal_blocks(receive, receive_count, receive_type)},
                        comm);
}

[[gnu::hot]] int serve_alltoallv(Caller caller, const void* send, Counts send_counts,
                                 Displacements send_displacements, MPI_Datatype send_type,
                                 void* receive, Counts receive_counts,
                                 Displacements receive_displacements, MPI_Datatype receive_type,
                                 MPI_Comm comm) {
  ExchangeArguments now{
      Collective::alltoallv, irregular_blocks(send, send_counts, send_displacements, send_type),
      irregular_blocks(receive, receive_counts, receive_displacements, receive_type)};
  if (!caller.preload && is_refused_for_handles(now, comm) &&
      PMPI_Type_dup(receive_type, &now.receive.type) == MPI_SUCCESS) {
    const int result = serve_exchange(caller, now, comm);
    PMPI_Type_free(&now.receive.type);
    return result;
  }
  return serve_exchange(caller, now, comm);
}

}  // namespace sibyl
