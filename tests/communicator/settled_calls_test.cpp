// Calls that are known to be the MPI library's: which are remembered, and when they are forgotten.
// A call that goes the whole way is counted by the communicator, a settled one is not.
#include "communicator/settled_calls.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "collectives/blocking/serve.hpp"
#include "collectives/call.hpp"
#include "collectives/collectives.hpp"
#include "collectives/harness.hpp"
#include "communicator/communicator_state.hpp"
#include "communicator/served.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

constexpr Caller under_preload{true, false};
constexpr int enough = 5;  // calls, after which the next one is settled if it ever is

int some_calls = 0;

// A duplicate whose calls are the MPI library's.
class LeftNative {
 public:
  explicit LeftNative(Caller caller = {}) : caller_(caller) {
    EXPECT_TRUE(state().serves(get(), true));
    use(serve_natively);
  }
  MPI_Comm get() const { return duplicate_.get(); }
  CommunicatorState& state() const { return *CommunicatorState::get(get()); }
  void use(std::int32_t algorithm) {
    Settings settings;
    settings.algorithm.fill(serve_natively);
    settings.algorithm[static_cast<std::size_t>(Collective::scan)] = algorithm;
    state().replace_settings(settings);
  }
  void scan(MPI_Datatype type = MPI_INT, MPI_Op op = MPI_SUM) const {
    const int one = 1;
    int sum = 0;
    EXPECT_EQ(serve_scan(caller_, &one, &sum, 1, type, op, get()), MPI_SUCCESS);
    EXPECT_EQ(sum, rank_in() + 1);
  }
  // Whether one more such call, after some, goes the short way.
  bool settles(MPI_Datatype type = MPI_INT, MPI_Op op = MPI_SUM) const {
    return settles_by([&](int) { scan(type, op); });
  }
  // `make` gets the number of the call.
  template <class Make>
  bool settles_by(Make make) const {
    for (int call = 0; call < enough; ++call) make(call);
    const std::uint64_t before = state().last_used();
    make(enough);
    return state().last_used() == before;
  }

 private:
  Caller caller_;
  Duplicate duplicate_;
};

TEST(SettledCalls, AreToldApartByEveryWord) {
  SettledCall call;
  call.epoch = SettledCalls::epoch(MPI_COMM_WORLD);
  call.communicator = 1;
  call.what = 2;
  call.count = 3;
  call.type = 4;
  call.other_count = 5;
  call.other_type = 6;
  call.op = 7;
  SettledCalls::add({.call = call});
  EXPECT_NE(SettledCalls::find(call), nullptr);
  for (std::uint64_t SettledCall::* const word :
       {&SettledCall::communicator, &SettledCall::what, &SettledCall::count, &SettledCall::type,
        &SettledCall::other_count, &SettledCall::other_type, &SettledCall::op}) {
    SettledCall other = call;
    ++(other.*word);
    EXPECT_EQ(SettledCalls::find(other), nullptr);
  }
  bool held_elsewhere = true;
  std::thread([&] { held_elsewhere = SettledCalls::find(call) != nullptr; }).join();
  EXPECT_FALSE(held_elsewhere);
  for (const bool all : {false, true}) {
    if (all) {
      SettledCalls::forget_all();
    } else {
      SettledCalls::forget(MPI_COMM_WORLD);
    }
    SettledCall now = call;
    now.epoch = SettledCalls::epoch(MPI_COMM_WORLD);
    EXPECT_EQ(SettledCalls::find(now), nullptr);
    SettledCalls::add({.call = call});  // was decided before, and is remembered for nothing
    EXPECT_EQ(SettledCalls::find(now), nullptr);
    call = now;
    SettledCalls::add({.call = call});
    EXPECT_NE(SettledCalls::find(call), nullptr);
  }
}

// Two calls of a loop that happen to be remembered in one place do not drive each other out.
TEST(SettledCalls, StayWhereAnotherIsRememberedInTheirPlace) {
  SettledCall call;
  call.epoch = SettledCalls::epoch(MPI_COMM_WORLD);
  call.communicator = 77;
  for (std::uint64_t other_count = 1; other_count <= 500; ++other_count) {
    SettledCall other = call;
    other.count = other_count;
    SettledCalls::add({.call = call});
    SettledCalls::add({.call = other});
    EXPECT_NE(SettledCalls::find(call), nullptr) << other_count;
    EXPECT_NE(SettledCalls::find(other), nullptr) << other_count;
  }
}

TEST(SettledCalls, TellBuffersApartWhereACallIsJudgedByThem) {
  const int value = 0;
  const void* const buffers[] = {&value, nullptr, MPI_IN_PLACE};
  std::vector<std::uint64_t> seen;
  for (const void* first : buffers) {
    for (const void* second : buffers) seen.push_back(SettledCall::buffers(first, second));
  }
  const int other = 0;
  seen.push_back(SettledCall::buffers(&value, &other));
  std::ranges::sort(seen);
  EXPECT_EQ(std::ranges::unique(seen).size(), 0U);
}

TEST(SettledCalls, AreNoLongerCounted) {
  for (const Caller caller : {Caller{}, under_preload}) EXPECT_TRUE(LeftNative(caller).settles());
}

TEST(SettledCalls, AreThoseOfPredefinedTypesAndOperators) {
  const LeftNative native;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(
      [](void* in, void* inout, int* count, MPI_Datatype*) {
        for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
      },
      1, &op);
  EXPECT_FALSE(native.settles(MPI_INT, op));
  EXPECT_FALSE(native.settles(type, op));
  EXPECT_TRUE(native.settles());
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

// What the library has whatever its arguments are.
TEST(SettledCalls, AreOfAnyOperatorWhereTheLibraryServesThemAll) {
  const Duplicate comm;
  CommunicatorState& state = *CommunicatorState::get(comm.get());
  ASSERT_TRUE(state.serves(comm.get(), true));
  if (state.ranks_per_node() != state.size()) GTEST_SKIP() << "ranks are on several nodes";
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(
      [](void* in, void* inout, int* count, MPI_Datatype*) {
        for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
      },
      1, &op);
  const std::vector<int> sent(static_cast<std::size_t>(size_of()), 2);
  int sum = 0;
  EXPECT_EQ(
      serve_reduce_scatter_block(under_preload, sent.data(), &sum, 1, MPI_INT, op, comm.get()),
      MPI_SUCCESS);
  EXPECT_EQ(sum, 2 * size_of());
  SettledCall key = settled_call(Collective::reduce_scatter_block, no_rank, under_preload,
                                 comm.get(), sent.data(), &sum)
                        .with(1, MPI_INT)
                        .by(op);
  EXPECT_NE(SettledCalls::find(key), nullptr);
  state.set_placement({.ranks_per_node = 1});
  key.epoch = SettledCalls::epoch(comm.get());
  if (state.size() > 1) {
    EXPECT_EQ(SettledCalls::find(key), nullptr);
    EXPECT_FALSE(state.library_serves(Collective::reduce_scatter_block, comm.get()));
  }
  MPI_Op_free(&op);
}

TEST(SettledCalls, AreAllBetweenGroups) {
  if (size_of() < 2) GTEST_SKIP() << "needs two groups";
  const BetweenHalves between;
  EXPECT_EQ(serve_barrier(under_preload, between.get()), MPI_SUCCESS);
  const SettledCall key = settled_call(Collective::barrier, no_rank, under_preload, between.get());
  EXPECT_NE(SettledCalls::find(key), nullptr);
}

TEST(SettledCalls, OfIrregularBlocksHaveAnySizesWhereTheChoiceKnowsNone) {
  const LeftNative native;
  const auto ranks = static_cast<std::size_t>(size_of());
  std::vector<int> counts(ranks);
  std::vector<int> places(ranks);
  std::vector<int> sent(ranks * (enough + 1), 1);
  std::vector<int> received(ranks * (enough + 1));
  const auto of_size = [&](int count) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      counts[rank] = count;
      places[rank] = count * static_cast<int>(rank);
    }
  };
  const Displacements at(places.data());
  EXPECT_TRUE(native.settles_by([&](int call) {
    of_size(call);
    serve_gatherv({}, sent.data(), call, MPI_INT, received.data(), counts.data(), at, MPI_INT, 0,
                  native.get());
  }));
  EXPECT_TRUE(native.settles_by([&](int call) {
    of_size(call);
    std::ranges::fill(received, 0);
    serve_alltoallv({}, sent.data(), counts.data(), at, MPI_INT, received.data(), counts.data(), at,
                    MPI_INT, native.get());
    EXPECT_EQ(std::ranges::count(received, 1), call * size_of());
  }));
}

// Of blocks whose sizes all ranks know and the choice too: those of the same sum and the same
// largest. Two calls may be remembered in one place, as the addresses of this process have it, but
// hardly on each of several communicators.
TEST(SettledCalls, OfIrregularBlocksAreThoseOfTheSameSizesWhereTheChoiceKnowsThem) {
  std::array<LeftNative, 4> communicators;
  const LeftNative* native = communicators.data();
  const auto ranks = static_cast<std::size_t>(size_of());
  std::vector<int> counts(ranks);
  std::vector<int> places(ranks);
  std::vector<int> sent(ranks * 4, 1);
  std::vector<int> received(ranks * 4);
  const auto of_sizes = [&](int second, int last, int others) {
    std::ranges::fill(counts, others);
    counts[1] = second;
    counts[ranks - 1] = last;
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      places[rank] = places[rank - 1] + counts[rank - 1];
    }
  };
  const auto allgatherv = [&](MPI_Datatype type = MPI_INT) {
    const int own = counts[static_cast<std::size_t>(rank_in())];
    std::ranges::fill(received, 0);
    serve_allgatherv({}, sent.data(), own, type, received.data(), counts.data(),
                     Displacements(places.data()), type, native->get());
    EXPECT_EQ(std::ranges::count(received, 1), std::accumulate(counts.begin(), counts.end(), 0));
  };
  const auto reduce_scatter = [&] {
    std::ranges::fill(received, 0);
    serve_reduce_scatter({}, sent.data(), received.data(), counts.data(), MPI_INT, MPI_SUM,
                         native->get());
    EXPECT_EQ(std::ranges::count(received, size_of()), counts[static_cast<std::size_t>(rank_in())]);
  };
  const auto goes_short = [&](const auto& make) {
    const std::uint64_t before = native->state().last_used();
    make();
    return native->state().last_used() == before;
  };
  if (ranks < 3) GTEST_SKIP() << "blocks cannot differ and have one sum";
  for (const bool gathers : {true, false}) {
    const auto make = [&] {
      if (gathers) {
        allgatherv();
      } else {
        reduce_scatter();
      }
    };
    // Who sends as many as then has forgotten it for the other one; the others know both calls.
    const bool sends_as_many = rank_in() != 1 && rank_in() != size_of() - 1;
    int remembered = 0;
    for (const LeftNative& each : communicators) {
      native = &each;
      of_sizes(1, 3, 1);
      EXPECT_TRUE(native->settles_by([&](int) { make(); }));
      of_sizes(2, 2, 1);  // as many in all
      EXPECT_FALSE(goes_short(make));
      EXPECT_TRUE(goes_short(make));
      of_sizes(1, 3, 1);
      remembered += goes_short(make) ? 1 : 0;
      of_sizes(3, 3, 1);  // no larger one
      EXPECT_FALSE(goes_short(make));
    }
    EXPECT_EQ(remembered > 0, gathers && !sends_as_many);
  }
  // Handles of freed types come again for others, at each rank at another time.
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1, MPI_INT, &type);
  MPI_Type_commit(&type);
  EXPECT_FALSE(native->settles_by([&](int) { allgatherv(type); }));
  MPI_Type_free(&type);
}

TEST(SettledCalls, AreForgottenWhenOtherSettingsHold) {
  LeftNative native;
  EXPECT_TRUE(native.settles());
  some_calls = 0;
  on_served = [] { ++some_calls; };
  native.scan();
  EXPECT_EQ(some_calls, 0);
  native.use(0);
  native.scan();
  EXPECT_EQ(some_calls, 1);
  native.use(serve_natively);
  native.scan();
  EXPECT_EQ(some_calls, 1);
  on_served = nullptr;
}

TEST(SettledCalls, OfTheNextCommunicatorAreNotThoseOfOneWithTheSameHandle) {
  for (int turn = 0; turn < 4; ++turn) {
    EXPECT_TRUE(LeftNative(under_preload).settles());
    const Duplicate next;
    for (int call = 0; call < enough; ++call) {
      const int one = 1;
      int sum = 0;
      serve_scan(under_preload, &one, &sum, 1, MPI_INT, MPI_SUM, next.get());
    }
    EXPECT_TRUE(served(next.get()));
  }
}

// But for those that share their number with the other one, by chance.
TEST(SettledCalls, StayWhereOtherCommunicatorsComeAndGo) {
  const LeftNative native;
  const auto stays = [&] {
    const std::uint64_t before = native.state().last_used();
    native.scan();
    return native.state().last_used() == before;
  };
  constexpr int others = 8;
  int after_making = 0;
  int after_freeing = 0;
  std::vector<std::unique_ptr<LeftNative>> kept;  // for handles that differ
  for (int i = 0; i < others; ++i) {
    EXPECT_TRUE(native.settles());
    kept.push_back(std::make_unique<LeftNative>());
    after_making += stays() ? 1 : 0;
  }
  for (auto& other : kept) {
    EXPECT_TRUE(native.settles());
    other.reset();
    after_freeing += stays() ? 1 : 0;
  }
  EXPECT_GE(after_making, others / 2);
  EXPECT_GE(after_freeing, others / 2);
}

}  // namespace
}  // namespace sibyl::test
