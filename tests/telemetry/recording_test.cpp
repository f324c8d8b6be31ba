// What SIBYL_RECORD keeps: which calls, of which communicators, and nothing unless it is wanted.
#include "telemetry/recording.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "collectives/call.hpp"
#include "communicator/communicator_state.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

Environment recording_environment() {
  Environment environment;
  environment.record = "somewhere";
  return environment;
}

TEST(Recording, KeepsTheArrivalOfEveryCallInOrder) {
  Process process(recording_environment());
  CommunicatorState state(process, MPI_COMM_WORLD);
  const auto before = std::chrono::steady_clock::now();
  CountedCall(state, Collective::gather, 2).end(nullptr, 8, MPI_SUCCESS);
  {
    const CountedCall refused(state, Collective::scan);
  }  // an error: numbered, not kept
  CountedCall(state, Collective::scan).end(nullptr, 16, MPI_SUCCESS);

  const std::vector<RecordedCall>& calls = state.recording.calls;
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].number, 1U);
  EXPECT_EQ(calls[0].collective, Collective::gather);
  EXPECT_EQ(calls[0].root, 2);
  EXPECT_EQ(calls[0].bytes, 8U);
  EXPECT_EQ(calls[1].number, 3U);
  EXPECT_EQ(calls[1].root, no_rank);
  EXPECT_LE(before, calls[0].arrival);
  EXPECT_LE(calls[0].arrival, calls[1].arrival);
}

TEST(Recording, KnowsACommunicatorByItsRanksOfTheWorld) {
  Process process(recording_environment());
  const int rank = rank_in();
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  {
    const CommunicatorState first(process, half);
    const CommunicatorState second(process, half);
    std::vector<int> expected;
    for (int r = size_of() - 1; r >= 0; --r) {
      if (r % 2 == rank % 2) expected.push_back(r);
    }
    EXPECT_EQ(first.recording.group, expected);
    EXPECT_EQ(first.recording.ordinal, 0U);
    EXPECT_EQ(second.recording.ordinal, 1U);
  }
  MPI_Comm_free(&half);
}

TEST(Recording, KeepsNothingUnlessItIsWanted) {
  Process process(Environment{});
  EXPECT_FALSE(process.times_calls());
  CommunicatorState state(process, MPI_COMM_WORLD);
  CountedCall(state, Collective::gather, 0).end(nullptr, 8, MPI_SUCCESS);
  EXPECT_TRUE(state.recording.group.empty());
  EXPECT_TRUE(state.recording.calls.empty());
}

TEST(Recording, EndsWhereItsRoomDoesAndSaysHowManyCallsItLeftOut) {
  RecordingRoom room(3);
  CommunicatorRecording first;
  CommunicatorRecording second;
  first.room = second.room = &room;
  first.group = second.group = {0};
  for (std::uint64_t number = 1; number <= 5; ++number) {
    RecordedCall call;
    call.number = number;
    first.add(call);
    second.add(call);
  }
  EXPECT_EQ(first.calls.size(), 2U);
  EXPECT_EQ(second.calls.size(), 1U);
  EXPECT_EQ(room.left_out(), 7U);
  first.add(RecordedPattern{});
  EXPECT_TRUE(first.patterns.empty());
}

TEST(Recording, CountsTheRanksOfACommunicatorAsWhatTheyTake) {
  const std::size_t ranks = 10 * sizeof(RecordedCall) / sizeof(int);
  RecordingRoom room(12);
  CommunicatorRecording one;
  one.room = &room;
  one.group.assign(ranks, 0);
  for (int i = 0; i < 5; ++i) one.add(RecordedCall{});
  EXPECT_EQ(one.calls.size(), 2U);  // beside ten calls' worth of ranks
  EXPECT_EQ(room.left_out(), 3U);
}

TEST(Recording, KeepsNoCommunicatorOfWhichNothingWasRecorded) {
  ProcessRecording all;
  for (int i = 0; i < 3; ++i) {
    CommunicatorRecording one;
    one.group = {0, 1};
    one.ordinal = all.ordinal_of(one.group);
    if (i == 1) one.add(RecordedCall{});
    all.take(std::move(one));
  }
  const auto kept = nlohmann::json::parse(all.to_json("An MPI", 0, 2))["communicators"];
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0]["ordinal"], 1);  // as they were made on all ranks
}

TEST(Recording, OfAProcessHasOneRoomForAllCommunicators) {
  Process process(recording_environment());
  CommunicatorState one(process, MPI_COMM_WORLD);
  CommunicatorState two(process, MPI_COMM_WORLD);
  ASSERT_NE(one.recording.room, nullptr);
  EXPECT_EQ(one.recording.room, two.recording.room);
  // What is left holds one call and the communicator that comes with it.
  const auto itself =
      static_cast<std::int64_t>(one.recording.group.size() * sizeof(int) / sizeof(RecordedCall));
  ASSERT_TRUE(one.recording.room->take(RecordingRoom::most_calls - 1 - itself));
  CountedCall(one, Collective::scan).end(nullptr, 8, MPI_SUCCESS);
  CountedCall(two, Collective::scan).end(nullptr, 8, MPI_SUCCESS);
  EXPECT_EQ(one.recording.calls.size(), 1U);
  EXPECT_TRUE(two.recording.calls.empty());
}

TEST(Recording, IsWrittenAsOneLineOfJson) {
  ProcessRecording all;
  CommunicatorRecording one;
  one.group = {3, 1};
  one.ordinal = all.ordinal_of(one.group);
  one.add({7, Collective::scatter, 1, 4096,
           std::chrono::steady_clock::time_point(std::chrono::nanoseconds(1234567890123))});
  all.take(one);
  all.room().leave_out();
  const std::string json = all.to_json("An \"MPI\"", 3, 4);
  EXPECT_NE(json.find(R"(,"left_out":1,)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("mpi":"An \"MPI\"","rank":3,"world_size":4,"clock":")"),
            std::string::npos);
  EXPECT_NE(
      json.find(R"([{"group":[3,1],"ordinal":0,"calls":[[7,"scatter",1,4096,1234567890123]]}])"),
      std::string::npos)
      << json;
}

TEST(Recording, SaysWhenItsProcessBegan) {
  const auto began = [] {
    return nlohmann::json::parse(ProcessRecording().to_json("An MPI", 0, 1))["began"]
        .get<int64_t>();
  };
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t before = began();
  EXPECT_GT(before, 0);
  EXPECT_LT(before, std::chrono::nanoseconds(now).count());
  EXPECT_EQ(began(), before);
}

}  // namespace
}  // namespace sibyl::test
