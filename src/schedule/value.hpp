// What a unit of data holds while the verifier runs a plan: a set of contributions instead of
// numbers.
//
// In a scan the value "part u of V_lo (+) ... (+) V_(hi-1)" is the interval [lo, hi) of part u, and
// combining two values concatenates them. Nearly every value of a correct plan is one interval and
// is held inline; values with gaps keep an ascending list of disjoint intervals in a pool. In a
// data-moving collective a value is just the number of its unit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace sibyl {

struct Interval {
  std::uint32_t lo = 0;
  std::uint32_t hi = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

struct Value {
  Interval ranks;          // the contributions, or what encloses them; empty: holds nothing
  std::uint32_t part = 0;  // which unit of the vector or of all blocks this is
  std::uint32_t list = 0;  // 0: `ranks` is exact; else 1 + index of a list in the pool
  // A hash of the operands, their order and brackets: the same one, the same bits.
  std::uint64_t expression = 0;
  // This rank's own contribution, in place since before the call: not to be touched until the rank
  // has arrived.
  bool own = false;

  bool holds_nothing() const { return ranks.hi == 0; }
  bool is_exactly(Interval interval, std::uint32_t of_part) const {
    return list == 0 && ranks == interval && part == of_part;
  }
};

inline std::uint64_t mixed(std::uint64_t hash) {
  hash = (hash ^ (hash >> 31)) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 29);
}
// What a rank contributes, and what becomes of two expressions; the operator neither commutes nor
// associates.
inline std::uint64_t expression_of(std::uint32_t rank) { return mixed(std::uint64_t{rank} + 1); }
inline std::uint64_t expression_of(std::uint64_t left, std::uint64_t right) {
  return mixed(3 * left + 7 * mixed(right));
}

enum class CombineFault : std::uint8_t {
  none,
  different_parts,  // the operands belong to different parts of the vector
  counted_twice,    // a contribution is in both operands
  wrong_order,      // the left operand holds a higher rank than the right one
};

class ValuePool {
 public:
  void clear() {
    lists_.clear();
    intervals_.clear();
  }

  // result := left (+) right.
  CombineFault combine(const Value& left, const Value& right, bool keeps_order, Value& result) {
    if (left.part != right.part) return CombineFault::different_parts;
    if (left.list == 0 && right.list == 0 && left.ranks.hi == right.ranks.lo) {
      result = Value{{left.ranks.lo, right.ranks.hi},
                     left.part,
                     0,
                     expression_of(left.expression, right.expression),
                     false};
      return CombineFault::none;
    }
    return combine_any(left, right, keeps_order, result);
  }

  // "ranks 0-3 and 5"
  std::string describe(const Value& value) const {
    if (value.holds_nothing()) return "nothing";
    std::string text;
    for (std::size_t i = 0; i < size(value); ++i) {
      const Interval interval = at(value, i);
      text += i == 0 ? "" : " and ";
      text += std::to_string(interval.lo);
      if (interval.hi > interval.lo + 1) text += "-" + std::to_string(interval.hi - 1);
    }
    return (size(value) > 1 || value.ranks.hi > value.ranks.lo + 1 ? "ranks " : "rank ") + text;
  }

 private:
  struct List {
    std::size_t first;
    std::size_t size;
  };

  std::size_t size(const Value& value) const {
    return value.list == 0 ? 1 : lists_[value.list - 1].size;
  }
  Interval at(const Value& value, std::size_t i) const {
    return value.list == 0 ? value.ranks : intervals_[lists_[value.list - 1].first + i];
  }

  CombineFault combine_any(const Value& left, const Value& right, bool keeps_order, Value& result) {
    merged_.clear();
    for (std::size_t i = 0; i < size(left); ++i) merged_.push_back(at(left, i));
    for (std::size_t i = 0; i < size(right); ++i) merged_.push_back(at(right, i));
    std::sort(merged_.begin(), merged_.end(),
              [](const Interval& a, const Interval& b) { return a.lo < b.lo; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < merged_.size(); ++i) {
      if (merged_[i].lo < merged_[last].hi) return CombineFault::counted_twice;
      if (merged_[i].lo == merged_[last].hi) {
        merged_[last].hi = merged_[i].hi;
      } else {
        merged_[++last] = merged_[i];
      }
    }
    // Concatenation only adds at the ends: what is out of order once stays so.
    if (keeps_order && left.ranks.hi > right.ranks.lo) return CombineFault::wrong_order;
    result = Value{{merged_.front().lo, merged_[last].hi},
                   left.part,
                   0,
                   expression_of(left.expression, right.expression),
                   false};
    if (last > 0) {
      lists_.push_back({intervals_.size(), last + 1});
      intervals_.insert(intervals_.end(), merged_.begin(),
                        merged_.begin() + static_cast<std::ptrdiff_t>(last) + 1);
      result.list = static_cast<std::uint32_t>(lists_.size());
    }
    return CombineFault::none;
  }

  std::vector<List> lists_;
  std::vector<Interval> intervals_;
  std::vector<Interval> merged_;
};

}  // namespace sibyl
