// MPI_Gatherv and MPI_Scatterv.
//
// Only the root knows all sizes, so the choice goes by the number of ranks, until the root says
// that the linear algorithm is better for its blocks (programs/tree_cache.hpp). Arguments that are
// not significant at a rank may be garbage and are not read. Calls are predicted by communicator
// and root, whatever their sizes.
#include <algorithm>

#include "collectives/block_arguments.hpp"
#include "collectives/blocking/predicted.hpp"
#include "collectives/blocking/serve.hpp"
#include "collectives/native.hpp"

namespace sibyl {
namespace {

// From how many bytes on a block goes past the tree, which would move it several times: once a link
// is busy with it for longer than a root is with handling a message, also one of TCP on a processor
// that has other work, start-ups hide behind data. Tree messages are counted in an int, so blocks
// that travel in them are bounded.
std::size_t direct_from(const CommunicatorState& state) {
  constexpr std::size_t most = std::size_t{1} << 30;
  constexpr double large = 4096;
  constexpr double handling = 30e-6;  // seconds
  const std::size_t bound = most / static_cast<std::size_t>(state.size());
  if (const auto asked = state.settings().direct_from) return std::min<std::size_t>(*asked, bound);
  const Costs& costs = state.known_costs();
  const double bytes = costs.known() ? std::min(large, handling / costs.beta) : large;
  return std::min(static_cast<std::size_t>(bytes), bound);
}

// Neither the settings nor a table name the algorithm.
bool chosen_freely(const CommunicatorState& state, Collective collective) {
  return wanted_algorithm(state.settings(), state.situation(collective, 0, OperatorUse::none)) ==
         choose_automatically;
}

// What the root finds of the sizes that it sees; others learn it.
bool is_better_linear(const CommunicatorState& state, Collective collective,
                      const IrregularCall& call) {
  if (!call.is_root() || !call.all.counts.given()) return false;
  Rank blocks = 0;
  Rank direct = 0;
  for (Rank rank = 0; rank < call.ranks; ++rank) {
    const std::size_t bytes = rank == call.root ? 0 : call.all.bytes(rank);
    blocks += bytes != 0 ? 1 : 0;
    direct += bytes != 0 && bytes >= call.direct_from ? 1 : 0;
  }
  return !tree_saves(state.situation(collective, 0, OperatorUse::none), blocks, direct);
}

// A call along the tree, or one that is linear because the root has said so.
class TreeCall {
 public:
  // The tree of a gather is built at one of so many calls, 0: never, as if blocks were equal.
  // `asks`: the root is asked; else an algorithm is wanted whatever the sizes.
  TreeCall(CommunicatorState& state, Collective collective, const IrregularCall& call,
           std::uint32_t construct_every, bool asks)
      : state_(state),
        collective_(collective),
        call_(call),
        every_(construct_every),
        asks_(asks && every_ != 0),
        entry_((scatters(collective) ? state.scatter_trees : state.gather_trees).enter(call.root)) {
    if (!asks_) entry_.linear = false;
    if (scatters(collective) || entry_.calls != 1) return;
    entry_.node = ordered_node_of_equal_blocks(call.place(), call.root_place(), call.order);
  }

  // Before anything else moves: whether this call is linear. What the root says of a gather
  // holds from this call on; a scatter's message says it with the data, for the next one.
  bool goes_linear() {
    const bool root_says = asks_ && TreeCache::root_says(entry_.calls, every_);
    if (scatters(collective_)) return entry_.linear && !root_says;
    if (root_says) {
      entry_.linear = is_better_linear(state_, collective_, call_);
      error_ = hear_from_root(call_, state_.irregular_room, entry_.node, entry_.linear);
    }
    return entry_.linear;
  }

  int run() {
    if (scatters(collective_)) {
      entry_.linear = asks_ && is_better_linear(state_, collective_, call_);
      return scatter_irregular(call_, state_.irregular_room, entry_.linear);
    }
    if (TreeCache::constructs(entry_.calls, every_)) {
      const int constructed = construct_tree(call_, state_.irregular_room, entry_.node);
      if (error_ == MPI_SUCCESS) error_ = constructed;
    }
    return gather_irregular(entry_.node, call_, state_.irregular_room);
  }

  // Of what was said or built before the data moved.
  int error() const { return error_; }

 private:
  CommunicatorState& state_;
  Collective collective_;
  const IrregularCall& call_;
  std::uint32_t every_;
  bool asks_;
  TreeCache::Entry& entry_;
  int error_ = MPI_SUCCESS;
};

// By the program of the linear algorithm. A block that holds nothing is no message, as in the MPI
// libraries: on many ranks with few blocks that is most of the time.
int run_linear(const Prepared& prepared, const Algorithm& algorithm, const IrregularCall& irregular,
               Workspace& workspace, CollectiveCall& call) {
  call.comm = irregular.comm;
  call.tag_base = irregular.tag_base;
  call.window = irregular.window;
  place_irregular_blocks(algorithm.collective, irregular.rank, irregular.ranks, irregular.is_root(),
                         irregular.own, irregular.all, call);
  return execute(prepared, call, workspace);
}

struct Irregular {
  Collective collective;
  int root;
  IrregularSide all;
  BlockSide own;
  MPI_Comm comm;
  Caller caller;

  bool in_place(int rank) const { return rank == root && own.buffer == MPI_IN_PLACE; }
  Verdict judge(int rank, int ranks) const { return judge_irregular(all, own, root, rank, ranks); }
  OwnData own_data(int rank, int) const {
    return in_place(rank) ? OwnData{0, all.type} : OwnData{own.count, own.type};
  }
  int native() const {
    if (collective == Collective::gatherv) {
      return native_gatherv(caller, own.buffer, own.count, own.type, all.buffer, all.counts,
                            all.displacements, all.type, root, comm);
    }
    return native_scatterv(caller, all.buffer, all.counts, all.displacements, all.type, own.buffer,
                           own.count, own.type, root, comm);
  }
  // No sizes, which the choice does not know.
  std::optional<SettledCall> key() const {
    if (caller.papers_tree) return std::nullopt;
    SettledCall call = settled_call(collective, root, caller, comm, all.buffer, own.buffer);
    call.count = all.counts.given() ? 1 : 0;
    call.other_count = all.displacements.given() ? 1 : 0;
    // Without a buffer a block is right where it is empty.
    if (own.buffer == nullptr) call.type = static_cast<std::uint32_t>(own.count) + 1ULL;
    return call;
  }
  static constexpr bool key_tells_bytes() { return false; }
  bool lacks_buffer(int rank) const { return rank == root && all.buffer == nullptr; }
  // In a tree that is wanted whatever the sizes. Elsewhere a wrong call is none, as in all other
  // collectives: who had counted it without a message was out of step when it repeated it rightly.
  bool is_awaited(const CommunicatorState& state) const {
    if (caller.papers_tree) return true;
    const std::int32_t wanted =
        wanted_algorithm(state.settings(), state.situation(collective, 0, OperatorUse::none));
    return wanted >= 0 && !algorithms(collective)[static_cast<std::size_t>(wanted)].linear;
  }
  bool find_data(const ShortRun& run, const CommunicatorState& state, ShortRunData& found) const;
  Outcome serve(CommunicatorState& state, CountedCall& counted, int wrong) const;

 private:
  const Algorithm* choose(CommunicatorState& state, PredictedCall& predicted,
                          CountedCall& counted) const;
  void describe(CommunicatorState& state, IrregularCall& call) const;
  int read_sides(CommunicatorState& state, IrregularCall& call) const;
  Outcome serve_linear(CommunicatorState& state, PredictedCall& predicted, CountedCall* settles,
                       const Algorithm& linear, IrregularCall& call, int wrong) const;
  Outcome serve_tree(CommunicatorState& state, PredictedCall& predicted, const Algorithm& algorithm,
                     IrregularCall& call, int wrong) const;
  std::uint64_t own_bytes(CommunicatorState& state) const;
};

// Bytes of this rank's block, for the report; nothing in place.
std::uint64_t Irregular::own_bytes(CommunicatorState& state) const {
  DatatypeInfo type;
  if (in_place(state.rank()) || state.type_info(own.type, 1, type) != MPI_SUCCESS) return 0;
  return static_cast<std::uint64_t>(own.count) * type.size;
}

void Irregular::describe(CommunicatorState& state, IrregularCall& call) const {
  call.comm = state.private_comm();
  call.rank = state.rank();
  call.ranks = state.size();
  call.root = root;
  call.order = state.programs.node_order();
  // Also where this rank's arguments are wrong: those of its node make it together.
  call.window = state.window_for(collective);
  call.direct_from = direct_from(state);
  call.star = call.is_root() && star_saves(state.situation(collective, 0, OperatorUse::none));
}

int Irregular::read_sides(CommunicatorState& state, IrregularCall& call) const {
  const int wrong = call.is_root() ? read_root_side(state, all, call.all) : MPI_SUCCESS;
  if (wrong != MPI_SUCCESS || in_place(call.rank)) return wrong;
  return read_own_side(state, own, call.own);
}

// `settles`: the call that goes this way whenever it comes again, if it does.
Outcome Irregular::serve_linear(CommunicatorState& state, PredictedCall& predicted,
                                CountedCall* settles, const Algorithm& linear, IrregularCall& call,
                                int wrong) const {
  if (wrong != MPI_SUCCESS) return {.error = wrong};
  call.tag_base = state.tags_of(collective);
  const Prepared& prepared = predicted.program(linear, root, call.is_root() && !call.has_own());
  CollectiveCall run;
  const int error = run_linear(prepared, linear, call, state.workspace, run);
  if (error == MPI_SUCCESS && settles != nullptr) {
    settles->settle_run(choose_for(state, collective, 0, OperatorUse::none), prepared, run,
                        {.own = call.own.base,
                         .own_count = call.own.count,
                         .blocks = call.is_root() ? call.all : IrregularBlocks{}});
  }
  return {&linear, call.own_bytes(), error};
}

// The key of a call tells no sizes and no types.
bool Irregular::find_data(const ShortRun& run, const CommunicatorState& state,
                          ShortRunData& found) const {
  const auto fits = [&](const void* buffer, MPI_Count count, const DatatypeInfo& type) {
    return count >= 0 && static_cast<std::size_t>(count) <= run.most_bytes / type.size &&
           (buffer != nullptr || count == 0);
  };
  const bool has_own = run.uses(ShortRun::Where::own);
  if (has_own) {
    if (own.type != run.own_type.handle || !fits(own.buffer, own.count, run.own_type)) return false;
    found.own = static_cast<char*>(own.buffer);
    found.own_count = own.count;
  }
  if (!run.uses(ShortRun::Where::blocks)) return true;
  if (all.type != run.blocks_type.handle) return false;
  for (Rank rank = 0; rank < state.size(); ++rank) {
    if (!fits(all.buffer, all.counts[rank], run.blocks_type)) return false;
  }
  found.blocks = {static_cast<char*>(all.buffer), run.blocks_type, all.counts, all.displacements};
  return !has_own || static_cast<std::size_t>(own.count) * run.own_type.size ==
                         found.blocks.bytes(state.rank());
}

// A rank whose arguments are wrong takes part in the tree without data, since others depend on it.
Outcome Irregular::serve_tree(CommunicatorState& state, PredictedCall& predicted,
                              const Algorithm& algorithm, IrregularCall& call, int wrong) const {
  call.tag_base = state.next_tree_tags();
  const bool asks = !caller.papers_tree && chosen_freely(state, collective);
  const std::uint32_t every = caller.papers_tree ? 1 : state.settings().construct_every;
  TreeCall tree(state, collective, call, every, asks);
  if (tree.goes_linear()) {
    Outcome outcome =
        serve_linear(state, predicted, nullptr, *find_linear(collective), call, wrong);
    if (outcome.error == MPI_SUCCESS) outcome.error = tree.error();
    return outcome;
  }
  const int result = tree.run();
  const int error = result != MPI_SUCCESS ? result : tree.error();
  return {&algorithm, call.own_bytes(), wrong != MPI_SUCCESS ? wrong : error};
}

const Algorithm* Irregular::choose(CommunicatorState& state, PredictedCall& predicted,
                                   CountedCall& counted) const {
  if (caller.papers_tree) return find_algorithm(collective, "ordered-tree");
  find_costs(state, caller, collective, 0, OperatorUse::none, true);
  return predicted.choose(
      collective, root, 0,
      counted.govern(choose_for(state, collective, 0, OperatorUse::none)).algorithm, counted);
}

Outcome Irregular::serve(CommunicatorState& state, CountedCall& counted, int wrong) const {
  PredictedCall predicted(state, caller.place);
  const Algorithm* const algorithm = choose(state, predicted, counted);
  if (algorithm == nullptr) {
    // The library has nobody take part without data.
    if (wrong != MPI_SUCCESS) return {.error = wrong};
    return Outcome::library(own_bytes(state), choose_for(state, collective, 0, OperatorUse::none),
                            true);
  }
  IrregularCall call;
  describe(state, call);
  if (wrong == MPI_SUCCESS) wrong = read_sides(state, call);
  const auto run = [&] {
    return algorithm->linear ? serve_linear(state, predicted, &counted, *algorithm, call, wrong)
                             : serve_tree(state, predicted, *algorithm, call, wrong);
  };
  if (wrong != MPI_SUCCESS) return run();
  CollectiveCall sides;
  place_irregular_blocks(collective, call.rank, call.ranks, call.is_root(), call.own, call.all,
                         sides);
  const bool up = gathers(collective);
  const UserBuffer& own_side = up ? sides.send : sides.receive;
  const UserBuffer& root_side = up ? sides.receive : sides.send;
  const char* const own_before = own_side.base;
  Outcome outcome;
  const CallShape shape{collective, call.rank, call.ranks, root};
  const int error = with_host_copies(state, shape, sides, [&] {
    call.own.base += own_side.base - own_before;
    if (root_side.irregular != nullptr) call.all.base = root_side.irregular->base;
    outcome = run();
    return outcome.error;
  });
  outcome.error = error;
  return outcome;
}

}  // namespace

[[gnu::hot]] int serve_gatherv(Caller caller, const void* send, MPI_Count send_count,
                               MPI_Datatype send_type, void* receive, Counts receive_counts,
                               Displacements displacements, MPI_Datatype receive_type, int root,
                               MPI_Comm comm) {
  const Irregular call{Collective::gatherv,
                       root,
                       {receive, receive_counts, displacements, receive_type},
                       {const_cast<void*>(send), send_count, send_type},
                       comm,
                       caller};
  return serve(call, caller, comm);
}

[[gnu::hot]] int serve_scatterv(Caller caller, const void* send, Counts send_counts,
                                Displacements displacements, MPI_Datatype send_type, void* receive,
                                MPI_Count receive_count, MPI_Datatype receive_type, int root,
                                MPI_Comm comm) {
  const Irregular call{Collective::scatterv,
                       root,
                       {const_cast<void*>(send), send_counts, displacements, send_type},
                       {receive, receive_count, receive_type},
                       comm,
                       caller};
  return serve(call, caller, comm);
}

}  // namespace sibyl
