// Counting by pairs, in time and memory linear in the number of events.
#include "planners/most_messages.hpp"

#include <algorithm>
#include <vector>

namespace sibyl {

// Events are put together by sender, then counted by receiver.
std::uint32_t most_messages_of_a_pair(std::span<const ClairvoyantEvent> events, Rank ranks) {
  const auto index = [](Rank rank) { return static_cast<std::size_t>(rank); };
  std::vector<std::size_t> end(index(ranks) + 1, 0);  // of each sender's receivers
  for (const ClairvoyantEvent& event : events) ++end[index(event.sender) + 1];
  for (std::size_t r = 0; r < index(ranks); ++r) end[r + 1] += end[r];
  std::vector<Rank> receivers(events.size());
  for (const ClairvoyantEvent& event : events)
    receivers[end[index(event.sender)]++] = event.receiver;
  std::vector<std::uint32_t> messages(index(ranks), 0);
  std::uint32_t most = 1;
  for (std::size_t r = 0, begin = 0; r < index(ranks); begin = end[r++]) {
    for (std::size_t i = begin; i < end[r]; ++i) {
      most = std::max(most, ++messages[index(receivers[i])]);
    }
    for (std::size_t i = begin; i < end[r]; ++i) messages[index(receivers[i])] = 0;
  }
  return most;
}

}  // namespace sibyl
