// Both lists are brought into the order (destination, source, program order) by stable counting
// sorts, linear in messages and ranks; then the i-th send belongs to the i-th receive.
#include "schedule/matching.hpp"

#include <algorithm>
#include <tuple>

#include "schedule/structure.hpp"

namespace sibyl {

template <class Key>
void Matcher::sort_by(std::vector<Message>& messages, Key key) {
  for (auto& position : position_) position = 0;
  for (const Message& message : messages) ++position_[static_cast<std::size_t>(key(message)) + 1];
  for (std::size_t i = 1; i < position_.size(); ++i) position_[i] += position_[i - 1];
  sorted_.resize(messages.size());
  for (const Message& message : messages) {
    sorted_[position_[static_cast<std::size_t>(key(message))]++] = message;
  }
  messages.swap(sorted_);
}

bool Matcher::match(const PlanHeader& header, std::span<const Program> programs,
                    std::span<const std::uint32_t> first_step, std::span<std::uint32_t> partner,
                    std::uint32_t& tags_used, std::string& problem) {
  sends_.clear();
  receives_.clear();
  for (Rank rank = 0; rank < header.ranks; ++rank) {
    std::uint32_t number = first_step[static_cast<std::size_t>(rank)];
    for (const Step& step : programs[static_cast<std::size_t>(rank)].steps) {
      if (step.kind == StepKind::send) {
        sends_.push_back({rank, step.peer, number});
      } else if (step.peer != no_rank) {
        receives_.push_back({step.peer, rank, number});
      }
      ++number;
    }
  }
  position_.resize(static_cast<std::size_t>(header.ranks) + 1);
  const auto source = [](const Message& message) { return message.source; };
  const auto destination = [](const Message& message) { return message.destination; };
  sort_by(sends_, destination);
  sort_by(receives_, source);
  sort_by(receives_, destination);

  const auto step_of = [&](Rank rank, std::uint32_t number) -> const Step& {
    const auto r = static_cast<std::size_t>(rank);
    return programs[r].steps[number - first_step[r]];
  };
  const auto name = [&](Rank rank, std::uint32_t number) {
    return name_of_step(rank, number - first_step[static_cast<std::size_t>(rank)],
                        step_of(rank, number));
  };
  tags_used = 0;
  std::uint32_t ordinal = 0;
  const std::size_t most = std::max(sends_.size(), receives_.size());
  for (std::size_t i = 0; i < most; ++i) {
    const auto pair = [](const Message& m) { return std::tie(m.destination, m.source); };
    const bool have_send = i < sends_.size();
    const bool have_receive = i < receives_.size();
    if (!have_receive || (have_send && pair(sends_[i]) < pair(receives_[i]))) {
      problem = name(sends_[i].source, sends_[i].number) + " has no matching receive";
      return false;
    }
    if (!have_send || pair(receives_[i]) < pair(sends_[i])) {
      problem = name(receives_[i].destination, receives_[i].number) + " has no matching send";
      return false;
    }
    const Message& send = sends_[i];
    const Message& receive = receives_[i];
    const Step& sent = step_of(send.source, send.number);
    const Step& received = step_of(receive.destination, receive.number);
    if (sent.slice.range.count != received.slice.range.count) {
      problem = name(send.source, send.number) + " has unequal unit counts at its ends: sends " +
                std::to_string(sent.slice.range.count) + ", received are " +
                std::to_string(received.slice.range.count) + " by " +
                name(receive.destination, receive.number);
      return false;
    }
    if (sent.round != received.round) {
      problem = name(send.source, send.number) + " has unequal rounds at its ends: received by " +
                name(receive.destination, receive.number);
      return false;
    }
    partner[send.number] = receive.number;
    partner[receive.number] = send.number;
    ordinal = i > 0 && pair(sends_[i - 1]) == pair(send) ? ordinal + 1 : 0;
    if (ordinal >= header.tag_span) {
      problem = name(send.source, send.number) + " is message " + std::to_string(ordinal) +
                " to its peer, beyond the tag span of " + std::to_string(header.tag_span);
      return false;
    }
    tags_used = std::max(tags_used, ordinal + 1);
  }
  return true;
}

}  // namespace sibyl
