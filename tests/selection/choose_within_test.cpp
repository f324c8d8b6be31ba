// The choice within a node whose ranks share a window and have a processor each: sums and bcasts
// from 4 KiB on, and everything else the MPI library's.
#include "selection/choose_within.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "selection/challenger.hpp"
#include "selection/native_library.hpp"

namespace sibyl {
namespace {

Situation within_a_node(Collective collective, std::uint64_t bytes, Rank ranks) {
  Situation now;
  now.collective = collective;
  now.ranks = ranks;
  now.bytes = bytes;
  now.ranks_per_node = ranks;
  now.operator_use = combines(collective) ? OperatorUse::predefined : OperatorUse::none;
  now.by_window = true;
  return now;
}

std::string name_or_native(const Algorithm* row) {
  return row == nullptr ? "native" : std::string(row->name);
}
std::string served_by(const Situation& now) { return name_or_native(choose({}, now)); }

constexpr std::uint64_t kibi = 1024;

TEST(ChooseWithin, GoesByTreesWhileVectorsAreShort) {
  EXPECT_EQ(served_by(within_a_node(Collective::reduce, 4 * kibi, 16)), "binomial");
  EXPECT_EQ(served_by(within_a_node(Collective::allreduce, 4 * kibi, 16)), "doubling");
  EXPECT_EQ(served_by(within_a_node(Collective::bcast, 4 * kibi, 16)), "linear");
}

TEST(ChooseWithin, AddsLongVectorsUpInParts) {
  EXPECT_EQ(served_by(within_a_node(Collective::reduce, 32 * kibi, 16)), "rabenseifner");
  EXPECT_EQ(served_by(within_a_node(Collective::reduce, 1024 * kibi, 16)), "radix-k");
  EXPECT_EQ(served_by(within_a_node(Collective::reduce, 1024 * kibi, 2)), "binomial");
  EXPECT_EQ(served_by(within_a_node(Collective::allreduce, 64 * kibi, 16)), "rabenseifner");
  EXPECT_EQ(served_by(within_a_node(Collective::allreduce, 64 * kibi, 12)), "radix-k");
  EXPECT_EQ(served_by(within_a_node(Collective::allreduce, 1024 * kibi, 16)), "radix-k");
  EXPECT_EQ(served_by(within_a_node(Collective::allreduce, 1024 * kibi, 4)), "ring");
}

TEST(ChooseWithin, LeavesTheRestToTheLibrary) {
  for (const Collective collective :
       {Collective::reduce, Collective::allreduce, Collective::bcast}) {
    EXPECT_EQ(served_by(within_a_node(collective, 4 * kibi - 1, 16)), "native");
    EXPECT_EQ(served_by(within_a_node(collective, kibi * kibi, 1)), "native");
    EXPECT_EQ(served_by(within_a_node(collective, 65 * kibi * kibi, 16)), "native") << "by MPI";
    Situation apart = within_a_node(collective, 64 * kibi, 16);
    apart.by_window = false;
    EXPECT_EQ(served_by(apart), "native") << "without a window";
    Settings asked;
    asked.algorithm[static_cast<std::size_t>(collective)] = serve_natively;
    EXPECT_EQ(choose(asked, within_a_node(collective, 64 * kibi, 16)), nullptr);
  }
  for (const std::uint64_t bytes : {4 * kibi, 8 * kibi, 64 * kibi}) {
    EXPECT_EQ(served_by(within_a_node(Collective::bcast, bytes, 2)), "native");
  }
  for (const Collective collective :
       {Collective::barrier, Collective::allgather, Collective::alltoall,
        Collective::reduce_scatter, Collective::allgatherv, Collective::alltoallv}) {
    EXPECT_EQ(served_by(within_a_node(collective, 64 * kibi, 16)), "native");
  }
}

// A window that nobody asked for pays beside each library for other vectors.
TEST(ChooseWithin, ServesBesideAKnownLibraryWhatPaysMost) {
  const auto beside = [](NativeLibrary library, Collective collective, std::uint64_t kib,
                         Rank ranks) {
    Situation now = within_a_node(collective, kib * kibi, ranks);
    now.library = library;
    return served_by(now);
  };
  using enum NativeLibrary;
  using enum Collective;
  for (const Rank ranks : {2, 4, 16}) {
    const std::string by_halves = "rabenseifner";
    for (const NativeLibrary library : {openmpi_4, openmpi_5}) {
      EXPECT_EQ(beside(library, allreduce, 4, ranks), "native");
      EXPECT_EQ(beside(library, allreduce, 32, ranks), by_halves);
      EXPECT_EQ(beside(library, allreduce, 64, ranks), ranks == 2 ? "native" : by_halves);
      EXPECT_EQ(beside(library, allreduce, 128, ranks), "native");
      EXPECT_EQ(beside(library, reduce, 4096, ranks), ranks == 2 ? "native" : "radix-k");
      EXPECT_EQ(beside(library, bcast, 8, ranks), ranks == 2 ? "native" : "linear");
    }
    for (const NativeLibrary library : {mpich_40, mpich_41}) {
      EXPECT_EQ(beside(library, allreduce, 16, ranks), "native");
      EXPECT_EQ(beside(library, allreduce, 64, ranks), by_halves);
      EXPECT_EQ(beside(library, allreduce, 128, ranks), "native");
    }
    EXPECT_EQ(beside(mpich_5, allreduce, ranks == 2 ? 32 : 16, ranks), "native");
    EXPECT_EQ(beside(mpich_5, allreduce, 64, ranks), by_halves);
    EXPECT_EQ(beside(mpich_5, allreduce, 4096, ranks), ranks > 4 ? "radix-k" : "ring");
  }
  EXPECT_EQ(beside(openmpi_4, reduce, 32, 2), "binomial");
  EXPECT_EQ(beside(openmpi_4, reduce, 64, 2), "native");
  EXPECT_EQ(beside(openmpi_5, reduce, 32, 2), "native");
  EXPECT_EQ(beside(mpich_40, reduce, 16, 2), "native");
  EXPECT_EQ(beside(mpich_40, reduce, 32, 2), "binomial");
  EXPECT_EQ(beside(mpich_40, reduce, 16, 4), "rabenseifner");
  EXPECT_EQ(beside(mpich_40, bcast, 8, 4), "linear");
  for (const NativeLibrary library : {mpich_41, mpich_5}) {
    EXPECT_EQ(beside(library, bcast, 256, 4), "native");
    EXPECT_EQ(beside(library, bcast, 512, 4), "linear");
  }
}

TEST(ChooseWithin, WantsAWindowForAsManyRanksAsWereMeasured) {
  using enum NativeLibrary;
  EXPECT_EQ(window_that_pays(openmpi_4, 2), 1U << 20);
  EXPECT_EQ(window_that_pays(mpich_5, 16), 64U << 20);
  EXPECT_EQ(window_that_pays(mpich_5, 17), 0U);
  EXPECT_EQ(window_that_pays(mpich_5, 1), 0U);
  EXPECT_EQ(window_that_pays(other, 4), 0U) << "which was never measured beside it";
}

TEST(NativeLibraryOf, GoesByWhatALibrarySaysOfItself) {
  using enum NativeLibrary;
  EXPECT_EQ(native_library_of("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"), openmpi_4);
  EXPECT_EQ(native_library_of("Open MPI v5.0.8, package: Open MPI"), openmpi_5);
  EXPECT_EQ(native_library_of("Open MPI v3.1.0"), other);
  EXPECT_EQ(native_library_of("MPICH Version:\t4.0.2\nMPICH Release date:"), mpich_40);
  EXPECT_EQ(native_library_of("MPICH Version:      4.2.1"), mpich_41);
  EXPECT_EQ(native_library_of("MPICH Version:      5.0.0"), mpich_5);
  for (const std::string_view text :
       {"Intel(R) MPI Library 2021.18 for Linux* OS", "MVAPICH2 Version: 2.3.7",
        "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)", "MPICH Version:", "MPICH",
        "SMPI Version 3.32", ""}) {
    EXPECT_EQ(native_library_of(text), other) << text;
  }
}

// Whatever the size, all ranks can run what is chosen, and what takes turns with it is another one.
TEST(ChooseWithin, SuitsEveryNumberOfRanksAndEveryOperator) {
  for (const Collective collective :
       {Collective::reduce, Collective::allreduce, Collective::bcast}) {
    for (Rank ranks = 2; ranks <= 128; ++ranks) {
      for (std::uint64_t bytes = 1; bytes <= 64 * kibi * kibi; bytes *= 2) {
        for (const bool commutes : {true, false}) {
          Situation now = within_a_node(collective, bytes, ranks);
          now.commutes = commutes;
          const Algorithm* const row = choose({}, now);
          if (row == nullptr) continue;
          EXPECT_GE(bytes, 4 * kibi);
          EXPECT_TRUE(commutes || !row->commutative_only) << row->name;
          EXPECT_TRUE(row->check == nullptr || row->check({.ranks = ranks}).empty()) << row->name;
          const Algorithm* const other = challenger_to(*row, {}, now);
          EXPECT_NE(other, row);
          EXPECT_TRUE(other == nullptr || commutes || !other->commutative_only) << other->name;
        }
      }
    }
  }
}

// Clairvoyant has its own reasons where a rank is known to come long after all others.
TEST(ChooseWithin, GivesWayToClairvoyantAlone) {
  Situation now = within_a_node(Collective::reduce, 1024 * kibi, 16);
  now.spread = now.lead = 1;
  EXPECT_EQ(served_by(now), "radix-k");
  Situation bcast = within_a_node(Collective::bcast, 1024 * kibi, 16);
  bcast.spread = bcast.lead = 1;
  EXPECT_EQ(served_by(bcast), "linear");
  now.costs = {.alpha = 1e-6, .overhead = 0.5e-6, .beta = 1e-10, .gamma = 1e-10};
  EXPECT_EQ(served_by(now), "clairvoyant");
}

}  // namespace
}  // namespace sibyl
