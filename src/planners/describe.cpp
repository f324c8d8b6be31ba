// Writes the page of algorithms from their table, so that the two cannot drift apart.
#include "planners/describe.hpp"

#include <initializer_list>
#include <string_view>

#include "sibyl/planners.hpp"

namespace sibyl {
namespace {

std::string_view order_text(OrderUse order) {
  switch (order) {
    case OrderUse::none:
      return "no";
    case OrderUse::root_only:
      return "at the root";
    case OrderUse::all_ranks:
      return "the same at all ranks";
  }
  return "";
}

std::string_view yes_or_no(bool value) { return value ? "yes" : "no"; }

void append(std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) text += part;
}

}  // namespace

std::string algorithms_markdown() {
  std::string text =
      "<!-- Generated from the tables in src/planners/*/table.hpp: change it there. The test\n"
      "     planners/describe_test.cpp rewrites this file when SIBYL_UPDATE_DOCS=1 is set. -->\n"
      "# Algorithms\n"
      "\n"
      "In the costs, p is the number of ranks, m the size of the vector (scans, reduce) or of one "
      "block\n"
      "(gather, scatter), alpha the startup latency of a message and beta its time per unit.\n"
      "*Order*: who must know the arrival order, where the algorithm takes one. In gather and "
      "scatter "
      "knowing it is worth\n"
      "something while fewer transfers are under way than there are ranks. With all under way the "
      "same algorithm told\n"
      "nothing is as fast. A scatter in the background, one rank at a time, gains by it up to 1.08 "
      "of the time after the last\n"
      "arrival on a cluster, 1.09 of the run time (1.06 where it is shown) and 1.49 of ranks' own "
      "times, and no run time in\n"
      "the model. An allreduce of long vectors is faster by it where one\n"
      "rank is late by the transfer's time and more; on a cluster reduce gained 1.05 to 1.24 of "
      "the time after the last\n"
      "arrival by it, but 0.97 to 1.01 of the run time, and bcast 1.08 to 1.11 of the former "
      "([how much, where](../results/reproduction.md)).\n"
      "*Background*: has steps that may run before a rank has arrived.\n"
      "*Operators*: whether an operator that does not commute is served.\n"
      "*In place*: takes MPI_IN_PLACE.\n";
  const Algorithm* previous = nullptr;
  for (const Algorithm& algorithm : algorithms()) {
    if (previous == nullptr || previous->collective != algorithm.collective) {
      append(text, {"\n## ", name_of(algorithm.collective), "\n"});
    }
    previous = &algorithm;
    append(text, {"\n### ", name_of(algorithm.collective), " `", algorithm.name, "`\n\n"});
    append(text, {algorithm.idea, "\n\n"});
    append(text, {"| | |\n|---|---|\n"});
    append(text, {"| Published as | ", algorithm.published, " |\n"});
    append(text, {"| Cost | ", algorithm.cost, " |\n"});
    append(text, {"| Order | ", order_text(algorithm.order), " |\n"});
    append(text, {"| Background | ", yes_or_no(algorithm.background), " |\n"});
    if (combines(algorithm.collective)) {
      append(text,
             {"| Operators | ", algorithm.commutative_only ? "commutative only" : "all", " |\n"});
    }
    append(text, {"| In place | ", yes_or_no(algorithm.in_place), " |\n"});
    append(text, {"| Source | ", algorithm.source, " |\n"});
  }
  return text;
}

}  // namespace sibyl
