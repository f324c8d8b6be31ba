// MPI_Gather and MPI_Scatter.
//
// The two mirror each other: the root holds the blocks of all ranks, every rank holds its own. The
// choice goes by the bytes of a block, which are equal on all ranks although counts and types may
// differ. Arguments that are not significant at a rank may be garbage and are not read.
#include "collectives/block_arguments.hpp"
#include "collectives/blocking/predicted.hpp"
#include "collectives/blocking/serve.hpp"
#include "collectives/native.hpp"

namespace sibyl {
namespace {

// A root whose own two sides differ in size makes an error; its block then travels apart from the
// program, so that the other ranks are served all the same.
int move_own_block(Collective collective, const BlockSide& all, const DatatypeInfo& all_type,
                   const BlockSide& own, const DatatypeInfo& own_type, int root, int tag,
                   MPI_Comm comm) {
  const bool fits = static_cast<std::size_t>(own.count) * own_type.size <
                    static_cast<std::size_t>(all.count) * all_type.size;
  if (fits != (collective == Collective::gather)) return MPI_ERR_TRUNCATE;
  BlockSide place = all;
  place.buffer = static_cast<char*>(all.buffer) +
                 static_cast<MPI_Aint>(root) * static_cast<MPI_Aint>(all.count) * all_type.extent;
  const BlockSide& from = collective == Collective::gather ? own : place;
  const BlockSide& to = collective == Collective::gather ? place : own;
  return PMPI_Sendrecv(from.buffer, static_cast<int>(from.count), from.type, root, tag, to.buffer,
                       static_cast<int>(to.count), to.type, root, tag, comm, MPI_STATUS_IGNORE);
}

// `now.all` is the root's side of the blocks of all ranks, `now.own` the side of this rank's block.
struct Blocks {
  Collective collective;
  int root;
  BlockArguments now;
  MPI_Comm comm;
  Caller caller;

  Verdict judge(int rank, int ranks) const { return judge_blocks(now, rank, ranks); }
  OwnData own_data(int rank, int) const {
    const BlockSide& mine = rank == root && now.own.buffer == MPI_IN_PLACE ? now.all : now.own;
    return {mine.count, mine.type};
  }
  int native() const {
    const auto& [all, own, at] = now;
    if (collective == Collective::gather) {
      return native_gather(caller, own.buffer, own.count, own.type, all.buffer, all.count, all.type,
                           root, comm);
    }
    return native_scatter(caller, all.buffer, all.count, all.type, own.buffer, own.count, own.type,
                          root, comm);
  }
  std::optional<SettledCall> key() const {
    const auto& [all, own, at] = now;
    return settled_call(collective, root, caller, comm, all.buffer, own.buffer)
        .with(own.count, own.type)
        .with_other(all.count, all.type);
  }
  static constexpr bool key_tells_bytes() { return true; }
  ShortRunData data() const {
    const auto given = [](void* buffer) {
      return buffer == MPI_IN_PLACE ? nullptr : static_cast<char*>(buffer);
    };
    char* const root_side = given(now.all.buffer);
    char* const own_side = given(now.own.buffer);
    return collective == Collective::gather ? ShortRunData{.send = own_side, .receive = root_side}
                                            : ShortRunData{.send = root_side, .receive = own_side};
  }
  bool find_data(const ShortRun&, const CommunicatorState&, ShortRunData& found) const {
    found = data();
    return true;
  }
  Outcome serve(CommunicatorState& state, CountedCall& counted, int wrong) const;
};

Outcome Blocks::serve(CommunicatorState& state, CountedCall& counted, int) const {
  PredictedCall predicted(state, caller.place);
  CheckedBlocks checked;
  const int wrong = check_blocks(state, now, checked);
  if (wrong != MPI_SUCCESS) return {.error = wrong};
  bool in_place = checked.in_place;
  CollectiveCall call;
  call.tag_base = state.tags_of(collective);
  call.block_bytes = checked.block_bytes;
  if (call.block_bytes == 0) return {};
  const CommunicatorState::CachedChoice& choice =
      choose_for(state, collective, call.block_bytes, OperatorUse::none);
  const Algorithm* algorithm = predicted.choose(collective, root, call.block_bytes,
                                                counted.govern(choice).algorithm, counted);
  if (algorithm == nullptr) return Outcome::library(call.block_bytes, choice, checked.named());

  int own_error = MPI_SUCCESS;
  if (!checked.own_block_fits(now)) {
    own_error = move_own_block(collective, now.all, checked.all_type, now.own, checked.own_type,
                               root, call.tag_base, state.private_comm());
    in_place = true;
  }
  place_blocks(state, collective, now, checked, in_place, call);
  const Prepared& prepared = predicted.program(*algorithm, root, in_place);
  const int error = run_prepared(state, prepared, call);
  const bool as_called = own_error == MPI_SUCCESS && in_place == checked.in_place;
  if (error == MPI_SUCCESS && as_called && checked.named()) {
    counted.settle_run(choice, prepared, call, data());
  }
  return {algorithm, checked.block_bytes, own_error != MPI_SUCCESS ? own_error : error};
}

}  // namespace

[[gnu::hot]] int serve_gather(Caller caller, const void* send, MPI_Count send_count,
                              MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                              MPI_Datatype receive_type, int root, MPI_Comm comm) {
  const BlockArguments now{{receive, receive_count, receive_type},
                           {const_cast<void*>(send), send_count, send_type},
                           root};
  return serve(Blocks{Collective::gather, root, now, comm, caller}, caller, comm);
}

[[gnu::hot]] int serve_scatter(Caller caller, const void* send, MPI_Count send_count,
                               MPI_Datatype send_type, void* receive, MPI_Count receive_count,
                               MPI_Datatype receive_type, int root, MPI_Comm comm) {
  const BlockArguments now{{const_cast<void*>(send), send_count, send_type},
                           {receive, receive_count, receive_type},
                           root};
  return serve(Blocks{Collective::scatter, root, now, comm, caller}, caller, comm);
}

}  // namespace sibyl
