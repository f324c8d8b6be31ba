// Gather and scatter in a predicted order: the data are the same whatever the order, and the order
// is really followed.
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "collectives/harness.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

constexpr int calls = 30;  // the order holds from call 22 on

int value(int call, int rank, int element) { return call * 1'000'000 + rank * 10'000 + element; }

// The blocks of an irregular call: of `count` elements at every third rank, of more at others.
struct UnevenBlocks {
  std::vector<int> counts;
  std::vector<int> places;
  int all = 0;
  UnevenBlocks(int size, int count) {
    for (int r = 0; r < size; ++r) {
      counts.push_back(count + r % 3);
      places.push_back(all);
      all += counts.back();
    }
  }
};

void call_irregular(Collective collective, const Served& served, int root, int count, int call) {
  const int rank = rank_in();
  const int size = size_of();
  const bool at_root = rank == root;
  const UnevenBlocks blocks(size, count);
  const int mine = blocks.counts[static_cast<std::size_t>(rank)];
  std::vector<int> all(at_root ? static_cast<std::size_t>(blocks.all) : 0, -1);
  std::vector<int> own(static_cast<std::size_t>(mine), -1);
  const auto each = [&](int of, auto act) {
    for (int i = 0; i < blocks.counts[static_cast<std::size_t>(of)]; ++i) {
      act(all[static_cast<std::size_t>(blocks.places[static_cast<std::size_t>(of)] + i)],
          value(call, of, i));
    }
  };
  if (collective == Collective::gatherv) {
    for (int i = 0; i < mine; ++i) own[static_cast<std::size_t>(i)] = value(call, rank, i);
    ASSERT_EQ(SIBYL_Gatherv(own.data(), mine, MPI_INT, all.data(), blocks.counts.data(),
                            blocks.places.data(), MPI_INT, root, served.get()),
              MPI_SUCCESS);
    for (int of = 0; of < size && at_root; ++of) {
      each(of, [&](int got, int wanted) { ASSERT_EQ(got, wanted) << "rank " << of; });
    }
    return;
  }
  for (int of = 0; of < size && at_root; ++of) {
    each(of, [](int& place, int wanted) { place = wanted; });
  }
  ASSERT_EQ(SIBYL_Scatterv(all.data(), blocks.counts.data(), blocks.places.data(), MPI_INT,
                           own.data(), mine, MPI_INT, root, served.get()),
            MPI_SUCCESS);
  for (int i = 0; i < mine; ++i) {
    ASSERT_EQ(own[static_cast<std::size_t>(i)], value(call, rank, i));
  }
}

// One call, with its data looked at.
void call_once(Collective collective, const Served& served, int root, int count, int call) {
  const int rank = rank_in();
  const int size = size_of();
  const auto elements = static_cast<std::size_t>(count);
  const bool at_root = rank == root;
  std::vector<int> all(at_root ? elements * static_cast<std::size_t>(size) : 0, -1);
  std::vector<int> own(elements, -1);
  const bool in_place = call % 3 == 0;
  const auto fill = [&](int* block, int of) {
    for (int i = 0; i < count; ++i) block[i] = value(call, of, i);
  };
  const auto expect = [&](const int* block, int of) {
    for (int i = 0; i < count; ++i) ASSERT_EQ(block[i], value(call, of, i)) << "rank " << of;
  };
  const auto block_of = [&](int of) {
    return all.data() + elements * static_cast<std::size_t>(of);
  };
  if (collective == Collective::gather) {
    fill(own.data(), rank);
    if (at_root && in_place) fill(block_of(rank), rank);
    const void* send = at_root && in_place ? MPI_IN_PLACE : own.data();
    ASSERT_EQ(SIBYL_Gather(send, count, MPI_INT, all.data(), count, MPI_INT, root, served.get()),
              MPI_SUCCESS);
    for (int of = 0; of < size && at_root; ++of) expect(block_of(of), of);
  } else {
    for (int of = 0; of < size && at_root; ++of) fill(block_of(of), of);
    void* receive = at_root && in_place ? MPI_IN_PLACE : own.data();
    ASSERT_EQ(
        SIBYL_Scatter(all.data(), count, MPI_INT, receive, count, MPI_INT, root, served.get()),
        MPI_SUCCESS);
    if (!(at_root && in_place)) expect(own.data(), rank);
  }
}

void serve_in_order(Collective collective, const Algorithm& row, PredictionMode mode, int root,
                    int count) {
  const bool irregular = collective == Collective::gatherv || collective == Collective::scatterv;
  Served served(collective, &row);
  Settings settings = forced(collective, &row);
  settings.predict = mode;
  settings.outstanding = 1;
  served.state().replace_settings(settings);
  for (int call = 0; call < calls; ++call) {
    std::this_thread::sleep_for(std::chrono::microseconds((size_of() - rank_in()) % 3 * 300));
    (irregular ? call_irregular : call_once)(collective, served, root, count, call);
    // Where the root only sends, it might be through before it could hear of anything.
    if (mode == PredictionMode::root_led) MPI_Barrier(MPI_COMM_WORLD);
  }
  if (size_of() < 2) return;
  const auto bytes = irregular ? 0 : static_cast<std::uint64_t>(count) * sizeof(int);
  const ArrivalPredictor::Site* site =
      served.state().arrivals.predictor()->known({collective, root, bytes});
  ASSERT_NE(site, nullptr);
  const bool everywhere = mode != PredictionMode::root_led;
  if (everywhere || rank_in() == root) {
    EXPECT_GT(site->lines[0].version(), 0U);
  }
  const bool follows = row.order == OrderUse::all_ranks ? everywhere : rank_in() == root;
  if (site->lines[0].pays || !follows) {
    EXPECT_EQ(served.state().programs.holds(row, site->lines[0].view), follows);
  }
}

// A call that the library serves, as one in sixteen, costs what it takes there: its root waits for
// who is late.
TEST(PredictedCalls, OfTheLibraryAreOverWhenItHasServedThem) {
  if (size_of() < 2) GTEST_SKIP();
  constexpr auto late = std::chrono::milliseconds(10);
  const Algorithm* const linear = find_linear(Collective::gather);
  Served served(Collective::gather, linear);
  Settings settings = forced(Collective::gather, linear);
  settings.predict = PredictionMode::periodic;
  served.state().replace_settings(settings);
  std::int64_t longest = 0;  // a root that is descheduled may come late itself
  for (int call = 0; call < 3 * calls; ++call) {
    if (rank_in() == 1) std::this_thread::sleep_for(late);
    call_once(Collective::gather, served, 0, 3, call);
    const ArrivalPredictor::Site* const site =
        served.state().arrivals.predictor()->known({Collective::gather, 0, 3 * sizeof(int)});
    if (rank_in() != 0 || site == nullptr || site->recorded == 0) continue;
    const auto& record = site->recent[(site->recorded - 1) % ArrivalPredictor::Site::window];
    if (record.service != Service::native) continue;
    longest = std::max(longest, record.departure - record.arrival);
  }
  if (rank_in() == 0) {
    EXPECT_GE(longest, std::chrono::nanoseconds(late).count() / 2);
  }
}

TEST(PredictedCalls, MoveTheSameDataInAnyOrder) {
  for (const Collective collective :
       {Collective::gather, Collective::scatter, Collective::gatherv, Collective::scatterv}) {
    for (const Algorithm& row : algorithms(collective)) {
      if (row.order == OrderUse::none) continue;
      for (const PredictionMode mode : {PredictionMode::root_led, PredictionMode::periodic}) {
        const bool led = mode == PredictionMode::root_led;
        if (led && row.order != OrderUse::root_only) continue;
        for (const int count : {3, 2500}) {
          if (led && count == 3) continue;
          SCOPED_TRACE(std::string(name_of(collective)) + " " + std::string(row.name));
          serve_in_order(collective, row, mode, count == 3 ? 0 : size_of() - 1, count);
        }
      }
    }
  }
}

// Known, so that nobody measures them first.
constexpr Costs some_costs{.alpha = 1e-6, .overhead = 1e-6, .beta = 1e-9, .gamma = 1e-10};

// A served reduce of this many elements, with its result looked at.
void reduce_once(const Served& served, int count, int call) {
  const int size = size_of();
  std::vector<int> own(static_cast<std::size_t>(count));
  std::vector<int> sum(own.size());
  for (int i = 0; i < count; ++i) own[static_cast<std::size_t>(i)] = call + i * rank_in();
  ASSERT_EQ(SIBYL_Reduce(own.data(), sum.data(), count, MPI_INT, MPI_SUM, 0, served.get()),
            MPI_SUCCESS);
  for (int i = 0; i < count && rank_in() == 0; ++i) {
    ASSERT_EQ(sum[static_cast<std::size_t>(i)], size * call + i * (size * (size - 1) / 2));
  }
}

// A machine that has other things to do makes other ranks late too, but not in all of several
// attempts, each on a communicator of its own. Collective: all ranks go on, or none does.
template <class Attempt>
bool in_one_of_several(Attempt attempt) {
  for (int number = 0; number < 8; ++number) {
    int right = attempt() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (right == 1) return true;
  }
  return false;
}

bool latest_is(const SharedView& view, int rank) {
  return std::ranges::max_element(view->times) - view->times.begin() == rank;
}

// All ranks hear of the pattern at the same call, and plan for it where the last one comes long
// after all others.
TEST(PredictedCalls, OfAReduceEndUpInClairvoyantWithThePredictedArrivals) {
  const int size = size_of();
  if (size < 2) GTEST_SKIP();
  const auto attempt = [&] {
    const Served served(Collective::reduce, nullptr);
    CommunicatorState& state = *CommunicatorState::get(served.get());
    state.set_placement({.ranks_per_node = size});  // or two levels might be chosen
    Settings settings = state.settings();
    settings.predict = PredictionMode::periodic;
    settings.alpha = 1000;  // of a network on which a millisecond is long
    settings.overhead = 100;
    settings.beta = 1000;
    state.replace_settings(settings);
    for (int call = 0; call < calls; ++call) {
      MPI_Barrier(served.get());  // or those who only send would be calls ahead
      if (rank_in() == size - 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      reduce_once(served, 8192, call);
    }
    const std::vector<double> known(state.arrivals.view()->times);
    EXPECT_EQ(known.size(), static_cast<std::size_t>(size));
    std::vector<double> of_root = known;
    MPI_Bcast(of_root.data(), static_cast<int>(of_root.size()), MPI_DOUBLE, 0, served.get());
    EXPECT_EQ(known, of_root);
    const auto& choice = state.cached_choice[static_cast<std::size_t>(Collective::reduce)];
    return choice.algorithm != nullptr && choice.algorithm->name == "clairvoyant";
  };
  EXPECT_TRUE(in_one_of_several(attempt));
}

// All ranks hear of the pattern at the same call, and leave the late rank out of the ring from then
// on.
TEST(PredictedCalls, OfAnAllreduceKnowTheLateRank) {
  const int size = size_of();
  if (size < 3) GTEST_SKIP() << "needs a ring without one rank";
  const Algorithm* const ring = find_algorithm(Collective::allreduce, "pre-reduced-ring");
  constexpr int count = 8192;
  std::vector<int> own(count);
  std::vector<int> sum(count);
  const auto attempt = [&] {
    const Served served(Collective::allreduce, ring);
    CommunicatorState& state = *CommunicatorState::get(served.get());
    Settings settings = forced(Collective::allreduce, ring);
    settings.predict = PredictionMode::periodic;
    state.replace_settings(settings);
    state.replace_costs(some_costs);
    for (int call = 0; call < calls; ++call) {
      if (rank_in() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      for (int i = 0; i < count; ++i) own[static_cast<std::size_t>(i)] = call + i * rank_in();
      EXPECT_EQ(SIBYL_Allreduce(own.data(), sum.data(), count, MPI_INT, MPI_SUM, served.get()),
                MPI_SUCCESS);
      int wrong = 0;
      for (int i = 0; i < count; ++i) {
        const int wanted = size * call + i * (size * (size - 1) / 2);
        if (sum[static_cast<std::size_t>(i)] != wanted) ++wrong;
      }
      EXPECT_EQ(wrong, 0) << "in call " << call;
    }
    const SharedView view = state.arrivals.view();
    EXPECT_EQ(view->times.size(), static_cast<std::size_t>(size));
    EXPECT_TRUE(state.programs.holds(*ring, view));
    return latest_is(view, 1);
  };
  EXPECT_TRUE(in_one_of_several(attempt));
}

// Two reduces of one size, before which other ranks are late. Ranks other than 0 need not call from
// the same lines.
TEST(PredictedCalls, OfReducesAtTwoLinesKnowTheLateRankOfEach) {
  const int size = size_of();
  if (size < 3) GTEST_SKIP() << "needs two that are late by turns";
  const Algorithm* const clairvoyant = find_algorithm(Collective::reduce, "clairvoyant");
  constexpr int count = 1024;
  std::vector<int> own(count);
  std::vector<int> sum(count);
  const auto begin = [&](int late, int step) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_in() == late) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (int i = 0; i < count; ++i) own[static_cast<std::size_t>(i)] = step + i * rank_in();
  };
  const auto check = [&](int step) {
    int wrong = 0;
    for (int i = 0; i < count && rank_in() == 0; ++i) {
      const int wanted = size * step + i * (size * (size - 1) / 2);
      if (sum[static_cast<std::size_t>(i)] != wanted) ++wrong;
    }
    EXPECT_EQ(wrong, 0) << "in step " << step;
  };
  const auto attempt = [&] {
    const Served served(Collective::reduce, clairvoyant);
    CommunicatorState& state = *CommunicatorState::get(served.get());
    Settings settings = forced(Collective::reduce, clairvoyant);
    settings.predict = PredictionMode::periodic;
    state.replace_settings(settings);
    state.replace_costs(some_costs);
    for (int step = 0; step < calls; ++step) {
      begin(1, step);
      if (rank_in() == 2 && step % 3 == 0) {
        SIBYL_Reduce(own.data(), sum.data(), count, MPI_INT, MPI_SUM, 0, served.get());
      } else {
        SIBYL_Reduce(own.data(), sum.data(), count, MPI_INT, MPI_SUM, 0, served.get());
      }
      check(step);
      begin(2, step);
      SIBYL_Reduce(own.data(), sum.data(), count, MPI_INT, MPI_SUM, 0, served.get());
      check(step);
    }
    const ArrivalPredictor::Site* const site =
        state.arrivals.predictor()->known({Collective::reduce, 0, count * sizeof(int)});
    if (site == nullptr) return false;
    bool right = state.arrivals.view() != site->lines[1].view;
    for (const int line : {1, 2}) {
      const SharedView& view = site->lines[static_cast<std::size_t>(line)].view;
      right = right && view != nullptr && latest_is(view, line) &&
              state.programs.holds(*clairvoyant, view);
    }
    return right;
  };
  EXPECT_TRUE(in_one_of_several(attempt));
}

// The schedule of the predicted arrivals is made while ranks wait in the calls before.
TEST(PredictedCalls, OfAReduceMakeTheNextScheduleWhileTheyWait) {
  if (size_of() < 2) GTEST_SKIP();
  const Algorithm* const clairvoyant = find_algorithm(Collective::reduce, "clairvoyant");
  const Served served(Collective::reduce, clairvoyant);
  CommunicatorState& state = *CommunicatorState::get(served.get());
  Settings settings = forced(Collective::reduce, clairvoyant);
  settings.predict = PredictionMode::periodic;
  settings.segments = 16;
  state.replace_settings(settings);
  state.replace_costs(some_costs);
  for (int call = 0; call < calls; ++call) {
    // The last call before the exchange is the same for all, so that its result is there in time.
    if (call > ArrivalPredictor::first_exchange) MPI_Barrier(MPI_COMM_WORLD);
    if (rank_in() == size_of() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    reduce_once(served, 32768, call);  // beyond lockstep, which waits in MPI
  }
  EXPECT_GT(state.arrivals.view()->version, 0U);
  std::uint64_t made = state.programs.prefetched().rounds_made();
  MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_UINT64_T, MPI_MAX, served.get());
  EXPECT_GT(made, 0U);
}

TEST(PredictedCalls, OfAReduceUseTheScheduleThatWasMadeAhead) {
  if (size_of() < 2) GTEST_SKIP();
  const Algorithm* const clairvoyant = find_algorithm(Collective::reduce, "clairvoyant");
  const Served served(Collective::reduce, clairvoyant);
  CommunicatorState& state = *CommunicatorState::get(served.get());
  PlanPrefetch& ahead = state.programs.prefetched();
  for (const int count : {5, 8192}) {  // fewer elements than segments, and more
    Settings settings = forced(Collective::reduce, clairvoyant);
    settings.segments = 16;
    state.replace_settings(settings);
    state.replace_costs(some_costs);
    state.arrivals.publish({});
    reduce_once(served, count, 1);
    const std::uint64_t bytes = static_cast<std::uint64_t>(count) * sizeof(int);
    std::vector<double> times;
    for (int r = 0; r < size_of(); ++r) times.push_back(100 + r * count);
    // Some ranks have made all, some a part, some nothing; the others do not wait for them.
    state.arrivals.expect({Collective::reduce, 0, bytes}, times);
    ASSERT_TRUE(ahead.holds());
    for (int i = 0; rank_in() % 3 > 0 && (rank_in() % 3 == 1 || i < 3); ++i) {
      if (!ahead.advance()) break;
    }
    ASSERT_TRUE(state.arrivals.publish(times));
    EXPECT_FALSE(ahead.holds());  // planned for at once
    reduce_once(served, count, 2);

    // Another pattern comes than was foreseen.
    state.arrivals.expect({Collective::reduce, 0, bytes}, times);
    times.front() += 7;
    ASSERT_TRUE(state.arrivals.publish(times));
    EXPECT_TRUE(ahead.holds());
    reduce_once(served, count, 3);
  }
}

TEST(PredictedCalls, AreNotMeasuredUnlessAskedFor) {
  const Served served(Collective::gather, nullptr);
  EXPECT_EQ(CommunicatorState::get(served.get())->arrivals.predictor(), nullptr);
}

}  // namespace
}  // namespace sibyl::test
