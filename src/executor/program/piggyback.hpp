// The record that ranks piggyback on the messages of a collective, and how it is merged.
//
// A call that sums at all ranks can tell all of them more than the sum at no message of its own: a
// record of a few bytes stands behind the data of its messages. A rank begins with its own record,
// merges those that come in, and sends what it has by then. The merge may meet the same record
// twice and in any order, so what every rank holds in the end is the merge of all, if there was a
// way from every rank to every rank along which each message is sent after the one before it has
// come. There is one, with no more to prove: it is the way of one element of the vector, whose sum
// the verifier finds to depend on the operands of all ranks at every rank.
//
// So only messages that hold the first unit of the vector carry the record: two or three a call at
// a rank, however many segments there are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sibyl {

struct Piggyback {
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
  static constexpr std::size_t most_late = 4;
  struct Late {
    std::int64_t arrival = never;
    std::int64_t name = -1;
    friend auto operator<=>(const Late&, const Late&) = default;
  };

  // In nanoseconds of one clock. Of all ranks: the first arrival at the call and the last departure
  // from the call before. The latest arrivals, the last first (of equal ones the higher name), each
  // named by its rank, or by its node, which comes when the last of its ranks does.
  std::int64_t first_arrival = -(never + 1);
  std::array<Late, most_late> latest{};
  std::int64_t last_departure = never;
  // How far the clock of a rank may be off at most.
  std::int64_t clock_error = 0;
  // Where in the program rank 0 makes the call: a number that means nothing elsewhere; 0: not
  // known.
  std::int64_t place = 0;

  void merge(const Piggyback& other);
  friend bool operator==(const Piggyback&, const Piggyback&) = default;
};

// It travels as so many MPI_INT64_T.
inline constexpr int words_of_piggyback = sizeof(Piggyback) / sizeof(std::int64_t);

}  // namespace sibyl
