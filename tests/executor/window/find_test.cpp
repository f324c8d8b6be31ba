// Messages whose sender or size nobody knows before they are there, and receives that are taken
// back.
#include <vector>

#include "executor/window/mailbox.hpp"

namespace sibyl::test {
namespace {

// Waits for a message of any rank with this tag.
void await_any(NodeWindow& window, Mailbox& mailbox, int tag, Rank& from, std::size_t& bytes) {
  while (!window.find(tag, from, bytes)) {
    if (window.progress(mailbox)) continue;
    ASSERT_EQ(window.pause(false), MPI_SUCCESS);
  }
}

TEST_F(Window, FindsAMessageOfWhoeverIsThereFirst) {
  const auto window = NodeWindow::make(comm_.get(), 5, own_node(1), small_slots, crowded());
  ASSERT_NE(window, nullptr);
  const std::size_t long_one = 20 * window->slot_bytes() + 3;
  for (int call = 0; call < 3; ++call) {
    const Rank late = call % (size_of() - 1) + 1;  // it sends when all others have been received
    Mailbox mailbox(*window);
    window->begin(8);
    const auto length = [&](Rank rank) { return rank % 2 == 0 ? long_one : std::size_t(rank); };
    if (rank_in() == 0) {
      std::vector<Rank> senders;
      for (Rank i = 1; i < size_of(); ++i) {
        if (i == size_of() - 1) MPI_Send(nullptr, 0, MPI_BYTE, late, 0, comm_.get());
        Rank from = no_rank;
        std::size_t bytes = 0;
        await_any(*window, mailbox, 7 + call, from, bytes);
        senders.push_back(from);
        EXPECT_EQ(bytes, length(from));
        window->receive({from, 7 + call, static_cast<std::uint32_t>(from), false});
        mailbox.finish();
        EXPECT_EQ(mailbox.messages[static_cast<std::size_t>(from)], text(bytes, from + call));
      }
      EXPECT_EQ(senders.back(), late);
    } else {
      if (rank_in() == late) {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, comm_.get(), MPI_STATUS_IGNORE);
      }
      const std::vector<char> data = text(length(rank_in()), rank_in() + call);
      window->send({.peer = 0, .tag = 7 + call, .data = data.data(), .bytes = data.size()});
      mailbox.finish();
    }
    MPI_Barrier(comm_.get());
  }
}

// What nobody takes stands before it, more than a queue holds.
TEST_F(Window, FindsAMessageBehindThoseThatNobodyWaitsFor) {
  const auto window = NodeWindow::make(comm_.get(), 5, own_node(1), small_slots, crowded());
  ASSERT_NE(window, nullptr);
  Mailbox mailbox(*window);
  window->begin(8);
  const std::vector<char> stale = text(30 * window->slot_bytes(), 1);
  const std::vector<char> wanted = text(100, 2);
  if (rank_in() == 1) {
    window->send({.peer = 0, .tag = 3, .data = stale.data(), .bytes = stale.size()});
    window->send({.peer = 0, .tag = 4, .data = wanted.data(), .bytes = wanted.size()});
    mailbox.finish();
  } else if (rank_in() == 0) {
    Rank from = no_rank;
    std::size_t bytes = 0;
    await_any(*window, mailbox, 4, from, bytes);
    EXPECT_EQ(from, 1);
    EXPECT_EQ(bytes, wanted.size());
    window->receive({1, 4, 0, false});
    mailbox.finish();
    EXPECT_EQ(mailbox.messages[0], wanted);
    EXPECT_TRUE(window->find(3, from, bytes)) << "it is still to be had";
    window->receive({1, 3, 1, false});
    mailbox.finish();
    EXPECT_EQ(mailbox.messages[1], stale);
  }
}

TEST_F(Window, AReceiveThatIsWithdrawnLeavesTheMessageToTheNext) {
  const auto window = NodeWindow::make(comm_.get(), 5, own_node(1), small_slots, crowded());
  ASSERT_NE(window, nullptr);
  Mailbox mailbox(*window);
  window->begin(8);
  if (rank_in() == 0) {
    window->receive({1, 3, 5, false});
    EXPECT_FALSE(window->withdraw(1, 4));
    EXPECT_TRUE(window->withdraw(1, 3));
    EXPECT_EQ(window->open(), 0U);
  }
  MPI_Barrier(comm_.get());
  const std::vector<char> data = text(10, 3);
  if (rank_in() == 1) {
    window->send({.peer = 0, .tag = 3, .data = data.data(), .bytes = data.size()});
  } else if (rank_in() == 0) {
    window->receive({1, 3, 6, false});
    mailbox.finish();
    EXPECT_EQ(mailbox.messages[6], data);
    EXPECT_TRUE(mailbox.messages[5].empty());
  }
}

}  // namespace
}  // namespace sibyl::test
