// Schedules of all generators, and whether they are the same.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "planners/clairvoyant/kernels.hpp"
#include "sibyl/clairvoyant.hpp"

namespace sibyl {

using Events = std::vector<ClairvoyantEvent>;
using Generator = ClairvoyantGenerator;

inline std::string text_of(const ClairvoyantRequest& request) {
  std::string text = std::to_string(request.arrivals.size()) + " ranks, " +
                     std::to_string(request.segments) + " segments, round time " +
                     std::to_string(request.round_time) + ", root " + std::to_string(request.root) +
                     ", root order " + std::string(name_of(request.root_order)) + ", arrivals";
  if (request.arrivals.size() <= 16) {
    for (const double arrival : request.arrivals) text += " " + std::to_string(arrival);
  }
  return text;
}

inline Events schedule(Generator generator, const ClairvoyantRequest& request) {
  const ClairvoyantSchedule result = make_clairvoyant(generator, request);
  EXPECT_EQ(result.problem, "") << text_of(request);
  return {result.events.view().begin(), result.events.view().end()};
}

inline std::string text_of(const ClairvoyantEvent& event) {
  return std::to_string(event.round) + ": " + std::to_string(event.sender) + " -> " +
         std::to_string(event.receiver) + " segment " + std::to_string(event.segment);
}

// Requires the same events from all generators, every instruction set included.
inline void expect_the_same(const ClairvoyantRequest& request, bool with_heaps = true) {
  const Events reference = schedule(Generator::linear, request);
  const auto compare = [&](Generator generator, std::string_view what) {
    const Events events = schedule(generator, request);
    if (events == reference) return;
    const auto [a, b] =
        std::mismatch(reference.begin(), reference.end(), events.begin(), events.end());
    FAIL() << what << ", " << text_of(request) << ": event " << a - reference.begin() << " is "
           << (b == events.end() ? "missing" : text_of(*b)) << ", not "
           << (a == reference.end() ? "missing" : text_of(*a));
  };
  if (with_heaps) compare(Generator::pairing_heap, "pairing-heap");
  for (const clairvoyant::Kernels& kernels : clairvoyant::supported_kernels()) {
    clairvoyant::use_kernels(kernels);
    compare(Generator::segment_tree, "segment-tree, " + std::string(kernels.name));
    compare(Generator::fast, "fast, " + std::string(kernels.name));
  }
  clairvoyant::use_kernels(clairvoyant::supported_kernels().front());
}

}  // namespace sibyl
