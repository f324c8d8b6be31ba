// Ranks agree on who will be late: the same pattern, from the same call on, and nobody waits for it
// longer than need be. Clocks that are set apart make ranks late without anybody sleeping.
#include "arrival_service/arrival_predictor.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "arrival_service/clocks.hpp"
#include "sibyl/schedule.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

// Rank r is this many seconds late: no two ranks alike, since the machine would decide between
// them.
int lateness(int rank, int ranks) { return ranks - rank + (rank % 2 == 0 ? 0 : ranks); }

std::vector<Rank> expected_order(int ranks) {
  std::vector<Rank> order(static_cast<std::size_t>(ranks));
  for (int i = 0; i < ranks; ++i) order[static_cast<std::size_t>(i)] = i;
  std::ranges::stable_sort(order, {}, [&](Rank r) { return lateness(r, ranks); });
  return order;
}

class Agreement {
 public:
  explicit Agreement(PredictionMode mode, const CommonClock& clock = late_clock(), int host = 0)
      : clock_(clock),
        agreement_(std::make_unique<ArrivalPredictor>(
            ArrivalPredictor::Parties{comm_.get(), rank_in(), size_of(), 7, host}, mode, clock_)) {
    if (mode != PredictionMode::background || thread_level() < MPI_THREAD_MULTIPLE) return;
    thread_ = std::make_unique<ProgressThread>();
    agreement_->work_in(thread_.get());
  }
  ~Agreement() { end(); }
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  // Makes calls with a site; returns what the last one was.
  ArrivalPredictor::Call call(const CallSite& site, int count = 1, bool usable = true) {
    ArrivalPredictor::Call last;
    for (int i = 0; i < count; ++i) {
      agreement_->begin_call();
      last = agreement_->enter(site, usable);
      agreement_->leave(last);
    }
    return last;
  }
  ArrivalPredictor& operator*() { return *agreement_; }
  const CommonClock& clock() const { return clock_; }
  // From now on no thread works for it.
  void withdraw() {
    if (agreement_ != nullptr && thread_ != nullptr) thread_->withdraw(*agreement_);
  }
  void end() {
    withdraw();
    agreement_.reset();
  }
  // Whether a message is there that nobody has received.
  bool has_message() {
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.get(), &there, MPI_STATUS_IGNORE);
    return there != 0;
  }

 private:
  static CommonClock late_clock() {
    return CommonClock(LocalClock{lateness(rank_in(), size_of()) * second, 0});
  }

  Duplicate comm_;
  CommonClock clock_;
  std::unique_ptr<ProgressThread> thread_;
  std::unique_ptr<ArrivalPredictor> agreement_;
};

bool equal_everywhere(std::int64_t value) {
  std::int64_t ends[2] = {value, -value};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return ends[0] == -ends[1];
}

const CallSite gather_site{Collective::gather, 0, 4096};

constexpr std::array all_modes{PredictionMode::root_led, PredictionMode::periodic,
                               PredictionMode::background};

void change_over(PredictionMode mode) {
  Agreement agreement(mode);
  std::int64_t changed_at = 0;
  for (int i = 1; i <= 40; ++i) {
    const ArrivalPredictor::Call now = agreement.call(gather_site);
    if (now.line->version() > 0 && changed_at == 0) changed_at = i;
  }
  EXPECT_EQ(changed_at, ArrivalPredictor::first_exchange + ArrivalPredictor::calls_in_flight + 1);
  const ArrivalPredictor::Call now = agreement.call(gather_site);
  EXPECT_EQ(now.line->view->order, expected_order(size_of()));
  EXPECT_EQ(now.line->version(), 1U);
  const int first = expected_order(size_of()).front();
  for (int rank = 0; rank < size_of(); ++rank) {
    const int behind = lateness(rank, size_of()) - lateness(first, size_of());
    // The test's own ranks come as the machine lets them.
    EXPECT_NEAR(now.line->view->times[static_cast<std::size_t>(rank)], behind, 0.5);
  }
}

TEST(ArrivalPredictor, AllRanksChangeOverAtTheSameCall) {
  change_over(PredictionMode::periodic);
  change_over(PredictionMode::background);
}

// In the calls alone they would wait for rank 0, which waits for them.
TEST(ArrivalPredictor, InTheBackgroundNobodyWaitsForARankZeroThatComputes) {
  if (thread_level() < MPI_THREAD_MULTIPLE) GTEST_SKIP();
  Agreement agreement(PredictionMode::background);
  agreement.call(gather_site, ArrivalPredictor::first_exchange);
  const auto go_on = [&] { agreement.call(gather_site, 1 + ArrivalPredictor::calls_in_flight); };
  int through = 1;
  if (rank_in() != 0) {
    go_on();
    MPI_Send(&through, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  for (int other = 1; rank_in() == 0 && other < size_of(); ++other) {
    MPI_Recv(&through, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank_in() == 0) go_on();
  EXPECT_EQ(agreement.call(gather_site).line->version(), 1U);
}

// Work for the thread: so many pieces.
struct Chores final : ProgressHook {
  explicit Chores(std::atomic<int>& pieces) : left(pieces) {}
  bool advance() noexcept override { return left > 0 && left-- > 0; }
  std::atomic<int>& left;
};

// What is foreseen is what comes into force, and a thread works ahead of it.
void foresee(PredictionMode mode) {
  Agreement agreement(mode);
  const bool has_thread = (*agreement).has_thread();
  std::vector<double> foreseen;
  std::vector<double> heard;
  std::atomic<int> left = 100;
  Chores chores(left);
  (*agreement).on_coming_pattern([&](const CallSite& site, std::span<const double> times) {
    EXPECT_EQ(site, gather_site);
    EXPECT_TRUE(heard.empty());
    foreseen.assign(times.begin(), times.end());
  });
  (*agreement).work_ahead(&chores);
  (*agreement)
      .on_new_pattern([&](const CallSite&, int, const ArrivalPattern& pattern, const SharedView&) {
        heard = pattern.times;
      });
  agreement.call(gather_site, ArrivalPredictor::first_exchange);
  const double end = MPI_Wtime() + 10;
  for (int i = 0; i < ArrivalPredictor::calls_in_flight; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);  // what rank 0 sends in a call is there at the next but one
    agreement.call(gather_site);
  }
  EXPECT_TRUE(heard.empty());
  EXPECT_EQ(foreseen.size(), static_cast<std::size_t>(size_of()));
  while (has_thread && left > 0 && MPI_Wtime() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(left, has_thread ? 0 : 100);
  agreement.call(gather_site);
  EXPECT_EQ(heard, foreseen);
}

TEST(ArrivalPredictor, SaysWhatWillComeIntoForceBeforeItDoes) {
  foresee(PredictionMode::periodic);
  foresee(PredictionMode::background);
}

TEST(ArrivalPredictor, TheRootAloneIsTold) {
  Agreement agreement(PredictionMode::root_led);
  const int root = size_of() - 1;
  const CallSite site{Collective::scatter, root, 64};
  ArrivalPredictor::Call now;
  for (int i = 0; i < 60; ++i) {
    now = agreement.call(site);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const bool told = rank_in() == root || rank_in() == 0;  // rank 0 has made it
  EXPECT_EQ(now.line->version() > 0, told);
  if (told) {
    EXPECT_EQ(now.line->view->order, expected_order(size_of()));
  }
}

TEST(ArrivalPredictor, EachSiteHasAPatternOfItsOwn) {
  Agreement agreement(PredictionMode::periodic);
  const CallSite other{Collective::gather, 0, 8};
  for (int i = 0; i < 20; ++i) {
    agreement.call(gather_site);
    agreement.call(other);
  }
  EXPECT_GT(agreement.call(gather_site).line->version(), 0U);
  EXPECT_GT(agreement.call(other).line->version(), 0U);
  EXPECT_NE(agreement.call(gather_site).site, agreement.call(other).site);
}

TEST(ArrivalPredictor, AStablePatternKeepsItsVersion) {
  Agreement agreement(PredictionMode::periodic);
  EXPECT_EQ(agreement.call(gather_site, 500).line->version(), 1U);
}

TEST(ArrivalPredictor, ServesEveryCallAlikeOnAllRanks) {
  Agreement agreement(PredictionMode::periodic);
  int native = 0;
  int fixed_later = 0;
  int predicted = 0;
  for (int i = 0; i < 200; ++i) {
    const ArrivalPredictor::Call now = agreement.call(gather_site);
    EXPECT_TRUE(equal_everywhere(static_cast<std::int64_t>(now.service)));
    native += now.service == Service::native ? 1 : 0;
    predicted += now.service == Service::predicted_order ? 1 : 0;
    fixed_later += i > 50 && now.service == Service::fixed_order ? 1 : 0;
  }
  // Trials go on, so that the gain is known.
  EXPECT_GT(native, 3);
  EXPECT_GT(fixed_later, 3);
  EXPECT_GT(predicted, 10);
}

TEST(ArrivalPredictor, ARankThatRefusesACallAloneStaysInStep) {
  Agreement agreement(PredictionMode::periodic);
  std::int64_t changed_at = 0;
  for (int i = 1; i <= 30; ++i) {
    // The call of the exchange, and one just before the change.
    if (rank_in() == size_of() - 1 && (i == 12 || i == 20)) {
      (*agreement).begin_call();
      continue;
    }
    const ArrivalPredictor::Call now = agreement.call(gather_site);
    if (now.line->version() > 0 && changed_at == 0) changed_at = i;
  }
  EXPECT_EQ(changed_at, 21);
}

// The late one comes only when all others are through: they must not need it.
TEST(ArrivalPredictor, AnEarlyRankDoesNotWaitForALateOne) {
  const int late = size_of() - 1;
  for (const PredictionMode mode : all_modes) {
    Agreement agreement(mode);
    agreement.call(gather_site, 11);
    const auto go_on = [&] { agreement.call(gather_site, 1 + ArrivalPredictor::calls_in_flight); };
    int through = 1;
    if (rank_in() != late) go_on();
    for (int other = 0; rank_in() == late && other < late; ++other) {
      MPI_Recv(&through, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank_in() != late) MPI_Send(&through, 1, MPI_INT, late, 0, MPI_COMM_WORLD);
    if (rank_in() == late) go_on();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// A root that only sends is through long before rank 0 has made the call of the exchange.
TEST(ArrivalPredictor, ARootThatEndsFirstLeavesNoMessage) {
  const int root = size_of() - 1;
  for (const PredictionMode mode : {PredictionMode::root_led, PredictionMode::periodic}) {
    for (const int calls : {13, 50}) {
      Agreement agreement(mode);
      if (rank_in() == 0 && root != 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      agreement.call({Collective::scatter, root, 8}, calls);
      EXPECT_TRUE((*agreement).finish());
      MPI_Barrier(MPI_COMM_WORLD);
      EXPECT_FALSE(agreement.has_message());
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

// In two calls' time these clocks may have run off by more than lets orders be told apart.
TEST(ArrivalPredictor, HasClocksOfSeveralHostsComparedAgain) {
  constexpr double runs_off = 100;  // seconds a second
  for (const PredictionMode mode : all_modes) {
    Duplicate together;
    CommonClock clock(LocalClock{}, runs_off);
    clock.synchronise(together.get(), rank_in());
    Agreement agreement(mode, clock, rank_in());
    const std::int64_t before = agreement.clock().compared_at();
    for (int i = 0; i < 1100; ++i) {
      agreement.call(gather_site);
      if (i % 16 == 0) MPI_Barrier(MPI_COMM_WORLD);
    }
    const bool again = agreement.clock().compared_at() != before;
    EXPECT_EQ(again, mode != PredictionMode::root_led && size_of() > 1);
    agreement.end();
  }
}

TEST(ArrivalPredictor, ComparesNoClocksThatAreExact) {
  constexpr double runs_off = 0;
  Duplicate together;
  CommonClock clock(LocalClock{}, runs_off);
  clock.synchronise(together.get(), rank_in());
  Agreement agreement(PredictionMode::periodic, clock, rank_in());
  const std::int64_t before = agreement.clock().compared_at();
  agreement.call(gather_site, 1100);
  EXPECT_EQ(agreement.clock().compared_at(), before);
}

// And leaves nothing to a communicator that comes after it.
TEST(ArrivalPredictor, MayEndAtAnyCall) {
  for (const PredictionMode mode : all_modes) {
    for (const int calls : {0, 11, 12, 13, 20, 21, 22, 40}) {
      Agreement agreement(mode);
      agreement.call({Collective::gather, size_of() - 1, 8}, calls);
      EXPECT_EQ((*agreement).calls(), calls);
      agreement.withdraw();
      EXPECT_TRUE((*agreement).finish());
      MPI_Barrier(MPI_COMM_WORLD);
      EXPECT_FALSE(agreement.has_message());
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

TEST(ArrivalPredictor, DoesNotHangOverARankThatIsGone) {
  if (size_of() < 2) GTEST_SKIP() << "needs somebody to be gone";
  for (const PredictionMode mode : all_modes) {
    Agreement agreement(mode);
    const bool gone = rank_in() == size_of() - 1;
    agreement.call(gather_site, gone ? 11 : 15);
    agreement.end();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(ArrivalPredictor, TrialsFollowFromTheNumberOfTheCall) {
  int native = 0;
  int other = 0;
  for (std::int64_t call = 1; call <= 16000; ++call) {
    const Service now = ArrivalPredictor::trial_of(call, Service::predicted_order);
    native += now == Service::native ? 1 : 0;
    other += now == Service::fixed_order ? 1 : 0;
    EXPECT_EQ(now == Service::native,
              ArrivalPredictor::trial_of(call, Service::fixed_order) == Service::native);
  }
  EXPECT_NEAR(native, 1000, 150);
  EXPECT_NEAR(other, 2000, 200);
}

}  // namespace
}  // namespace sibyl::test
