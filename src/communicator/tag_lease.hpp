// A private communicator and the tags on it that one persistent request has, given back when the
// lease ends.
#pragma once

#include <memory>
#include <utility>

#include "communicator/private_communicator.hpp"

namespace sibyl {

class TagLease {
 public:
  TagLease() = default;
  explicit TagLease(std::shared_ptr<PrivateCommunicator> home) : home_(std::move(home)) {}
  TagLease(TagLease&& other) noexcept { swap(other); }
  TagLease& operator=(TagLease&& other) noexcept {
    TagLease taken(std::move(other));
    swap(taken);
    return *this;
  }
  TagLease(const TagLease&) = delete;
  TagLease& operator=(const TagLease&) = delete;
  ~TagLease() {
    if (home_ != nullptr) home_->tags.give_back(first_block_, blocks_);
  }

  // False for one of no communicator, where the MPI library serves.
  explicit operator bool() const { return home_ != nullptr; }
  PrivateCommunicator& home() const { return *home_; }
  // Blocks that no rank has in use; a lease has none before.
  void take(int first_block, int blocks) {
    first_block_ = first_block;
    blocks_ = blocks;
    home_->tags.take(first_block, blocks);
  }
  int first_tag() const { return home_->tag_of(first_block_); }
  int tags() const { return blocks_ * TagBlocks::tags_each; }

 private:
  void swap(TagLease& other) noexcept {
    std::swap(home_, other.home_);
    std::swap(first_block_, other.first_block_);
    std::swap(blocks_, other.blocks_);
  }

  std::shared_ptr<PrivateCommunicator> home_;
  int first_block_ = 0;
  int blocks_ = 0;
};

}  // namespace sibyl
