// Matches the sends of a plan with its receives, one to one per (source, destination) in program
// order, as the tags of the executor do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sibyl/schedule.hpp"

namespace sibyl {

class Matcher {
 public:
  // Step i of rank r has the number first_step[r] + i. partner[number] becomes the number of the
  // step at the other end; tags_used the most messages from one rank to another. False with one
  // line in `problem` when a message has no partner or the two ends disagree. The programs must
  // have passed StructureCheck.
  bool match(const PlanHeader& header, std::span<const Program> programs,
             std::span<const std::uint32_t> first_step, std::span<std::uint32_t> partner,
             std::uint32_t& tags_used, std::string& problem);

 private:
  struct Message {
    Rank source;
    Rank destination;
    std::uint32_t number;
  };
  template <class Key>
  void sort_by(std::vector<Message>& messages, Key key);

  std::vector<Message> sends_;
  std::vector<Message> receives_;
  std::vector<Message> sorted_;
  std::vector<std::uint32_t> position_;
};

}  // namespace sibyl
