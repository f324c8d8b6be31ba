// Sizes of slices; see slice_bytes.hpp.
#include "simulator/slice_bytes.hpp"

#include <algorithm>

#include "simulator/programs.hpp"

namespace sibyl::simulator {

SliceBytes::SliceBytes(const PlanHeader& header, const DataSizes& sizes)
    : header_(header),
      bytes_(sizes.bytes),
      element_bytes_(std::max<std::uint64_t>(1, sizes.element_bytes)),
      first_segment_(sizes.first_segment),
      block_bytes_(sizes.block_bytes.begin(), sizes.block_bytes.end()) {
  if (header.partition == Partition::vector) block_bytes_.clear();
  const auto ranks = static_cast<std::size_t>(header.ranks);
  const bool rows = exchanges_all(header.collective);
  if (!block_bytes_.empty()) block_bytes_.resize(rows ? ranks * ranks : ranks, 0);
  largest_ = block_bytes_.empty() ? bytes_ : std::ranges::max(block_bytes_);
}

void SliceBytes::begin(const Program& program) {
  ++rank_;
  if (!block_bytes_.empty() && units_of_a_copy(header_) == 0) programs_.push_back(program);
}

// Where part u of U begins: at element u n / U of n.
std::uint64_t SliceBytes::cut(std::uint64_t bytes, std::uint64_t part) const {
  const std::uint64_t elements = bytes / element_bytes_;
  const std::uint64_t parts = header_.segments;
  // part * elements / parts without an overflow of the product.
  return (elements / parts * part + elements % parts * part / parts) * element_bytes_;
}

std::uint64_t SliceBytes::of_parts(Unit first, Unit count) const {
  const std::uint64_t part = first % header_.segments;
  return cut(bytes_, part + count) - cut(bytes_, part);
}

std::uint64_t SliceBytes::unit(Rank rank, Buffer buffer, Unit unit) const {
  const Unit copy = units_of_a_copy(header_);
  if (buffer == Buffer::scratch && copy != 0) unit %= copy;
  std::size_t number = unit / header_.segments;
  if (exchanges_all(header_.collective)) {
    const auto ranks = static_cast<std::size_t>(header_.ranks);
    const auto own = static_cast<std::size_t>(rank);
    number = buffer == Buffer::receive ? number * ranks + own : own * ranks + number;
  }
  const std::uint64_t block = block_bytes_.empty() ? bytes_ : block_bytes_[number];
  if (header_.segments == 1) return block;
  const std::uint64_t segment = unit % header_.segments;
  if (gathers(header_.collective) || scatters(header_.collective)) {
    const std::uint64_t first = std::min(first_segment_, block);
    return segment == 0 ? first : block - first;
  }
  if (header_.collective == Collective::allgatherv) {  // segments of one size
    const std::uint64_t each = (largest_ + header_.segments - 1) / header_.segments;
    return std::min(block, (segment + 1) * each) - std::min(block, segment * each);
  }
  return cut(block, segment + 1) - cut(block, segment);
}

std::uint64_t SliceBytes::of(const Program& program, const Slice& slice) const {
  if (slice.range.count == 0) return 0;
  std::uint64_t total = 0;
  if (header_.partition == Partition::vector) {
    for (const Range& range : program.ranges_of(slice)) total += of_parts(range.first, range.count);
    return total;
  }
  if (block_bytes_.empty() && header_.segments == 1) return bytes_ * slice.range.count;
  if (slice.buffer == Buffer::scratch && units_of_a_copy(header_) == 0) {
    // Planners that cut blocks into segments forward none: a slot would not say which it holds.
    return block_bytes_.empty() ? bytes_ * slice.range.count / header_.segments : 0;
  }
  for (const Range& range : program.ranges_of(slice)) {
    for (Unit u = range.first; u < range.first + range.count; ++u) {
      total += unit(rank_, slice.buffer, u);
    }
  }
  return total;
}

// Follows blocks through the slots of scratch. Each rank's steps are taken in program order; one
// that receives into scratch waits for the step that sends.
class SliceBytes::Tracker {
 public:
  Tracker(const SliceBytes& sizes, std::span<SimStep> steps, std::span<const std::uint32_t> first)
      : sizes_(sizes),
        steps_(steps),
        first_(first),
        next_(first.begin(), first.end() - 1),
        slots_(sizes.programs_.size()),
        awaited_by_(sizes.programs_.size()) {}

  void run() {
    for (std::size_t r = 0; r < slots_.size(); ++r) {
      slots_[r].assign(sizes_.programs_[r].scratch_units, 0);
      ready_.push_back(r);
    }
    while (!ready_.empty()) {
      const std::size_t rank = ready_.back();
      ready_.pop_back();
      advance(rank);
    }
  }

 private:
  void advance(std::size_t rank) {
    const std::uint32_t before = next_[rank];
    step_on(rank);
    if (next_[rank] == before) return;
    for (const std::size_t other : awaited_by_[rank]) ready_.push_back(other);
    awaited_by_[rank].clear();
  }

  void step_on(std::size_t rank) {
    const Program& program = sizes_.programs_[rank];
    for (std::uint32_t& at = next_[rank]; at < first_[rank + 1]; ++at) {
      const Step& step = program.steps[at - first_[rank]];
      SimStep& row = steps_[at];
      if (step.kind == StepKind::receive && step.slice.buffer == Buffer::scratch) {
        const std::uint32_t sender = row.partner;
        const auto source = static_cast<std::size_t>(steps_[sender].rank);
        if (next_[source] <= sender) {
          awaited_by_[source].push_back(rank);
          return;
        }
        const Program& other = sizes_.programs_[source];
        fill(rank, program, step.slice, source, other, other.steps[sender - first_[source]].slice);
      } else if (step.kind == StepKind::copy && step.slice.buffer == Buffer::scratch) {
        fill(rank, program, step.slice, rank, program, step.from);
      }
      if (step.slice.buffer == Buffer::scratch) row.bytes = total(rank, program, step.slice);
    }
  }

  std::uint64_t size_of(std::size_t rank, Buffer buffer, Unit unit) const {
    return buffer == Buffer::scratch ? slots_[rank][unit]
                                     : sizes_.unit(static_cast<Rank>(rank), buffer, unit);
  }
  template <class Visit>
  static void each_unit(const Program& program, const Slice& slice, Visit visit) {
    if (slice.range.count == 0) return;
    for (const Range& range : program.ranges_of(slice)) {
      for (Unit u = range.first; u < range.first + range.count; ++u) visit(u);
    }
  }
  std::uint64_t total(std::size_t rank, const Program& program, const Slice& slice) const {
    std::uint64_t sum = 0;
    each_unit(program, slice, [&](Unit u) { sum += size_of(rank, slice.buffer, u); });
    return sum;
  }
  void fill(std::size_t rank, const Program& program, const Slice& to, std::size_t source,
            const Program& other, const Slice& from) {
    moved_.clear();
    each_unit(other, from, [&](Unit u) { moved_.push_back(size_of(source, from.buffer, u)); });
    std::size_t i = 0;
    each_unit(program, to, [&](Unit u) { slots_[rank][u] = i < moved_.size() ? moved_[i++] : 0; });
  }

  const SliceBytes& sizes_;
  std::span<SimStep> steps_;
  std::span<const std::uint32_t> first_;
  std::vector<std::uint32_t> next_;
  std::vector<std::vector<std::uint64_t>> slots_;
  std::vector<std::vector<std::size_t>> awaited_by_;
  std::vector<std::size_t> ready_;
  std::vector<std::uint64_t> moved_;
};

void SliceBytes::resolve(std::span<SimStep> steps, std::span<const std::uint32_t> first) const {
  if (!programs_.empty()) Tracker(*this, steps, first).run();
}

}  // namespace sibyl::simulator
