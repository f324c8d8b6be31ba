// Looks prepared programs up and makes the missing ones; see program_store.hpp.
#include "programs/program_store.hpp"

#include <algorithm>

namespace sibyl {
namespace {

// A later view serves as well where it says the same of what the program follows.
bool same_for(const Algorithm& algorithm, const ArrivalView* a, const ArrivalView* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  return algorithm.arrivals ? a->times == b->times : a->order == b->order;
}

// What a program of this kind sees of a view.
const ArrivalView* seen(const ProgramSpec& spec, const SharedView& view) {
  return view != nullptr && view->known() && follows_arrivals(spec) ? view.get() : nullptr;
}

// A flat schedule of all ranks is what the prefetch makes.
bool is_scheduled_ahead(const Algorithm& algorithm) {
  return algorithm.arrivals && !algorithm.nodes && algorithm.collective == Collective::reduce;
}

}  // namespace

void ProgramStore::set_placement(const Placement& placement) {
  if (placement == placement_) return;
  placement_ = placement;
  node_table_.reset();
  if (!placement.nodes.empty()) node_table_.emplace(placement.nodes);
  for (const auto& entry : entries_) entry->valid = false;
}

bool ProgramStore::matches(const Entry& entry, const ProgramSpec& spec, const ArrivalView* view) {
  return entry.valid && entry.spec == spec && same_for(*spec.algorithm, entry.view.get(), view);
}

const Prepared& ProgramStore::find(ProgramSpec spec, const SharedView& view) {
  const ArrivalView* const now = seen(spec, view);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (matches(*entries_[i], spec, now)) {
      last_ = i;
      entries_[i]->asked = view;
      entries_[i]->used = ++uses_;
      return entries_[i]->prepared;
    }
  }
  Entry& entry = find_place();
  entry.valid = false;  // matches nothing should planning throw
  entry.spec = spec;
  entry.view = now == nullptr ? nullptr : view;
  entry.asked = view;
  entry.used = ++uses_;
  PlanRequest request = request_of(spec, now);
  const bool scheduled = is_scheduled_ahead(*spec.algorithm);
  if (scheduled) request.schedule = prefetch_.find(request);
  prepare(*spec.algorithm, request, rank_, entry.prepared);
  if (request.schedule != nullptr) prefetch_.drop();
  entry.valid = true;
  return entry.prepared;
}

// The place of one that was dropped, a new one, or that of the least recently used.
ProgramStore::Entry& ProgramStore::find_place() {
  const auto free = std::ranges::find_if(entries_, [](const auto& entry) { return !entry->valid; });
  if (free != entries_.end()) {
    last_ = static_cast<std::size_t>(free - entries_.begin());
  } else if (entries_.size() < capacity_) {
    entries_.push_back(std::make_unique<Entry>());
    last_ = entries_.size() - 1;
  } else {
    const auto used = [](const auto& entry) { return entry->used; };
    last_ =
        static_cast<std::size_t>(std::ranges::min_element(entries_, {}, used) - entries_.begin());
  }
  return *entries_[last_];
}

PlanRequest ProgramStore::request_of(const ProgramSpec& spec, const ArrivalView* view) {
  const Algorithm& algorithm = *spec.algorithm;
  PlanRequest request;
  request.ranks = ranks_;
  request.root = spec.root;
  request.in_place = spec.in_place;
  request.background = spec.background;
  request.outstanding = spec.outstanding;
  request.segments = spec.segments;
  request.lanes = spec.lanes;
  if (algorithm.arrivals) {
    if (view != nullptr) request.arrivals = view->times;
    request.round_time = spec.round_time;
    request.in_order = spec.in_order;
  } else if (view != nullptr) {
    request.order = view->order;
    // In the tree of a gather the latest ranks are next to the root.
    if (gathers(algorithm.collective) && algorithm.order == OrderUse::all_ranks) {
      latest_first_.assign(view->order.rbegin(), view->order.rend());
      request.order = latest_first_;
    }
  }
  place(algorithm, placement_, request);
  return request;
}

void ProgramStore::prefetch(const ProgramSpec& spec, const SharedView& coming) {
  const auto serves = [&](const auto& entry) {
    return entry->valid && entry->spec.algorithm == spec.algorithm &&
           entry->spec.root == spec.root && entry->spec.segments == spec.segments &&
           entry->spec.round_time == spec.round_time && entry->spec.in_order == spec.in_order &&
           entry->spec.together;
  };
  if (!is_scheduled_ahead(*spec.algorithm)) return;
  if (spec.together && std::ranges::any_of(entries_, serves)) return;
  prefetch_.begin(request_of(spec, seen(spec, coming)));
}

void ProgramStore::drop(const SharedView& view) {
  for (const auto& entry : entries_) {
    if (entry->view != nullptr && entry->view == view) entry->valid = false;
  }
}

void ProgramStore::plan_last_again(const Algorithm& algorithm, const SegmentPlan& cut,
                                   const SharedView& view) {
  if (last_ >= entries_.size() || entries_[last_]->spec.algorithm != &algorithm) return;
  get(entries_[last_]->spec.cut_as(cut), view);
}

bool ProgramStore::holds(const Algorithm& algorithm, const SharedView& view) const {
  return std::ranges::any_of(entries_, [&](const auto& entry) {
    return entry->valid && entry->spec.algorithm == &algorithm && entry->view != nullptr &&
           same_for(algorithm, entry->view.get(), view.get());
  });
}

}  // namespace sibyl
