// Messages through the memory of a node: in any order, of any size, whoever is late, and of every
// algorithm's programs; and nothing of the memory is left.
#include "executor/window/node_window.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "executor/program/trial.hpp"
#include "executor/window/mailbox.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::test {
namespace {

constexpr std::size_t large_slots = 1U << 26;

// How many pieces of memory of windows this process has.
int mapped_windows() {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:sibyl") != std::string::npos) ++found;
  }
  return found;
}

int files_in_dev_shm() {
  DIR* const directory = opendir("/dev/shm");
  if (directory == nullptr) return 0;
  int found = 0;
  while (const dirent* entry = readdir(directory)) {
    if (std::string(entry->d_name).find("sibyl") != std::string::npos) ++found;
  }
  closedir(directory);
  return found;
}

TEST_F(Window, TakesMessagesInAnotherOrderThanTheyWereSentIn) {
  const auto window = NodeWindow::make(comm_.get(), 5, own_node(1), small_slots, crowded());
  ASSERT_NE(window, nullptr);
  const std::size_t large = 20 * window->slot_bytes() + 3;  // more than a queue holds
  const std::vector<std::size_t> sizes{large, 8, 0, large, window->slot_bytes(), 1};
  const Rank next = (rank_in() + 1) % size_of();
  const Rank before = (rank_in() + size_of() - 1) % size_of();
  for (int call = 0; call < 5; ++call) {
    Mailbox mailbox(*window);
    window->begin(2 * sizes.size());
    std::vector<std::vector<char>> data;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      data.push_back(text(sizes[i], rank_in() + call + static_cast<int>(i)));
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      WindowSend message{.peer = next, .tag = static_cast<int>(i)};
      message.key = static_cast<std::uint32_t>(i);
      message.data = data[i].data();
      message.bytes = sizes[i];
      if (window->send(message)) mailbox.sent.push_back(message.key);
    }
    // The last one first, alone: all others have to be kept elsewhere for it.
    for (std::size_t i = sizes.size(); i-- > 0;) {
      window->receive({before, static_cast<int>(i), static_cast<std::uint32_t>(i), i % 2 == 0});
      if (i + 1 == sizes.size()) {
        while (mailbox.order.empty()) {
          if (window->progress(mailbox)) continue;
          ASSERT_EQ(window->pause(false), MPI_SUCCESS);
        }
        EXPECT_EQ(mailbox.order.front(), i);
      }
    }
    mailbox.finish();
    EXPECT_EQ(mailbox.sent.size(), sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(mailbox.messages[i], text(sizes[i], before + call + static_cast<int>(i)));
    }
  }
}

TEST_F(Window, LeavesMessagesOfTheNextCallWhereTheyAre) {
  const auto window = NodeWindow::make(comm_.get(), 5, own_node(1), small_slots, crowded());
  ASSERT_NE(window, nullptr);
  Mailbox mailbox(*window);
  window->begin(8);
  const std::vector<char> first(1, 'a');
  const std::vector<char> second(1, 'b');
  if (rank_in() == 0) {
    for (const auto* data : {&first, &second}) {
      window->send({.peer = 1, .tag = 3, .key = 0, .data = data->data(), .bytes = 1});
    }
    window->send({.peer = 1, .tag = 4, .key = 0, .by_mpi = true});
    EXPECT_EQ(window->open(), 0U) << "there is room for all";
  }
  MPI_Barrier(comm_.get());
  if (rank_in() == 1) {
    for (std::uint32_t call = 0; call < 2; ++call) {
      window->begin(1);
      window->receive({0, 3, call, false});
      mailbox.finish();
      EXPECT_EQ(mailbox.order.size(), call + 1);
      EXPECT_EQ(window->slots_taken(), call + 1);
      EXPECT_EQ(window->messages_kept(), 0U);
    }
    EXPECT_EQ(mailbox.messages[0], first);
    EXPECT_EQ(mailbox.messages[1], second);
    window->receive({0, 4, 2, true});
    mailbox.finish();
    EXPECT_EQ(mailbox.named, std::vector<std::uint32_t>{2});
  }
}

TEST_F(Window, HasSlotsForMessagesOfTheLengthThatItIsMadeFor) {
  const std::vector<Rank> all = own_node(1);
  for (const std::size_t message : {0U, 100U, 700U, 8192U, 100000U, 1U << 18, 1U << 26}) {
    const std::size_t bytes = NodeWindow::bytes_for(all.size(), message);
    const auto window = NodeWindow::make(comm_.get(), 5, all, bytes, crowded());
    ASSERT_NE(window, nullptr) << message;
    EXPECT_GE(window->slot_bytes(), std::min<std::size_t>(message, 8192));
    EXPECT_GE(8 * window->slot_bytes(), std::min<std::size_t>(message, 1U << 18));
    EXPECT_LE(window->slot_bytes(), std::max<std::size_t>(message, 512) + 64);
  }
}

// Who is not woken sleeps for as long as it may.
TEST_F(Window, SleepsUntilALateMessageComes) {
  const auto window = NodeWindow::make(comm_.get(), 5, own_node(1), small_slots, crowded());
  ASSERT_NE(window, nullptr);
  constexpr std::chrono::seconds longest_sleep{10};
  window->sleep_for(longest_sleep);
  const double begin = MPI_Wtime();
  for (int turn = 0; turn < 10; ++turn) {
    Mailbox mailbox(*window);
    window->begin(static_cast<std::size_t>(size_of()));
    const char byte = static_cast<char>(turn);
    if (rank_in() == turn % size_of()) {
      usleep(50000);
      for (Rank peer = 0; peer < size_of(); ++peer) {
        if (peer == rank_in()) continue;
        window->send({.peer = peer, .tag = 1, .key = 0, .data = &byte, .bytes = 1});
      }
    } else {
      window->receive({static_cast<Rank>(turn % size_of()), 1, 0, false});
    }
    mailbox.finish();
    if (rank_in() == turn % size_of()) continue;
    EXPECT_EQ(mailbox.messages[0], std::vector<char>{byte});
  }
  EXPECT_GT(window->sleeps(), 0U);
  EXPECT_LT(MPI_Wtime() - begin, static_cast<double>(longest_sleep.count()));
}

// The same data to all others: written once, taken by each in its own time.
TEST_F(Window, WritesOnceWhatSeveralRead) {
  const auto window = NodeWindow::make(comm_.get(), 5, own_node(1), small_slots, crowded());
  ASSERT_NE(window, nullptr);
  const std::size_t slot = window->slot_bytes();
  constexpr std::size_t outlets = 8;
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{2000}, slot, 30 * slot + 7}) {
    const std::size_t piece = std::clamp(bytes / outlets, std::min<std::size_t>(8192, slot), slot);
    const bool once = bytes >= 1024 && size_of() > 2;
    const std::size_t pieces = once ? (bytes + piece - 1) / piece : 0;
    for (Rank root = 0; root < size_of(); ++root) {
      Mailbox mailbox(*window);
      window->begin(64);
      const std::uint64_t written = window->outlets_written();
      const std::uint64_t late = window->late_readers();
      const std::vector<char> data = text(bytes, root);
      MPI_Barrier(comm_.get());  // all outlets are free
      if (rank_in() == root) {
        std::vector<WindowSend> sends;
        for (Rank peer = 0; peer < size_of(); ++peer) {
          if (peer == root) continue;
          sends.push_back({.peer = peer, .tag = 9, .key = static_cast<std::uint32_t>(peer)});
          sends.back().data = data.data();
          sends.back().bytes = bytes;
        }
        window->send(sends, mailbox);
      } else {
        if ((rank_in() + root) % 3 == 0) usleep(500);
        window->receive({root, 9, 1, false});
      }
      mailbox.finish();
      if (rank_in() == root) {
        EXPECT_EQ(mailbox.sent.size(), static_cast<std::size_t>(size_of() - 1));
        // What is left when one of them is late goes to each by itself.
        const bool all_came = window->late_readers() == late;
        EXPECT_GE(window->outlets_written() - written,
                  all_came ? pieces : std::min(pieces, outlets));
        EXPECT_LE(window->outlets_written() - written, pieces);
      } else {
        EXPECT_EQ(mailbox.messages[1], data);
      }
    }
  }
}

// Rank 1 has all of a long message before rank 2, without whom it would not come, takes any of it.
TEST_F(Window, ALateReaderHoldsUpNoOther) {
  if (size_of() < 3) GTEST_SKIP() << "needs two readers";
  const auto window = NodeWindow::make(comm_.get(), 5, own_node(1), small_slots, crowded());
  ASSERT_NE(window, nullptr);
  Mailbox mailbox(*window);
  for (int call = 0; call < 3; ++call) {
    window->begin(64);
    const std::vector<char> data = text(40 * window->slot_bytes() + 1, call);
    const char go = 'g';
    mailbox.messages.assign(64, {});
    if (rank_in() == 0) {
      std::vector<WindowSend> sends;
      for (const Rank peer : {1, 2}) {
        sends.push_back({.peer = peer, .tag = 9, .data = data.data(), .bytes = data.size()});
      }
      window->send(sends, mailbox);
      mailbox.finish();
    } else if (rank_in() == 1) {
      window->receive({0, 9, 1, false});
      mailbox.finish();
      window->send({.peer = 2, .tag = 3, .data = &go, .bytes = 1});
      mailbox.finish();
      EXPECT_EQ(mailbox.messages[1], data);
    } else if (rank_in() == 2) {
      window->receive({1, 3, 2, false});
      mailbox.finish();
      window->receive({0, 9, 1, false});
      mailbox.finish();
      EXPECT_EQ(mailbox.messages[1], data);
    }
  }
}

// Of several messages to both, each sent when rank 1 has the one before it: that rank 2 is late is
// found at the first.
TEST_F(Window, ALateReaderIsWaitedForOnce) {
  if (size_of() < 3) GTEST_SKIP() << "needs two readers";
  const auto window = NodeWindow::make(comm_.get(), 5, own_node(1), small_slots, crowded());
  ASSERT_NE(window, nullptr);
  constexpr std::uint32_t groups = 6;
  Mailbox mailbox(*window);
  const char go = 'g';
  for (std::uint32_t call = 0; call < 3; ++call) {
    window->begin(64);
    mailbox.messages.assign(64, {});
    mailbox.sent.clear();
    const std::vector<char> data = text(10 * window->slot_bytes(), static_cast<int>(call));
    const std::uint64_t late = window->late_readers();
    MPI_Barrier(comm_.get());  // rank 2 has caught up
    if (rank_in() == 0) {
      for (std::uint32_t group = 0; group < groups; ++group) {
        std::vector<WindowSend> sends;
        for (const Rank peer : {1, 2}) {
          sends.push_back({.peer = peer, .tag = static_cast<int>(group)});
          sends.back().key = 2 * group + static_cast<std::uint32_t>(peer);
          sends.back().data = data.data();
          sends.back().bytes = data.size();
        }
        window->send(sends, mailbox);
        while (std::ranges::count(mailbox.sent, 2 * group + 1) == 0) {
          if (window->progress(mailbox)) continue;
          ASSERT_EQ(window->pause(false), MPI_SUCCESS);
        }
      }
      EXPECT_EQ(window->late_readers() - late, 1U);
      mailbox.finish();
      EXPECT_EQ(mailbox.sent.size(), 2 * groups);
    } else if (rank_in() == 1 || rank_in() == 2) {
      if (rank_in() == 2) {
        window->receive({1, 50, 60, false});
        mailbox.finish();
      }
      for (std::uint32_t group = 0; group < groups; ++group) {
        window->receive({0, static_cast<int>(group), group, false});
        mailbox.finish();
        EXPECT_EQ(mailbox.messages[group], data);
      }
      if (rank_in() == 1) {
        window->send({.peer = 2, .tag = 50, .data = &go, .bytes = 1});
        mailbox.finish();
      }
    }
  }
}

TEST_F(Window, HalfSentMessagesThatAreGivenUpEndItForAll) {
  const auto window = NodeWindow::make(comm_.get(), 5, own_node(1), small_slots, crowded());
  ASSERT_NE(window, nullptr);
  EXPECT_FALSE(window->is_broken());
  MPI_Barrier(comm_.get());
  if (rank_in() == 0) {
    const std::vector<char> data(20 * window->slot_bytes());
    window->begin(1);
    EXPECT_FALSE(window->send({.peer = 1, .tag = 1, .data = data.data(), .bytes = data.size()}));
    window->abandon();
    EXPECT_EQ(window->open(), 0U);
  }
  MPI_Barrier(comm_.get());
  EXPECT_TRUE(window->is_broken());
}

TEST_F(Window, IsNoneForAllWhereOneIsNotAbleOrTheBytesAreFew) {
  const std::vector<Rank> all = own_node(1);
  EXPECT_EQ(NodeWindow::make(comm_.get(), 5, all, 1000, crowded()), nullptr);
  EXPECT_EQ(NodeWindow::make(comm_.get(), 5, std::vector<Rank>{rank_in()}, small_slots, crowded()),
            nullptr);
  for (Rank unable = 0; unable < size_of(); ++unable) {
    const SharedMemory none = SharedMemory::make(comm_.get(), 5, all, 4096, rank_in() != unable);
    EXPECT_EQ(none.begin(), nullptr);
  }
  EXPECT_EQ(mapped_windows(), 0);
}

TEST_F(Window, LeavesNothingBehind) {
  for (int i = 0; i < 50; ++i) {
    const auto window = NodeWindow::make(comm_.get(), 5, own_node(1), large_slots, crowded());
    ASSERT_NE(window, nullptr);
    EXPECT_EQ(mapped_windows(), 1);
    EXPECT_EQ(files_in_dev_shm(), 0) << "it has no name";
  }
  EXPECT_EQ(mapped_windows(), 0);
}

TEST_F(Window, CarriesTheProgramsOfEveryAlgorithm) {
  Workspace workspace;
  int tag = 0;
  for (const Rank nodes : {1, 2}) {
    if (nodes == 2 && size_of() < 3) continue;
    const auto window = NodeWindow::make(comm_.get(), 5, own_node(nodes), small_slots, crowded());
    ASSERT_EQ(window != nullptr, own_node(nodes).size() > 1);
    for (const Algorithm& algorithm : algorithms()) {
      const bool irregular_tree = has_root(algorithm.collective) && algorithm.sizes;
      if (irregular_tree && !algorithm.linear) continue;
      const Rank root = has_root(algorithm.collective) ? size_of() - 1 : 0;
      for (const std::int64_t count : {3, 5000}) {
        for (const bool gaps : {false, true}) {
          for (const bool in_place : {false, true}) {
            if (in_place && (!algorithm.in_place || gaps)) continue;
            Trial trial(algorithm,
                        {.root = root,
                         .count = count,
                         .in_place = in_place,
                         .gaps = gaps,
                         .window = window.get()},
                        comm_.get());
            SCOPED_TRACE(trial.text());
            for (const Engine engine : {Engine::lockstep, Engine::usual}) {
              if (rank_in() == tag % size_of()) usleep(300);
              const std::uint64_t before = window != nullptr ? window->slots_filled() : 0;
              ASSERT_EQ(trial.run(engine, tag, workspace), MPI_SUCCESS);
              EXPECT_TRUE(trial.right()) << "by engine " << static_cast<int>(engine);
              if (window != nullptr) {
                EXPECT_GE(window->slots_filled() - before, trial.sends_by_window(workspace));
              }
              tag += trial.tags();
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sibyl::test
