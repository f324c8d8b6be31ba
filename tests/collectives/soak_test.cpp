// Requests and communicators made, used and freed at random for as long as is wanted, and what the
// process then holds: nothing may grow.
//
// A short run makes a fixed number of rounds. With SIBYL_TEST_LONG it lasts half an hour;
// SIBYL_TEST_SOAK_SECONDS says another time (0: a short run). Every so many rounds all that was
// made has been freed, and all ranks wait until what freed requests have left behind is gone too;
// what is held there is noted. Only the last two thirds of these notes are compared with each
// other: before, MPI and Sibyl make what they keep (pools of requests, communicators and messages,
// caches of plans and of the allocator), which grows with the most that was ever under way at once,
// not with time. Of each of the two thirds the least counts, since a leak raises that as well and a
// pool that was full once does not.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "collectives/persistent/cases.hpp"
#include "collectives/reference_by_sibyl.hpp"
#include "collectives/reference_cases.hpp"
#include "communicator/deferred_release.hpp"
#include "support/sanitized.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();  // GCC has no header for it
#endif
#if defined(__SANITIZE_ADDRESS__)
extern "C" void __sanitizer_print_memory_profile(std::size_t percent, std::size_t contexts);
#endif

namespace sibyl::test {
namespace {

// What pools and caches still grow by, and half of the least that can be leaked in a round: malloc
// gives 32 bytes at least.
double allowed_bytes(int rounds) { return 64.0 * 1024 + 16.0 * rounds; }
// In a short run pools and caches still grow; and pages that the heap has had and given back stay
// resident here and there.
constexpr double allowed_roughly = 4.0 * 1024 * 1024;

// MPICH 4.0 over UCX keeps 128 bytes of every derived datatype that was ever in a message, and a
// request has its own duplicate.
constexpr bool mpi_leaks_datatypes = std::string_view(SIBYL_FLAVOUR) == "mpich";

constexpr int short_rounds = sanitized ? 60 : 150;
constexpr int notes = 30;

// A sanitizer counts what is allocated, but keeps what is freed, and shadows of memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool residence_is_known = false;
double allocated_bytes() { return static_cast<double>(__sanitizer_get_current_allocated_bytes()); }
#else
constexpr bool residence_is_known = true;
double allocated_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd);
}
#endif

// Which calls allocated most of what is held now, where that is known: on standard error.
void tell_who_holds_memory() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_print_memory_profile(99, 60);
#endif
}

struct Held {
  int rounds = 0;
  double bytes = 0;     // of the heap
  double resident = 0;  // bytes of anonymous memory
  std::ptrdiff_t threads = 0;
  std::ptrdiff_t files = 0;
};

std::ptrdiff_t entries_of(const char* directory) {
  const std::filesystem::directory_iterator entries(directory);
  return std::distance(begin(entries), end(entries));
}

double anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "RssAnon:" && status >> kilobytes) return 1024 * kilobytes;
  }
  return 0;
}

Held held_after(int rounds) {
  return {rounds, allocated_bytes(), anonymous_bytes(), entries_of("/proc/self/task"),
          entries_of("/proc/self/fd")};
}

// How long the run is; all ranks follow rank 0's.
class Length {
 public:
  Length() {
    const char* text = std::getenv("SIBYL_TEST_SOAK_SECONDS");
    if (text != nullptr) {
      seconds_ = std::strtod(text, nullptr);
    } else if (long_tests()) {
      seconds_ = 1800;
    }
  }
  bool is_short() const { return seconds_ == 0; }
  // How much of it is over after so many rounds, in [0, notes].
  int notes_due(int rounds) const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    const double share =
        is_short() ? static_cast<double>(rounds) / short_rounds : passed.count() / seconds_;
    int due = static_cast<int>(std::min(share, 1.0) * notes);
    MPI_Bcast(&due, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return due;
  }

 private:
  double seconds_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// One communicator and some requests on it, all freed at the end.
void play_round(Random& random, Random& own) {
  const auto compute = [&] { usleep(static_cast<useconds_t>(pick(own, 500))); };
  auto comm = std::make_unique<Duplicate>();
  std::deque<PersistentTrial> trials;
  for (std::uint64_t requests = 1 + pick(random, 5); requests > 0; --requests) {
    PersistentCase now = any_persistent_case(random, size_of());
    if (mpi_leaks_datatypes) now.gaps = false;
    trials.emplace_back(now, comm->get());
    ASSERT_TRUE(trials.back().made());
  }
  const bool early = pick(random, 2) == 0;
  for (std::uint64_t iterations = 1 + pick(random, 10); iterations > 0; --iterations) {
    const std::uint64_t seed = random();
    for (PersistentTrial& trial : trials) trial.start(seed);
    if (early) comm.reset();
    for (PersistentTrial& trial : trials) {
      compute();
      if (pick(own, 3) != 0) trial.edge(0.5);
    }
    for (PersistentTrial& trial : trials) {
      compute();
      trial.arrive();
    }
    for (PersistentTrial& trial : trials) {
      if (pick(own, 4) != 0) {
        trial.wait();
      } else {
        trial.wait_by_tests();
      }
    }
    for (const PersistentTrial& trial : trials) trial.check();
  }
}

// Freeing is local: last words of other ranks may still be on their way. True when no communicator
// of Sibyl's is in use any more beyond those that were at first.
bool all_is_given_back(Process& process, std::uint32_t at_first) {
  for (int looks = 0; looks < 10000; ++looks) {
    process.deferred_release().sweep();
    int given_back = process.privates_in_use() <= at_first ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &given_back, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (given_back != 0) return true;
  }
  return false;
}

double least(std::span<const Held> held, double Held::* figure) {
  return (*std::ranges::min_element(held, {}, figure)).*figure;
}

// Plays rounds for as long as is wanted. `kept_a_round`: bytes that the MPI library keeps of each.
template <class Play>
void soak(Play play, double kept_a_round) {
  SIBYL_TRACE_SEED();
  Process& process = *Process::get();
  const std::uint32_t at_first = process.privates_in_use();
  const Length length;
  std::vector<Held> held;
  for (int rounds = 0; held.size() < notes;) {
    play();
    ++rounds;
    int failed = testing::Test::HasFailure() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    ASSERT_EQ(failed, 0) << "on a rank, in round " << rounds;
    if (std::cmp_less_equal(length.notes_due(rounds), held.size())) continue;
    ASSERT_TRUE(all_is_given_back(process, at_first)) << "after " << rounds << " rounds";
    held.push_back(held_after(rounds));
    if (rank_in() == 0 && !length.is_short()) {
      std::cerr << rounds << " communicators, " << held.back().bytes << " bytes of the heap\n";
      // Where it grows, the two tell by what.
      if (held.size() == notes / 3 || held.size() == notes) tell_who_holds_memory();
    }
  }
  const std::span<const Held> all(held);
  const std::span<const Held> middle = all.subspan(notes / 3, notes / 3);
  const std::span<const Held> last = all.last(notes / 3);
  const auto grown = [&](double Held::* figure) {
    return least(last, figure) - least(middle, figure);
  };
  const int apart = last.front().rounds - middle.front().rounds;
  std::ostringstream figures;
  figures << "rank " << rank_in() << ": " << last.back().rounds
          << " communicators; from the second third to the last, " << apart
          << " apart, the heap of " << least(middle, &Held::bytes) << " bytes grew by "
          << grown(&Held::bytes) << ", resident memory of " << least(middle, &Held::resident)
          << " by " << grown(&Held::resident) << '\n';
  if (!length.is_short()) std::cerr << figures.str();
  EXPECT_LE(grown(&Held::bytes),
            (length.is_short() ? allowed_roughly : allowed_bytes(apart)) + kept_a_round * apart)
      << figures.str();
  if (residence_is_known) {
    EXPECT_LE(grown(&Held::resident), allowed_roughly + 2 * kept_a_round * apart) << figures.str();
  }
  for (const Held& now : last) {
    EXPECT_EQ(now.threads, middle.front().threads);
    EXPECT_EQ(now.files, middle.front().files);
  }
}

TEST(Soak, RandomStartsEdgesArrivalsFreesAndCommunicatorsLeaveNothing) {
  Random random(run_seed() + 80);
  Random own(run_seed() + 81 + 7919 * static_cast<std::uint64_t>(rank_in() + 1));
  soak([&] { play_round(random, own); }, 0);
}

// Every collective, with random types, operators, roots and places, by every algorithm, on
// communicators that are made and freed.
TEST(Soak, RandomCallsOfAllCollectivesLeaveNothing) {
  constexpr int calls = 8;
  // MPICH 4.0 keeps 128 bytes of each of the types of a call, up to some twenty.
  constexpr double kept = mpi_leaks_datatypes ? 128.0 * 20 * calls : 0;
  Random random(run_seed() + 82);
  soak(
      [&] {
        Served served(Collective::gather, nullptr);
        for (int i = 0; i < calls; ++i) {
          const auto call = static_cast<reference::Call>(pick(random, reference::call_count));
          Collective collective = Collective::gather;
          ASSERT_TRUE(collective_from_name(reference::name_of(call), collective));
          const auto rows = rows_and_auto(collective);
          served.state().replace_settings(forced(collective, rows[pick(random, rows.size())]));
          // What an algorithm does not take goes to the MPI library.
          reference::Limits limits = reference::sibyl_limits(true);
          limits.largest = 20000;
          const std::string wrong =
              reference::run_drawn(call, random(), limits, by_sibyl, served.get());
          EXPECT_EQ(wrong, "");
        }
      },
      kept);
}

}  // namespace
}  // namespace sibyl::test
