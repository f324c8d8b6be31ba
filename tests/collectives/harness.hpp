// What the tests of the collectives share: one seed for all ranks, communicators that are served by
// a given algorithm, and buffers that notice every byte that should have been left alone.
//
// A run takes a new seed and prints it with what failed; SIBYL_TEST_SEED=N repeats it.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/call.hpp"
#include "collectives/collectives.hpp"
#include "communicator/communicator_state.hpp"
#include "sibyl/planners.hpp"
#include "sibyl/sibyl.h"
#include "support/mpi_test.hpp"

namespace sibyl::test {

using Random = std::mt19937_64;

// The same on all ranks.
inline std::uint64_t run_seed() {
  static const std::uint64_t seed = [] {
    std::uint64_t value = std::random_device{}();
    if (const char* text = std::getenv("SIBYL_TEST_SEED")) value = std::strtoull(text, nullptr, 10);
    MPI_Bcast(&value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return value;
  }();
  return seed;
}

inline bool long_tests() { return std::getenv("SIBYL_TEST_LONG") != nullptr; }

// Says with every failure of a scope how to repeat it.
#define SIBYL_TRACE_SEED() \
  SCOPED_TRACE("SIBYL_TEST_SEED=" + std::to_string(::sibyl::test::run_seed()))

// A uniform number of [0, below).
inline std::uint64_t pick(Random& random, std::uint64_t below) { return random() % below; }

inline int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

// Errors without a communicator come back rather than end the program.
class WorldReturnsErrors {
 public:
  WorldReturnsErrors() {
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~WorldReturnsErrors() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before_);
    MPI_Errhandler_free(&before_);
  }
  WorldReturnsErrors(const WorldReturnsErrors&) = delete;
  WorldReturnsErrors& operator=(const WorldReturnsErrors&) = delete;

 private:
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

// What is passed where an argument is not significant.
inline void* wild() { return reinterpret_cast<void*>(0xdead0); }

// How many of `wanted` cases fit the machine: with more ranks than cores every message is a change
// of context.
inline int cases(int wanted) {
  if (long_tests()) return wanted;
  const int size = size_of();
  const int share = size <= 2 ? 1 : size <= 5 ? 2 : size <= 8 ? 5 : 10;
  return wanted / share > 0 ? wanted / share : 1;
}

// What serves a collective in a test: a row of the table, or `auto` for nullptr.
inline Settings forced(Collective collective, const Algorithm* algorithm) {
  Settings settings;
  settings.serves_on_node = 1;
  if (algorithm != nullptr) {
    settings.algorithm[static_cast<std::size_t>(collective)] =
        static_cast<std::int32_t>(algorithm - algorithms(collective).data());
  }
  return settings;
}

inline std::string name_or_auto(const Algorithm* algorithm) {
  return algorithm == nullptr ? "auto" : std::string(algorithm->name);
}

// All rows of one collective, and nullptr for the automatic choice.
inline std::vector<const Algorithm*> rows_and_auto(Collective collective) {
  std::vector<const Algorithm*> rows{nullptr};
  for (const Algorithm& algorithm : algorithms(collective)) rows.push_back(&algorithm);
  return rows;
}

// How many calls Sibyl has served in this process since the first Served.
inline std::atomic<int> served_calls = 0;
inline void count_served_call() { ++served_calls; }

// A duplicate of a communicator, set up and served by one algorithm.
class Served {
 public:
  Served(Collective collective, const Algorithm* algorithm, MPI_Comm parent = MPI_COMM_WORLD)
      : duplicate_(parent), collective_(collective) {
    state_ = CommunicatorState::get(get());
    EXPECT_NE(state_, nullptr);
    EXPECT_TRUE(state_->serves(get(), true));
    force(algorithm);
    if (on_served != &count_served_call) on_served = &count_served_call;
  }
  // `segments`: for an algorithm that cuts vectors; 0 leaves it to the model.
  void force(const Algorithm* algorithm, std::uint32_t segments = 0) {
    Settings settings = forced(collective_, algorithm);
    settings.segments = segments;
    settings.first_segment = state_->settings().first_segment;
    state_->replace_settings(settings);
  }
  void first_segment(std::uint32_t bytes) {
    Settings settings = state_->settings();
    settings.first_segment = bytes;
    state_->replace_settings(settings);
  }
  MPI_Comm get() const { return duplicate_.get(); }
  CommunicatorState& state() { return *state_; }
  // Set by tests whose calls Sibyl serves, where the MPI library's own cannot do all that they try.
  bool by_sibyl = false;
  // What served the calls since this was asked last; nullptr when the MPI library did.
  const Algorithm* served_by() const {
    const int served = served_calls;
    if (std::exchange(served_before_, served) == served) return nullptr;
    return state_->cached_choice[static_cast<std::size_t>(collective_)].algorithm;
  }

 private:
  Duplicate duplicate_;
  Collective collective_;
  CommunicatorState* state_ = nullptr;
  mutable int served_before_ = served_calls;
};

// Some of the ranks, in the order of their keys.
class Part {
 public:
  Part(int color, int key) { MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm_); }
  ~Part() { MPI_Comm_free(&comm_); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// Asks a persistent collective for an algorithm by its name.
struct AlgorithmInfo {
  explicit AlgorithmInfo(const char* algorithm, bool background = true) {
    MPI_Info_create(&handle);
    MPI_Info_set(handle, "sibyl_algorithm", algorithm);
    MPI_Info_set(handle, "sibyl_background", background ? "true" : "false");
  }
  ~AlgorithmInfo() { MPI_Info_free(&handle); }
  AlgorithmInfo(const AlgorithmInfo&) = delete;
  AlgorithmInfo& operator=(const AlgorithmInfo&) = delete;
  MPI_Info handle = MPI_INFO_NULL;
};

// A datatype of int32 components at given byte offsets, in the order of the type.
struct Layout {
  std::string name;
  std::vector<MPI_Aint> offsets;
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 4;
  MPI_Datatype type = MPI_INT32_T;
  int components() const { return static_cast<int>(offsets.size()); }
};

// Layouts of four components, made once: any two of them have matching signatures.
class Layouts {
 public:
  Layouts();
  ~Layouts();
  Layouts(const Layouts&) = delete;
  Layouts& operator=(const Layouts&) = delete;
  const std::vector<Layout>& all() const { return layouts_; }
  const Layout& any(Random& random) const { return layouts_[pick(random, layouts_.size())]; }

 private:
  void add(std::string name, std::vector<MPI_Aint> offsets, MPI_Aint lower_bound, MPI_Aint extent);
  void add(std::string name, std::vector<MPI_Aint> offsets, MPI_Datatype made);
  std::vector<Layout> layouts_;
};

// `count` elements of a layout between guard bytes. Bytes that belong to no component hold a
// pattern, so that a stray write shows.
class GuardedBuffer {
 public:
  GuardedBuffer(const Layout& layout, std::int64_t count);

  // The address to hand to MPI.
  void* base() { return bytes_.data() + origin_; }
  std::int32_t get(std::int64_t element, int component) const;
  void set(std::int64_t element, int component, std::int32_t value);
  // True when gaps and guards still hold their pattern.
  bool surroundings_untouched() const;
  // True when no byte changed since the snapshot.
  void take_snapshot() { snapshot_ = bytes_; }
  bool unchanged() const { return bytes_ == snapshot_; }

 private:
  std::size_t place(std::int64_t element, int component) const;
  const Layout& layout_;
  std::int64_t count_;
  std::ptrdiff_t origin_ = 0;
  std::vector<unsigned char> bytes_;
  std::vector<unsigned char> snapshot_;
};

}  // namespace sibyl::test
