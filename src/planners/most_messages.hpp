// The most messages that go from one rank to another in a schedule: the tags that it needs.
#pragma once

#include <cstdint>
#include <span>

#include "sibyl/clairvoyant.hpp"

namespace sibyl {

std::uint32_t most_messages_of_a_pair(std::span<const ClairvoyantEvent> events, Rank ranks);

}  // namespace sibyl
