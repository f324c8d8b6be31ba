// The agreement at the making of a persistent collective; see persistent_terms.hpp.
#include "collectives/persistent/terms.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "selection/reproducible.hpp"

namespace sibyl {
namespace {

// As rank 0 broadcasts them.
struct Terms {
  std::int32_t valid = 1;
  std::int32_t algorithm = choose_automatically;
  std::int32_t by_arrival = 1;
  std::int32_t background = 1;
  std::int32_t reproducible = 0;
};

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

bool read_algorithm(MPI_Info info, Collective collective, std::int32_t& algorithm) {
  const std::string value = value_of(info, "sibyl_algorithm");
  if (value.empty() || value == "auto") return true;
  if (value == "native") {
    algorithm = serve_natively;
    return true;
  }
  const Algorithm* row = find_algorithm(collective, value);
  // Blocks of any sizes go along a tree only in calls that block.
  if (row == nullptr || (row->sizes && row->order == OrderUse::none)) return false;
  algorithm = static_cast<std::int32_t>(row - algorithms(collective).data());
  return true;
}

Terms read_terms(MPI_Info info, Collective collective) {
  Terms terms;
  const bool valid = read_algorithm(info, collective, terms.algorithm) &&
                     read_choice(info, "sibyl_order", "rank", "arrival", terms.by_arrival) &&
                     read_choice(info, "sibyl_background", "false", "true", terms.background) &&
                     read_choice(info, "sibyl_reproducible", "false", "true", terms.reproducible);
  terms.valid = valid ? 1 : 0;
  return terms;
}

// Up to so many ranks small blocks go straight to the root and from it: its receives wait for them
// before the ranks arrive.
constexpr Rank straight_ranks = 64;

// Where nobody has asked for an algorithm, and a tree is chosen since blocks are small: agreeing on
// its order would take longer than the tree itself. So it stands in rank order, or makes way.
const Algorithm* without_agreement(const Algorithm* tree, const Situation& now,
                                   std::int32_t& by_arrival) {
  by_arrival = 0;
  return now.ranks <= straight_ranks ? find_algorithm(now.collective, "linear") : tree;
}

// Those of the communicator with what was asked for this request.
Settings settings_for(const CommunicatorState& state, const Terms& terms, Collective collective) {
  Settings settings = state.settings();
  if (terms.algorithm != choose_automatically) {
    settings.algorithm[static_cast<std::size_t>(collective)] = terms.algorithm;
  }
  if (terms.reproducible != 0) settings.reproducible = 1;
  return settings;
}

// Drops the order of arrival from `terms` where it would not pay.
const Algorithm* choose_by(CommunicatorState& state, const Settings& settings, Terms& terms,
                           const PersistentOffer& offer, Collective collective) {
  const Situation situation = state.situation(collective, offer.bytes, offer.use, offer.commutes);
  const Algorithm* chosen = choose(settings, situation);
  const bool blocks = collective == Collective::gather || collective == Collective::scatter;
  if (blocks && chosen != nullptr && chosen->order == OrderUse::all_ranks &&
      wanted_algorithm(settings, situation) == choose_automatically) {
    return without_agreement(chosen, situation, terms.by_arrival);
  }
  const bool irregular = collective == Collective::gatherv || collective == Collective::scatterv;
  return chosen != nullptr && irregular ? find_algorithm(collective, "linear") : chosen;
}

// The most tags that the program may take, whatever the pattern.
std::int64_t tags_for(CommunicatorState& state, const PersistentCall& call) {
  PlanRequest request;
  request.ranks = state.size();
  request.root = call.root;
  request.outstanding = outstanding_in(state.settings(), call.collective);
  request.segments = call.cut.segments;
  if (call.algorithm->nodes) request.ranks_per_node = state.ranks_per_node();
  const std::int64_t span = call.algorithm->describe(request).tag_span;
  const std::int64_t patterned = call.algorithm->arrivals ? 2 * std::int64_t{call.cut.segments} : 0;
  return std::max(span, patterned) + 2;  // two for the exchange of arrivals
}

bool can_have_thread(CommunicatorState& state) {
  return state.settings().thread != 0 && state.process().may_have_thread();
}

}  // namespace

int agree_on_persistent(CommunicatorState& state, MPI_Info info, const PersistentOffer& offer,
                        PersistentCall& call) {
  const MPI_Comm comm = state.private_comm();
  call.home = state.shared_private();
  std::array<std::int64_t, 2> own{offer.wrong == MPI_SUCCESS ? 1 : 0,
                                  can_have_thread(state) ? 1 : 0};
  std::array<std::int64_t, 2> least{};
  TagBlocks::Map used = call.home->tags.used();
  TagBlocks::Map used_anywhere{};
  Terms terms = read_terms(info, call.collective);
  int error = PMPI_Allreduce(own.data(), least.data(), static_cast<int>(own.size()), MPI_INT64_T,
                             MPI_MIN, comm);
  if (error == MPI_SUCCESS) {
    error = PMPI_Allreduce(used.data(), used_anywhere.data(), static_cast<int>(used.size()),
                           MPI_UINT64_T, MPI_BOR, comm);
  }
  if (error == MPI_SUCCESS) {
    error = PMPI_Bcast(&terms, static_cast<int>(sizeof terms), MPI_BYTE, 0, comm);
  }
  if (error != MPI_SUCCESS) return MPI_ERR_OTHER;
  if (least[0] == 0) return offer.wrong != MPI_SUCCESS ? offer.wrong : MPI_ERR_OTHER;
  if (terms.valid == 0) return MPI_ERR_INFO_VALUE;

  const bool irregular =
      call.collective == Collective::gatherv || call.collective == Collective::scatterv;
  if (!irregular) call.bytes = offer.bytes;  // else those of this rank's own block
  call.idle = offer.bytes == 0 && !irregular;
  if (call.idle) return MPI_SUCCESS;
  const Settings settings = settings_for(state, terms, call.collective);
  call.algorithm =
      offer.eligible ? choose_by(state, settings, terms, offer, call.collective) : nullptr;
  if (call.algorithm == nullptr) return MPI_SUCCESS;
  call.threaded = least[1] != 0;
  call.background = call.threaded && terms.background != 0 && call.algorithm->background;
  const bool fixed = is_reproducible(settings, call.collective);
  if (call.algorithm->arrivals && !fixed) {
    state.find_costs(state.tags_of(call.collective));
  }
  if (call.algorithm->segments) {
    call.cut =
        segments_for(settings, *call.algorithm,
                     state.situation(call.collective, offer.bytes, offer.use, offer.commutes));
    const std::uint64_t segments = std::min<std::uint64_t>(call.cut.segments, call.elements);
    call.cut.segments = static_cast<std::uint32_t>(segments);
  }
  call.by_arrival = terms.by_arrival != 0 && !fixed;
  if (call.by_arrival) call.clock = state.arrivals.clock_led_by(call.root);
  const int wanted = TagBlocks::blocks_for(tags_for(state, call));
  call.first_block = TagBlocks::find(used_anywhere, wanted);
  if (call.first_block < 0) {  // on all ranks alike
    call.algorithm = nullptr;
    call.threaded = false;
    return MPI_SUCCESS;
  }
  call.blocks_taken = wanted;
  call.home->tags.take(call.first_block, wanted);
  return MPI_SUCCESS;
}

}  // namespace sibyl
