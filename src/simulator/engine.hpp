// Runs programs in simulated time; the rules stand in sibyl/simulator.hpp.
//
// All events of one time are taken together: what they complete posts further steps, and only then
// places in windows are given out, computations begin and messages start. So the order in which
// events of one time are taken makes no difference.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/ready_sends.hpp"
#include "simulator/event_queue.hpp"
#include "simulator/flows.hpp"
#include "simulator/network.hpp"
#include "simulator/programs.hpp"
#include "simulator/transfers.hpp"

namespace sibyl::simulator {

class Engine {
 public:
  // The programs must have been finished without a problem, and the options be checked.
  SimulationResult run(const Programs& programs, const SimulationOptions& options);

 private:
  struct StepState {
    std::uint32_t wait_post = 0;
    std::uint32_t wait_data = 0;
  };
  enum Flag : std::uint8_t { posted = 1, ready = 2, come = 4, done = 8 };
  // From one rank to another, with handshakes.
  struct Connection {
    std::uint32_t sending = 0;              // messages that have been answered, or want no answer
    std::vector<std::uint32_t> unanswered;  // announced ones of the other, behind these
  };
  struct RankState {
    double exit = 0;
    std::uint32_t open = 0;          // steps that are not complete
    std::uint32_t next_send = 0;     // the first that is not complete, or to be posted in order
    std::uint32_t next_receive = 0;  // where receives are posted in program order: the next
    std::uint32_t sending = 0;
    std::uint32_t receiving = 0;
    std::uint32_t staged = 0;
    bool computing = false;
  };

  void prepare();
  void handle(const Event& event);
  void open_gate(Rank rank, Gate gate);
  void release(std::uint32_t number);
  bool in_order(const SimStep& step) const;
  void may_send(Rank rank);
  void post_sends(Rank rank);
  std::uint32_t& sending_to(std::uint32_t send);
  void post_sends_in_program_order(Rank rank);
  void post_receives(Rank rank);
  void post(std::uint32_t number);
  void run_released();
  void use_ready();
  void sort_messages(std::vector<std::uint32_t>& messages);
  void start_messages();
  void start(std::uint32_t send);
  void note_start(std::uint32_t send, double end);
  // Where messages share (engine_flows.cpp).
  void start_sharing(std::uint32_t send);
  void answer_announced();
  void answer(std::uint32_t send);
  void answer_behind(std::uint32_t send);
  Connection& connection(Rank source, Rank destination);
  void begin_body(std::uint32_t send);
  void end_bodies(std::uint32_t epoch);
  void share_anew();
  void sent(std::uint32_t send);
  void received(std::uint32_t receive);
  void compute(std::uint32_t number);
  void compute_next(Rank rank);
  void computed(std::uint32_t number);
  double seconds_of(std::uint32_t number) const;
  void complete(std::uint32_t number);
  void add_up();
  std::string explain_deadlock() const;
  double arrival(Rank rank) const {
    return options_->arrivals.empty() ? 0.0 : options_->arrivals[static_cast<std::size_t>(rank)];
  }

  const Programs* programs_ = nullptr;
  const SimulationOptions* options_ = nullptr;
  Network network_;
  PortWindow window_;
  double now_ = 0;
  std::uint64_t open_ranks_ = 0;
  EventQueue queue_;
  Transfers transfers_;
  Flows flows_;
  std::vector<std::uint8_t> losses_;  // of each step's message; empty without a queue
  std::vector<StepState> steps_;
  std::vector<std::uint8_t> flags_;
  std::vector<RankState> ranks_;
  std::vector<ReadySends> sendable_;       // by rank; empty without a window
  std::vector<std::uint32_t> sending_to_;  // by rank and receiver; empty where not limited
  std::vector<std::vector<std::uint32_t>> computable_;  // heaps by rank; empty where nothing costs
  std::vector<Event> batch_;
  std::vector<std::uint32_t> released_;
  std::vector<Rank> ready_;             // whose sends or computations may begin now
  std::vector<std::uint32_t> arrived_;  // messages that became ready now
  std::vector<std::uint64_t> keys_;
  std::vector<double> posted_at_;  // of each step, where it is recorded or shakes hands
  std::vector<std::uint32_t> record_of_;
  std::vector<std::uint32_t> announced_;  // messages that wait for their answers from now on
  std::unordered_map<std::uint64_t, Connection> connections_;  // by source and destination
  SimulationResult result_;
};

}  // namespace sibyl::simulator
