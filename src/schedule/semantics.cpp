// The table in the header, in code.
#include "schedule/semantics.hpp"

namespace sibyl {
namespace {

Extent block_of(const PlanHeader& header, Rank rank) {
  return {static_cast<Unit>(rank) * header.segments, header.segments};
}

Extent all_blocks(const PlanHeader& header) {
  return {0, static_cast<Unit>(header.ranks) * header.segments};
}

Extent vector_of(const PlanHeader& header) { return {0, header.segments}; }

Extent send_extent(const PlanHeader& header, Rank rank, bool in_place) {
  switch (header.collective) {
    case Collective::exscan:
    case Collective::scan:
    case Collective::reduce:
    case Collective::allreduce:
      return vector_of(header);
    case Collective::bcast:
      return rank == header.root ? vector_of(header) : Extent{};
    case Collective::gather:
    case Collective::gatherv:
    case Collective::allgather:
    case Collective::allgatherv:
      return in_place ? Extent{} : block_of(header, rank);
    case Collective::scatter:
    case Collective::scatterv:
      return rank == header.root ? all_blocks(header) : Extent{};
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
    case Collective::alltoall:
    case Collective::alltoallv:
      return all_blocks(header);
    case Collective::barrier:
      break;
  }
  return {};
}

Extent receive_extent(const PlanHeader& header, Rank rank, bool in_place) {
  switch (header.collective) {
    case Collective::exscan:
      return rank > 0 || in_place ? vector_of(header) : Extent{};
    case Collective::scan:
    case Collective::allreduce:
      return vector_of(header);
    case Collective::bcast:
      return rank == header.root ? Extent{} : vector_of(header);
    case Collective::gather:
    case Collective::gatherv:
      return rank == header.root ? all_blocks(header) : Extent{};
    case Collective::scatter:
    case Collective::scatterv:
      return in_place ? Extent{} : block_of(header, rank);
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return block_of(header, rank);
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::alltoall:
    case Collective::alltoallv:
      return all_blocks(header);
    case Collective::reduce:
      return rank == header.root ? vector_of(header) : Extent{};
    case Collective::barrier:
      break;
  }
  return {};
}

}  // namespace

bool may_be_in_place(const PlanHeader& header, Rank rank) {
  if (header.collective == Collective::bcast || header.collective == Collective::barrier) {
    return false;
  }
  return !has_root(header.collective) || rank == header.root;
}

bool in_place_aliases(Collective collective) {
  return partition_of(collective) == Partition::vector || exchanges_all(collective);
}

Extent extent_of(const PlanHeader& header, Rank rank, const Program& program, Buffer buffer) {
  switch (buffer) {
    case Buffer::send:
      return send_extent(header, rank, program.in_place);
    case Buffer::receive:
      return receive_extent(header, rank, program.in_place);
    case Buffer::scratch:
      return {0, program.scratch_units};
  }
  return {};
}

Extent input_of(const PlanHeader& header, Rank rank, const Program& program, Buffer& buffer) {
  buffer = Buffer::send;
  const bool own_block_lies_there =
      gathers(header.collective) || gathers_everywhere(header.collective);
  if (own_block_lies_there && program.in_place) {
    buffer = Buffer::receive;
    return block_of(header, rank);
  }
  return send_extent(header, rank, program.in_place);
}

std::uint32_t part_at(const PlanHeader& header, Rank rank, Buffer buffer, Unit unit) {
  if (!exchanges_all(header.collective)) return unit;
  const auto ranks = static_cast<std::uint32_t>(header.ranks);
  const auto own = static_cast<std::uint32_t>(rank);
  const std::uint32_t peer = unit / header.segments;
  const std::uint32_t pair = buffer == Buffer::receive ? peer * ranks + own : own * ranks + peer;
  return pair * header.segments + unit % header.segments;
}

Interval input_value(const PlanHeader& header, Rank rank) {
  const auto r = static_cast<std::uint32_t>(rank);
  return combines(header.collective) ? Interval{r, r + 1} : Interval{0, 1};
}

Interval output_value(const PlanHeader& header, Rank rank) {
  const auto r = static_cast<std::uint32_t>(rank);
  switch (header.collective) {
    case Collective::exscan:
      return {0, r};
    case Collective::scan:
      return {0, r + 1};
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return {0, static_cast<std::uint32_t>(header.ranks)};
    default:
      return {0, 1};
  }
}

Extent output_of(const PlanHeader& header, Rank rank, const Program& program) {
  if (header.collective == Collective::exscan && rank == 0) return {};
  const bool lies_there = scatters_sums(header.collective) && header.ranks == 1 && program.in_place;
  if (lies_there) return {};
  return receive_extent(header, rank, program.in_place);
}

}  // namespace sibyl
