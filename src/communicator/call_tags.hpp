// The tags of calls on one private communicator.
//
// A collective has the same tags at every call: MPI keeps the messages between two ranks in order,
// and both ends name the other, so those of one call cannot meet those of the next. A call that one
// rank alone makes, or refuses, then does what it does in the MPI libraries, whose tags are fixed
// too: it shifts that rank by one call, and leaves nobody waiting for a number that never comes.
//
// Trees of irregular blocks look for messages from any rank, and must not take one of a later call:
// their tags differ from call to call, and come around again, at least 768 calls later. Nothing
// keeps a root that scatters from being as many ahead, so the ranks wait for each other where they
// do (CommunicatorState::next_tree_tags).
//
// Where the tags of both begin is drawn anew for each communicator (begin_at): an MPI library may
// give it the context of one that was freed, where a message of a failed call still lies.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sibyl/schedule.hpp"

namespace sibyl {

// Vectors are cut into many parts, and blocks go around rings in many segments; other programs that
// move blocks have few messages between two ranks.
constexpr bool wants_many_tags(Collective collective) {
  return combines(collective) || collective == Collective::bcast ||
         gathers_everywhere(collective) || exchanges_all(collective);
}

class CallTags {
 public:
  // A program may have as many messages between two ranks; one that wants more goes native.
  static constexpr std::int64_t of_blocks = 16;
  std::int64_t of_a_vector() const { return of_a_vector_; }
  std::int64_t room_of(Collective collective) const {
    return wants_many_tags(collective) ? of_a_vector_ : of_blocks;
  }

  // Tags below this one may be used: at least 24 572, where MPI allows no more than it must. Up to
  // half of them are for calls that have the same each time.
  void limit(std::int64_t limit) {
    limit_ = limit;
    constexpr std::int64_t most = 4096;
    const std::int64_t each = (limit / 2 - few * of_blocks) / many;
    of_a_vector_ = most;
    while (of_a_vector_ > each && of_a_vector_ > of_blocks) of_a_vector_ /= 2;
  }
  std::int64_t end() const { return limit_; }

  // `number`: any, the same on all ranks. Half of the tags are for calls that take their own, as
  // far as there are that many.
  void begin_at(std::int64_t number) {
    const std::int64_t half = std::max(limit_ / 2, all_fixed());
    const std::int64_t places = std::max<std::int64_t>(half / all_fixed(), 1);
    fixed_ = number % places * all_fixed();
    tree_first_ = half;
    tree_ = half + number / places % ((limit_ - half) / of_blocks) * of_blocks;
  }

  int of(Collective collective) const {
    const auto [vectors, blocks] = before[static_cast<std::size_t>(collective)];
    return static_cast<int>(fixed_ + vectors * of_a_vector_ + blocks * of_blocks);
  }
  bool come_around() const { return tree_ + of_blocks > limit_; }
  int next_of_tree() {
    if (come_around()) tree_ = tree_first_;
    const auto tag = static_cast<int>(tree_);
    tree_ += of_blocks;
    return tag;
  }
  // For tests of what happens at the end of the tags.
  void skip_to_last() { tree_ = limit_ - of_blocks; }

 private:
  // How many collectives stand before each one: of those with many tags, and of those with few.
  struct Before {
    std::int64_t vectors;
    std::int64_t blocks;
  };
  static constexpr std::array<Before, collective_count + 1> before = [] {
    std::array<Before, collective_count + 1> sums{};
    for (std::size_t i = 0; i < collective_count; ++i) {
      const bool many_tags = wants_many_tags(static_cast<Collective>(i));
      sums[i + 1] = {sums[i].vectors + (many_tags ? 1 : 0), sums[i].blocks + (many_tags ? 0 : 1)};
    }
    return sums;
  }();
  static constexpr std::int64_t many = before.back().vectors;
  static constexpr std::int64_t few = before.back().blocks;
  std::int64_t all_fixed() const { return many * of_a_vector_ + few * of_blocks; }

  std::int64_t limit_ = 24572;
  std::int64_t of_a_vector_ = 1024;
  std::int64_t fixed_ = 0;
  std::int64_t tree_first_ = 12287;
  std::int64_t tree_ = 12287;
};

}  // namespace sibyl
