// How the ranks of a communicator come to be served: all, or none.
//
// Once per communicator, in a call that all its ranks make: every rank says whether it can (a
// private communicator is left in its budget, there is memory, its environment is sound) and which
// build it runs; the least counts; and whether it has loaded a device runtime, so that all ranks of
// a communicator may leave it to the MPI library. Then the private communicator is made, the ranks
// agree that it was made everywhere, rank 0 broadcasts the settings that hold from now on, and all
// find out how ranks lie on nodes. Rank 0's SIBYL_ARRIVALS holds too. Until there is a private
// communicator the messages travel on the user's as collectives of the same call, which cannot meet
// anything else.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/own_failure.hpp"
#include "communicator/communicator_state.hpp"
#include "communicator/deferred_release.hpp"
#include "communicator/make_private.hpp"
#include "communicator/membership.hpp"
#include "communicator/own_calls.hpp"
#include "cost/calibration.hpp"
#include "cost/placement.hpp"
#include "device/owner.hpp"
#include "executor/faults.hpp"
#include "executor/mpi_library.hpp"

namespace sibyl {
namespace {

// What rank 0 decides for all. Tags begin elsewhere on every communicator: an MPI may give a new
// one the context of one that was freed, where a message of a failed call may still lie unreceived.
struct FromRankZero {
  Settings settings;
  std::int64_t tag_start;
  std::uint64_t id;
};

// Whether there is as much memory as a set-up among so many ranks may take. A rank that has it not
// says so; one that found none in the middle would leave the others waiting. Rank 0 judges what all
// ranks report.
bool has_memory_for(int ranks, bool judges) {
  constexpr std::size_t in_any_case = (1 << 16) + Governor::most_sites * sizeof(Governor::Site);
  const std::size_t for_each_rank = 256 + (judges ? sizeof(Governor::Report) : 0);
  return guarded(
      [&] {
        ::operator delete(
            ::operator new(in_any_case + for_each_rank * static_cast<std::size_t>(ranks)));
        return true;
      },
      false);
}

// PMPI_Reduce_local of Open MPI 5 goes by MPI_COMM_SELF, and ends a program that has none.
bool can_combine() { return mpi_library() != MpiLibrary::openmpi || Process::has_world(); }

// The private communicator, and rank 0's terms; MPI_COMM_NULL where some rank did not get it.
MPI_Comm make_private_on_all(MPI_Comm comm, FromRankZero& terms) {
  MPI_Comm made = make_private(comm);
  const std::int64_t own = made != MPI_COMM_NULL ? 1 : 0;
  std::int64_t everywhere = 0;
  const int agreed = PMPI_Allreduce(&own, &everywhere, 1, MPI_INT64_T, MPI_MIN, comm);
  if (agreed == MPI_SUCCESS && everywhere == 1 &&
      PMPI_Bcast(&terms, static_cast<int>(sizeof terms), MPI_BYTE, 0, made) == MPI_SUCCESS) {
    return made;
  }
  if (agreed != MPI_SUCCESS) revoke(made);  // others may be waiting on theirs
  if (made != MPI_COMM_NULL) PMPI_Comm_free(&made);
  return MPI_COMM_NULL;
}

}  // namespace

// The budget of some rank is spent. Rank 0 names the communicator within this one that has not been
// used for longest; its ranks, who all are in this call, give its private communicator back, unless
// one of them has more to do there. Where a program has threads, another one may be using it.
bool CommunicatorState::make_room(MPI_Comm comm, bool has_room) {
  std::uint64_t id = 0;
  const bool may = !Process::has_threads() && process_.environment().reproducible == 0;
  if (rank_ == 0 && may) id = process_.least_recently_used_within(comm);
  if (PMPI_Bcast(&id, 1, MPI_UINT64_T, 0, comm) != MPI_SUCCESS || id == 0) return false;
  CommunicatorState* oldest = process_.state_of(id);
  const auto all_can = [&](bool can) {
    const std::int64_t own = can ? 1 : 0;
    std::int64_t least = 0;
    return PMPI_Allreduce(&own, &least, 1, MPI_INT64_T, MPI_MIN, comm) == MPI_SUCCESS && least == 1;
  };
  const bool idle = oldest == nullptr || (!Process::has_threads() && oldest->private_is_idle());
  if (!all_can(idle)) return false;
  if (oldest != nullptr) oldest->give_private_back();
  const bool taken = has_room || process_.take_private();
  if (all_can(taken)) return true;
  if (taken && !has_room) process_.give_back_private();
  return false;
}

void CommunicatorState::make_room_for_another(MPI_Comm comm) {
  constexpr std::uint32_t looks_every = 64;
  constexpr std::int64_t many = 1000;  // MPICH has room for twice as many
  if (mode_ != Mode::served) return;   // the same on all ranks, as is all that follows
  // Once for each, however often this rank alone asks for it with arguments that are refused.
  if (looked_for_room_at_ == creations_ + 1) return;
  looked_for_room_at_ = creations_ + 1;
  if (looked_for_room_at_ % looks_every == 0) {
    const std::int64_t own = process_.live_communicators + process_.privates_in_use();
    std::int64_t most = 0;
    // Another thread may be using what would be given back.
    tight_ = PMPI_Allreduce(&own, &most, 1, MPI_INT64_T, MPI_MAX, private_comm()) == MPI_SUCCESS &&
             most >= many && !has_threads_;
  }
  if (!tight_) return;
  MPI_Comm tried = make_private(private_comm());
  if (tried == MPI_COMM_NULL) {
    process_.give_back_all_within(comm);
  } else {
    PMPI_Comm_free(&tried);
  }
}

// Whether all ranks can be served, by the same build, in an environment that is sound everywhere.
bool CommunicatorState::agree_to_serve(MPI_Comm comm, bool has_room) {
  const auto build = static_cast<std::int64_t>(build_fingerprint());
  const bool sound = process_.problem().empty();
  const std::array<std::int64_t, 8> offer{has_room ? 1 : 0,
                                          has_memory_for(size_, rank_ == 0) ? 1 : 0,
                                          sound ? 1 : 0,
                                          build,
                                          -build,
                                          can_combine() ? 1 : 0,
                                          device::any_loaded() ? 0 : 1,
                                          Process::has_threads() ? 0 : 1};
  std::array<std::int64_t, 8> least{};
  if (PMPI_Allreduce(offer.data(), least.data(), static_cast<int>(offer.size()), MPI_INT64_T,
                     MPI_MIN, comm) != MPI_SUCCESS) {
    return false;
  }
  const auto [rooms, memory, all_sound, least_build, most_build, all_combine, no_devices,
              no_threads] = least;
  combines_ = all_combine == 1;
  has_devices_ = no_devices == 0;
  has_threads_ = no_threads == 0;
  if (all_sound == 0) mode_ = Mode::refused;
  const bool able = all_sound == 1 && least_build == -most_build && memory == 1;
  return able && (rooms == 1 || make_room(comm, has_room));
}

namespace {

// Of the world; without one, as in sessions, nobody knows.
std::int64_t ranks_of_job() {
  int ranks = 0;
  const bool known = Process::has_world() && PMPI_Comm_size(MPI_COMM_WORLD, &ranks) == MPI_SUCCESS;
  return known ? ranks : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

void CommunicatorState::set_up(MPI_Comm comm, bool in_init) {
  const OwnCalls own;
  SettledCalls::forget(comm);
  mode_ = Mode::native;
  // A rank of another world may be one that no preload serves, and would not come to meet us. Both
  // sides find the other's ranks outside of their own world, so all stay with the MPI library.
  if (Process::has_world() && !holds_all_of(MPI_COMM_WORLD, comm)) return;
  const ReturnErrors quiet(comm, in_init);
  process_.deferred_release().sweep();  // freed requests may hold private communicators alone
  const bool has_room = process_.take_private();
  if (!agree_to_serve(comm, has_room)) {
    if (has_room) process_.give_back_private();
    return;
  }
  FromRankZero terms{process_.settings(), process_.next_tag_start(), process_.next_id()};
  const MPI_Comm made = make_private_on_all(comm, terms);
  if (made == MPI_COMM_NULL) {
    process_.give_back_private();
    return;
  }
  private_ = std::make_shared<PrivateCommunicator>(
      process_, made, static_cast<int>(tags_.end() + ArrivalService::tags + Governing::tags));
  settings_ = terms.settings;
  if (settings_.device_native != 0 && has_devices_) {
    private_.reset();
    return;
  }
  tags_.begin_at(terms.tag_start);
  id_ = terms.id;
  last_used_ = process_.tick();
  set_placement(find_placement(made, node_number(process_.environment().test_placement)));
  arrivals.open({.comm = made,
                 .rank = rank_,
                 .ranks = size_,
                 .tag = static_cast<int>(tags_.end()),
                 .one_node = is_on_one_node()});
  if (!arrivals.take_given(process_.environment().arrivals)) {
    private_.reset();
    return;
  }
  mode_ = Mode::served;
  open_window();
  // Threads may see it before a call on another communicator at one rank, and after it at another.
  if (is_world() && !has_threads_) process_.note_world(settings_, is_on_one_node(), by_window_);
  begin_prediction();
  begin_governing();
}

// Made at once where calls of the communicator go by it, else when one does.
void CommunicatorState::open_window() {
  window_asked_for_ = settings_.node_window != window_where_it_pays;
  node_window_bytes_ = settings_.node_window;
  if (!window_asked_for_) {
    node_window_bytes_ = is_on_one_node() ? window_that_pays(process_.library(), size_) : 0;
  }
  node_window_sought_ = false;
  const std::int64_t processors = find_processors();
  const bool on_one = is_on_one_node() && size_ > 1;
  const bool has_processors = on_one && processors >= ranks_of_job();
  // One that was asked for is to be used, whatever the others' time.
  short_of_processors_ = on_one && !window_asked_for_ && processors != 0 && are_all_crowded();
  if (!window_asked_for_ && !has_processors) node_window_bytes_ = 0;
  by_window_ = has_processors && node_window() != nullptr;
  if (by_window_) node_window_->look_for_long();
}

// Whether some rank finds its node, on which all are, crowded; the same on all of them.
bool CommunicatorState::are_all_crowded() const {
  const int own = crowded_ ? 1 : 0;
  int any = 0;
  return PMPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, private_comm()) == MPI_SUCCESS && any != 0;
}

// Of the ranks of this node, each node for itself; 0 where there is no window. It is crowded where
// more ranks of the job are on it, as far as they are known, than may run at a time.
std::int64_t CommunicatorState::find_processors() {
  const std::vector<Rank> node = ranks_of_own_node(placement(), rank_, size_);
  const auto ranks = static_cast<std::int64_t>(node.size());
  if (is_world()) process_.ranks_here = ranks;
  if (node_window_bytes_ == 0 || survives_faults()) return 0;
  const std::int64_t found = processors_of(private_comm(), tags_of(Collective::barrier), node);
  const std::int64_t online = ::sysconf(_SC_NPROCESSORS_ONLN);
  crowded_ = std::min(found, online) < std::max(ranks, process_.ranks_here.load());
  return found;
}

// The ranks of this node make it, each node for itself. One that has failed stays with MPI's
// messages: what ULFM finds out it finds out by them.
// One that has refused its first call comes to it with another collective: the tag is that of one.
void CommunicatorState::make_node_window() {
  const int tag = tags_of(Collective::barrier);
  if (node_window_bytes_ != 0 && !survives_faults()) {
    const bool able = window_asked_for_ || process_.take_for_window(node_window_bytes_);
    if (!window_asked_for_ && able) window_share_ = node_window_bytes_;
    node_window_ =
        NodeWindow::make(private_comm(), tag, ranks_of_own_node(placement(), rank_, size_),
                         node_window_bytes_, crowded_, able);
    if (node_window_ == nullptr) drop_window();
  }
  node_window_sought_ = true;
}

std::uint64_t CommunicatorState::bytes_for_windows() const {
  const std::uint64_t taken = private_->bytes_of_windows;
  return survives_faults() || !window_asked_for_ || taken > node_window_bytes_
             ? 0
             : node_window_bytes_ - taken;
}

void CommunicatorState::find_costs(int tag) {
  if (costs_sought_) return;
  costs_sought_ = true;
  Costs found = process_.known_costs(size_, placement(), combines_);
  const bool set = settings_.alpha != 0 && settings_.overhead != 0 && settings_.beta != 0;
  if (set && rank_ == 0) {
    if (combines_) found.gamma = measure_gamma();
    found = with_settings(found, settings_);
  }
  const auto from_rank_zero = [&] {
    return PMPI_Bcast(&found, static_cast<int>(sizeof found), MPI_BYTE, 0, private_comm()) ==
           MPI_SUCCESS;
  };
  if (!from_rank_zero()) return;
  if (!found.known()) {
    found = measure_costs(private_comm(), tag, placement(), combines_);
    if (!from_rank_zero()) return;
  }
  costs_ = with_settings(found, settings_);
  recording.message_seconds = costs_.alpha;
  recording.byte_seconds = costs_.beta;
  SettledCalls::forget(link_->comm);
  cached_choice = {};
  // Last, since this rank alone may find no memory for it.
  if (!set && found.known()) process_.keep_costs(size_, placement(), combines_, found);
}

}  // namespace sibyl
