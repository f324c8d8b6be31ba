// Addresses of units; see layout.hpp.
#include "executor/program/layout.hpp"

#include <algorithm>

namespace sibyl {
namespace {

// Of parts of one length, `least` at least, of which there are so many at most; the last ones may
// be empty.
template <class Number>
Number begin_of_part(Number part, Number whole, Number parts, Number least) {
  return std::min(whole, part * std::max(least, (whole + parts - 1) / parts));
}

}  // namespace

Layout::Layout(const PlanHeader& header, const Program& program, const CollectiveCall& call)
    : header_(header), call_(call) {
  units_ = header.segments;
  if (header.partition == Partition::blocks) units_ *= static_cast<Unit>(header.ranks);
  kind_ = Kind::blocks;
  if (header.partition == Partition::vector) kind_ = Kind::vector;
  if (reduces()) kind_ = Kind::reduction;
  const Unit used = program.scratch_units;
  if (used == 0) return;
  if (kind_ != Kind::reduction) {
    scratch_bytes_ = static_cast<std::size_t>(slot_begin(used));
    return;
  }
  // Copies that lie side by side can be sent in one message. Those of a type whose elements reach
  // into each other lie apart; no program that joins copies is run for it.
  const UserBuffer& all = vector();
  const std::size_t copies = (std::size_t{used} + units_ - 1) / units_;
  copy_bytes_ = all.type.lie_side_by_side()
                    ? static_cast<MPI_Aint>(all.count) * all.type.extent
                    : static_cast<MPI_Aint>(in_cache_lines(span_of(all.type, all.count)));
  if (all.count == 0) return;
  scratch_bytes_ =
      (copies - 1) * static_cast<std::size_t>(copy_bytes_) + span_of(all.type, all.count);
}

const UserBuffer& Layout::vector() const {
  // Rank 0 of an exclusive scan in place has both, others too; count and type are the same.
  return call_.send.type.handle != MPI_DATATYPE_NULL ? call_.send : call_.receive;
}

// The first element of a part of a reduction's vector.
MPI_Count Layout::begin_of(Unit unit) const {
  const auto segments = static_cast<MPI_Count>(header_.segments);
  if (call_.block_begins.empty()) {
    return static_cast<MPI_Count>(unit) * vector().count / static_cast<MPI_Count>(units_);
  }
  const std::size_t block = unit / header_.segments;
  const MPI_Count begin = call_.block_begins[block];
  if (unit % header_.segments == 0) return begin;
  const MPI_Count count = call_.block_begins[block + 1] - begin;
  const auto segment = static_cast<MPI_Count>(unit % header_.segments);
  if (header_.collective != Collective::reduce_scatter) return begin + segment * count / segments;
  // Of any sizes: cut as far as it is worth a message, as in segment_begin.
  const auto size = static_cast<MPI_Count>(std::max<std::size_t>(vector().type.size, 1));
  const MPI_Count least = (static_cast<MPI_Count>(least_segment) + size - 1) / size;
  return begin + begin_of_part(segment, count, segments, least);
}

// Within one copy, or of whole copies.
Layout::Elements Layout::elements(const Range& range) const {
  if (units_ == 1) return {0, static_cast<MPI_Count>(range.count) * vector().count};
  const Unit first = range.first % units_;
  if (first + range.count <= units_) {
    const MPI_Count begin = begin_of(first);
    return {begin, begin_of(first + range.count) - begin};
  }
  return {0, static_cast<MPI_Count>(range.count / units_) * vector().count};
}

Piece Layout::locate_elements(Buffer buffer, const Range& range) const {
  const UserBuffer& all = vector();
  const Elements found = elements(range);
  char* base = user(buffer).base;
  if (buffer == Buffer::scratch) {
    base = scratch_ + static_cast<MPI_Aint>(range.first / units_) * copy_bytes_ -
           lowest_of(all.type, all.count);
  }
  return {base + static_cast<MPI_Aint>(found.first) * all.type.extent, found.count,
          all.type.handle};
}

// In bytes: slots are as large as a block or, where scratch has the places of copies, as the block
// in whose place they are.
MPI_Count Layout::slot_begin(Unit slot) const {
  if (call_.block_begins.empty()) {
    // Of blocks that are saved in segments, side by side.
    const Unit cut = exchanges_all(header_.collective) ? header_.segments : 1;
    const std::size_t within = cut == 1 ? 0 : segment_begin(call_.block_bytes, slot % cut);
    const std::size_t begin = slot / cut * call_.block_bytes + within;
    return static_cast<MPI_Count>(begin);
  }
  const Unit unit = slot % units_;
  const std::size_t block = unit / header_.segments;
  const MPI_Count begin = call_.block_begins[block];
  const auto bytes = static_cast<std::size_t>(call_.block_begins[block + 1] - begin);
  return static_cast<MPI_Count>(slot / units_) * call_.block_begins.back() + begin +
         static_cast<MPI_Count>(segment_begin(bytes, unit % header_.segments));
}

Piece Layout::locate_in_scratch(const Range& range) const {
  const MPI_Count begin = slot_begin(range.first);
  return {scratch_ + begin, slot_begin(range.first + range.count) - begin, MPI_BYTE};
}

// A gather's block has a first segment of given size. Where all ranks know all sizes, blocks of any
// sizes are cut into segments of one size, of which the largest has all; where they do not, as far
// as their segments are worth a message. The others are empty, and no message. All else has equal
// parts.
std::size_t Layout::segment_begin(std::size_t block_bytes, Unit segment) const {
  const Collective collective = header_.collective;
  if (gathers(collective)) return segment == 0 ? 0 : call_.first_segment;
  const std::size_t segments = header_.segments;
  if (collective == Collective::allgatherv) {
    return std::min(block_bytes, segment * ((call_.block_bytes + segments - 1) / segments));
  }
  if (collective == Collective::alltoallv) {
    // The first segment is a byte longer for each one. A rank that expects fewer than there are has
    // then too little room for it, and says so, where they would all fit into what it has.
    const auto part = [&](std::size_t number) {
      return begin_of_part(number, block_bytes, segments, least_segment);
    };
    const std::size_t length = std::max<std::size_t>(part(1), 1);
    const std::size_t messages = (block_bytes + length - 1) / length;
    return segment == 0 ? 0 : std::min(block_bytes, part(segment) + messages);
  }
  return segment * block_bytes / segments;
}

// Of blocks of any sizes it is one.
Piece Layout::locate_blocks(const UserBuffer& data, const Range& range) {
  if (data.irregular == nullptr) {
    return {data.base + static_cast<MPI_Aint>(range.first) * data.stride,
            static_cast<MPI_Count>(range.count) * data.count, data.type.handle};
  }
  const auto rank = static_cast<Rank>(range.first);
  const MPI_Count count = data.irregular->counts[rank];
  return {count == 0 ? nullptr : data.irregular->at(rank), count, data.type.handle};
}

// Of blocks or a vector in segments.
Piece Layout::locate_cut(Buffer buffer, const Range& range) const {
  const UserBuffer& data = user(buffer);
  const std::size_t bytes = bytes_of(buffer, range);
  const bool whole = kind_ == Kind::vector;
  const Unit block = whole ? 0 : range.first / header_.segments;
  const Unit segment = whole ? range.first : range.first % header_.segments;
  const std::size_t own = data.bytes_of(static_cast<Rank>(block));
  if (own == 0) return {};
  char* const base = data.irregular != nullptr
                         ? data.irregular->at(static_cast<Rank>(block))
                         : data.base + static_cast<MPI_Aint>(block) * data.stride;
  return {base + segment_begin(own, segment), static_cast<MPI_Count>(bytes), MPI_BYTE};
}

std::size_t Layout::bytes_of(Buffer buffer, const Range& range) const {
  if (range.count == 0) return 0;
  if (kind_ == Kind::reduction) {
    return static_cast<std::size_t>(elements(range).count) * vector().type.size;
  }
  if (buffer == Buffer::scratch) {
    return static_cast<std::size_t>(slot_begin(range.first + range.count) -
                                    slot_begin(range.first));
  }
  const UserBuffer& data = user(buffer);
  const Unit segments = header_.segments;
  if (kind_ == Kind::vector) {
    const std::size_t all = data.bytes_of(0);
    return segment_begin(all, range.first + range.count) - segment_begin(all, range.first);
  }
  if (data.irregular == nullptr && segments == 1) return range.count * data.bytes_of(0);
  std::size_t bytes = 0;
  if (segments == 1) {
    for (Unit unit = range.first; unit < range.first + range.count; ++unit) {
      bytes += data.irregular->bytes(static_cast<Rank>(unit));
    }
    return bytes;
  }
  for (Unit unit = range.first; unit < range.first + range.count;) {
    const std::size_t block = data.bytes_of(static_cast<Rank>(unit / segments));
    const Unit end = std::min(range.first + range.count, (unit / segments + 1) * segments);
    const Unit last = (end - 1) % segments + 1;  // counted within the block
    bytes += (last == segments ? block : segment_begin(block, last)) -
             segment_begin(block, unit % segments);
    unit = end;
  }
  return bytes;
}

}  // namespace sibyl
