// The store of programs: planned once, run at every later call.
//
// A program is looked up by what it is made for (ProgramSpec) and by what was known of arrivals
// then (ArrivalView), of which counts only what its algorithm follows. Blocking calls have the
// store of their communicator; a persistent request has one of its own, since it may outlive the
// communicator and plan in the background.
//
// What a program will follow may be said before it is needed; its schedule is then made ahead
// (plan_prefetch.hpp).
//
// Thread safety: one caller at a time, besides whoever calls prefetched().advance().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "arrival/view.hpp"
#include "executor/program/prepared.hpp"
#include "planners/node_order.hpp"
#include "planners/nodes.hpp"
#include "programs/plan_prefetch.hpp"
#include "selection/choose.hpp"

namespace sibyl {

// What a program is made for, apart from arrivals. It is compared at every call.
struct ProgramSpec {
  const Algorithm* algorithm = nullptr;
  double round_time = 1;  // this and the next five as in PlanRequest
  std::uint32_t segments = 1;
  std::uint32_t lanes = 1;
  Rank root = 0;
  std::uint32_t outstanding = 1;
  bool in_place = false;
  bool background = false;
  bool in_order = false;
  bool together = false;  // planned as if all ranks came at once

  // The same, of an algorithm that cuts vectors.
  ProgramSpec cut_as(const SegmentPlan& cut) const {
    ProgramSpec spec = *this;
    spec.segments = cut.segments;
    spec.lanes = cut.lanes;
    spec.round_time = cut.round_time;
    spec.in_order = cut.in_order;
    spec.together = cut.together;
    return spec;
  }
  bool operator==(const ProgramSpec&) const = default;
};

// Whether programs of this kind depend on arrivals.
inline bool follows_arrivals(const ProgramSpec& spec) {
  return spec.algorithm->arrivals ? !spec.together : spec.algorithm->order != OrderUse::none;
}

class ProgramStore {
 public:
  // A program that changes its root at every call would fill any store; the least recently used
  // goes.
  static constexpr std::size_t usual_capacity = 64;

  ProgramStore(Rank rank, Rank ranks, std::size_t capacity = usual_capacity)
      : rank_(rank), ranks_(ranks), capacity_(capacity) {}
  // Drops what was planned for another placement.
  void set_placement(const Placement& placement);
  const Placement& placement() const { return placement_; }
  // What trees of irregular blocks are over, until the placement changes.
  NodeOrder node_order() const {
    return node_table_ ? NodeOrder(*node_table_) : NodeOrder(ranks_, placement_.ranks_per_node);
  }

  // The program of this rank. The reference holds until the next call. May throw std::bad_alloc.
  const Prepared& get(const ProgramSpec& spec, const SharedView& view = nullptr) {
    if (last_ < entries_.size()) {
      const Entry& last = *entries_[last_];
      if (last.valid && last.asked == view && last.spec == spec) return last.prepared;
    }
    return find(spec, view);
  }

  // This view is to come into force, and with it a program of this kind of an algorithm that takes
  // arrivals: its schedule can be made ahead. None is where a program is kept that serves then.
  void prefetch(const ProgramSpec& spec, const SharedView& coming);
  PlanPrefetch& prefetched() { return prefetch_; }

  // Nobody asks for this view any more: what followed it is dropped.
  void drop(const SharedView& view);
  // Plans the program that was asked for last again, with this cut and view, where it was one of
  // this algorithm. Whoever has another view does so between two collectives, where planning delays
  // nobody.
  void plan_last_again(const Algorithm& algorithm, const SegmentPlan& cut, const SharedView& view);

  // Whether there is a program of this algorithm that follows this view.
  bool holds(const Algorithm& algorithm, const SharedView& view) const;

 private:
  struct Entry {
    bool valid = false;
    ProgramSpec spec;
    SharedView view;   // nullptr where it follows none
    SharedView asked;  // the last with which it was found
    std::uint64_t used = 0;
    Prepared prepared;
  };
  // By value, so that get() need not have it in memory.
  const Prepared& find(ProgramSpec spec, const SharedView& view);
  static bool matches(const Entry& entry, const ProgramSpec& spec, const ArrivalView* view);
  PlanRequest request_of(const ProgramSpec& spec, const ArrivalView* view);
  Entry& find_place();

  Rank rank_;
  Rank ranks_;
  Placement placement_;
  std::optional<NodeTable> node_table_;  // where nodes are no equal runs of ranks
  std::size_t capacity_;
  PlanPrefetch prefetch_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<Rank> latest_first_;  // of the request that is made
  std::size_t last_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace sibyl
