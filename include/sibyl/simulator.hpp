/// @file
/// The simulator: how long the programs of a plan take on a model of a network.
///
/// It reads the very programs that the executor runs and follows the executor's rules: dataflow,
/// `after` lists, port window, staging pool, gates. Messages are discrete events:
///   - A message is ready when both its ends have been posted (rendezvous), or, up to
///     NetworkModel::eager_bytes, when its send has.
///   - It starts when its sender's port out and its receiver's port in are free, and the links of
///     their nodes where those are shared. Of several that could start, the one that has been ready
///     longest does; of those, the one of the lowest round, then of the lowest sender.
///   - Ports are one-ported and full duplex: one message out and one in at a time. Or messages
///     share ports and links (NetworkModel::sharing), and begin as soon as they are ready.
/// The same input gives the same result on every machine: nothing is drawn at random.
///
/// Thread safety: a Simulation is used by one thread at a time; different ones are independent.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sibyl/schedule.hpp"

namespace sibyl {

/// @defgroup simulator Simulator
/// @{

/// A message of m bytes takes alpha + beta m, and its two ports as long.
struct HockneyModel {
  double alpha = 0;  ///< seconds
  double beta = 0;   ///< seconds per byte
};

/// A message of m >= 1 bytes takes o + (m - 1) G + L + o; its sender is done after o + (m - 1) G,
/// and the next message of one of its ports may start max(o, g) + (m - 1) G after it. An empty
/// message counts as one byte.
struct LogGPModel {
  double latency = 0;       ///< L, seconds
  double overhead = 0;      ///< o, seconds at either end
  double gap = 0;           ///< g, seconds between messages
  double gap_per_byte = 0;  ///< G, seconds
};

/// A switch that keeps what it cannot send on at once, and loses what it cannot keep.
struct SwitchModel {
  /// What lies in front of each port to a rank (each link to a node) at most; 0: it never ends.
  std::uint64_t queue_bytes = 0;
  /// What a sender sends before it has heard of its receiver: ten segments, as TCP at its start.
  std::uint64_t window_bytes = 14480;
  /// After so long a sender that has heard nothing sends again; twice as long each time.
  double timeout = 0.2;
  /// Fewer bytes than three segments bring no three acknowledgements, by which a loss is noticed.
  static constexpr std::uint64_t noticed_bytes = 4344;
};

enum class NetworkKind : std::uint8_t { hockney, loggp };

struct NetworkModel {
  NetworkKind kind = NetworkKind::hockney;
  HockneyModel hockney;     ///< between nodes; everywhere where a node is a rank
  LogGPModel loggp;         ///< the same
  bool full_duplex = true;  ///< false: one port for both directions
  /// Nodes hold this many consecutive ranks. Messages inside a node cost `inside`.
  Rank ranks_per_node = 1;
  /// The same for ranks that lie anyhow, as PlanRequest::nodes: the number of each rank's node,
  /// below the number of ranks; empty: as ranks_per_node says.
  std::vector<Rank> nodes;
  HockneyModel inside;
  /// The ranks of a node share a link out and a link in, which a message to or from another node
  /// holds for beta m (G m), or link_beta m where that is given: its latency does not keep the link
  /// from the next.
  bool shared_link = true;
  double link_beta = 0;  ///< seconds per byte; 0: as a single message
  /// Messages up to this size are sent whether the receive has been posted or not.
  static constexpr std::uint64_t never_eager = ~std::uint64_t{0};
  std::uint64_t eager_bytes = never_eager;
  /// Messages that are under way together share the ports and links that they take, instead of
  /// waiting for each other: alpha passes, and then beta m at a whole port, longer at a part of
  /// one. Hockney alone.
  bool sharing = false;
  SwitchModel at_switch;  ///< where messages share
  /// Where messages share: one that is not eager is announced to its receiver, which answers once
  /// it has posted the receive, and behind what it sends to that rank; alpha passes for either
  /// before the message's own. Of ranks that announce messages to each other at once, the one of
  /// the lowest round, then of the lowest sender, is answered first.
  bool handshake = false;
};

/// What a rank computes; one thing at a time, in program order, messages moving meanwhile.
struct ComputeModel {
  double combine_per_byte = 0;  ///< seconds
  double copy_per_byte = 0;
  /// Seconds from a rank's arrival until its program is there: what it takes to make the schedule.
  double planning = 0;
};

/// How large the units of a plan are.
struct DataSizes {
  std::uint64_t bytes = 0;          ///< of a vector, or of every block
  std::uint64_t element_bytes = 1;  ///< vectors are cut between elements
  /// Of each block where they differ: one per rank.
  std::span<const std::uint64_t> block_bytes = {};
  /// Where blocks have two segments: the bytes of the first, which a smaller block fills alone.
  std::uint64_t first_segment = 0;
};

struct SimulationOptions {
  NetworkModel network;
  ComputeModel compute;
  /// When each rank arrives, in seconds; empty: all at 0.
  std::span<const double> arrivals = {};
  /// From when on steps with Gate::on_start may run: the start of the computation before the call.
  double start = 0;
  /// As with blocking calls: one send and one receive at a time, in program order, whatever the
  /// plan's port window.
  bool blocking = false;
  /// Keep every message and computation, not only sums.
  bool record = false;
};

struct SimulatedMessage {
  Rank source = 0;
  Rank destination = 0;
  std::uint32_t round = 0;
  std::uint64_t bytes = 0;
  double send_posted = 0;
  double receive_posted = 0;
  double begin = 0;
  double end = 0;  ///< at the receiver
};

struct SimulatedWork {
  Rank rank = 0;
  StepKind kind = StepKind::copy;
  double begin = 0;
  double end = 0;
};

/// A rank that has arrived, is not through, and does nothing: it waits for the rank with which it
/// goes on.
struct SimulatedWait {
  Rank rank = 0;
  Rank awaited = 0;
  double begin = 0;
  double end = 0;
};

struct SimulationResult {
  std::string problem;  ///< one line where the programs cannot be run; then nothing below holds
  std::vector<double> exits;  ///< of each rank: its last step, or its arrival if that is later
  double run_time = 0;        ///< latest exit - earliest arrival
  double absorbed = 0;        ///< latest exit - latest arrival
  double elapsed = 0;         ///< mean over the ranks of exit - arrival
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;               ///< of all messages
  std::uint64_t lost = 0;                ///< times that a queue took nothing of a message
  std::vector<SimulatedMessage> events;  ///< in the order in which they began
  std::vector<SimulatedWork> work;       ///< what took time
  bool ok() const { return problem.empty(); }
};

/// The programs of a plan in a compact form. Programs are handed over one after the other, so that
/// whoever makes them needs room for one.
class Simulation {
 public:
  Simulation(const PlanHeader& header, const DataSizes& sizes);
  ~Simulation();
  Simulation(Simulation&& other) noexcept;
  Simulation& operator=(Simulation&& other) noexcept;

  /// The program of the next rank, rank 0 first. It is not kept.
  void add(const Program& program);
  /// Runs the programs of all ranks; as often as wanted.
  SimulationResult run(const SimulationOptions& options);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// All at once.
SimulationResult simulate(const Plan& plan, const DataSizes& sizes,
                          const SimulationOptions& options);

/// About how many bytes a simulation of so many steps takes, before there is one.
std::uint64_t simulation_memory(std::uint64_t ranks, std::uint64_t steps, bool record);

/// Who waited for whom, from what a run has recorded; by rank, then by time. Arrivals as in the
/// run.
std::vector<SimulatedWait> waits_of(const SimulationResult& result,
                                    std::span<const double> arrivals);

/// Empty, or one line that says which number of a model makes no sense.
std::string check_options(const SimulationOptions& options, Rank ranks);

/// @}

}  // namespace sibyl
