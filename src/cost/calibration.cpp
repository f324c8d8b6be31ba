// The calibration of a communicator; see calibration.hpp.
//
// All ranks send a stream of messages to their right neighbour at the same time, as in a round of a
// reduce: the links are as busy, and the processors too where ranks share them. Three messages are
// under way at a time, each until its receiver takes it, as Clairvoyant sends them. Two streams of
// empty messages give the overhead of one, a single one its latency, one of messages that are long
// enough to take some milliseconds the time per byte. Messages to the next three nodes at once tell
// whether links carry them in turn: then the first is there after a third of the time, else all
// come at its end; on average, since among 48 ranks somebody mostly hears of the second one first.
// Of all else the slowest rank counts, and of several turns the fastest.
//
// Where ranks share nodes, the stream is measured once more while every rank of a node sends to the
// next node (which costs a lane pays when there are several); and one rank of each node, and then
// all, take messages from every other rank of the node and add them up: what a node brings together
// by its memory and processors.
//
// A root that gathers or scatters is one rank at work: where ranks share processors a message costs
// it less than in those streams. So rank 0 takes one empty message from each of some ranks, and
// then four, and sends them likewise.
#include "cost/calibration.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <numeric>
#include <vector>

#include "base/own_failure.hpp"
#include "cost/placement.hpp"

namespace sibyl {
namespace {

constexpr int stream_length = 6;
constexpr int long_stream = 16;
constexpr int under_way = 3;
constexpr int turns = 5;
constexpr int few_turns = 3;
constexpr double least_overhead = 1e-8;
// Lengths are tried up to one whose stream takes this long: start-ups and the buffers of links are
// small beside it.
constexpr double long_enough = 6e-3;
constexpr std::size_t first_length = 4096;
constexpr std::size_t last_length = 262144;
// Longer messages may be sent in pieces, which take turns; segments of a reduce are short.
constexpr std::size_t most_in_turn = 32768;
// What they take together, in latencies, which hold how far apart 48 ranks leave a barrier.
constexpr double many_latencies = 4;
constexpr int turn_nodes = under_way + 1;
constexpr double in_turn_share = 0.7;
constexpr int most_of_a_crowd = 64;
constexpr int crowd_messages = 4;
constexpr std::size_t folded = 65536;  // bytes of a message: as long as what nodes bring together
constexpr int operands = 1024;         // they stay in a cache, as segments do

class Calibration {
 public:
  Calibration(MPI_Comm comm, int tag, const Placement& placement, bool combines)
      : comm_(comm),
        tag_(tag),
        ranks_per_node_(placement.ranks_per_node),
        placement_(placement),
        combines_(combines) {
    PMPI_Comm_rank(comm, &rank_);
    PMPI_Comm_size(comm, &size_);
  }

  Costs measure() {
    Costs costs;
    if (size_ < 2) return costs;
    // Numbers, so that adding them up takes no more than it does elsewhere.
    room_.reset(new (std::nothrow) char[last_length * (stream_length + 1)]());
    // A rank that alone has no memory must not leave the others in a collective.
    const bool seated = guarded([this] { return take_seats(); }, false);
    if (slowest(room_ == nullptr || !seated ? 1 : 0) != 0) return costs;
    slowest(stream(0, 1));  // connects
    costs.alpha = fastest(0, 1, turns);
    // Ranks leave the barrier one after the other, which both streams have in common.
    const double empty = fastest(0, stream_length, turns);
    const double more = fastest(0, long_stream, turns) - empty;
    costs.overhead = std::max(more / (long_stream - stream_length), least_overhead);
    std::size_t length = first_length;
    double full = fastest(length, stream_length, 2);
    while (full < long_enough && length < last_length) {
      length *= 4;
      full = fastest(length, stream_length, 2);
    }
    constexpr double free_of_charge = 1e-12;  // nothing is: 1 TB/s
    costs.beta =
        std::max((full - empty) / stream_length / static_cast<double>(length), free_of_charge);
    costs.fifo_links = !by_nodes_ && size_ >= turn_nodes * ranks_per_node_ &&
                       links_are_fifo(length_for_turns(length, costs));
    measure_together(length, costs);
    costs.gathered = crowd(true);
    costs.scattered = crowd(false);
    if (combines_) costs.gamma = slowest(measure_gamma());
    return failed_ ? Costs{} : costs;
  }

 private:
  bool take_seats() {
    seats_.resize(at(size_));
    std::iota(seats_.begin(), seats_.end(), 0);
    if (!placement_.nodes.empty()) sit_by_nodes(placement_.nodes);
    seat_ = static_cast<int>(std::ranges::find(seats_, rank_) - seats_.begin());
    sit_at_distance(1);
    members_ = ranks_of_own_node(placement_, rank_, size_);
    return true;
  }

  // Where ranks lie anyhow the neighbours are those in the order of the nodes, so that one rank of
  // each sends to another.
  void sit_by_nodes(const std::vector<Rank>& nodes) {
    std::ranges::stable_sort(seats_, {}, [&](Rank rank) { return nodes[at(rank)]; });
    by_nodes_ = true;
  }
  void sit_at_distance(int distance) {
    left_ = seats_[at((seat_ + size_ - distance) % size_)];
    right_ = seats_[at((seat_ + distance) % size_)];
  }

  // What ranks of nodes that hold several need while all of their node are at work.
  void measure_together(std::size_t length, Costs& costs) {
    const auto most = static_cast<int>(slowest(static_cast<double>(members_.size())));
    if (most < 2 || most == size_) return;
    if (combines_) {
      costs.fold = least_of(few_turns, [&] { return fold(false); });
      costs.fold_together = least_of(few_turns, [&] { return fold(true); });
    }
    sit_at_distance(most);
    const double empty = fastest(0, stream_length, few_turns);
    const double more = fastest(0, long_stream, few_turns) - empty;
    const double full = fastest(length, stream_length, few_turns);
    costs.overhead_together = std::max(more / (long_stream - stream_length), costs.overhead);
    costs.beta_together =
        std::max((full - empty) / stream_length / static_cast<double>(length), costs.beta);
    sit_at_distance(1);
  }

  // Seconds per byte that the first rank of each node, or every one, takes from others of its node
  // and adds up.
  double fold(bool all) {
    const auto members = static_cast<int>(members_.size());
    const auto own = static_cast<int>(std::ranges::find(members_, rank_) - members_.begin());
    const auto member = [&](int i) { return members_[at((i + members) % members)]; };
    const int messages = std::min(members - 1, most_of_a_crowd);
    const auto bytes = static_cast<int>(folded);
    check(PMPI_Barrier(comm_));
    const double begin = PMPI_Wtime();
    for (int distance = 1; distance <= messages; ++distance) {
      std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      const bool takes = all || own == 0;
      if (takes) {
        check(PMPI_Irecv(room_.get(), bytes, MPI_BYTE, member(own - distance), tag_, comm_,
                         &requests[0]));
      }
      if (all || (own + distance) % members == 0) {
        check(PMPI_Isend(room_.get() + folded, bytes, MPI_BYTE, member(own + distance), tag_, comm_,
                         &requests[1]));
      }
      check(PMPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
      if (!takes) continue;
      check(PMPI_Reduce_local(room_.get(), room_.get() + 2 * folded,
                              static_cast<int>(folded / sizeof(double)), MPI_DOUBLE, MPI_SUM));
    }
    return messages == 0 ? 0 : (PMPI_Wtime() - begin) / (messages * static_cast<double>(folded));
  }

  // Seconds until this rank's messages are taken and those of its left neighbour have come.
  double stream(std::size_t length, int messages) {
    const auto bytes = static_cast<int>(length);
    std::array<MPI_Request, long_stream> receives;
    std::array<MPI_Request, under_way> sends;
    sends.fill(MPI_REQUEST_NULL);
    check(PMPI_Barrier(comm_));
    if (failed_) return 0;  // each message to a process that has died would keep a buffer
    const double begin = PMPI_Wtime();
    for (int i = 0; i < messages; ++i) {
      char* place = room_.get() + static_cast<std::size_t>(i + 1) * length;
      check(PMPI_Irecv(place, bytes, MPI_BYTE, left_, tag_, comm_, &receives[at(i)]));
    }
    for (int i = 0; i < messages && !failed_; ++i) {
      MPI_Request& request = sends[at(i % under_way)];
      check(PMPI_Wait(&request, MPI_STATUS_IGNORE));
      check(PMPI_Issend(room_.get(), bytes, MPI_BYTE, right_, tag_, comm_, &request));
    }
    check(PMPI_Waitall(messages, receives.data(), MPI_STATUSES_IGNORE));
    check(PMPI_Waitall(under_way, sends.data(), MPI_STATUSES_IGNORE));
    return PMPI_Wtime() - begin;
  }

  static std::size_t length_for_turns(std::size_t length, const Costs& costs) {
    const double wanted = many_latencies * costs.alpha / (under_way * costs.beta);
    const double longer = std::max(static_cast<double>(length), wanted);
    return static_cast<std::size_t>(std::min(static_cast<double>(most_in_turn), longer));
  }

  struct Times {
    double first;
    double last;
  };
  // Seconds until the first and the last message from ranks on the `under_way` nodes to the left
  // have come, the nearest of whom sends to this rank first; means of all ranks.
  Times fan(std::size_t length) {
    const auto bytes = static_cast<int>(length);
    std::array<MPI_Request, under_way> receives;
    std::array<MPI_Request, under_way> sends;
    check(PMPI_Barrier(comm_));
    const double begin = PMPI_Wtime();
    for (int i = 0; i < under_way; ++i) {
      char* place = room_.get() + static_cast<std::size_t>(i + 1) * length;
      const int left = (rank_ + size_ - (1 + i) * ranks_per_node_) % size_;
      check(PMPI_Irecv(place, bytes, MPI_BYTE, left, tag_, comm_, &receives[at(i)]));
    }
    for (int i = 0; i < under_way; ++i) {
      const int right = (rank_ + (1 + i) * ranks_per_node_) % size_;
      check(PMPI_Issend(room_.get(), bytes, MPI_BYTE, right, tag_, comm_, &sends[at(i)]));
    }
    int which = 0;
    check(PMPI_Waitany(under_way, receives.data(), &which, MPI_STATUS_IGNORE));
    const double first = PMPI_Wtime() - begin;
    check(PMPI_Waitall(under_way, receives.data(), MPI_STATUSES_IGNORE));
    const double last = PMPI_Wtime() - begin;
    check(PMPI_Waitall(under_way, sends.data(), MPI_STATUSES_IGNORE));
    return {mean(first), mean(last)};
  }

  // Messages that are short beside a latency come together too.
  bool links_are_fifo(std::size_t length) {
    Times least = fan(length);
    for (int i = 1; i < turns; ++i) {
      const Times times = fan(length);
      least = {std::min(least.first, times.first), std::min(least.last, times.last)};
    }
    return least.first < in_turn_share * least.last;
  }

  // What one message more costs rank 0.
  double crowd(bool gathers) {
    const int others = std::min(size_ - 1, most_of_a_crowd);
    const auto fastest_with = [&](int messages) {
      return least_of(turns, [&] { return meet(gathers, others, messages); });
    };
    const double one = fastest_with(1);
    const double more = fastest_with(crowd_messages) - one;
    return std::max(more / ((crowd_messages - 1) * others), 0.0);
  }

  // Seconds until each of `others` ranks, who stand at equal distances, and rank 0 have exchanged
  // so many empty messages.
  double meet(bool gathers, int others, int messages) {
    std::array<MPI_Request, static_cast<std::size_t>(most_of_a_crowd * crowd_messages)> requests;
    requests.fill(MPI_REQUEST_NULL);
    const int distance = (size_ - 1) / others;
    const bool takes_part = (rank_ - 1) % distance == 0 && (rank_ - 1) / distance < others;
    int count = 0;
    const auto post = [&](bool sends, int with) {
      MPI_Request& request = requests[at(count++)];
      check(sends ? PMPI_Isend(nullptr, 0, MPI_BYTE, with, tag_, comm_, &request)
                  : PMPI_Irecv(nullptr, 0, MPI_BYTE, with, tag_, comm_, &request));
    };
    check(PMPI_Barrier(comm_));
    if (failed_) return 0;
    const double begin = PMPI_Wtime();
    for (int m = 0; m < messages; ++m) {
      if (rank_ == 0) {
        for (int i = 0; i < others; ++i) post(!gathers, 1 + i * distance);
      } else if (takes_part) {
        post(gathers, 0);
      }
    }
    check(PMPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
    return PMPI_Wtime() - begin;
  }

  double mean(double own) {
    double all = own;
    check(PMPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, comm_));
    return all / size_;
  }

  double slowest(double own) {
    double all = own;
    check(PMPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, comm_));
    return all;
  }

  double fastest(std::size_t length, int messages, int times) {
    return least_of(times, [&] { return stream(length, messages); });
  }
  // The least of several measurements, of each of which the slowest rank counts.
  template <class Measure>
  double least_of(int times, Measure measure) {
    double least = slowest(measure());
    for (int i = 1; i < times; ++i) least = std::min(least, slowest(measure()));
    return least;
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  void check(int result) { failed_ = failed_ || result != MPI_SUCCESS; }

  MPI_Comm comm_;
  int tag_;
  int ranks_per_node_;
  const Placement& placement_;
  bool combines_;
  int rank_ = 0;
  int size_ = 1;
  int left_ = 0;
  int right_ = 0;
  int seat_ = 0;
  std::vector<Rank> seats_;    // ranks in the order of their nodes
  std::vector<Rank> members_;  // of this rank's node
  bool by_nodes_ = false;
  bool failed_ = false;
  std::unique_ptr<char[]> room_;
};

}  // namespace

double measure_gamma() {
  std::array<double, operands> from;
  std::array<double, operands> to;
  from.fill(1);
  to.fill(1);
  double least = 1;
  for (int i = 0; i < turns; ++i) {
    const double begin = PMPI_Wtime();
    PMPI_Reduce_local(from.data(), to.data(), operands, MPI_DOUBLE, MPI_SUM);
    least = std::min(least, PMPI_Wtime() - begin);
  }
  return std::max(least, 0.0) / (operands * sizeof(double));
}

Costs measure_costs(MPI_Comm comm, int tag, const Placement& placement, bool combines) {
  return Calibration(comm, tag, placement, combines).measure();
}

Costs with_settings(Costs costs, const Settings& settings) {
  if (settings.alpha != 0) costs.alpha = settings.alpha * 1e-9;
  if (settings.overhead != 0) {
    costs.overhead = settings.overhead * 1e-9;
    costs.overhead_together = 0;
    costs.gathered = 0;  // they follow from it
    costs.scattered = 0;
  }
  if (settings.beta != 0) {
    const double set = settings.beta * 1e-12;
    costs.beta_together *= costs.beta != 0 ? set / costs.beta : 0;
    costs.beta = set;
  }
  return costs;
}

}  // namespace sibyl
