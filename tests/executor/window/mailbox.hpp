// What the tests of windows share: who is on a node, and a user that keeps what comes.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "executor/window/node_window.hpp"
#include "support/mpi_test.hpp"

namespace sibyl::test {

inline constexpr std::size_t small_slots = 2U << 20;  // on 16 ranks still slots of 960 bytes

// Nodes that the ranks are dealt out to in turn; 1: all share one.
inline std::vector<Rank> own_node(Rank nodes) {
  std::vector<Rank> ranks;
  for (Rank rank = rank_in() % nodes; rank < size_of(); rank += nodes) ranks.push_back(rank);
  return ranks;
}

// As waiting ranks are on this machine.
inline bool crowded() { return size_of() > sysconf(_SC_NPROCESSORS_ONLN); }

// Keeps what comes, by key.
class Mailbox : public WindowUser {
 public:
  explicit Mailbox(NodeWindow& window) : window_(window) {}
  std::vector<std::vector<char>> messages = std::vector<std::vector<char>>(64);
  std::vector<std::uint32_t> order;  // of what has come whole
  std::vector<std::uint32_t> named;
  std::vector<std::uint32_t> sent;

  void finish() {
    while (window_.open() != 0) {
      if (!window_.progress(*this)) {
        ASSERT_EQ(window_.pause(false), MPI_SUCCESS);
      }
      ASSERT_FALSE(window_.is_broken());
    }
  }
  void window_sent(std::uint32_t key) override { sent.push_back(key); }
  void window_brings(const WindowPiece& piece) override {
    std::vector<char>& message = messages[piece.key];
    EXPECT_EQ(message.size(), piece.begin);
    if (piece.bytes != 0) message.insert(message.end(), piece.data, piece.data + piece.bytes);
    EXPECT_EQ(piece.note, piece.is_first() ? 0 : piece.key + 1) << "the note is kept";
    piece.note = piece.key + 1;
    if (piece.is_last()) order.push_back(piece.key);
  }
  void window_names(std::uint32_t key) override { named.push_back(key); }

 private:
  NodeWindow& window_;
};

inline std::vector<char> text(std::size_t bytes, int seed) {
  std::vector<char> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<char>(i * 7 + i / 251 + seed);
  return made;
}

class Window : public testing::Test {
 protected:
  void SetUp() override {
    if (size_of() == 1) GTEST_SKIP() << "nobody to share with";
    if (std::string_view(SIBYL_FLAVOUR) == "smpi") GTEST_SKIP() << "its ranks share a process";
  }
  const Duplicate comm_;
};

}  // namespace sibyl::test
