// Judges and places the blocks of all ranks; see exchange_arguments.hpp.
#include "collectives/exchange_arguments.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "collectives/native.hpp"
#include "executor/messages.hpp"

namespace sibyl {
namespace {

// The blocks of all ranks in one buffer.
Verdict judge_blocks_of_all(const ExchangedSide& side, bool irregular, int ranks) {
  if (!irregular) return judge_data(side.buffer, side.count, side.type);
  if (!side.counts.given()) return {MPI_ERR_ARG, false};
  if (!side.displacements.given()) return {MPI_ERR_ARG, openmpi_refuses()};
  MPI_Count largest = 0;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const MPI_Count count = side.counts[rank];
    if (count < 0) return {MPI_ERR_COUNT, mpich_refuses()};  // Open MPI looks in alltoallv alone
    if (MPI_VERSION < 4 && needs_large_count(count)) return {MPI_ERR_COUNT, false};
    largest = std::max(largest, count);
  }
  return judge_data(side.buffer, largest, side.type);
}

// Of an alltoallv: one buffer and one array of counts, whatever these hold.
bool has_one_for_both(const ExchangeArguments& now) {
  const auto& [collective, send, receive] = now;
  return send.buffer == receive.buffer && send.counts.same_array(receive.counts) &&
         send.type == receive.type;
}

// From the first element of a side's blocks to behind the last.
std::pair<MPI_Aint, MPI_Aint> reach_of(const ExchangedSide& side, int ranks) {
  using Limits = std::numeric_limits<MPI_Aint>;
  std::pair<MPI_Aint, MPI_Aint> reach{Limits::max(), Limits::min()};
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto count = static_cast<MPI_Aint>(side.counts[rank]);
    if (count <= 0 || !side.displacements.given()) continue;
    const MPI_Aint begin = side.displacements[rank];
    reach = {std::min(reach.first, begin), std::max(reach.second, begin + count)};
  }
  return reach;
}

// What MPICH refuses: the same memory twice, as far as it looks.
bool lies_in_its_place(const ExchangeArguments& now, int rank) {
  const auto& [collective, send, receive] = now;
  if (send.type != receive.type) return false;
  if (collective == Collective::alltoall) {
    return send.buffer == receive.buffer && send.count == receive.count && send.count != 0;
  }
  if (collective == Collective::alltoallv) return has_one_for_both(now);
  const MPI_Count own = receive.count_of(rank);
  if (send.count != own || own == 0) return false;
  const MPI_Aint place = now.irregular() ? static_cast<MPI_Aint>(receive.displacements[rank])
                                         : MPI_Aint{rank} * static_cast<MPI_Aint>(own);
  return is_taken_for(send.buffer, receive.buffer, place, send.type);
}

}  // namespace

Verdict judge_exchange(const ExchangeArguments& now, int rank, int ranks) {
  if (now.receive.buffer == MPI_IN_PLACE) return {MPI_ERR_BUFFER, any_refuses()};
  const Verdict received = judge_blocks_of_all(now.receive, now.irregular(), ranks);
  if (!received.right() || now.in_place()) return received;
  const Verdict sent = judge_blocks_of_all(now.send, now.irregular() && now.sends_to_all(), ranks);
  if (!sent.right()) return sent;
  const bool twice = mpich_refuses() && lies_in_its_place(now, rank) && refuses_twice();
  return twice ? Verdict{MPI_ERR_BUFFER, true} : Verdict{};
}

bool is_refused_for_handles(const ExchangeArguments& now, MPI_Comm comm) {
  if (!mpich_refuses() || now.in_place() || !has_one_for_both(now) || comm == MPI_COMM_NULL ||
      now.receive.type == MPI_DATATYPE_NULL) {
    return false;
  }
  const int ranks = significant_entries(now.collective, no_rank, comm);
  const auto sent = reach_of(now.send, ranks);
  const auto received = reach_of(now.receive, ranks);
  return sent.second <= received.first || received.second <= sent.first;
}

int ReadExchange::read(CommunicatorState& state, const ExchangeArguments& now) {
  now_ = &now;
  const auto take = [](const ExchangedSide& side, IrregularBlocks& blocks) {
    blocks.base = static_cast<char*>(side.buffer);
    blocks.counts = side.counts;
    blocks.displacements = side.displacements;
  };
  take(now.receive, received_blocks_);
  if (state.type_info(now.receive.type, 0, received_blocks_.type) != MPI_SUCCESS) {
    return MPI_ERR_TYPE;
  }
  take(now.in_place() ? now.receive : now.send, sent_blocks_);
  sent_blocks_.type = received_blocks_.type;
  if (!now.in_place() && state.type_info(now.send.type, 1, sent_blocks_.type) != MPI_SUCCESS) {
    return MPI_ERR_TYPE;
  }
  const auto bytes = [](const ExchangedSide& side, const DatatypeInfo& type, Rank rank) {
    return static_cast<std::size_t>(side.count_of(rank)) * type.size;
  };
  const ExchangedSide& sent = now.in_place() ? now.receive : now.send;
  for (Rank rank = 0; rank < state.size(); ++rank) {
    const std::size_t in = bytes(now.receive, received_blocks_.type, rank);
    const std::size_t out = bytes(sent, sent_blocks_.type, rank);
    received_ += in;
    largest_ = std::max({largest_, in, now.sends_to_all() ? out : 0});
    if (now.sends_to_all() || rank == state.rank()) own_ += out;
  }
  return MPI_SUCCESS;
}

UserBuffer ReadExchange::side(const ExchangedSide& from, const IrregularBlocks& blocks) const {
  UserBuffer out;
  out.type = blocks.type;
  if (from.counts.given()) {
    out.irregular = &blocks;
    return out;
  }
  out.base = blocks.base;
  out.count = from.count;
  out.stride = static_cast<MPI_Aint>(from.count) * blocks.type.extent;
  return out;
}

void ReadExchange::place(const CommunicatorState& state, CollectiveCall& call) const {
  call.block_bytes = largest_;
  call.receive = side(now_->receive, received_blocks_);
  if (now_->in_place()) {
    call.send = call.receive;
    return;
  }
  call.send = side(now_->send, sent_blocks_);
  if (!now_->sends_to_all()) {
    call.send.base -= static_cast<MPI_Aint>(state.rank()) * call.send.stride;
  }
}

}  // namespace sibyl
