// The settings that steer the choice of algorithms, in the form in which ranks agree on them.
//
// Plain bytes on purpose: rank 0 of a communicator broadcasts them when the communicator is set up,
// and they hold on all its ranks for as long as it lives.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "selection/table.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

// How the ranks come to know who will be late: by messages of their own
// (arrival_service/arrival_predictor.hpp), or by what is piggybacked on messages of an allreduce
// (arrival_service/late_ranks.hpp).
enum class PredictionMode : std::uint32_t { off, root_led, periodic, background, piggyback };

struct Settings {
  std::array<std::int32_t, collective_count> algorithm = [] {
    std::array<std::int32_t, collective_count> all{};
    all.fill(choose_automatically);
    return all;
  }();
  std::uint32_t first_segment = 1024;  // bytes of segment A of linear-synchronised gather
  // Transfers that a linear root has under way at a time; not set: by the collective.
  std::optional<std::uint32_t> outstanding;
  // Bytes of a block of gatherv or scatterv that goes direct; not set: by the costs.
  std::optional<std::uint32_t> direct_from;
  std::uint32_t segments = 0;          // of Clairvoyant's vector; 0 chooses by the costs
  std::uint32_t lanes = 0;             // between nodes; 0 chooses by the costs
  std::uint32_t alpha = 0;             // nanoseconds; 0: measured, as the two below
  std::uint32_t overhead = 0;          // nanoseconds
  std::uint32_t beta = 0;              // picoseconds per byte
  std::uint32_t construct_every = 64;  // calls of gatherv from one construction to the next
  std::uint32_t node_window = 0;       // as in Environment
  PredictionMode predict = PredictionMode::off;
  std::uint32_t device_native = 0;  // 1: where a rank has a device, the library serves all calls
  std::uint32_t govern = 0;  // 1: what is chosen automatically is held against the library's own
  std::uint32_t reproducible =
      0;                     // 1: reductions by what is the same in every run (reproducible.hpp)
  std::uint32_t thread = 1;  // 0: nothing runs in the background
  // 1: what no algorithm shortens on one node is chosen as elsewhere (choose.cpp), for tests, whose
  // cases some libraries' own cannot do.
  std::uint32_t serves_on_node = 0;
  SelectionTable table;  // for what is chosen automatically
};

// How many transfers the root of a linear algorithm may have under way; 0 is no limit.
//
// What a root sends must not wait for a rank that is not there, while what comes in is spared a
// crowd at its port. In the `background` all ranks receive before they are there, late ones
// whenever their thread looks; then a few sends keep the root's link busy, and who is served first
// is there first (measured on 48 hosts: docs/results/gather-scatter.md).
inline std::uint32_t outstanding_in(const Settings& settings, Collective collective,
                                    bool background = false) {
  const std::uint32_t sends = background ? 4 : 0;
  return settings.outstanding.value_or(collective == Collective::scatter ? sends : 24);
}

// Empty when `settings` could be filled from the environment; else one line that says which
// variable is wrong, what it may be, and leaves what was wrong at its default.
std::string settings_from(const Environment& environment, Settings& settings);

// How this machine represents data: the order of bytes, and the sizes of C's types, a byte each.
std::string_view data_representation();

// Changes when the algorithms or the meaning of the settings do, or how data are represented: ranks
// that run different builds must not take part in one schedule, nor ranks between which MPI would
// have to convert.
std::uint64_t build_fingerprint(std::string_view representation = data_representation());

}  // namespace sibyl
