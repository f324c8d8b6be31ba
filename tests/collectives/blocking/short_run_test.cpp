// Calls that come again: by short runs (executor/program/short_run.hpp) they give what they gave
// before, wherever their buffers lie, and what a short run must not serve goes the whole way.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectives/blocking/governed_calls.hpp"
#include "collectives/blocking/serve.hpp"
#include "collectives/device_numbers.hpp"
#include "collectives/harness.hpp"
#include "communicator/settled_calls.hpp"

namespace sibyl::test {
namespace {

constexpr int enough = 6;  // calls, after which one is settled if it ever is
constexpr int guard = -77;

// One call of ints: block r of a rank's data holds value(call, rank, r) + element.
struct Trial {
  Collective collective;
  int root = 0;
  int count = 1;
  bool in_place = false;
  MPI_Comm comm = MPI_COMM_NULL;

  bool irregular() const {
    return collective == Collective::gatherv || collective == Collective::scatterv;
  }
  bool up() const { return gathers(collective); }
  bool scans() const { return collective == Collective::scan || collective == Collective::exscan; }
  // Of any sizes, other ones in each call, some empty.
  int count_of(int call, int rank) const {
    return irregular() ? (call * 7 + rank * 3) % (count + 1) : count;
  }
  int place_of(int rank) const { return irregular() ? rank * (count + 2) + 1 : rank * count; }
  static int value(int call, int rank, int element) { return call * 1009 + rank * 101 + element; }

  // Buffers lie elsewhere in each call.
  std::string run(int call, std::vector<int>& all, std::vector<int>& own) const;
};

void fill(std::vector<int>& to, int begin, int count, int call, int rank) {
  for (int i = 0; i < count; ++i) {
    to[static_cast<std::size_t>(begin + i)] = Trial::value(call, rank, i);
  }
}

std::string compared(const std::vector<int>& found, const std::vector<int>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (found[i] == wanted[i]) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(found[i]) + ", not " +
           std::to_string(wanted[i]);
  }
  return {};
}

std::string Trial::run(int call, std::vector<int>& all, std::vector<int>& own) const {
  const int me = rank_in(comm);
  const int ranks = size_of(comm);
  const auto room = static_cast<std::size_t>(ranks * (count + 2) + 2);
  all.assign(room + static_cast<std::size_t>(call), guard);
  own.assign(static_cast<std::size_t>(count) + 3, guard);
  int* const all_at = all.data() + call;
  int* const own_at = own.data() + 1;
  const int mine = count_of(call, me);
  if (scans()) {
    const bool inclusive = collective == Collective::scan;
    fill(own, 1, count, call, me);
    std::vector<int> wanted = all;
    if (in_place) std::copy_n(own_at, count, all_at);
    const int before = inclusive ? me + 1 : me;
    for (int i = 0; i < count; ++i) {
      int sum = 0;
      for (int rank = 0; rank < before; ++rank) sum += value(call, rank, i);
      if (before > 0) wanted[static_cast<std::size_t>(call + i)] = sum;
    }
    const void* const send = in_place ? MPI_IN_PLACE : own_at;
    const int error = inclusive ? serve_scan({}, send, all_at, count, MPI_INT, MPI_SUM, comm)
                                : serve_exscan({}, send, all_at, count, MPI_INT, MPI_SUM, comm);
    if (error != MPI_SUCCESS) return "error " + std::to_string(error);
    return before == 0 ? std::string() : compared(all, wanted);
  }
  std::vector<int> counts;
  std::vector<int> places;
  for (int rank = 0; rank < ranks; ++rank) {
    counts.push_back(count_of(call, rank));
    places.push_back(place_of(rank));
  }
  const bool is_root = me == root;
  std::vector<int> filled_all = all;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    fill(filled_all, call + places[at], counts[at], call, rank);
  }
  std::vector<int> filled_own = own;
  fill(filled_own, 1, mine, call, me);
  std::vector<int> wanted_all = all;
  std::vector<int> wanted_own = own;
  const bool here = in_place && is_root;
  if (up()) {
    own = filled_own;
    if (here) fill(all, call + place_of(me), mine, call, me);
    if (is_root) wanted_all = filled_all;
    wanted_own = own;
  } else {
    if (is_root) all = filled_all;
    wanted_all = all;
    if (!here) wanted_own = filled_own;
  }
  void* const own_side = here ? MPI_IN_PLACE : own_at;
  void* const root_side = is_root ? static_cast<void*>(all_at) : wild();
  const int count_at_root = is_root ? count : -5;
  const Counts sizes = is_root ? Counts(counts.data()) : Counts(static_cast<const int*>(wild()));
  const Displacements at =
      is_root ? Displacements(places.data()) : Displacements(static_cast<const int*>(wild()));
  int error = MPI_SUCCESS;
  switch (collective) {
    case Collective::gather:
      error =
          serve_gather({}, own_side, count, MPI_INT, root_side, count_at_root, MPI_INT, root, comm);
      break;
    case Collective::scatter:
      error = serve_scatter({}, root_side, count_at_root, MPI_INT, own_side, count, MPI_INT, root,
                            comm);
      break;
    case Collective::gatherv:
      error = serve_gatherv({}, own_side, mine, MPI_INT, root_side, sizes, at, MPI_INT, root, comm);
      break;
    default:
      error =
          serve_scatterv({}, root_side, sizes, at, MPI_INT, own_side, mine, MPI_INT, root, comm);
      break;
  }
  if (error != MPI_SUCCESS) return "error " + std::to_string(error);
  const std::string wrong = compared(all, wanted_all);
  return wrong.empty() ? compared(own, wanted_own) : wrong;
}

// What the call of this trial, at this rank, is known to be.
std::optional<KnownCall::Kind> kind_of(const Trial& trial) {
  const bool is_root = rank_in(trial.comm) == trial.root;
  int some[2] = {};
  void* const own = trial.in_place && (is_root || trial.scans()) ? MPI_IN_PLACE : &some[0];
  void* const all = &some[1];
  const int count_at_root = is_root ? trial.count : -5;
  SettledCall key;
  if (trial.scans()) {
    key = settled_call(trial.collective, no_rank, {}, trial.comm, own, all)
              .with(trial.count, MPI_INT)
              .by(MPI_SUM);
  } else if (trial.irregular()) {
    key = settled_call(trial.collective, trial.root, {}, trial.comm, all, own);
    key.count = key.other_count = 1;
  } else {
    key = settled_call(trial.collective, trial.root, {}, trial.comm, all, own)
              .with(trial.count, MPI_INT)
              .with_other(count_at_root, MPI_INT);
  }
  const KnownCall* const known = SettledCalls::find(key);
  return known == nullptr ? std::nullopt : std::optional(known->kind);
}

bool has_run(const Trial& trial) { return kind_of(trial) == KnownCall::Kind::served; }

class ShortRuns : public testing::TestWithParam<Collective> {
 protected:
  Trial trial(MPI_Comm comm) const {
    Trial trial{.collective = GetParam()};
    trial.comm = comm;
    return trial;
  }
};

TEST_P(ShortRuns, GiveWhatTheWholeWayDoesByEveryAlgorithm) {
  std::vector<int> all;
  std::vector<int> own;
  int runs = 0;
  for (const Algorithm* row : rows_and_auto(GetParam())) {
    Served served(GetParam(), row);
    Trial now = trial(served.get());
    for (const int count : {1, 3, 64, 1024, 4096, 5000, 20000}) {
      for (const bool in_place : {false, true}) {
        for (const int root : {0, size_of() - 1}) {
          now.count = count;
          now.in_place = in_place;
          now.root = root;
          for (int call = 0; call < enough + 2; ++call) {
            const std::string wrong = now.run(call, all, own);
            EXPECT_EQ(wrong, "") << name_or_auto(row) << ", " << count << " ints, root " << root
                                 << (in_place ? ", in place" : "") << ", call " << call;
          }
          runs += has_run(now) ? 1 : 0;
        }
      }
    }
  }
  EXPECT_TRUE(runs > 0 || size_of() == 1);
}

// With what is chosen by itself: a few messages of a few bytes.
TEST_P(ShortRuns, ServeShortCallsOfFewRanks) {
  if (size_of() == 1 || size_of() > 3) GTEST_SKIP() << "more messages, or none";
  if (size_of() == 2 && GetParam() == Collective::gatherv) GTEST_SKIP() << "the library's";
  std::vector<int> all;
  std::vector<int> own;
  for (const bool in_place : {false, true}) {
    const Duplicate duplicate;
    Trial now = trial(duplicate.get());
    now.in_place = in_place;
    now.count = 2;
    for (int call = 0; call < enough; ++call) EXPECT_EQ(now.run(call, all, own), "");
    EXPECT_TRUE(has_run(now)) << (in_place ? "in place" : "");
    SettledCalls::forget(duplicate.get());
    EXPECT_FALSE(has_run(now));
  }
}

TEST_P(ShortRuns, LeaveBuffersOfADeviceToTheWholeWay) {
  if (trial(MPI_COMM_NULL).irregular() || trial(MPI_COMM_NULL).scans()) {
    GTEST_SKIP() << "as those of equal blocks";
  }
  Served served(GetParam(), find_linear(GetParam()));
  Trial now = trial(served.get());
  now.count = 4;
  std::vector<int> all;
  std::vector<int> own;
  for (int call = 0; call < enough; ++call) EXPECT_EQ(now.run(call, all, own), "");
  const int me = rank_in();
  const auto blocks = static_cast<std::size_t>(now.count * size_of());
  DeviceNumbers every(blocks);
  DeviceNumbers one(static_cast<std::size_t>(now.count));
  const auto block_of = [&](int rank) { return std::vector<int>(4, 1000 + rank); };
  std::vector<int> joined;
  for (int rank = 0; rank < size_of(); ++rank) {
    joined.insert(joined.end(), 4, 1000 + rank);
  }
  // Known by the same words: what differs is where the memory lies.
  if (now.up()) {
    one.set(block_of(me));
    EXPECT_EQ(serve_gather({}, one.address(), 4, MPI_INT, every.address(), me == 0 ? 4 : -5,
                           MPI_INT, 0, now.comm),
              MPI_SUCCESS);
    EXPECT_TRUE(me != 0 || every.get() == joined);
  } else {
    if (me == 0) every.set(joined);
    EXPECT_EQ(serve_scatter({}, every.address(), me == 0 ? 4 : -5, MPI_INT, one.address(), 4,
                            MPI_INT, 0, now.comm),
              MPI_SUCCESS);
    EXPECT_EQ(one.get(), block_of(me));
  }
}

INSTANTIATE_TEST_SUITE_P(Collectives, ShortRuns,
                         testing::Values(Collective::gather, Collective::scatter,
                                         Collective::gatherv, Collective::scatterv,
                                         Collective::scan, Collective::exscan),
                         [](const auto& info) { return std::string(name_of(info.param)); });

// Long blocks at first, of which there is no short run.
TEST(ShortRun, OfIrregularBlocksComesWithTheFirstShortOnes) {
  if (size_of() == 1 || size_of() > 3) GTEST_SKIP() << "more messages, or none";
  const Duplicate duplicate;
  std::vector<int> all;
  std::vector<int> own;
  Trial now{.collective = Collective::scatterv};
  now.comm = duplicate.get();
  now.count = 90000;
  for (int call = 1; call < enough; ++call) EXPECT_EQ(now.run(call, all, own), "");
  now.count = 5;
  for (int call = 0; call < enough; ++call) EXPECT_EQ(now.run(call, all, own), "");
  EXPECT_TRUE(has_run(now));
}

long served_by_messages = 0;

// Calls of this trial, of which most are known to be of a kind: the governor is asked at every one,
// and the library serves as often as he says.
void expect_governed(Trial now, KnownCall::Kind kind) {
  for (const bool native_is_faster : {false, true}) {
    Governed governed(2e-3, native_is_faster ? 1e-3 : 4e-3);
    now.comm = governed.get();
    std::vector<int> all;
    std::vector<int> own;
    served_by_messages = 0;
    on_served = [] { ++served_by_messages; };
    constexpr int calls = 60;
    int known = 0;
    for (int call = 0; call < calls; ++call) {
      known += kind_of(now) == kind ? 1 : 0;
      EXPECT_EQ(now.run(call, all, own), "") << call;
    }
    on_served = nullptr;
    EXPECT_GT(known, calls / 2);
    ASSERT_EQ(governed.sites().size(), 1U);
    const auto& by = governed.site().served;
    EXPECT_EQ(by[0] + by[1] + by[2], calls);
    EXPECT_EQ(served_by_messages, by[0] + by[2]);
    EXPECT_EQ(governed.arm(), native_is_faster ? Arm::native : Arm::own);
  }
}

TEST(ShortRun, IsTheGovernorsToAllow) {
  if (size_of() == 1 || size_of() > 5) GTEST_SKIP() << "nothing is governed, or no short run";
  // Long enough for trials.
  expect_governed({.collective = Collective::scan, .count = 1024}, KnownCall::Kind::served);
}

// Longer calls have no short run, and are the governor's to leave to the library at once.
TEST(LongRun, IsTheGovernorsToLeaveToTheLibrary) {
  if (size_of() == 1) GTEST_SKIP() << "nothing is governed";
  expect_governed({.collective = Collective::gather, .count = 1 << 17}, KnownCall::Kind::unsettled);
}

TEST(LongRun, SumsAndBroadcastsAreTheGovernorsToLeaveToTheLibrary) {
  const int ranks = size_of();
  if (ranks == 1) GTEST_SKIP() << "nothing is governed";
  constexpr int count = 1 << 15;
  for (const bool sums : {true, false}) {
    for (const bool native_is_faster : {false, true}) {
      Governed governed(2e-3, native_is_faster ? 1e-3 : 4e-3);
      std::vector<int> own(count);
      std::vector<int> all(count);
      const SettledCall key =
          sums ? settled_call(Collective::allreduce, no_rank, {}, governed.get(), own.data(),
                              all.data())
                     .with(count, MPI_INT)
                     .by(MPI_SUM)
               : settled_call(Collective::bcast, 0, {}, governed.get(), own.data())
                     .with(count, MPI_INT);
      constexpr int calls = 60;
      int known = 0;
      for (int call = 0; call < calls; ++call) {
        const KnownCall* const found = SettledCalls::find(key);
        known += found != nullptr && found->kind == KnownCall::Kind::unsettled ? 1 : 0;
        std::ranges::fill(own, rank_in() + call);
        const int error = sums ? serve_allreduce({}, own.data(), all.data(), count, MPI_INT,
                                                 MPI_SUM, governed.get())
                               : serve_bcast({}, own.data(), count, MPI_INT, 0, governed.get());
        ASSERT_EQ(error, MPI_SUCCESS);
        const int wanted = sums ? ranks * call + ranks * (ranks - 1) / 2 : call;
        ASSERT_EQ((sums ? all : own)[count - 1], wanted) << call;
      }
      if (governed.sites().empty()) continue;  // the model chooses the library among so few
      EXPECT_GT(known, calls / 2) << sums;
      const auto& by = governed.site().served;
      EXPECT_EQ(by[0] + by[1] + by[2], calls);
      EXPECT_EQ(governed.arm(), native_is_faster ? Arm::native : Arm::own);
    }
  }
}

// A type that is freed gives its handle to another one, of another size: no rank may take that for
// a call that it knows, while others know it is not.
TEST(LongRun, IsNotThatOfAFreedType) {
  if (size_of() == 1) GTEST_SKIP() << "nothing is governed";
  Governed governed(2e-3, 1e-3);
  const int ranks = size_of();
  const bool is_root = rank_in() == 0;
  for (const int elements : {1 << 13, 1 << 15, 1 << 12, 1 << 14}) {
    MPI_Datatype block = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(elements, MPI_INT, &block);
    MPI_Type_commit(&block);
    const auto n = static_cast<std::size_t>(elements);
    for (int call = 0; call < 20; ++call) {
      std::vector<int> own(n, rank_in() + call);
      std::vector<int> all(is_root ? n * static_cast<std::size_t>(ranks) : 0, guard);
      // The root knows the type alone, others count in another one.
      const int error =
          serve_gather({}, own.data(), is_root ? 1 : elements, is_root ? block : MPI_INT,
                       all.data(), 1, block, 0, governed.get());
      EXPECT_EQ(error, MPI_SUCCESS);
      for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(all[i], static_cast<int>(i / n) + call) << i;
      }
    }
    MPI_Type_free(&block);
  }
}

// A root whose arguments are refused makes the call again: it is one call, there as elsewhere.
TEST(LongRun, IsNoCallWhereItIsRefused) {
  const int ranks = size_of();
  if (ranks == 1) GTEST_SKIP() << "nothing is governed";
  Governed governed(2e-3, 1e-3);
  MPI_Comm_set_errhandler(governed.get(), MPI_ERRORS_RETURN);
  constexpr int count = 1 << 15;
  const int root = ranks - 1;
  std::vector<int> own(count);
  std::vector<int> all(static_cast<std::size_t>(ranks) * count);
  int refused = 0;
  for (int call = 0; call < 60; ++call) {
    std::ranges::fill(own, rank_in() + call);
    const auto gather = [&](const void* send) {
      return serve_gather({}, send, count, MPI_INT, all.data(), count, MPI_INT, root,
                          governed.get());
    };
    // Where MPI refuses it: the root's own block lies where it is to go.
    if (rank_in() == root && mpich_refuses() && call % 7 == 3) {
      const int error = gather(all.data() + static_cast<std::ptrdiff_t>(root) * count);
      refused += error != MPI_SUCCESS ? 1 : 0;
    }
    EXPECT_EQ(gather(own.data()), MPI_SUCCESS);
    for (std::size_t i = 0; rank_in() == root && i < all.size(); i += 997) {
      ASSERT_EQ(all[i], static_cast<int>(i / count) + call);
    }
  }
  if (rank_in() == root && mpich_refuses()) {
    EXPECT_GT(refused, 0);
  }
  EXPECT_EQ(governed.arm(), Arm::native);
}

// What the key does not tell of blocks of any sizes: wrong counts, other types, longer blocks.
TEST(ShortRun, OfIrregularBlocksLooksAtWhatItsKeyDoesNotTell) {
  const Duplicate duplicate;
  MPI_Comm_set_errhandler(duplicate.get(), MPI_ERRORS_RETURN);
  const int ranks = size_of();
  std::vector<int> all;
  std::vector<int> own;
  Trial now{.collective = Collective::gatherv};
  now.comm = duplicate.get();
  now.count = 5;
  const auto settle = [&](bool in_place) {
    now.in_place = in_place;
    for (int call = 0; call < enough; ++call) EXPECT_EQ(now.run(call, all, own), "");
  };
  settle(true);
  // Another type of the same call, of which the root in place says nothing else.
  {
    std::vector<double> received(static_cast<std::size_t>(ranks), 0.5 + rank_in());
    const std::vector<int> counts(static_cast<std::size_t>(ranks), 1);
    std::vector<int> places;
    for (int rank = 0; rank < ranks; ++rank) places.push_back(rank);
    const double sent = 0.5 + rank_in();
    EXPECT_EQ(serve_gatherv({}, rank_in() == 0 ? MPI_IN_PLACE : &sent, 1, MPI_DOUBLE,
                            received.data(), counts.data(), places.data(), MPI_DOUBLE, 0, now.comm),
              MPI_SUCCESS);
    for (std::size_t rank = 0; rank < received.size() && rank_in() == 0; ++rank) {
      EXPECT_EQ(received[rank], 0.5 + static_cast<double>(rank));
    }
  }
  settle(false);
  // The same, and blocks too long for a short run.
  for (const int count : {1, 9000}) {
    std::vector<int> counts(static_cast<std::size_t>(ranks), count);
    std::vector<int> places;
    for (int rank = 0; rank < ranks; ++rank) places.push_back(rank * count);
    const std::vector<double> sent(static_cast<std::size_t>(count), 0.5 + rank_in());
    std::vector<double> received(static_cast<std::size_t>(count * ranks));
    EXPECT_EQ(serve_gatherv({}, sent.data(), count, MPI_DOUBLE, received.data(), counts.data(),
                            places.data(), MPI_DOUBLE, 0, now.comm),
              MPI_SUCCESS);
    for (int rank = 0; rank < ranks && rank_in() == 0; ++rank) {
      EXPECT_EQ(received[static_cast<std::size_t>((rank + 1) * count - 1)], 0.5 + rank);
    }
    settle(false);
  }
}

// A gather of one rank, cut in two, is nothing but a copy of bytes; of a type with gaps it is not.
TEST(ShortRun, IsNoneOfTypesWithGapsWhereBlocksAreCut) {
  Served served(Collective::gather, find_algorithm(Collective::gather, "linear-synchronised"),
                MPI_COMM_SELF);
  served.first_segment(4);
  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  for (int call = 0; call < enough; ++call) {
    const std::vector<int> sent{call, -1, call + 1, -1, call + 2, -1, call + 3};
    std::vector<int> received(7, guard);
    EXPECT_EQ(serve_gather({}, sent.data(), 1, every_other, received.data(), 1, every_other, 0,
                           served.get()),
              MPI_SUCCESS);
    EXPECT_EQ(received, (std::vector<int>{call, guard, call + 1, guard, call + 2, guard, call + 3}))
        << call;
  }
  MPI_Type_free(&every_other);
}

}  // namespace
}  // namespace sibyl::test
