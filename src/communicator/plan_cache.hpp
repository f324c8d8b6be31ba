// The prepared programs of one communicator: planned once, run at every later call.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "executor/prepared.hpp"
#include "selection/choose.hpp"

namespace sibyl {

class PlanCache {
 public:
  PlanCache(Rank rank, Rank ranks) : rank_(rank), ranks_(ranks) {}
  // Before the first plan.
  void set_ranks_per_node(Rank ranks_per_node) { ranks_per_node_ = ranks_per_node; }
  Rank ranks_per_node() const { return ranks_per_node_; }

  // The program of this rank. The reference holds until the next call. The request's order and
  // background are the defaults. `cut` is for algorithms that cut vectors, and its time for none.
  const Prepared& get(const Algorithm& algorithm, Rank root, bool in_place,
                      std::uint32_t outstanding, const SegmentPlan& cut = {});

  // Other arrival times from now on, none for all at once. Programs that were planned for the ones
  // before are dropped, but the one that ran last is planned again at once: whoever hands in times
  // does so between two collectives, where planning delays nobody.
  void replace_arrivals(std::span<const double> times);

 private:
  struct Entry {
    const Algorithm* algorithm = nullptr;
    Rank root = 0;
    bool in_place = false;
    std::uint32_t outstanding = 0;
    SegmentPlan cut;
    Prepared prepared;
  };
  void plan(Entry& entry, const Algorithm& algorithm) const;
  // A program that changes its root at every call would fill any cache; the oldest entry goes.
  static constexpr std::size_t capacity = 64;

  Rank rank_;
  Rank ranks_;
  Rank ranks_per_node_ = 1;
  std::vector<double> arrivals_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::size_t last_ = 0;
  std::size_t oldest_ = 0;
};

}  // namespace sibyl
