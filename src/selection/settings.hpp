// The settings that steer the choice of algorithms, in the form in which ranks agree on them.
//
// Plain bytes on purpose: rank 0 of a communicator broadcasts them when the communicator is set up,
// and they hold on all its ranks for as long as it lives.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/environment.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

inline constexpr std::size_t collective_count = 4;

// What serves a collective: a row of algorithms(collective), or one of these.
inline constexpr std::int32_t choose_automatically = -1;
inline constexpr std::int32_t serve_natively = -2;

struct Settings {
  std::array<std::int32_t, collective_count> algorithm{choose_automatically, choose_automatically,
                                                       choose_automatically, choose_automatically};
  std::uint32_t first_segment = 1024;  // bytes of segment A of linear-synchronised gather
  std::uint32_t outstanding = 8;       // transfers that a linear root has under way at a time
};

// Empty when `settings` could be filled from the environment; else one line that says which
// variable is wrong, what it may be, and leaves what was wrong at its default.
std::string settings_from(const Environment& environment, Settings& settings);

// Changes when the algorithms or the meaning of the settings do: ranks that run different builds
// must not take part in one schedule.
std::uint64_t build_fingerprint();

}  // namespace sibyl
