// Schedules of exchanges: every message can be sent when it is, everybody ends with every result,
// and how many rounds that, and a reduce, takes after the last arrival
// (docs/results/exchange-rounds.md is written here).
#include "planners/clairvoyant/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "arrival/splitmix64.hpp"
#include "planners/ceil_log2.hpp"
#include "schedule/verify.hpp"
#include "sibyl/planners.hpp"
#include "support/page_of_docs.hpp"
#include "support/sanitized.hpp"

namespace sibyl {
namespace {

enum class Shape : std::uint8_t { flat, one_late, two_late, half, one_vector, two_vectors };
constexpr std::array shapes{Shape::flat, Shape::one_late,   Shape::two_late,
                            Shape::half, Shape::one_vector, Shape::two_vectors};

// In rounds; a vector takes as many as it has segments.
std::vector<double> arrivals_of(Shape shape, Rank ranks, std::uint32_t segments,
                                std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<double> times(static_cast<std::size_t>(ranks), 0.0);
  const auto any = [&] { return static_cast<std::size_t>(random.next() % times.size()); };
  const double vector = segments;
  const auto spread = [&](double most) {
    for (double& time : times) time = most * random.next_unit();
  };
  switch (shape) {
    case Shape::flat:
      break;
    case Shape::one_late:
      times[any()] = 2 * vector;
      break;
    case Shape::two_late: {
      const std::size_t first = any();
      std::size_t second = any();
      while (second == first) second = any();
      times[first] = times[second] = 2 * vector;
      break;
    }
    case Shape::half:
      spread(0.5 * vector);
      break;
    case Shape::one_vector:
      spread(vector);
      break;
    case Shape::two_vectors:
      spread(2 * vector);
      break;
  }
  return times;
}

// Follows the events as the programs do: who holds its own part still merges what it gets.
void expect_possible(const std::vector<double>& arrivals, std::uint32_t segments, Rank source) {
  const ClairvoyantEvents events = make_exchange({arrivals, segments, 1.0, source});
  const std::vector<std::uint32_t> from = arrival_rounds(arrivals, 1.0);
  const std::size_t ranks = arrivals.size();
  enum class State : std::uint8_t { none, part, result };
  const State begin = source == no_rank ? State::part : State::none;
  std::vector<std::vector<State>> has(ranks, std::vector<State>(segments, begin));
  if (source != no_rank) std::ranges::fill(has[static_cast<std::size_t>(source)], State::result);
  std::vector<std::size_t> parts(segments, source == no_rank ? ranks : 1);
  std::vector<std::uint32_t> sent(ranks, 0);
  std::vector<std::uint32_t> received(ranks, 0);
  std::uint32_t round = 0;
  std::vector<std::vector<State>> before = has;
  for (const ClairvoyantEvent& event : events.view()) {
    ASSERT_GE(event.round, round);
    if (event.round > round) before = has;
    round = event.round;
    const auto s = static_cast<std::size_t>(event.sender);
    const auto r = static_cast<std::size_t>(event.receiver);
    ASSERT_NE(s, r);
    ASSERT_GE(round, from[s]);
    ASSERT_GE(round, from[r]);
    ASSERT_LE(sent[s], round) << "a second send of rank " << s;
    ASSERT_LE(received[r], round) << "a second receive of rank " << r;
    sent[s] = received[r] = round + 1;
    const State given = before[s][event.segment];
    State& place = has[r][event.segment];
    ASSERT_NE(given, State::none);
    if (given == State::result) {
      ASSERT_EQ(place, State::none);
      place = State::result;
      continue;
    }
    ASSERT_EQ(has[s][event.segment], State::part);
    ASSERT_EQ(place, State::part);
    has[s][event.segment] = State::none;
    if (--parts[event.segment] == 1) place = State::result;
  }
  for (const auto& row : has) {
    ASSERT_TRUE(std::ranges::all_of(row, [](State state) { return state == State::result; }));
  }
  const std::size_t messages = segments * (ranks - 1);
  EXPECT_EQ(events.size(), source == no_rank ? 2 * messages : messages);
}

TEST(Exchange, EveryMessageCanBeSentWhenItIsAndAllEndWithAllResults) {
  for (const Rank ranks : {2, 3, 5, 8, 13, 48, 70}) {
    for (const std::uint32_t segments : {1U, 7U, 64U, 65U}) {
      for (const Shape shape : shapes) {
        const std::vector<double> arrivals = arrivals_of(shape, ranks, segments, 17 * segments);
        expect_possible(arrivals, segments, no_rank);
        expect_possible(arrivals, segments, ranks - 1);
        if (HasFatalFailure()) {
          FAIL() << ranks << " ranks, " << segments << " segments, shape "
                 << static_cast<int>(shape);
        }
      }
    }
  }
}

TEST(Exchange, OfOneRankOrNoSegmentsIsNothing) {
  const std::vector<double> alone{3.0};
  EXPECT_EQ(make_exchange({alone, 5, 1.0, no_rank}).size(), 0U);
  const std::vector<double> two{0.0, 0.0};
  EXPECT_EQ(make_exchange({two, 0, 1.0, no_rank}).size(), 0U);
}

TEST(Exchange, PlansForAnyArrivalsAreProved) {
  Verifier verifier;
  SplitMix64 random(20261123);
  for (const Collective collective : {Collective::allreduce, Collective::bcast}) {
    const Algorithm& row = *find_algorithm(collective, "clairvoyant");
    for (Rank ranks = 1; ranks <= 34; ++ranks) {
      for (const Shape shape : shapes) {
        const std::uint32_t segments = 1 + static_cast<std::uint32_t>(random.next() % 40);
        const std::vector<double> arrivals = arrivals_of(shape, std::max(ranks, 3), segments, 5);
        PlanRequest request{.ranks = ranks};
        request.root = collective == Collective::bcast ? ranks / 2 : 0;
        request.segments = segments;
        request.arrivals = std::span(arrivals).first(static_cast<std::size_t>(ranks));
        request.in_place = row.in_place && ranks % 2 == 0;
        ASSERT_EQ(check_request(row, request), "");
        const VerifyResult result = verifier.verify(make_plan(row, request));
        ASSERT_TRUE(result.ok) << ranks << " ranks, " << segments << " segments, shape "
                               << static_cast<int>(shape) << ": " << result.problem;
      }
    }
  }
}

// The bound of the patterns in which it is known.
TEST(Exchange, BoundIsTwoVectorsWhereAllArriveAtOnceAndOneWhereOneIsLate) {
  const std::vector<std::uint32_t> flat(8, 0);
  EXPECT_DOUBLE_EQ(exchange_bound(flat, 64, true), 112.0);
  std::vector<std::uint32_t> late = flat;
  late[3] = 128;
  EXPECT_DOUBLE_EQ(exchange_bound(late, 64, true), 66.0);  // and two rounds in which 2 become 8
  late[5] = 128;
  EXPECT_DOUBLE_EQ(exchange_bound(late, 64, true), 72.0);
  EXPECT_DOUBLE_EQ(exchange_bound(flat, 1, false), 3.0);
}

struct Case {
  Rank ranks;
  std::uint32_t segments;
};
constexpr std::array cases{Case{8, 64},  Case{8, 256},  Case{12, 48}, Case{12, 252},
                           Case{16, 64}, Case{16, 256}, Case{48, 96}, Case{48, 240}};

// After the last arrival, means of 20 seeds.
struct Rounds {
  double taken = 0;
  double bound = 0;
  double ratio() const { return taken / bound; }
};

// `count` gives those of one pattern, whose ranks arrive in rounds too.
template <class Count>
Rounds mean_rounds(const Case& now, Shape shape, Count count) {
  Rounds sum;
  constexpr int seeds = 20;
  for (int seed = 0; seed < seeds; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const std::vector<double> arrivals = arrivals_of(shape, now.ranks, now.segments, number);
    const Rounds one = count(arrivals, arrival_rounds(arrivals, 1.0));
    sum.taken += one.taken;
    sum.bound += one.bound;
  }
  return {sum.taken / seeds, sum.bound / seeds};
}

double after_last(const ClairvoyantEvents& events, const std::vector<std::uint32_t>& arrivals) {
  return static_cast<double>(events.view().back().round) + 1 - *std::ranges::max_element(arrivals);
}

Rounds of_allreduce(const Case& now, Shape shape) {
  return mean_rounds(now, shape, [&](const auto& times, const auto& rounds) {
    const ClairvoyantEvents events = make_exchange({times, now.segments, 1.0, no_rank});
    return Rounds{after_last(events, rounds), exchange_bound(rounds, now.segments, true)};
  });
}

// From rank 0. All segments come to the last rank; where that is the root, all leave it, and the
// last of them spreads.
Rounds of_bcast(const Case& now, Shape shape) {
  return mean_rounds(now, shape, [&](const auto& times, const auto& rounds) {
    const ClairvoyantEvents events = make_exchange({times, now.segments, 1.0, 0});
    const bool root_is_last = rounds.front() == *std::ranges::max_element(rounds);
    const auto spreads = root_is_last ? ceil_log2(static_cast<std::uint64_t>(now.ranks)) - 1 : 0;
    return Rounds{after_last(events, rounds), static_cast<double>(now.segments + spreads)};
  });
}

// All segments leave the last rank or, where that is the root, come to it.
Rounds of_reduce(const Case& now, Shape shape) {
  return mean_rounds(now, shape, [&](const auto& times, const auto& rounds) {
    const ClairvoyantSchedule made =
        make_clairvoyant(ClairvoyantGenerator::fast, {times, now.segments, 1.0, 0});
    return Rounds{after_last(made.events, rounds), static_cast<double>(now.segments)};
  });
}

std::string with_two_digits(double ratio) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.2f", ratio);
  return text.data();
}

template <class Measure>
std::string table_of(Measure measure) {
  std::string text =
      "| P, N | flat | one late | two late | over 1/2 | over 1 | over 2 |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const Case& now : cases) {
    text += "| " + std::to_string(now.ranks) + ", " + std::to_string(now.segments) + " |";
    for (const Shape shape : shapes) {
      const Rounds rounds = measure(now, shape);
      std::array<char, 64> cell{};
      std::snprintf(cell.data(), cell.size(), " %.1f / %.1f = ", rounds.taken, rounds.bound);
      text += cell.data() + with_two_digits(rounds.ratio()) + " |";
    }
    text += "\n";
  }
  return text;
}

// All of whose ratios are below `limit`.
std::string table_below(double limit, Rounds (*measure)(const Case&, Shape)) {
  return table_of([&](const Case& now, Shape shape) {
    const Rounds rounds = measure(now, shape);
    EXPECT_LT(rounds.ratio(), limit) << now.ranks << " ranks, shape " << static_cast<int>(shape);
    return rounds;
  });
}

std::string page() {
  std::string text =
      "<!-- Written by tests/planners/clairvoyant/exchange_test.cpp when SIBYL_UPDATE_DOCS=1 is "
      "set. -->\n"
      "# Rounds of an allreduce after the last arrival\n"
      "\n"
      "What `src/planners/clairvoyant/exchange.hpp` makes of P ranks and N segments, means of 20 "
      "seeds:\n"
      "rounds / bound = ratio. The bound is N (P + k - 2) / P, where k parts of a segment are left "
      "at\n"
      "best when the last rank arrives, and at least N + log2 P - 1, in which all segments leave "
      "that rank\n"
      "and the last one spreads (`exchange_bound`); a vector lasts N rounds. Late ranks come two "
      "vectors\n"
      "after the others; the others are uniform over half a vector, one and two. Repeats to the "
      "last\n"
      "digit, and `make test` holds the table against what this makes:\n"
      "\n"
      "<!-- not run: make test runs it -->\n\n"
      "    cmake --build --preset release --target test_planners\n"
      "    SIBYL_UPDATE_DOCS=1 build/release/bin/test_planners --gtest_filter='Exchange.Table*'\n"
      "\n";
  text += table_of([](const Case& now, Shape shape) {
    const Rounds rounds = of_allreduce(now, shape);
    const bool one_by_one = shape == Shape::two_vectors && now.ranks == 48;
    EXPECT_LT(rounds.ratio(), one_by_one && now.segments == 96 ? 1.14 : 1.105)
        << now.ranks << " ranks, shape " << static_cast<int>(shape);
    return rounds;
  });
  const auto one_by_one = [](std::uint32_t segments) {
    return with_two_digits(of_allreduce({48, segments}, Shape::two_vectors).ratio());
  };
  text +=
      "\n"
      "48 ranks that come one after the other over two vectors keep " +
      one_by_one(96) +
      " times the bound with 96 segments. The\n"
      "bound takes all ports for busy from the last arrival on. But the first result then lacks "
      "ten "
      "parts, and\n"
      "two dozen ranks have nothing to send until it and others have spread: about 5 rounds of the "
      "15 "
      "above\n"
      "the bound. In the end ranks that had handed on all they had before the last one came own no "
      "segment, so\n"
      "that the others receive up to 8 messages more than the mean. To merge the first segments "
      "along "
      "trees\n"
      "saved one round, to spread merges over more ranks than a segment's owner one more: neither "
      "is "
      "done.\n"
      "With 240 segments it is " +
      one_by_one(240) +
      ": it is worth cutting vectors finely.\n"
      "\n"
      "## A broadcast\n"
      "\n"
      "By the same generator, from rank 0 and for the same arrivals. The bound is N rounds, in "
      "which\n"
      "all segments come to the last rank, and N + ceil(log2 P) - 1 where none is after the root:\n"
      "\n";
  text += table_below(1.05, of_bcast);
  text +=
      "\n"
      "## A reduce\n"
      "\n"
      "By generators of its own (`fast`; [Clairvoyant](../explanation/clairvoyant.md)), to rank 0\n"
      "and for the same arrivals. The bound is N rounds, in which all segments leave the last "
      "rank\n"
      "or come to the root. A rank may be planned for up to a round before it comes, so that it\n"
      "can be one less:\n"
      "\n";
  text += table_below(1.205, of_reduce);
  text +=
      "\n"
      "The generator of the first table makes no reduces: what is left after the last arrival it\n"
      "sends straight to the owner of its segment, and were the root the owner of all, its one\n"
      "port would take N (P - 1) rounds where all ranks come at once. Where they come apart up to\n"
      "a fifth may be left to gain, by a generator that nobody has written.\n";
  return text;
}

TEST(Exchange, TableOfTheDocumentationIsWhatSchedulesTake) {
  if (sanitized) GTEST_SKIP() << "hundreds of schedules, which other tests make on fewer ranks";
  test::expect_page("results/exchange-rounds.md", page());
}

}  // namespace
}  // namespace sibyl
