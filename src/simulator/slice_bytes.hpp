// How many bytes a slice has.
//
// Parts of a vector are cut as the executor cuts them, blocks in segments likewise, but for those
// of an alltoallv or reduce-scatter: there the executor makes no segment shorter than 16 KiB. And
// it sends no message for an empty block where there is no tree, which here takes a start-up. A
// slot of scratch holds some unit of data: where slots have fixed places they say which, where all
// have the same size it does not matter, and where blocks differ in size (gatherv, scatterv) their
// way is followed from rank to rank once all programs are there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sibyl/simulator.hpp"

namespace sibyl::simulator {

struct SimStep;

class SliceBytes {
 public:
  SliceBytes(const PlanHeader& header, const DataSizes& sizes);

  // The program of the next rank, whose slices are asked for.
  void begin(const Program& program);
  // 0 for slices of scratch whose size is not known yet.
  std::uint64_t of(const Program& program, const Slice& slice) const;
  // Puts the sizes that were not known into the steps, whose messages must have been matched.
  void resolve(std::span<SimStep> steps, std::span<const std::uint32_t> first) const;

 private:
  class Tracker;
  std::uint64_t unit(Rank rank, Buffer buffer, Unit unit) const;
  std::uint64_t of_parts(Unit first, Unit count) const;
  std::uint64_t cut(std::uint64_t bytes, std::uint64_t part) const;

  PlanHeader header_;
  std::uint64_t bytes_;
  std::uint64_t element_bytes_;
  std::uint64_t first_segment_;
  std::vector<std::uint64_t> block_bytes_;
  std::uint64_t largest_ = 0;      // of all blocks
  Rank rank_ = -1;                 // of the program that was begun last
  std::vector<Program> programs_;  // only where blocks differ and must be followed
};

}  // namespace sibyl::simulator
