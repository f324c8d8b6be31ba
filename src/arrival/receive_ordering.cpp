// The order of service, decided rank by rank; see receive_ordering.hpp.
#include "arrival/receive_ordering.hpp"

#include <algorithm>
#include <cmath>

namespace sibyl {

ReceiveOrdering::ReceiveOrdering(Rank ranks, Rank root, std::uint32_t window)
    : root_(root), window_(window), peers_(static_cast<std::size_t>(ranks)) {
  served_.reserve(peers_.size());
  unanswered_.reserve(peers_.size());
}

void ReceiveOrdering::begin(double now) {
  for (Peer& peer : peers_) {
    if (begun_ && peer.said.has_value()) peer.history.observe(*peer.said - began_);
    peer.served = false;
    peer.said.reset();
  }
  begun_ = true;
  began_ = now;
  joined_ = false;
  waiting_ = static_cast<Rank>(peers_.size()) - 1;
  said_ = 0;
  unanswered_.clear();
  served_.clear();
}

void ReceiveOrdering::expect(Rank rank, double arrival) {
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  if (!peer.said.has_value()) ++said_;
  peer.said = arrival;
}

void ReceiveOrdering::answered(Rank rank) { std::erase(unanswered_, rank); }

double ReceiveOrdering::expected(const Peer& peer) const {
  if (peer.said.has_value()) return *peer.said;
  if (peer.history.observed() > 0) return began_ + peer.history.prediction();
  return std::nan("");
}

// After one iteration nothing is known of how much the next one differs.
double ReceiveOrdering::margin(const Peer& peer) const {
  if (peer.said.has_value()) return patience / 2;
  if (peer.history.observed() < 2) return patience;
  return patience / 2 + 2 * peer.history.error();
}

bool ReceiveOrdering::expects() const {
  return std::ranges::any_of(peers_, [this](const Peer& peer) {
    return &peer != &peers_[static_cast<std::size_t>(root_)] && !peer.served &&
           !std::isnan(expected(peer));
  });
}

double ReceiveOrdering::quiet_until(double now) const {
  if (!unanswered_.empty()) return 0;
  double next = INFINITY;
  for (Rank rank = 0; rank < static_cast<Rank>(peers_.size()); ++rank) {
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (rank == root_ || peer.served) continue;
    const double when = expected(peer) - margin(peer);
    if (std::isnan(when)) return 0;
    const double half = (when - now) / 2;
    next = std::min(next, peer.said.has_value() || half < patience ? when : now + half);
  }
  return next;
}

Rank ReceiveOrdering::next(double now) {
  if (waiting_ == 0) return no_rank;
  const auto busy = std::ranges::count_if(unanswered_, [&](Rank rank) {
    return now <= peers_[static_cast<std::size_t>(rank)].served_at + patience;
  });
  if (busy >= static_cast<std::ptrdiff_t>(window_)) return no_rank;
  Rank best = no_rank;
  double earliest = INFINITY;
  bool due = false;
  for (Rank rank = 0; rank < static_cast<Rank>(peers_.size()); ++rank) {
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (rank == root_ || peer.served) continue;
    double when = expected(peer);
    const bool known = !std::isnan(when);
    if (!known && !joined_) continue;
    if (!known) when = now;  // after those who should be there already
    if (best != no_rank && when >= earliest) continue;
    best = rank;
    earliest = when;
    due = !known || when - margin(peer) <= now;
  }
  if (best == no_rank || !(due || (joined_ && busy == 0))) return no_rank;
  Peer& peer = peers_[static_cast<std::size_t>(best)];
  peer.served = true;
  peer.served_at = now;
  --waiting_;
  unanswered_.push_back(best);
  served_.push_back(best);
  return best;
}

}  // namespace sibyl
