// All-to-all on two levels: one message from each node to each other one.
//
// Idea: every rank stands for some of the other nodes. The ranks of its node hand it their blocks
// for these, it exchanges one message with whoever stands for its node there, and hands out what
// has come. So the ranks of a node share the others, and begin with those next ahead of it, each
// node with different ones.
//
// p no power of two: no matter; nodes of any size, wherever their ranks lie.
// Commutativity: no operator. In place: at any rank.
// Cost on n nodes of k ranks, blocks of m: ceil((n-1)/k) alpha + beta k (p-k) m between nodes,
// whose
//   links carry as much as by messages between all pairs, but n-1 messages for k (p-k); within them
//   2 (k-1) alpha + about 2 beta p m.
// Source: J. L. Traeff, A. Rougier, MPI Collectives and Datatypes for Hierarchical All-to-all
//   Communication, EuroMPI 2014, for the levels; that all ranks share the other nodes ours.
//
// Blocks within a node go with what is handed out: two ranks of it exchange no third message.
#include <algorithm>
#include <vector>

#include "planners/alltoall/alltoall.hpp"
#include "planners/headers.hpp"
#include "planners/nodes.hpp"

namespace sibyl::alltoall {
namespace {

// Blocks are handed in, go to the nodes that are 1, 2 ... ahead, and are handed out.
struct Rounds {
  Rounds(const Nodes& nodes, Rank ranks)
      : shares(nodes.count() < ranks),
        between(shares && nodes.count() > 1 ? 1 : 0),
        hand_out(between + static_cast<std::uint32_t>(nodes.count()) - 1) {}
  bool shares;  // some node has several ranks
  std::uint32_t between;
  std::uint32_t hand_out;
};

// Who of a node stands for the one so far ahead of it: its ranks in turn.
Rank deputy(const Nodes& nodes, Rank node, Rank ahead) {
  const std::span<const Rank> members = nodes.members(node);
  return members[static_cast<std::size_t>(ahead - 1) % members.size()];
}

// A node that a rank stands for. Its ranks follow those of the ones before.
struct Charge {
  std::span<const Rank> ranks;
  Unit first = 0;
};

// Of the rank at this index of its node.
std::vector<Charge> charges_of(const Nodes& nodes, Rank node, std::size_t index) {
  std::vector<Charge> charges;
  Unit first = 0;
  const auto turn = static_cast<Rank>(nodes.members(node).size());
  for (Rank ahead = static_cast<Rank>(index) + 1; ahead < nodes.count(); ahead += turn) {
    charges.push_back({nodes.members((node + ahead) % nodes.count()), first});
    first += static_cast<Unit>(charges.back().ranks.size());
  }
  return charges;
}

// Writes the program of a rank in a node of K that stands for S ranks of others. Its scratch: what
// goes to them, node by node, of each member in turn; then what comes from them, of each to every
// member in turn, and, as if it came from one more, what this rank has for every member.
class Writer {
 public:
  Writer(const PlanRequest& request, const Nodes& nodes, Rank rank, Program& program)
      : nodes_(nodes),
        rounds_(nodes, request.ranks),
        node_(nodes.node_of(rank)),
        members_(nodes.members(node_)),
        own_(static_cast<std::size_t>(std::ranges::find(members_, rank) - members_.begin())),
        charges_(charges_of(nodes, node_, own_)),
        size_(static_cast<Unit>(members_.size())),
        given_(request.in_place ? Buffer::receive : Buffer::send),
        build_(program) {
    for (const Charge& charge : charges_) behind_ += static_cast<Unit>(charge.ranks.size());
    program.in_place = request.in_place;
    if (request.ranks > 1) program.scratch_units = (2 * behind_ + 1) * size_;
    if (!request.in_place) build_.copy(block(Buffer::receive, rank), block(given_, rank), 0);
  }

  void hand_in() {
    for (const Charge& charge : charges_) {
      Unit at = handed_in(charge, own_).first;
      for (const Rank to : charge.ranks) build_.copy(slot(at++), block(given_, to), 0);
    }
    for_each_other([&](std::size_t to, std::size_t from) {
      build_.copy(slot(came(behind_, to)), block(given_, members_[to]), 0);
      list_blocks_behind(to);
      if (!ranges_.empty()) build_.send(members_[to], build_.slice(given_, ranges_), 0);
      ranges_.clear();
      for (const Charge& charge : charges_) ranges_.push_back(handed_in(charge, from));
      if (ranges_.empty()) return;
      build_.receive(members_[from], build_.slice(Buffer::scratch, ranges_), 0);
    });
  }

  void exchange() {
    const Rank count = nodes_.count();
    for (Rank ahead = 1; ahead < count; ++ahead) {
      const Rank back = count - ahead;  // as far as this node is ahead of that one
      const std::uint32_t round = rounds_.between + static_cast<std::uint32_t>(ahead) - 1;
      if (const Charge* to = charge_at(ahead)) {
        build_.send(deputy(nodes_, (node_ + ahead) % count, back), message(*to, 0), round);
      }
      if (const Charge* from = charge_at(back)) {
        build_.receive(deputy(nodes_, (node_ + back) % count, ahead), message(*from, came(0, 0)),
                       round);
      }
    }
  }

  void hand_out() {
    const std::uint32_t round = rounds_.hand_out;
    for_each_other([&](std::size_t to, std::size_t from) {
      ranges_.clear();
      for (Unit i = 0; i <= behind_; ++i) ranges_.push_back({came(i, to), 1});
      build_.send(members_[to], build_.slice(Buffer::scratch, ranges_), round);
      list_blocks_behind(from);
      ranges_.push_back({static_cast<Unit>(members_[from]), 1});
      build_.receive(members_[from], build_.slice(Buffer::receive, ranges_), round);
    });
    Unit i = 0;
    for (const Charge& charge : charges_) {
      for (const Rank from : charge.ranks) {
        build_.copy(block(Buffer::receive, from), slot(came(i++, own_)), round);
      }
    }
  }

 private:
  static Slice block(Buffer buffer, Rank of) {
    return ProgramBuilder::slice(buffer, static_cast<Unit>(of));
  }
  static Slice slot(Unit at) { return ProgramBuilder::slice(Buffer::scratch, at); }
  // The slots of what a member has for a node, and of what another rank has for a member.
  Range handed_in(const Charge& charge, std::size_t member) const {
    const auto ranks = static_cast<Unit>(charge.ranks.size());
    return {charge.first * size_ + static_cast<Unit>(member) * ranks, ranks};
  }
  Unit came(Unit from, std::size_t member) const {
    return (behind_ + from) * size_ + static_cast<Unit>(member);
  }
  // All that goes to a node, or comes from it.
  Slice message(const Charge& charge, Unit from) const {
    return ProgramBuilder::slice(Buffer::scratch, from + charge.first * size_,
                                 static_cast<Unit>(charge.ranks.size()) * size_);
  }
  const Charge* charge_at(Rank ahead) const {
    const auto before = static_cast<std::size_t>(ahead - 1);
    return before % members_.size() == own_ ? &charges_[before / members_.size()] : nullptr;
  }
  // The blocks to or from the ranks that a member stands for.
  void list_blocks_behind(std::size_t member) {
    ranges_.clear();
    for (const Charge& charge : charges_of(nodes_, node_, member)) {
      for (const Rank rank : charge.ranks) ranges_.push_back({static_cast<Unit>(rank), 1});
    }
  }
  // Of the members that this one sends to, and receives from, beginning with its neighbours.
  template <class Act>
  void for_each_other(Act act) const {
    const std::size_t all = members_.size();
    for (std::size_t far = 1; far < all; ++far) act((own_ + far) % all, (own_ + all - far) % all);
  }

  const Nodes& nodes_;
  Rounds rounds_;
  Rank node_;
  std::span<const Rank> members_;
  std::size_t own_;  // this rank's index among them
  std::vector<Charge> charges_;
  Unit behind_ = 0;  // ranks
  Unit size_;        // of this node
  Buffer given_;
  ProgramBuilder build_;
  std::vector<Range> ranges_;  // of the slice that is made
};

}  // namespace

PlanHeader describe_two_level(const PlanRequest& request) {
  const Nodes nodes(request);
  const Rounds rounds(nodes, request.ranks);
  PlanHeader header = plain_header(Collective::alltoall, "two-level", request,
                                   rounds.hand_out + (rounds.shares ? 1 : 0));
  header.tag_span = 1 + rounds.between;  // members hand in and out
  header.one_ported = !rounds.shares;
  return header;
}

void plan_two_level(const PlanRequest& request, Rank rank, Program& program) {
  program.clear();
  const Nodes nodes(request);
  Writer writer(request, nodes, rank, program);
  writer.hand_in();
  writer.exchange();
  writer.hand_out();
}

}  // namespace sibyl::alltoall
