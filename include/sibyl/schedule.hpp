/// @file
/// Schedules: what every algorithm of Sibyl produces and every reader of it consumes.
///
/// A planner writes one *program* per rank: the ordered steps of that rank. The programs of all
/// ranks are a *plan*. The executor (real MPI), the verifier (symbolic), the simulator (time) and
/// the exporters (JSON, GOAL, SVG) read the same programs; there is no second implementation of an
/// algorithm anywhere.
///
/// A step names its data as a slice of a symbolic buffer, in *units*, never as an address:
///   - Partition::vector (scan, exscan, reduce, allreduce, bcast): unit u is part u of `segments`
///     parts of the vector.
///   - Partition::blocks (all others): unit b * segments + s is segment s of the block of rank
///     b, in `send` and `receive` of every rank alike. A rank that holds only its own block holds
///     just these units. In an all-to-all unit b is the block to rank b in `send`, from rank b in
///     `receive`; in a reduce-scatter the vector consists of the blocks.
///   - In `scratch` a unit is a slot, local to the rank: 0 .. scratch_units - 1. A slot of a data-
///     moving collective holds the packed bytes of one unit. In a reduction scratch is a row of
///     copies of the vector: slot u is the place of unit u % n in copy u / n, where the vector has
///     n units (`units_of_a_copy`), so that parts of any size lie there as in the caller's buffers,
///     and neighbours side by side. So it is in alltoallv, of the blocks of `send`.
/// A slice of a reduction is one range; in scratch, one within a copy or of whole copies.
///
/// Thread safety: plain values; share them for reading, or guard them yourself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl {

/// @defgroup schedule Schedules
/// @{

using Rank = std::int32_t;
using Unit = std::uint32_t;
using StepIndex = std::uint32_t;

inline constexpr Rank no_rank = -1;

enum class Collective : std::uint8_t {
  exscan,
  scan,
  gather,
  scatter,
  gatherv,
  scatterv,
  reduce,
  allreduce,
  bcast,
  reduce_scatter,
  reduce_scatter_block,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  barrier
};
inline constexpr std::size_t collective_count = 16;
enum class Partition : std::uint8_t { vector, blocks };
enum class Buffer : std::uint8_t { send, receive, scratch };

enum class StepKind : std::uint8_t {
  send,             ///< send `slice` to `peer`
  receive,          ///< receive `slice` from `peer`, overwriting it
  receive_combine,  ///< receive a message and set slice := message (+) slice
  copy,             ///< slice := from
  combine,          ///< slice := from (+) slice: the source stands on the left
};

/// When a step may run at the earliest.
enum class Gate : std::uint8_t {
  on_start,    ///< from the moment the computation starts, in the background
  on_arrival,  ///< once this rank has arrived at the collective
};

struct Range {
  Unit first = 0;
  Unit count = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Part of a buffer. With list_size == 0 the slice is `range`. Otherwise it is, in this order, the
/// ranges [list, list + list_size) of the program's pool, and range.count is their total. A slice
/// of count 0 is a control message: it moves no data and is never elided.
struct Slice {
  Buffer buffer = Buffer::send;
  Range range;
  std::uint32_t list = 0;
  std::uint32_t list_size = 0;
};

struct Step {
  StepKind kind = StepKind::send;
  Gate gate = Gate::on_arrival;
  Rank peer = no_rank;      ///< no_rank for copy and combine
  std::uint32_t round = 0;  ///< the same at both ends of a message; never decreases along a program
  Slice slice;              ///< what is sent, or what is written
  Slice from;               ///< source of copy and combine
  std::uint32_t after = 0;  ///< first of `after_size` entries of the program's pool: earlier steps
  std::uint32_t after_size = 0;  ///< that must be complete, besides those that touch the same data
};

/// The steps of one rank.
struct Program {
  std::vector<Step> steps;
  std::vector<Range> ranges;     ///< pool of the slices' lists
  std::vector<StepIndex> after;  ///< pool of the steps' lists
  Unit scratch_units = 0;
  /// MPI_IN_PLACE at this rank: `send` aliases `receive`. In a reduce-scatter the vector is `send`,
  /// and a result anywhere in `receive` may lie over any of it.
  bool in_place = false;

  std::span<const Range> ranges_of(const Slice& slice) const {
    if (slice.list_size == 0) return {&slice.range, 1};
    return {ranges.data() + slice.list, slice.list_size};
  }
  std::span<const StepIndex> after_of(const Step& step) const {
    return {after.data() + step.after, step.after_size};
  }
  void clear() {
    steps.clear();
    ranges.clear();
    after.clear();
    scratch_units = 0;
    in_place = false;
  }
};

/// How many sends and receives of one rank may be outstanding at a time; 0 is no limit.
struct PortWindow {
  std::uint32_t sends = 0;
  std::uint32_t receives = 0;
  /// Of the sends to one rank, so that those to a rank that is not there yet leave places for
  /// others.
  std::uint32_t sends_to_one = 0;
  /// A send is outstanding until its receiver takes it; else it may end as soon as it is buffered,
  /// and early messages of later rounds fill the links before late ones of earlier rounds.
  bool until_taken = false;
  /// Sends are posted in program order, whoever they go to. Else the earliest that are ready go
  /// first, and one that waits for data holds up no other; the first that is not complete needs no
  /// place, so that what ends in program order ends.
  bool in_order = false;
};

/// What all ranks of a plan have in common. A rank that holds only its own program holds this too.
struct PlanHeader {
  Collective collective = Collective::exscan;
  std::string_view algorithm;  ///< the name in the table of algorithms (static storage)
  Rank ranks = 0;
  Rank root = 0;  ///< 0 for collectives without a root
  Partition partition = Partition::vector;
  std::uint32_t segments = 1;  ///< units per vector or per block
  PortWindow window;
  /// Messages of receive_combine that a rank may have under way or not yet combined, each in a slot
  /// of a pool that is assigned in program order; 0 is no limit.
  std::uint32_t staging = 0;
  /// An upper bound on the number of messages from one rank to another; the k-th such message, in
  /// program order, carries the tag base + k, and a call reserves this many tags.
  std::uint32_t tag_span = 1;
  std::uint32_t rounds = 0;
  bool one_ported = false;   ///< at most one send and one receive per rank and round
  bool keeps_order = false;  ///< operands are combined in rank order (non-commutative operators)
};

struct Plan {
  PlanHeader header;
  std::vector<Program> programs;  ///< one per rank
};

std::string_view name_of(Collective collective);
std::string_view name_of(Partition partition);
std::string_view name_of(Buffer buffer);
std::string_view name_of(StepKind kind);
std::string_view name_of(Gate gate);
/// False when there is no collective of that name.
bool collective_from_name(std::string_view name, Collective& collective);

/// What tells the collectives apart: one rank has all data at the end or the begin; the result is a
/// sum of all or some of the operands.
constexpr bool gathers(Collective collective) {
  return collective == Collective::gather || collective == Collective::gatherv;
}
constexpr bool scatters(Collective collective) {
  return collective == Collective::scatter || collective == Collective::scatterv;
}
constexpr bool scatters_sums(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::reduce_scatter_block;
}
constexpr bool gathers_everywhere(Collective collective) {
  return collective == Collective::allgather || collective == Collective::allgatherv;
}
constexpr bool exchanges_all(Collective collective) {
  return collective == Collective::alltoall || collective == Collective::alltoallv;
}
constexpr bool has_root(Collective collective) {
  return gathers(collective) || scatters(collective) || collective == Collective::reduce ||
         collective == Collective::bcast;
}
constexpr bool combines(Collective collective) {
  return collective == Collective::exscan || collective == Collective::scan ||
         collective == Collective::reduce || collective == Collective::allreduce ||
         scatters_sums(collective);
}
constexpr Partition partition_of(Collective collective) {
  const bool vector =
      (combines(collective) && !scatters_sums(collective)) || collective == Collective::bcast;
  return vector ? Partition::vector : Partition::blocks;
}
/// Units of the copies that scratch is a row of; 0 where its slots have no fixed places.
constexpr Unit units_of_a_copy(const PlanHeader& header) {
  if (header.partition == Partition::vector) return header.segments;
  const bool fixed = scatters_sums(header.collective) || header.collective == Collective::alltoallv;
  return fixed ? static_cast<Unit>(header.ranks) * header.segments : 0;
}

/// Appends steps to a program. Every function returns the index of the new step, for `after`.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(Program& program) : program_(program) {}

  static Slice slice(Buffer buffer, Unit first, Unit count = 1) {
    return Slice{buffer, Range{first, count}, 0, 0};
  }
  /// Merges neighbouring ranges; an empty list gives a slice of count 0.
  Slice slice(Buffer buffer, std::span<const Range> ranges);
  static Slice nothing() { return Slice{}; }

  StepIndex send(Rank peer, const Slice& data, std::uint32_t round, Gate gate = Gate::on_arrival,
                 std::span<const StepIndex> after = {});
  StepIndex receive(Rank peer, const Slice& data, std::uint32_t round, Gate gate = Gate::on_arrival,
                    std::span<const StepIndex> after = {});
  StepIndex receive_combine(Rank peer, const Slice& data, std::uint32_t round,
                            Gate gate = Gate::on_arrival, std::span<const StepIndex> after = {});
  StepIndex copy(const Slice& to, const Slice& from, std::uint32_t round,
                 Gate gate = Gate::on_arrival, std::span<const StepIndex> after = {});
  StepIndex combine(const Slice& to, const Slice& from, std::uint32_t round,
                    Gate gate = Gate::on_arrival, std::span<const StepIndex> after = {});

 private:
  StepIndex add(StepKind kind, Rank peer, const Slice& slice, const Slice& from,
                std::uint32_t round, Gate gate, std::span<const StepIndex> after);
  Program& program_;
};

/// @}

}  // namespace sibyl
