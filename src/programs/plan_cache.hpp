// The prepared programs of one communicator: planned once, run at every later call.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "executor/program/prepared.hpp"
#include "programs/plan_prefetch.hpp"
#include "selection/choose.hpp"

namespace sibyl {

class PlanCache {
 public:
  PlanCache(Rank rank, Rank ranks) : rank_(rank), ranks_(ranks) {}
  // Drops what was planned for another number.
  void set_ranks_per_node(Rank ranks_per_node);
  Rank ranks_per_node() const { return ranks_per_node_; }

  // The program of this rank. The reference holds until the next call. The request's order and
  // background are the defaults. `cut` is for algorithms that cut vectors, and its time for none.
  const Prepared& get(const Algorithm& algorithm, Rank root, bool in_place,
                      std::uint32_t outstanding, const SegmentPlan& cut = {});

  // Times that are to come into force: their schedule can be made ahead, for this algorithm, which
  // plans for arrival times, and this cut. Nothing is where a program is kept that serves then.
  void expect_arrivals(std::span<const double> times, const Algorithm& algorithm, Rank root,
                       const SegmentPlan& cut);
  PlanPrefetch& ahead() { return ahead_; }

  // Other arrival times from now on, none for all at once. Programs that were planned for the ones
  // before are dropped.
  void replace_arrivals(std::span<const double> times);
  // Plans the program that ran last again with this cut, where it was one of this algorithm:
  // whoever hands in times does so between two collectives, where planning delays nobody.
  void plan_last_again(const Algorithm& algorithm, const SegmentPlan& cut);

 private:
  struct Entry {
    const Algorithm* algorithm = nullptr;  // nullptr: dropped
    const Algorithm* was = nullptr;
    Rank root = 0;
    bool in_place = false;
    std::uint32_t outstanding = 0;
    SegmentPlan cut;
    Prepared prepared;
  };
  static bool alike(const SegmentPlan& a, const SegmentPlan& b);
  PlanRequest request_of(const Entry& entry, const Algorithm& algorithm,
                         std::span<const double> arrivals) const;
  void plan(Entry& entry, const Algorithm& algorithm);
  // A program that changes its root at every call would fill any cache; the oldest entry goes.
  static constexpr std::size_t capacity = 64;

  Rank rank_;
  Rank ranks_;
  Rank ranks_per_node_ = 1;
  std::vector<double> arrivals_;
  PlanPrefetch ahead_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::size_t last_ = 0;
  std::size_t oldest_ = 0;
};

}  // namespace sibyl
