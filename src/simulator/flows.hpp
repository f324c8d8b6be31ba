// Messages that share ports and links, as those of TCP do over a switch, instead of taking turns.
//
// The shares are max-min fair: all grow alike until a port or link is full, those that pass it are
// settled, and the others grow on. They change only when a message begins or ends. Messages from
// one rank to another go one after the other, as on a connection.
//
// In front of each port in may stand a queue (SwitchModel). Of n senders that send at once one's
// data are on the wire and those of the others lie in the queue, each with as much as it sends
// without having heard of the receiver. A message that finds no room for the segments by which a
// loss would be noticed has lost all, and begins anew after its timeout; the others lose some of
// theirs, notice it, and send half as much ahead from then on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/network.hpp"

namespace sibyl::simulator {

class Flows {
 public:
  // One message under way; what it takes is in seconds of a whole port.
  struct Flow {
    std::uint32_t message = 0;
    Rank source = 0;
    Rank destination = 0;
    std::uint64_t bytes = 0;
    double ports = 0;  // seconds of its ports alone
    double links = 0;  // of its nodes' links
    MessageResources taken;
  };

  void reset(const Network& network, const SwitchModel& model);

  // A message whose latency is over. False: it was lost in the queue.
  bool begin(const Flow& flow, double now);
  // Whether shares are to be found anew.
  bool changed() const { return changed_; }
  // Finds the shares from now on; returns when the first message ends. There must be one.
  double share(double now);
  // Takes out what has ended by now; in the order in which they began.
  std::span<const std::uint32_t> end(double now);
  bool empty() const { return active_.empty(); }
  void rest() { changed_ = false; }  // nothing is under way
  // A number for the shares that hold; another one whenever they change.
  std::uint32_t epoch() const { return epoch_; }

 private:
  struct Active {
    Flow flow;
    double left = 0;    // of `ports`
    double share = 0;   // of its ports' time
    double ends = 0;    // if shares stay
    double window = 0;  // bytes that it sends without having heard of its receiver
    bool settled = false;
  };

  bool same_way(const Flow& a, const Flow& b) const {
    return a.source == b.source && a.destination == b.destination;
  }
  bool admit(Active& active);
  double held(const Active& active) const;
  void advance(double now);
  double load_of(const Active& active, std::size_t place) const;
  void settle();

  SwitchModel switch_;
  std::vector<Active> active_;
  std::vector<Active> waiting_;  // for one that goes the same way
  std::vector<double> free_;     // by port or link, while shares are found
  std::vector<double> load_;
  std::vector<std::uint32_t> ended_;
  double now_ = 0;
  std::uint32_t epoch_ = 0;
  bool changed_ = false;
};

}  // namespace sibyl::simulator
