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

Extent send_extent(const PlanHeader& header, Rank rank, bool in_place) {
  switch (header.collective) {
    case Collective::exscan:
    case Collective::scan:
    case Collective::reduce:
      return {0, header.segments};
    case Collective::gather:
    case Collective::gatherv:
      return in_place ? Extent{} : block_of(header, rank);
    case Collective::scatter:
    case Collective::scatterv:
      return rank == header.root ? all_blocks(header) : Extent{};
  }
  return {};
}

Extent receive_extent(const PlanHeader& header, Rank rank, bool in_place) {
  switch (header.collective) {
    case Collective::exscan:
      return rank > 0 || in_place ? Extent{0, header.segments} : Extent{};
    case Collective::scan:
      return {0, header.segments};
    case Collective::gather:
    case Collective::gatherv:
      return rank == header.root ? all_blocks(header) : Extent{};
    case Collective::scatter:
    case Collective::scatterv:
      return in_place ? Extent{} : block_of(header, rank);
    case Collective::reduce:
      return rank == header.root ? Extent{0, header.segments} : Extent{};
  }
  return {};
}

}  // namespace

bool may_be_in_place(const PlanHeader& header, Rank rank) {
  return !has_root(header.collective) || rank == header.root;
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
  if (gathers(header.collective) && program.in_place) {
    buffer = Buffer::receive;
    return block_of(header, rank);
  }
  return send_extent(header, rank, program.in_place);
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
    case Collective::gather:
    case Collective::gatherv:
    case Collective::scatter:
    case Collective::scatterv:
      return {0, 1};
    case Collective::reduce:
      return {0, static_cast<std::uint32_t>(header.ranks)};
  }
  return {};
}

Extent output_of(const PlanHeader& header, Rank rank, const Program& program) {
  if (header.collective == Collective::exscan && rank == 0) return {};
  return receive_extent(header, rank, program.in_place);
}

}  // namespace sibyl
