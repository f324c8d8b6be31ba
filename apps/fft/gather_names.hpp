// The ways to gather, by name, and what the names stand for. No MPI here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::fft {

// A way to gather.
struct GatherName {
  std::string_view name;       // as in Proficz 2020, table 5
  std::string_view algorithm;  // of Sibyl's persistent gather; empty: MPI_Gather
  bool by_arrival = false;   // ranks are served in the order in which they are predicted to arrive
  bool background = false;   // the root receives while it still computes
  bool told_others = false;  // ranks tell each other's times of the last window
  // Transfers of the root under way, 0: no limit; as Sibyl has them where nothing is said.
  std::optional<std::uint32_t> outstanding = std::nullopt;
};

// The one with this name, or NAME@K with K transfers of the root under way; refers to `name`.
// Nothing where there is none.
std::optional<GatherName> find_gather(std::string_view name);

// All names, separated by commas, for people.
std::string gather_names();

// "A,B" as a list; a name that there is not goes to `unknown`.
std::vector<std::string> split_gathers(std::string_view text, std::string& unknown);

}  // namespace sibyl::fft
