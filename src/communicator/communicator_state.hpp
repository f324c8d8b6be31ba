// Everything that Sibyl keeps for one communicator.
//
// It hangs on an attribute of the user's communicator and goes with it. It begins by counting
// calls; at the first call through the C API, or the third one under the preload, the ranks agree
// (agreement.cpp) to be served from a private communicator, or to stay with the MPI library.
//
// Thread safety: MPI lets one collective run at a time on a communicator, and so does this.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "arrival_service/arrival_service.hpp"
#include "communicator/call_tags.hpp"
#include "communicator/governing.hpp"
#include "communicator/private_communicator.hpp"
#include "communicator/process.hpp"
#include "communicator/settled_calls.hpp"
#include "executor/datatype.hpp"
#include "executor/faults.hpp"
#include "executor/host_copies.hpp"
#include "executor/program/workspace.hpp"
#include "executor/tree/irregular.hpp"
#include "executor/window/node_window.hpp"
#include "programs/program_store.hpp"
#include "programs/tree_cache.hpp"
#include "selection/choose.hpp"
#include "selection/choose_reduce.hpp"
#include "selection/choose_within.hpp"
#include "selection/settings.hpp"
#include "telemetry/recording.hpp"
#include "telemetry/report.hpp"

namespace sibyl {

// How much later than all others the last node comes, whose last rank it is that others wait for;
// within one node the last of its ranks. Seconds.
double lead_of_nodes(const ArrivalView& view, const Placement& places);

class CommunicatorState final : public ArrivalListener {
 public:
  // The state of `comm`, made at the first call; nullptr when MPI refuses, and while it is freed.
  // `raised`: the error where it is no communicator, which MPI has raised then; else MPI_SUCCESS.
  static CommunicatorState* get(MPI_Comm comm, int& raised);
  static CommunicatorState* get(MPI_Comm comm) {
    int raised = MPI_SUCCESS;
    return get(comm, raised);
  }
  // Where nobody tells of communicators that are freed (BeingFreed), but of those that are made
  // (openmpi_component/): makes the state of one, before the program can set an attribute. The
  // states of all of several ranks but the world then begin like that. They end after all
  // attributes that the program has set, and before those that MPI_Comm_dup has copied, on all
  // ranks alike; one that is not there has ended.
  static void begin_early(MPI_Comm comm);
  static int on_delete(MPI_Comm comm, int key, void* value, void* extra);

  CommunicatorState(Process& process, MPI_Comm comm);
  ~CommunicatorState();
  CommunicatorState(const CommunicatorState&) = delete;
  CommunicatorState& operator=(const CommunicatorState&) = delete;

  // Counts a call; true when Sibyl may serve it. Collective at the call that sets up. A call whose
  // arguments the MPI library refuses is none.
  bool serves(MPI_Comm comm, bool at_once) {
    ++calls_;
    if (mode_ != Mode::served || survives_faults()) return serves_after_all(comm, at_once);
    last_used_ = process_.tick();
    return true;
  }
  // Sets up where all ranks are known to come along, in MPI_Init. Collective.
  void set_up_now(MPI_Comm comm) {
    if (mode_ == Mode::counting) set_up(comm, true);
  }
  // The private communicator goes, and calls go to the MPI library until it is asked for again. All
  // ranks do so between the same two calls.
  void give_private_back();
  // Under the preload: whether the library serves this collective whatever its arguments, so that
  // it is no reason for a set-up. The same on all ranks.
  bool library_serves(Collective collective, MPI_Comm comm) {
    if (mode_ == Mode::served) return leaves_native(collective);
    return mode_ == Mode::counting && process_.leaves_native(collective) && is_within_world(comm);
  }
  bool is_set_up() const { return mode_ == Mode::served; }
  // Whether it serves all calls, from now on.
  bool is_native() const { return mode_ == Mode::native; }
  // The same but for what goes by a window that nobody asked for.
  bool waits_for_window(Collective collective, MPI_Comm comm) {
    return mode_ == Mode::counting && process_.waits_for_window(collective) &&
           is_within_world(comm);
  }
  // Counts such a call; whether there have been as many as repay a set-up.
  bool repays_window() { return ++window_calls_ >= window_calls_to_repay; }
  // Used often enough, under the preload, for what is done once per communicator to pay.
  bool has_repaid_set_up() const { return set_up_call_ != 0 && calls_ >= set_up_call_; }
  // Whether a call that is left to the library by its arguments always is (settled_calls.hpp): it
  // is not counted any more, costs are known where the choice looks at them, nobody predicts.
  bool settles_calls() const {
    return mode_ == Mode::served && has_repaid_set_up() && arrivals.predictor() == nullptr;
  }
  // All ranks of `comm` are about to make another communicator from it. Looks now and then, in a
  // call of all ranks, whether one of them has so many that the MPI library's room may be at its
  // end; as long as it may, tries to make one, and gives all private communicators within `comm`
  // back when that fails.
  void make_room_for_another(MPI_Comm comm);  // agreement.cpp
  // It has been made.
  void count_creation() { ++creations_; }
  // Agreed on at set-up, the same on all ranks and on no other communicator of theirs; 0 before.
  std::uint64_t id() const { return id_; }
  // When it served last, in the process's ticks.
  std::uint64_t last_used() const { return last_used_; }
  // Whether operators can be applied on all ranks; agreed on at set-up.
  bool combines() const { return combines_; }
  // Nobody but this state uses the private communicator.
  bool private_is_idle() const { return private_ != nullptr && private_.use_count() == 1; }
  // Set when an environment variable was wrong at some rank, after set-up.
  bool refused() const { return mode_ == Mode::refused; }

  // An intercommunicator: what is significant at a rank depends on its group.
  bool between_groups() const { return between_groups_; }
  bool is_world() const { return link_->comm == MPI_COMM_WORLD; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm private_comm() const { return private_ == nullptr ? MPI_COMM_NULL : private_->get(); }
  const std::shared_ptr<PrivateCommunicator>& shared_private() const { return private_; }
  const std::shared_ptr<CommunicatorLink>& link() const { return link_; }
  // How ranks lie on nodes; agreed at set-up.
  const Placement& placement() const { return programs.placement(); }
  // At set-up; for tests: the same on all ranks, between two calls.
  void set_placement(const Placement& placement) {
    if (placement == this->placement()) return;
    SettledCalls::forget(link_->comm);
    programs.set_placement(placement);
    cached_choice = {};
    largest_run_ = largest_run(placement.nodes);
    // Their trees are over the other placement's places.
    irregular_room.tree_sizes.clear();
    gather_trees = {};
  }
  // How many consecutive ranks share a node; 1 where that is no one number.
  Rank ranks_per_node() const { return placement().ranks_per_node; }
  const Settings& settings() const { return settings_; }
  // What stands for a call of this communicator where an algorithm is chosen.
  Situation situation(Collective collective, std::uint64_t bytes, OperatorUse use,
                      bool commutes = true) const;
  // For benchmarks and tests, which compare algorithms within one process: other settings than the
  // ranks agreed on. The same on all ranks, after set-up, between two calls.
  void replace_settings(const Settings& settings);
  Process& process() const { return process_; }
  // What a call does while it waits; nullptr: nothing, or a thread does it.
  ProgressHook* progress_hook() {
    const ArrivalPredictor* predictor = arrivals.predictor();
    return predictor == nullptr || predictor->has_thread() ? nullptr : &programs.prefetched();
  }
  // Programs follow what is known of arrivals: what a change makes useless is dropped, and the one
  // that ran last is planned anew at once, between two collectives.
  void arrivals_changed(const SharedView& before) override;
  void arrivals_expected(const CallSite& site, const SharedView& coming) override;
  void other_view_followed() override;
  void site_predicted(const CallSite& site, const ArrivalPattern& pattern,
                      const SharedView& before) override;

  // What messages and operators cost. The first call is collective and measures, unless rank 0
  // knows them from an earlier communicator of the same kind; `tag` is free for messages of this
  // call.
  void find_costs(int tag);
  const Costs& known_costs() const { return costs_; }
  bool costs_sought() const { return costs_sought_; }
  // The communicator ends: what the governor has found goes into `report`.
  void report_governed();
  // Holds what was chosen against the MPI library's own; nullptr where SIBYL_GOVERN is 0.
  Governing* governing() { return governing_.get(); }
  // For tests: the same on all ranks, after set-up, between two calls.
  void replace_costs(const Costs& costs) {
    SettledCalls::forget(link_->comm);
    costs_ = costs;
    costs_sought_ = true;
  }

  // Whether ranks that wait take processors from others of this node; known where it has a window.
  bool is_crowded() const { return crowded_; }
  // By which ranks of one node send each other messages without MPI; nullptr where there is none,
  // which is the same on all ranks of the node. The first call is collective and makes it.
  NodeWindow* node_window() {
    if (!node_window_sought_) make_node_window();
    return node_window_.get();
  }
  // The same for a call of this collective: one that nobody asked for is for those that it pays
  // for.
  NodeWindow* window_for(Collective collective) {
    return window_asked_for_ || may_go_within(collective) ? node_window() : nullptr;
  }

  // What persistent requests, which have windows of their own, may still take for them; 0 where
  // there are none. Ranks may have freed others.
  std::uint64_t bytes_for_windows() const;

  // Every collective has tags of its own, the same at each call: messages between two ranks come in
  // the order of the calls. A rank whose call was refused before anything moved has then not
  // taken anything either, as in the MPI libraries.
  int tags_of(Collective collective) const { return tags_.of(collective); }
  // Messages that are looked for from any rank need tags of their call alone. Collective once in a
  // round: all have then come back from the calls that had these tags before.
  int next_tree_tags() {
    if (tags_.come_around()) PMPI_Barrier(private_comm());  // fails where the call's messages do
    return tags_.next_of_tree();
  }
  // How many a call has: a program with more messages between two ranks cannot run.
  std::int64_t tags_of_a_call(Collective collective) const { return tags_.room_of(collective); }

  // The number of this call among those that are counted, from 1.
  std::uint64_t number_call() { return ++numbered_; }
  // For tests of what happens at the end of the tags, and where there are few.
  void skip_to_last_tags() { tags_.skip_to_last(); }
  void limit_tags(std::int64_t limit) { tags_.limit(limit); }

  // Remembers predefined types; `slot` tells apart the types of one call.
  int type_info(MPI_Datatype datatype, std::size_t slot, DatatypeInfo& info) {
    DatatypeInfo& known = types_[slot];
    if (known.named && known.handle == datatype) {
      info = known;
      return MPI_SUCCESS;
    }
    const int error = inspect(datatype, info);
    if (error == MPI_SUCCESS && info.named) known = info;
    return error;
  }

  Workspace workspace;
  HostCopies host_copies;
  ArrivalService arrivals;
  ProgramStore programs;
  IrregularRoom irregular_room;
  std::vector<MPI_Count> block_begins;  // of the call that runs; see CollectiveCall
  TreeCache gather_trees;
  TreeCache scatter_trees;
  CommunicatorReport report;
  CommunicatorRecording recording;

  // The error of a refused communicator, made at the first call that raises it.
  int refusal_code = MPI_SUCCESS;
  int arrivals_code = MPI_SUCCESS;  // likewise, of arrival times that cannot be used

  // The last predefined operator that was looked up, with its predefined type.
  struct CachedOperator {
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    OperatorUse use = OperatorUse::none;
  };
  CachedOperator cached_operator;

  // What serves a call, and how it cuts the vector; nullptr: the MPI library.
  struct Served {
    const Algorithm* algorithm = nullptr;
    SegmentPlan segments;
  };
  // The last choice per collective.
  struct CachedChoice {
    bool valid = false;
    std::uint64_t bytes = 0;
    std::uint64_t largest = 0;   // as in Situation
    std::uint32_t elements = 1;  // of a vector: it is cut into no more segments
    OperatorUse operator_use = OperatorUse::none;
    bool commutes = true;
    bool gaps = false;  // in the elements of a reduction: a window does not carry them
    const Algorithm* algorithm = nullptr;
    SegmentPlan segments;  // of an algorithm that cuts the vector
    // What would serve an allreduce if ranks were known to arrive far apart; nullptr: nothing that
    // looks at arrivals, or they are known.
    const Algorithm* by_arrivals = nullptr;
    SegmentPlan segments_by_arrivals;
    bool wants_no_costs = false;  // find_costs() has looked
    bool governed = false;        // chosen by the model, which the governor does not trust blindly
    Served challenger;            // what is to be tried besides; nothing where calls are short
    bool follows_arrivals() const {
      return valid && algorithm != nullptr && algorithm->arrivals && !segments.together;
    }
  };
  std::array<CachedChoice, collective_count> cached_choice;
  // Chooses algorithm and segments; valid from then on.
  void complete(CachedChoice& choice, const Situation& now) const;

 private:
  static CommunicatorState* make(MPI_Comm comm, int& raised);
  enum class Mode : std::uint8_t { counting, served, native, refused };

  bool is_within_world(MPI_Comm comm);
  // Where more is to be looked at than that it is served.
  bool serves_after_all(MPI_Comm comm, bool at_once);
  void set_up(MPI_Comm comm, bool in_init = false);   // agreement.cpp
  bool agree_to_serve(MPI_Comm comm, bool has_room);  // agreement.cpp
  SegmentPlan cut(const Algorithm& algorithm, const Situation& now, std::uint64_t elements) const;
  Served challenger_to(const CachedChoice& choice, const Situation& now) const;
  CachedChoice reduce_like_last(const ArrivalView& view) const;
  void choose_by_arrivals(CachedChoice& choice, Situation now) const;
  void begin_prediction();
  void end_prediction();
  void begin_governing();
  void end_governing();

  // One that had to give its private communicator back asks again at this call.
  static constexpr std::uint32_t calls_until_asked_again = 64;
  static constexpr std::uint32_t window_calls_to_repay = 100;

  bool make_room(MPI_Comm comm, bool has_room);  // agreement.cpp
  bool is_on_one_node() const { return ranks_per_node() == size_; }
  // Where ranks know of each other's arrivals, calls of all kinds are counted.
  bool leaves_native(Collective collective) const {
    return is_on_one_node() && arrivals.predictor() == nullptr &&
           is_left_native_on_one_node(settings_, collective, by_window_);
  }
  void open_window();  // agreement.cpp
  void drop_window();
  std::int64_t find_processors();  // agreement.cpp
  bool are_all_crowded() const;    // agreement.cpp
  void make_node_window();         // agreement.cpp

  Process& process_;
  Mode mode_ = Mode::counting;
  bool between_groups_ = false;
  bool combines_ = false;
  bool has_devices_ = false;  // some rank, when it was set up
  bool has_threads_ = false;  // some rank: MPI_THREAD_MULTIPLE
  std::uint64_t calls_ = 0;
  std::uint32_t window_calls_ = 0;  // before set-up, of those that wait for a window
  std::uint64_t numbered_ = 0;
  int rank_ = 0;
  int size_ = 1;
  // Under the preload a communicator is set up at this call: one that is used once or twice cannot
  // repay it. Ranks that differ in it (SIBYL_SERVE_FROM) would not meet. 0: never.
  std::uint32_t set_up_call_;
  bool gave_private_back_ = false;  // and is then set up at that call, whoever calls
  std::optional<bool> within_world_;
  std::uint32_t creations_ = 0;  // communicators made from this one
  // How many there were when room was looked for last, or will have been.
  std::uint32_t looked_for_room_at_ = 0;
  bool tight_ = false;  // there may be no room for many more
  std::uint64_t id_ = 0;
  std::uint64_t last_used_ = 0;
  std::shared_ptr<PrivateCommunicator> private_;
  std::shared_ptr<CommunicatorLink> link_;
  CallTags tags_;
  Settings settings_;
  Costs costs_;
  bool costs_sought_ = false;
  Rank largest_run_ = 0;                 // of the placement, as in Situation
  std::uint32_t node_window_bytes_ = 0;  // agreed on at set-up
  bool window_asked_for_ = false;        // by SIBYL_NODE_WINDOW
  bool crowded_ = false;
  bool short_of_processors_ = false;  // all ranks on one node, that is known to have fewer
  bool node_window_sought_ = false;
  bool by_window_ = false;  // as in Situation
  std::unique_ptr<NodeWindow> node_window_;
  std::uint32_t window_share_ = 0;  // bytes that this process has taken for it
  std::unique_ptr<Governing> governing_;
  std::array<DatatypeInfo, 2> types_;
};

}  // namespace sibyl
