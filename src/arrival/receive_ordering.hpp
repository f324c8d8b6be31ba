// Dynamic receive ordering: whom the root of a linear collective serves next, while it learns when
// the others arrive.
//
// A rank is expected at what it has said itself in this iteration, or else at what its earlier
// iterations suggest. It is served as soon as it may be there: the margin is how far such
// expectations have been off. Only so many ranks are served at a time; one that was asked in vain
// for some milliseconds is late, and the next one takes its place beside it. Once the root itself
// has arrived nobody is left out: those of whom nothing is known are served too, and no expectation
// keeps anybody from being served as long as nobody else is.
//
// So a wrong expectation costs `patience` per rank at most, and a right one costs nothing.
//
// Times are seconds of one clock. Thread safety: a plain value, one caller at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sibyl/predictors.hpp"

namespace sibyl {

class ReceiveOrdering {
 public:
  // About as long as a thread in the background sleeps between two looks.
  static constexpr double patience = 4e-3;

  // `window`: how many are served at a time.
  ReceiveOrdering(Rank ranks, Rank root, std::uint32_t window);

  void set_window(std::uint32_t window) { window_ = window; }
  // An iteration begins; what was said in the last one becomes history.
  void begin(double now);
  // What a rank has said of itself.
  void expect(Rank rank, double arrival);
  // The root has arrived.
  void join() { joined_ = true; }
  // The first data of a rank is here.
  void answered(Rank rank);
  // The next rank to serve, which counts as served from now on; no_rank when it is too early.
  Rank next(double now);

  bool all_served() const { return waiting_ == 0; }
  // Ranks that are served and have not answered.
  const std::vector<Rank>& unanswered() const { return unanswered_; }
  // In this iteration, the first one first.
  const std::vector<Rank>& served() const { return served_; }
  // Something is known of some rank that is still to be served.
  bool expects() const;
  // When to look again while nobody is asked and something is known of all who are still to be
  // served: when the next is to be served, or, as long as that one has not spoken for itself and
  // may do so any time, when half of the time until then is over. Else 0: something may come at any
  // time.
  double quiet_until(double now) const;
  // Some rank has spoken for itself in this iteration.
  bool informed() const { return said_ > 0; }

 private:
  struct Peer {
    bool served = false;
    double served_at = 0;
    std::optional<double> said;  // in this iteration
    BestPredictor history;       // of the time from begin() on
  };

  // Not a number where nothing is known.
  double expected(const Peer& peer) const;
  double margin(const Peer& peer) const;

  Rank root_;
  std::uint32_t window_;
  std::vector<Peer> peers_;
  double began_ = 0;
  bool begun_ = false;
  bool joined_ = false;
  Rank waiting_ = 0;
  Rank said_ = 0;
  std::vector<Rank> unanswered_;
  std::vector<Rank> served_;
};

}  // namespace sibyl
