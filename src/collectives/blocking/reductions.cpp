// MPI_Reduce and MPI_Allreduce.
//
// Count, datatype, operator and root must be equal on all ranks, so they may steer the choice. Only
// the root of a reduce may have MPI_IN_PLACE, and only its receive buffer is looked at. Programs
// that give the same buffer twice, where they mean MPI_IN_PLACE, are served as if they had said so.
#include "collectives/blocking/late_ranks_call.hpp"
#include "collectives/blocking/predicted.hpp"
#include "collectives/blocking/serve.hpp"
#include "collectives/native.hpp"
#include "collectives/operators.hpp"
#include "collectives/reduction_arguments.hpp"

namespace sibyl {
namespace {

struct Reduction {
  Collective collective;
  int root;  // no_rank of an allreduce
  ReductionArguments now;
  MPI_Comm comm;
  Caller caller;

  bool to_all() const { return collective == Collective::allreduce; }
  Verdict judge(int rank, int ranks) const {
    return to_all() ? judge_allreduce(now, rank) : judge_reduce(now, root, rank, ranks);
  }
  bool library_judges(CommunicatorState& state) const {
    return is_librarys(state, now.op, now.datatype);
  }
  OwnData own_data(int, int) const { return {now.count, now.datatype}; }
  int native() const {
    const auto& [send, receive, count, datatype, op] = now;
    return to_all() ? native_allreduce(caller, send, receive, count, datatype, op, comm)
                    : native_reduce(caller, send, receive, count, datatype, op, root, comm);
  }
  std::optional<SettledCall> key() const {
    return settled_call(collective, root, caller, comm, now.send, now.receive)
        .with(now.count, now.datatype)
        .by(now.op);
  }
  static constexpr bool key_tells_bytes() { return true; }
  bool find_data(const ShortRun&, const CommunicatorState&, ShortRunData&) const { return false; }
  Outcome serve(CommunicatorState& state, CountedCall& counted, int wrong) const;
};

Outcome Reduction::serve(CommunicatorState& state, CountedCall& counted, int) const {
  PredictedCall predicted(state, caller.place);
  DatatypeInfo type;
  if (state.type_info(now.datatype, 0, type) != MPI_SUCCESS) return {.error = MPI_ERR_TYPE};
  if (now.count == 0) return {};
  CollectiveCall call;
  call.tag_base = state.tags_of(collective);
  call.block_bytes = static_cast<std::size_t>(now.count) * type.size;
  const int led_by = to_all() ? 0 : root;
  predicted.follow_line(collective, led_by, call.block_bytes);
  const CommunicatorState::CachedChoice& choice =
      choose_reduction(state, caller, collective, now.count, type, now.op);
  auto [algorithm, cut] = counted.govern(choice);
  algorithm = predicted.choose(collective, led_by, call.block_bytes, algorithm, counted);
  // Calls that others than the own choice serve carry no record.
  static constexpr CommunicatorState::CachedChoice nothing;
  const bool own = !counted.left_by_governor() && !counted.is_challengers();
  if (!own) LateRanksCall::pass(state, choice);
  if (type.named && choice.by_arrivals == nullptr) counted.settle_site(choice);
  if (counted.left_by_governor()) return Outcome::library(call.block_bytes, choice, false);
  LateRanksCall learning(state, own ? choice : nothing, caller.place, counted);
  if (learning.knows()) {
    algorithm = choice.by_arrivals;
    cut = choice.segments_by_arrivals;
  }
  const bool receives = to_all() || state.rank() == root;
  const bool in_place = receives && is_in_place(now);
  const Prepared* prepared = program_for(state, algorithm, cut, led_by, in_place, learning.view());
  if (prepared == nullptr) return Outcome::library(call.block_bytes, choice, type.named);
  place_vectors(now, type, in_place, receives, call);
  call.piggyback = learning.record();
  const int error = run_prepared(state, *prepared, call);
  learning.leave();
  return {algorithm, call.block_bytes, error};
}

}  // namespace

[[gnu::hot]] int serve_reduce(Caller caller, const void* send, void* receive, MPI_Count count,
                              MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
  const ReductionArguments now{send, receive, count, datatype, op};
  return serve(Reduction{Collective::reduce, root, now, comm, caller}, caller, comm);
}

[[gnu::hot]] int serve_allreduce(Caller caller, const void* send, void* receive, MPI_Count count,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  const ReductionArguments now{send, receive, count, datatype, op};
  return serve(Reduction{Collective::allreduce, no_rank, now, comm, caller}, caller, comm);
}

}  // namespace sibyl
