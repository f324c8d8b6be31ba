// The agreement at the making of a persistent collective; see terms.hpp.
#include "collectives/persistent/terms.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "arrival_service/arrival_service.hpp"
#include "base/own_failure.hpp"
#include "communicator/own_calls.hpp"
#include "cost/placement.hpp"
#include "executor/window/node_window.hpp"
#include "selection/lanes.hpp"
#include "selection/model.hpp"
#include "selection/reproducible.hpp"

namespace sibyl {
namespace {

constexpr std::int32_t as_settings_say = -1;
constexpr std::int32_t most_outstanding = 1'000'000;  // as of SIBYL_OUTSTANDING

// As rank 0 broadcasts them.
struct Terms {
  std::int32_t valid = 1;
  std::int32_t algorithm = choose_automatically;
  std::int32_t by_arrival = 1;
  std::int32_t background = 1;
  std::int32_t outstanding = as_settings_say;
  std::int32_t govern = 1;
  std::int32_t reproducible = 0;
};

bool is_irregular(Collective collective) {
  return collective == Collective::gatherv || collective == Collective::scatterv;
}

// Empty where the key is not there.
std::string value_of(MPI_Info info, const char* key) {
  if (info == MPI_INFO_NULL) return {};
  std::string value(MPI_MAX_INFO_VAL + 1, '\0');
  int found = 0;
  if (PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found) != MPI_SUCCESS ||
      found == 0) {
    return {};
  }
  value.resize(value.find('\0'));
  return value;
}

// One of two words; false where it is neither.
bool read_choice(MPI_Info info, const char* key, std::string_view off, std::string_view on,
                 std::int32_t& choice) {
  const std::string value = value_of(info, key);
  if (value.empty()) return true;
  if (value != off && value != on) return false;
  choice = value == on ? 1 : 0;
  return true;
}

// A number of transfers; false where it is none.
bool read_outstanding(MPI_Info info, std::int32_t& outstanding) {
  const std::string value = value_of(info, "sibyl_outstanding");
  if (value.empty()) return true;
  const char* end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, outstanding);
  return error == std::errc{} && rest == end && outstanding >= 0 && outstanding <= most_outstanding;
}

bool read_algorithm(MPI_Info info, Collective collective, std::int32_t& algorithm) {
  const std::string value = value_of(info, "sibyl_algorithm");
  if (value.empty() || value == "auto") return true;
  if (value == "native") {
    algorithm = serve_natively;
    return true;
  }
  const Algorithm* row = find_algorithm(collective, value);
  if (row == nullptr) return false;
  // Irregular blocks go along a tree only in calls that block.
  if (is_irregular(collective) && !row->linear) return false;
  algorithm = static_cast<std::int32_t>(row - algorithms(collective).data());
  return true;
}

Terms read_terms(MPI_Info info, Collective collective) {
  Terms terms;
  const bool valid = read_algorithm(info, collective, terms.algorithm) &&
                     read_choice(info, "sibyl_order", "rank", "arrival", terms.by_arrival) &&
                     read_choice(info, "sibyl_background", "false", "true", terms.background) &&
                     read_outstanding(info, terms.outstanding) &&
                     read_choice(info, "sibyl_govern", "false", "true", terms.govern) &&
                     read_choice(info, "sibyl_reproducible", "false", "true", terms.reproducible);
  terms.valid = valid ? 1 : 0;
  return terms;
}

// Up to this many ranks the linear algorithm serves small blocks: the root has posted its receives
// before the ranks arrive, so that a block costs it little.
constexpr Rank most_linear_ranks = 64;

// What serves small blocks where nobody has asked for an algorithm. A tree that follows arrivals
// would need all ranks to agree on their order in every iteration, which takes longer than the tree
// itself. So the linear algorithm takes its place, or, on many ranks, the tree in rank order.
const Algorithm* without_agreement(const Algorithm* tree, const Situation& now,
                                   std::int32_t& by_arrival) {
  by_arrival = 0;
  return now.ranks <= most_linear_ranks ? find_linear(now.collective) : tree;
}

// Longer ones wait for their receivers' threads, at every rank on their way.
bool is_ring_in_short_segments(const Settings& settings, const Algorithm* chosen,
                               const Situation& now) {
  if (chosen == nullptr || chosen->name != "ring") return false;
  const std::uint64_t block = now.largest != 0 ? now.largest : now.bytes;
  return block <= sent_at_once * segments_for(settings, *chosen, now).segments;
}

// Where every rank's receives are open from the start, all that the others have sent is there when
// a late rank comes; so these serve whatever a call that blocks would be served by. In an order
// that all ranks would have to agree on there is nothing more to win. A ring in short segments that
// goes on without the ranks that are not there yet leaves one block's way around, little longer
// than one transfer; who is late would send it to all others.
const Algorithm* with_early_receipt(const Settings& settings, const Algorithm* chosen,
                                    const Situation& now, std::int32_t& by_arrival, bool goes_on) {
  if (now.ranks > most_linear_ranks) return chosen;
  switch (now.collective) {
    case Collective::allgather:
    case Collective::allgatherv:
      return goes_on && is_ring_in_short_segments(settings, chosen, now)
                 ? chosen
                 : find_algorithm(now.collective, "spread");
    case Collective::alltoall:
      return find_algorithm(now.collective, "shifted");
    case Collective::bcast:
      by_arrival = 0;
      return chosen != nullptr ? chosen : find_algorithm(now.collective, "binomial");
    default:
      return chosen;
  }
}

// What an allreduce is served by whose ranks say when they will come, as one that is predicted: who
// is late is left out, and brings one vector's time where the whole takes two. Every rank waits for
// the arrival pattern, which only its thread can do before it has arrived. Where nobody comes late,
// or a rank says nothing, it is the ring.
const Algorithm* with_late_ranks(const Settings& settings, const Algorithm* chosen, Situation now) {
  if (chosen == nullptr || now.ranks > most_linear_ranks) return chosen;
  now.spread = longest_spread;
  const Algorithm* const other = choose(settings, now);
  return other != nullptr && other->arrivals ? other : chosen;
}

// Those of the communicator with what was asked for this request.
Settings settings_for(const CommunicatorState& state, const Terms& terms, Collective collective) {
  Settings settings = state.settings();
  if (terms.algorithm != choose_automatically) {
    settings.algorithm[static_cast<std::size_t>(collective)] = terms.algorithm;
  }
  if (terms.govern == 0) settings.govern = 0;
  if (terms.reproducible != 0) settings.reproducible = 1;
  return settings;
}

Situation situation_of(const CommunicatorState& state, const PersistentOffer& offer,
                       Collective collective) {
  Situation now = state.situation(collective, offer.bytes, offer.use, offer.commutes);
  now.blocking = false;
  now.largest = offer.largest;
  now.by_window = false;  // requests have windows of their own, while there is room
  return now;
}

// The algorithm, by costs that are measured where it hangs on them. Where following the order of
// arrival would cost more than it brings, `terms` no longer asks for it. `goes_on`: on every rank,
// by its thread, whether it has arrived or not.
const Algorithm* choose_by(CommunicatorState& state, const Settings& settings, Terms& terms,
                           const PersistentOffer& offer, Collective collective, bool goes_on) {
  if (!is_irregular(collective) && wants_costs(settings, situation_of(state, offer, collective))) {
    state.find_costs(state.tags_of(collective));
  }
  const Situation situation = situation_of(state, offer, collective);
  const Algorithm* chosen = choose(settings, situation);
  const bool freely = wanted_algorithm(settings, situation) == choose_automatically;
  if (freely && collective == Collective::allreduce && goes_on && terms.by_arrival != 0) {
    return with_late_ranks(settings, chosen, situation);
  }
  if (freely && (!has_root(collective) || collective == Collective::bcast)) {
    return with_early_receipt(settings, chosen, situation, terms.by_arrival, goes_on);
  }
  const bool blocks = collective == Collective::gather || collective == Collective::scatter;
  if (blocks && chosen != nullptr && chosen->order == OrderUse::all_ranks && freely) {
    return without_agreement(chosen, situation, terms.by_arrival);
  }
  // What is begun early is received early, also where a call would be the library's.
  const bool by_sibyl = chosen != nullptr || freely;
  return by_sibyl && is_irregular(collective) ? find_linear(collective) : chosen;
}

// Of a program that serves the call.
std::int64_t tag_span_of(CommunicatorState& state, const PersistentCall& call,
                         const Algorithm& algorithm) {
  PlanRequest request;
  request.ranks = state.size();
  request.root = call.root;
  request.outstanding = call.outstanding;
  request.segments = call.cut.segments;
  request.lanes = call.cut.lanes;
  place(algorithm, state.placement(), request);
  return algorithm.describe(request).tag_span;
}

// The most tags that the programs may take, whatever the arrival pattern.
std::int64_t tags_for(CommunicatorState& state, const PersistentCall& call) {
  std::int64_t span = tag_span_of(state, call, *call.algorithm);
  if (call.challenger != nullptr) span = std::max(span, tag_span_of(state, call, *call.challenger));
  // As a rule enough for a schedule made for arrivals, which may have up to a segment a rank more
  // where late ranks are left out of a ring; one that takes more is not used.
  const std::int64_t segments = call.cut.segments;
  const std::int64_t scheduled = call.algorithm->arrivals ? 2 * (segments + state.size()) : 0;
  return std::max(span, scheduled) + PersistentCall::tags_besides;
}

// Whether there is one, not only whether there may be: the system may give none to one rank, which
// then could not do its part of what all ranks have agreed on.
bool has_thread(CommunicatorState& state) {
  return state.settings().thread != 0 &&
         guarded([&] { return state.process().progress_thread() != nullptr; }, false);
}

// What the ranks have told each other.
struct Agreed {
  bool arguments_right = false;      // of all ranks
  bool threaded = false;             // every rank has a thread
  bool dense = false;                // no rank's types have gaps
  std::uint64_t window_bytes = 0;    // that every rank has left for windows
  std::uint64_t most_own_bytes = 0;  // of irregular blocks
  TagBlocks::Map used_tags{};        // at any rank
  Terms terms;                       // rank 0's
};

// Collective. False when MPI fails.
bool meet(CommunicatorState& state, const PersistentOffer& offer, const PersistentCall& call,
          int wrong, Agreed& agreed) {
  const MPI_Comm comm = state.private_comm();
  const std::array<std::int64_t, 5> own{wrong == MPI_SUCCESS ? 1 : 0, has_thread(state) ? 1 : 0,
                                        static_cast<std::int64_t>(state.bytes_for_windows()),
                                        -static_cast<std::int64_t>(call.bytes),
                                        offer.dense ? 1 : 0};
  std::array<std::int64_t, 5> least{};
  const OwnCalls calls;
  const TagBlocks::Map used = call.tags.home().tags.used();
  if (PMPI_Allreduce(own.data(), least.data(), static_cast<int>(own.size()), MPI_INT64_T, MPI_MIN,
                     comm) != MPI_SUCCESS ||
      PMPI_Allreduce(used.data(), agreed.used_tags.data(), static_cast<int>(used.size()),
                     MPI_UINT64_T, MPI_BOR, comm) != MPI_SUCCESS ||
      PMPI_Bcast(&agreed.terms, static_cast<int>(sizeof agreed.terms), MPI_BYTE, 0, comm) !=
          MPI_SUCCESS) {
    return false;
  }
  agreed.arguments_right = least[0] != 0;
  agreed.threaded = least[1] != 0;
  agreed.window_bytes = static_cast<std::uint64_t>(least[2]);
  agreed.most_own_bytes = static_cast<std::uint64_t>(-least[3]);
  agreed.dense = least[4] != 0;
  return true;
}

// About what a switch keeps in front of a port.
constexpr std::uint64_t bytes_under_way = 256 * 1024;

// Leaves of a linear gather send as soon as they come. Where all come at once a switch may lose
// some of it, and what is lost waits for a timeout. Asked for, a few at a time, blocks take a
// little longer where nothing is lost, and a fraction where much is; no measurement at set-up tells
// which. (The library's own nonblocking gathers send at once, too.) What turns out is agreed on,
// which without a thread would wait for ranks that wait for something else. Blocks that come in
// parts are brought together at the root where types have gaps, which `linear` needs no memory for.
void choose_challenger(const Settings& settings, const Situation& now, PersistentCall& call) {
  const bool freely = wanted_algorithm(settings, now) == choose_automatically;
  const bool sends_at_once =
      call.collective == Collective::gather && call.algorithm == find_linear(call.collective);
  const bool asks_several = call.by_arrival && call.outstanding > 1 && now.ranks > 2;
  const bool has_thread = call.progress != PersistentCall::Progress::calls;
  if (settings.govern == 0 || !freely || !sends_at_once || !asks_several || !has_thread) return;
  if (now.bytes > message_limit / static_cast<std::uint64_t>(now.ranks)) return;
  call.challenger = find_algorithm(call.collective, "linear-synchronised");
  const std::uint64_t blocks = std::max<std::uint64_t>(bytes_under_way / now.bytes, 2);
  call.outstanding_of_challenger =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, call.outstanding));
}

// Algorithm, segments, and what they know of arrivals, where a program serves the call.
void choose_program(CommunicatorState& state, const PersistentOffer& offer, Agreed& agreed,
                    PersistentCall& call) {
  Terms& terms = agreed.terms;
  const Settings settings = settings_for(state, terms, call.collective);
  const bool goes_on = agreed.threaded && terms.background != 0;
  call.algorithm =
      offer.eligible ? choose_by(state, settings, terms, offer, call.collective, goes_on) : nullptr;
  if (call.algorithm == nullptr) return;
  call.served_by = PersistentCall::ServedBy::program;
  if (agreed.threaded) {
    const bool from_start = goes_on && call.algorithm->background;
    call.progress =
        from_start ? PersistentCall::Progress::thread_from_start : PersistentCall::Progress::thread;
  }
  const bool background = call.progress == PersistentCall::Progress::thread_from_start;
  call.outstanding = terms.outstanding == as_settings_say
                         ? outstanding_in(settings, call.collective, background)
                         : static_cast<std::uint32_t>(terms.outstanding);
  if (call.outstanding == 0) call.outstanding = static_cast<std::uint32_t>(state.size());
  const bool fixed = is_reproducible(settings, call.collective);
  if (call.algorithm->arrivals && !fixed) state.find_costs(state.tags_of(call.collective));
  if (call.algorithm->segments) {
    call.cut = segments_within(settings, *call.algorithm,
                               situation_of(state, offer, call.collective), call.elements,
                               state.placement(), TagBlocks::tags - PersistentCall::tags_besides);
    call.call.most_sends_to_one =
        most_sends_to_one(state.known_costs(), call.bytes, call.cut.segments);
  }
  call.by_arrival = terms.by_arrival != 0 && !fixed;
  if (agreed.dense) choose_challenger(settings, situation_of(state, offer, call.collective), call);
}

// Tags that no rank uses. Where there are none left, on all ranks alike, the library serves.
void take_tags(CommunicatorState& state, const TagBlocks::Map& used, PersistentCall& call) {
  const int wanted = TagBlocks::blocks_for(tags_for(state, call));
  const int first_block = TagBlocks::find(used, wanted);
  if (first_block < 0) {
    call.algorithm = nullptr;
    call.challenger = nullptr;
    call.served_by = PersistentCall::ServedBy::library;
    call.progress = PersistentCall::Progress::calls;
    return;
  }
  call.tags.take(first_block, wanted);
}

// How large a window the messages of the program want, as far as there is that much. The blocks of
// a gather or scatter may travel together.
void plan_window(CommunicatorState& state, const Agreed& agreed, PersistentCall& call) {
  if (agreed.window_bytes == 0) return;
  call.node = ranks_of_own_node(state.placement(), state.rank(), state.size());
  call.crowded = state.is_crowded();
  const bool blocks =
      call.collective == Collective::gather || call.collective == Collective::scatter;
  const std::uint64_t several = blocks ? static_cast<std::uint64_t>(state.size()) : 1;
  const std::uint64_t message =
      is_irregular(call.collective) ? agreed.most_own_bytes : several * call.bytes;
  call.window_bytes =
      std::min<std::size_t>(NodeWindow::bytes_for(call.node.size(), message), agreed.window_bytes);
}

}  // namespace

int agree_on_persistent(CommunicatorState& state, MPI_Info info, const PersistentOffer& offer,
                        PersistentCall& call) {
  call.tags = TagLease(state.shared_private());
  Agreed agreed;
  // A rank that has no memory for reading them meets the others all the same.
  const bool read = guarded(
      [&] {
        agreed.terms = read_terms(info, call.collective);
        return true;
      },
      false);
  const int wrong = offer.wrong != MPI_SUCCESS || read ? offer.wrong : MPI_ERR_NO_MEM;
  if (!meet(state, offer, call, wrong, agreed)) return MPI_ERR_OTHER;
  if (!agreed.arguments_right) return wrong != MPI_SUCCESS ? wrong : MPI_ERR_OTHER;
  if (agreed.terms.valid == 0) return MPI_ERR_INFO_VALUE;

  // Of irregular blocks these are the bytes of this rank's own, found with its arguments.
  if (!is_irregular(call.collective)) {
    call.bytes = offer.bytes;
    if (offer.bytes == 0) {
      call.served_by = PersistentCall::ServedBy::nobody;
      return MPI_SUCCESS;
    }
  }
  choose_program(state, offer, agreed, call);
  if (call.served_by != PersistentCall::ServedBy::program) return MPI_SUCCESS;
  if (call.by_arrival) call.clock = state.arrivals.clock_led_by(call.root);
  take_tags(state, agreed.used_tags, call);
  if (call.served_by == PersistentCall::ServedBy::program) plan_window(state, agreed, call);
  return MPI_SUCCESS;
}

}  // namespace sibyl
