// Port windows and staging slots over real messages: hand-built programs whose limits show in what
// the other end can see. What is sent once a run is given up: nothing.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "executor/program/dataflow.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

constexpr std::uint32_t messages = 12;

// Of the plan under test; planners are plain functions.
PortWindow window;
std::uint32_t staging = 0;

PlanHeader describe_ring(const PlanRequest& request) {
  PlanHeader header;
  header.collective = Collective::scan;
  header.algorithm = "ring of the test";
  header.ranks = request.ranks;
  header.segments = messages;
  header.window = window;
  header.staging = staging;
  header.tag_span = 2 * messages;
  header.rounds = messages;
  return header;
}

Rank right_of(const PlanRequest& request, Rank rank) { return (rank + 1) % request.ranks; }
Rank left_of(const PlanRequest& request, Rank rank) {
  return (rank + request.ranks - 1) % request.ranks;
}

// Every rank passes its parts to the right, each in a message of its own.
void plan_passing(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  for (std::uint32_t part = 0; part < messages; ++part) {
    build.send(right_of(request, rank), ProgramBuilder::slice(Buffer::send, part), part);
    build.receive(left_of(request, rank), ProgramBuilder::slice(Buffer::receive, part), part);
  }
}

// Every rank folds the parts of its left neighbour, one after the other, into its own first part.
void plan_folding(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const Slice sum = ProgramBuilder::slice(Buffer::receive, 0);
  build.copy(sum, ProgramBuilder::slice(Buffer::send, 0), 0);
  for (std::uint32_t part = 0; part < messages; ++part) {
    build.send(right_of(request, rank), ProgramBuilder::slice(Buffer::send, part), part);
    build.receive_combine(left_of(request, rank), sum, part);
  }
}

// Rank 0 sends all to rank 1, which receives all.
void plan_pair(const PlanRequest&, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  for (std::uint32_t part = 0; part < messages; ++part) {
    if (rank == 0) build.send(1, ProgramBuilder::slice(Buffer::send, part), part);
    if (rank == 1) build.receive(0, ProgramBuilder::slice(Buffer::receive, part), part);
  }
}

// Rank 0 sends to ranks 1 and 2 in turn, which receive.
void plan_fork(const PlanRequest&, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  for (std::uint32_t part = 0; part < messages; ++part) {
    const Rank receiver = 1 + static_cast<Rank>(part % 2);
    if (rank == 0) build.send(receiver, ProgramBuilder::slice(Buffer::send, part), part);
    if (rank == receiver) build.receive(0, ProgramBuilder::slice(Buffer::receive, part), part);
  }
}

// Rank 0 sends all to rank 2, and a part that it has from rank 1 back to it.
void plan_echo(const PlanRequest&, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const Slice part = ProgramBuilder::slice(Buffer::receive, 0);
  if (rank == 0) build.send(2, ProgramBuilder::slice(Buffer::send, 0, messages), 0);
  if (rank == 2) build.receive(0, ProgramBuilder::slice(Buffer::receive, 0, messages), 0);
  if (rank == 1) build.send(0, ProgramBuilder::slice(Buffer::send, 0), 1);
  if (rank == 0) build.receive(1, part, 1);
  if (rank == 0) build.send(1, part, 2);
  if (rank == 1) build.receive(0, part, 2);
}

// Rank 0 passes on to rank 2 what it has from rank 1.
void plan_relay(const PlanRequest&, Rank rank, Program& program) {
  program.clear();
  ProgramBuilder build(program);
  const Slice part = ProgramBuilder::slice(Buffer::receive, 0);
  if (rank == 1) build.send(0, ProgramBuilder::slice(Buffer::send, 0), 0);
  if (rank == 0) build.receive(1, part, 0);
  if (rank == 0) build.send(2, part, 1);
  if (rank == 2) build.receive(0, part, 1);
}

// The composition of x -> a x + b modulo 2^64: associative, not commutative.
struct Affine {
  std::uint64_t a;
  std::uint64_t b;
  friend bool operator==(const Affine&, const Affine&) = default;
};

Affine composed(const Affine& left, const Affine& right) {
  return {left.a * right.a, left.a * right.b + left.b};
}

void compose(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* left = static_cast<const Affine*>(in);
  auto* right = static_cast<Affine*>(inout);
  for (int i = 0; i < *count; ++i) right[i] = composed(left[i], right[i]);
}

class Windows : public testing::Test {
 protected:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
  Prepared prepared_;
  CollectiveCall call_;
  Workspace workspace_;
  std::vector<Affine> send_;
  std::vector<Affine> receive_;

  void SetUp() override {
    MPI_Type_contiguous(2, MPI_UINT64_T, &type_);
    MPI_Type_commit(&type_);
    MPI_Op_create(&compose, 0, &op_);
  }
  void TearDown() override {
    MPI_Type_free(&type_);
    MPI_Op_free(&op_);
  }

  static Affine element(Rank rank, std::uint32_t part, std::size_t i) {
    const auto seed = static_cast<std::uint64_t>(rank) * 1000 + part * 17 + i;
    return {2 * seed + 3, seed * seed + 5};
  }

  // `per_part` elements in each message.
  void make(void (*plan)(const PlanRequest&, Rank, Program&), std::size_t per_part, MPI_Comm comm) {
    Algorithm algorithm{};
    algorithm.collective = Collective::scan;
    algorithm.describe = &describe_ring;
    algorithm.plan = plan;
    PlanRequest request;
    request.ranks = size_of(comm);
    prepare(algorithm, request, rank_in(comm), prepared_);
    send_.clear();
    for (std::uint32_t part = 0; part < messages; ++part) {
      for (std::size_t i = 0; i < per_part; ++i) {
        send_.push_back(element(rank_in(comm), part, i));
      }
    }
    receive_.assign(send_.size(), Affine{0, 0});
    call_ = CollectiveCall{};
    call_.comm = comm;
    call_.op = op_;
    call_.block_bytes = send_.size() * sizeof(Affine);
    UserBuffer buffer;
    EXPECT_EQ(inspect(type_, buffer.type), MPI_SUCCESS);
    buffer.count = static_cast<MPI_Count>(send_.size());
    buffer.base = reinterpret_cast<char*>(send_.data());
    call_.send = buffer;
    buffer.base = reinterpret_cast<char*>(receive_.data());
    call_.receive = buffer;
  }
  void run() {
    const Frame frame(prepared_, call_, workspace_);
    ASSERT_TRUE(frame.ready());
    ASSERT_EQ(run_dataflow(prepared_, call_, frame, workspace_), MPI_SUCCESS);
  }
};

TEST_F(Windows, EveryMessageArrivesInItsPlaceUnderEveryWindow) {
  const Duplicate comm;
  const int left = (rank_in() + size_of() - 1) % size_of();
  for (const std::uint32_t sends : {0U, 1U, 2U, 5U}) {
    for (const std::uint32_t receives : {0U, 1U, 2U}) {
      for (const std::size_t per_part : {std::size_t{1}, std::size_t{10000}}) {
        SCOPED_TRACE("windows " + std::to_string(sends) + ", " + std::to_string(receives) + ", " +
                     std::to_string(per_part) + " elements");
        window = {.sends = sends, .receives = receives, .sends_to_one = sends / 2};
        window.in_order = sends != 0 && per_part > 1;
        make(&plan_passing, per_part, comm.get());
        run();
        for (std::uint32_t part = 0; part < messages; ++part) {
          for (std::size_t i = 0; i < per_part; ++i) {
            ASSERT_EQ(receive_[part * per_part + i], element(left, part, i)) << "part " << part;
          }
        }
      }
    }
  }
  window = {};
}

// Something to do a thousand times, at each of which messages may be complete.
struct Chores final : ProgressHook {
  int left = 1000;
  bool advance() noexcept override { return left > 0 && left-- > 0; }
};

TEST_F(Windows, WhoWaitsDoesWhatThereIsToDoMeanwhile) {
  const Duplicate comm;
  const int left = (rank_in() + size_of() - 1) % size_of();
  Chores chores;
  for (const std::size_t per_part : {std::size_t{1}, std::size_t{10000}}) {
    make(&plan_passing, per_part, comm.get());
    call_.progress_hook = &chores;
    if (rank_in() == 0) usleep(20000);
    run();
    for (std::uint32_t part = 0; part < messages; ++part) {
      for (std::size_t i = 0; i < per_part; ++i) {
        ASSERT_EQ(receive_[part * per_part + i], element(left, part, i)) << "part " << part;
      }
    }
  }
  if (size_of() > 1 && left == 0) {
    EXPECT_LT(chores.left, 1000);  // its left neighbour is late
  }
}

TEST_F(Windows, AFoldKeepsItsOrderHoweverFewSlotsItHas) {
  const Duplicate comm;
  const int rank = rank_in();
  const int left = (rank + size_of() - 1) % size_of();
  std::mt19937 random(static_cast<unsigned>(rank));
  for (const std::uint32_t slots : {0U, 1U, 2U, 3U}) {
    for (const std::uint32_t receives : {0U, 1U, 2U}) {
      for (const std::size_t per_part : {std::size_t{3}, std::size_t{5000}}) {
        SCOPED_TRACE(std::to_string(slots) + " slots, window " + std::to_string(receives) + ", " +
                     std::to_string(per_part) + " elements");
        staging = slots;
        window = {.receives = receives};
        make(&plan_folding, per_part, comm.get());
        EXPECT_EQ(prepared_.staging_slots, slots == 0 ? messages : slots);
        usleep(random() % 2000);
        run();
        for (std::size_t i = 0; i < per_part; ++i) {
          Affine expected = element(rank, 0, i);
          for (std::uint32_t part = 0; part < messages; ++part) {
            expected = composed(element(left, part, i), expected);
          }
          ASSERT_EQ(receive_[i], expected) << "element " << i;
        }
      }
    }
  }
  staging = 0;
  window = {};
}

// Messages of 1 MiB that nobody receives stay under way: the next rank sees how many there are, and
// where the plan has no window no more than the call allows.
TEST_F(Windows, NoMoreSendsAreUnderWayThanTheWindowAllows) {
  if (size_of() < 2) GTEST_SKIP() << "needs two ranks";
  const Duplicate comm;
  constexpr std::size_t per_part = 65536;
  for (const std::uint32_t sends : {0U, 1U, 2U, 5U}) {
    SCOPED_TRACE("window " + std::to_string(sends));
    window = {.sends = sends};
    const std::uint32_t allowed = sends == 0 ? 2 : sends;
    if (rank_in() == 0) {
      make(&plan_pair, per_part, comm.get());
      call_.most_sends_to_one = 2;
      run();
    } else if (rank_in() == 1) {
      std::vector<Affine> got(per_part);
      for (std::uint32_t taken = 0; taken < messages; ++taken) {
        const auto last = static_cast<int>(std::min(taken + allowed, messages)) - 1;
        int there = 0;
        while (there == 0) MPI_Iprobe(0, last, comm.get(), &there, MPI_STATUS_IGNORE);
        for (int rest = 0; rest < 20; ++rest) {
          MPI_Iprobe(0, last + 1, comm.get(), &there, MPI_STATUS_IGNORE);
          EXPECT_EQ(there, 0) << "message " << last + 1 << " with " << taken << " received";
          usleep(200);
        }
        MPI_Recv(got.data(), 2 * per_part, MPI_UINT64_T, 0, static_cast<int>(taken), comm.get(),
                 MPI_STATUS_IGNORE);
        ASSERT_EQ(got[7], element(0, taken, 7));
      }
    }
    MPI_Barrier(comm.get());
  }
  window = {};
}

TEST_F(Windows, WithoutALimitAllSendsAreUnderWay) {
  if (size_of() < 2) GTEST_SKIP() << "needs two ranks";
  const Duplicate comm;
  constexpr std::size_t per_part = 64;
  if (rank_in() == 0) {
    make(&plan_pair, per_part, comm.get());
    run();
  } else if (rank_in() == 1) {
    int there = 0;
    while (there == 0) MPI_Iprobe(0, messages - 1, comm.get(), &there, MPI_STATUS_IGNORE);
    make(&plan_pair, per_part, comm.get());
    run();
    EXPECT_EQ(receive_.back(), element(0, messages - 1, per_part - 1));
  }
  MPI_Barrier(comm.get());
}

// Rank 1 takes nothing before rank 2 has everything.
TEST_F(Windows, ARankThatIsNotThereLeavesPlacesForOthers) {
  if (size_of() < 3) GTEST_SKIP() << "needs three ranks";
  const Duplicate comm;
  constexpr int all_is_here = 1000;
  window = {.sends = 3, .sends_to_one = 2, .until_taken = true};
  if (rank_in() < 3) {
    make(&plan_fork, 65536, comm.get());
    if (rank_in() == 1)
      MPI_Recv(nullptr, 0, MPI_INT, 2, all_is_here, comm.get(), MPI_STATUS_IGNORE);
    run();
    if (rank_in() == 2) MPI_Send(nullptr, 0, MPI_INT, 1, all_is_here, comm.get());
    for (std::uint32_t part = 0; part < messages && rank_in() != 0; ++part) {
      const bool mine = rank_in() == 1 + static_cast<int>(part % 2);
      EXPECT_EQ(receive_[part * std::size_t{65536}], mine ? element(0, part, 0) : (Affine{0, 0}));
    }
  }
  MPI_Barrier(comm.get());
  window = {};
}

// A synchronous send completes when its receive has been posted.
TEST_F(Windows, NoMoreReceivesArePostedThanTheWindowAllows) {
  if (size_of() < 2) GTEST_SKIP() << "needs two ranks";
  const Duplicate comm;
  for (const std::uint32_t allowed : {1U, 2U, 5U}) {
    SCOPED_TRACE("window " + std::to_string(allowed));
    window = {.receives = allowed};
    if (rank_in() == 1) {
      make(&plan_pair, 1, comm.get());
      run();
      for (std::uint32_t part = 0; part < messages; ++part) {
        EXPECT_EQ(receive_[part], element(0, part, 0));
      }
    } else if (rank_in() == 0) {
      std::vector<Affine> sent;
      for (std::uint32_t part = 0; part < messages; ++part) sent.push_back(element(0, part, 0));
      std::vector<MPI_Request> requests(messages, MPI_REQUEST_NULL);
      const auto send = [&](std::uint32_t part) {
        MPI_Issend(&sent[part], 1, type_, 1, static_cast<int>(part), comm.get(), &requests[part]);
      };
      send(allowed);  // the first that must wait
      for (int rest = 0; rest < 20; ++rest) {
        int done = 0;
        MPI_Test(&requests[allowed], &done, MPI_STATUS_IGNORE);
        EXPECT_EQ(done, 0) << "a receive beyond the window was posted";
        usleep(200);
      }
      send(allowed - 1);  // the last that need not
      MPI_Wait(&requests[allowed - 1], MPI_STATUS_IGNORE);
      MPI_Wait(&requests[allowed], MPI_STATUS_IGNORE);  // has taken its place
      for (std::uint32_t part = 0; part < messages; ++part) {
        if (part != allowed && part + 1 != allowed) send(part);
      }
      MPI_Waitall(static_cast<int>(messages), requests.data(), MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(comm.get());
  }
  window = {};
}

// Rank 0 looks into the window, where what it sends back has come, and then asks MPI, which fails.
TEST_F(Windows, ARunThatIsGivenUpSendsNothingMore) {
  if (size_of() < 3) GTEST_SKIP() << "needs three ranks";
  const Duplicate comm;
  const std::array<MPI_Comm, 2> raising{MPI_COMM_WORLD, MPI_COMM_SELF};
  for (const MPI_Comm raised : raising) MPI_Comm_set_errhandler(raised, MPI_ERRORS_RETURN);
  std::unique_ptr<NodeWindow> memory;
  if (rank_in() < 2) {
    memory = NodeWindow::make(comm.get(), 3 * messages, std::vector<Rank>{0, 1}, 1U << 26, false);
    ASSERT_NE(memory, nullptr);
  }
  make(&plan_echo, 1024, comm.get());
  call_.window = memory.get();
  const Frame frame(prepared_, call_, workspace_);
  ASSERT_TRUE(frame.ready());
  std::optional<Dataflow> flow;
  const auto start = [&] { flow.emplace(prepared_, call_, frame, workspace_).start(true); };
  if (rank_in() == 0) start();
  MPI_Barrier(comm.get());
  if (rank_in() == 1) start();
  MPI_Barrier(comm.get());
  if (rank_in() == 0) {
    ASSERT_EQ(workspace_.requests.size(), 1U) << "a message of 192 KiB that nobody receives";
    MPI_Request request = std::exchange(workspace_.requests.front(), MPI_Request{});
    EXPECT_TRUE(flow->progress());
    EXPECT_NE(flow->error(), MPI_SUCCESS);
    EXPECT_EQ(receive_.front(), element(1, 0, 0));
    EXPECT_TRUE(flow->ended());
    EXPECT_EQ(memory->slots_filled(), 0U);
    MPI_Barrier(comm.get());
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(comm.get());
    if (rank_in() == 1) flow->abandon(MPI_ERR_OTHER);
    if (rank_in() == 2) run();
  }
  for (const MPI_Comm raised : raising) MPI_Comm_set_errhandler(raised, MPI_ERRORS_ARE_FATAL);
}

// Ranks 0 and 1 share a window, which rank 1 breaks while rank 0 waits for it, or has broken
// before.
TEST_F(Windows, ARunWhoseWindowBreaksStillSendsWhatGoesByMpi) {
  if (size_of() < 3) GTEST_SKIP() << "needs three ranks";
  if (std::string(SIBYL_FLAVOUR) == "smpi") GTEST_SKIP() << "its ranks share a process";
  const Duplicate comm;
  constexpr int tag_of_the_broken = 99;
  std::unique_ptr<NodeWindow> memory;
  if (rank_in() < 2) {
    memory = NodeWindow::make(comm.get(), 3 * messages, std::vector<Rank>{0, 1}, 1U << 20, false);
    ASSERT_NE(memory, nullptr);
  }
  make(&plan_relay, 1, comm.get());
  call_.window = memory.get();
  const auto result = [&] {
    const Frame frame(prepared_, call_, workspace_);
    return run_dataflow(prepared_, call_, frame, workspace_);
  };
  if (rank_in() == 1) {
    const std::vector<char> data(20 * memory->slot_bytes());
    memory->begin(1);
    WindowSend message{.peer = 0, .tag = tag_of_the_broken};
    message.data = data.data();
    message.bytes = data.size();
    EXPECT_FALSE(memory->send(message));
    MPI_Barrier(comm.get());
    usleep(5000);
    memory->abandon();
  } else {
    MPI_Barrier(comm.get());
    EXPECT_EQ(result(), rank_in() == 0 ? MPI_ERR_OTHER : MPI_SUCCESS);
  }
  MPI_Barrier(comm.get());
  EXPECT_EQ(result(), rank_in() < 2 ? MPI_ERR_OTHER : MPI_SUCCESS);
  if (rank_in() < 2) {
    EXPECT_TRUE(memory->is_broken());
    EXPECT_EQ(memory->open(), 0U);
  }
}

// What comes when a run has been left in the middle is not for its buffers.
TEST_F(Windows, ARunThatIsLeftReceivesNothingMore) {
  if (size_of() < 2) GTEST_SKIP() << "needs two ranks";
  const Duplicate comm;
  make(&plan_pair, 1, comm.get());
  if (rank_in() == 1) {
    const Frame frame(prepared_, call_, workspace_);
    ASSERT_TRUE(frame.ready());
    Dataflow flow(prepared_, call_, frame, workspace_);
    flow.start(true);
    EXPECT_FALSE(flow.ended());
  }
  MPI_Barrier(comm.get());
  if (rank_in() == 0) run();
  if (rank_in() == 1) {
    EXPECT_TRUE(workspace_.requests.empty());
    for (std::uint32_t part = 0; part < messages; ++part) {
      int there = 0;
      for (int look = 0; look < 10000 && there == 0; ++look) {
        MPI_Iprobe(0, static_cast<int>(part), comm.get(), &there, MPI_STATUS_IGNORE);
        if (there == 0) usleep(100);
      }
      ASSERT_NE(there, 0) << "message " << part << " has gone elsewhere";
      Affine got{0, 0};
      MPI_Recv(&got, 2, MPI_UINT64_T, 0, static_cast<int>(part), comm.get(), MPI_STATUS_IGNORE);
      EXPECT_EQ(got, element(0, part, 0));
      EXPECT_EQ(receive_[part], (Affine{0, 0}));
    }
  }
}

}  // namespace
}  // namespace sibyl::test
