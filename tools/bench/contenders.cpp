// The participants of a comparison; see contenders.hpp.
#include "bench/contenders.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "bench/baselines.hpp"
#include "bench/collective_call.hpp"
#include "bench/preload.hpp"
#include "communicator/communicator_state.hpp"
#include "sibyl/planners.hpp"
#include "sibyl/sibyl.h"

namespace sibyl::bench {
namespace {

using LoopFunction = int (*)(const HandScan&);

constexpr std::array<std::string_view, 3> loops{"loop-123", "loop-recursive-doubling",
                                                "loop-chain"};
constexpr std::string_view variant_prefix = "native:";
constexpr std::string_view history_prefix = "history:";
constexpr std::string_view piggyback_prefix = "piggyback:";
constexpr std::string_view again = "native-again";

LoopFunction loop_function(const std::string& name) {
  if (name == loops[0]) return &hand_123_doubling;
  if (name == loops[1]) return &hand_recursive_doubling;
  if (name == loops[2]) return &hand_chain;
  return nullptr;
}

HandScan hand_scan(Data& data, MPI_Comm comm) {
  HandScan scan;
  scan.send = data.send.data();
  scan.receive = data.receive.data();
  scan.count = data.count;
  scan.type = data.op.type();
  scan.op = data.op.op();
  scan.comm = comm;
  scan.rank = data.rank;
  scan.ranks = data.ranks;
  scan.bytes = data.bytes;
  scan.commutes = data.op.commutes();
  scan.first = data.scratch.data();
  scan.second = data.scratch.data() + data.bytes;
  return scan;
}

// PREFIX:NAME; no prefix where there is no colon.
std::pair<std::string_view, std::string_view> split_prefix(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return {{}, name};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

// Whether Sibyl's algorithms of this operation look at arrivals.
bool looks_at_arrivals(Operation operation) {
  const auto collective = served(operation);
  return collective && std::ranges::any_of(algorithms(*collective), &Algorithm::arrivals);
}

// VARIANT, or VARIANT@BYTES where the library cuts vectors into segments; nothing where there is no
// such variant.
std::optional<NativeVariant> find_variant(const NativeChoice& choice, std::string_view text) {
  const std::size_t at = text.find('@');
  const std::string_view name = text.substr(0, at);
  for (NativeVariant& variant : choice.variants()) {
    if (variant.name != name) continue;
    if (at == std::string_view::npos) return variant;
    const std::string_view bytes = text.substr(at + 1);
    const auto [rest, error] =
        std::from_chars(bytes.data(), bytes.data() + bytes.size(), variant.segment_bytes);
    const bool whole = error == std::errc{} && rest == bytes.data() + bytes.size();
    if (whole && variant.segment_bytes > 0 && choice.cuts_segments()) return variant;
  }
  return {};
}

}  // namespace

bool is_control(const std::string& name) { return name == again; }

bool is_native_variant(const std::string& name) { return name.rfind(variant_prefix, 0) == 0; }

bool names_persistent_form(const std::string& list) {
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string word = list.substr(begin, comma - begin);
    const std::string name = word.substr(word.rfind('/') + 1);  // of no slash: all of it
    for (const OperationTraits& row : operations()) {
      if (find_persistent_form(row.operation, name)) return true;
    }
    begin = comma + 1;
  }
  return false;
}

bool read_side(const std::string& text, Operation usual, Side& side) {
  side = {usual, text, text};
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    if (!operation_from_name(std::string_view(text).substr(0, slash), side.operation)) return false;
    side.algorithm = text.substr(slash + 1);
  }
  if (find_persistent_form(side.operation, side.algorithm)) return true;
  if (side.operation == Operation::reduce && side.algorithm.starts_with(history_prefix)) {
    const std::string name = side.algorithm.substr(history_prefix.size());
    return find_algorithm(Collective::reduce, name) != nullptr;
  }
  const auto [prefix, name] = split_prefix(side.algorithm);
  if (side.operation == Operation::allreduce && side.algorithm.starts_with(piggyback_prefix)) {
    return name == "auto" || find_algorithm(Collective::allreduce, name) != nullptr;
  }
  Prediction told{};
  if (prediction_from_name(prefix, told)) {
    return looks_at_arrivals(side.operation) &&
           (name == "auto" || find_algorithm(gives(side.operation), name) != nullptr);
  }
  if (is_native_variant(side.algorithm)) {
    return find_variant(NativeChoice(side.operation), name).has_value();
  }
  const std::vector<std::string> known = contender_names(side.operation);
  return std::find(known.begin(), known.end(), side.algorithm) != known.end();
}

Contender::Contender(const Side& side)
    : operation_(side.operation), name_(side.algorithm), text_(side.text) {
  learns_ = name_.starts_with(history_prefix);
  if (learns_) name_.erase(0, history_prefix.size());
  piggybacks_ = name_.starts_with(piggyback_prefix);
  if (piggybacks_) name_.erase(0, piggyback_prefix.size());
  governed_ = name_ == governed;
  if (const auto form = find_persistent_form(operation_, name_)) {
    prediction_ = form->told;
  } else if (Prediction told{}; prediction_from_name(split_prefix(name_).first, told)) {
    prediction_ = told;
    name_.erase(0, name_.find(':') + 1);
  }
  const std::string& name = name_;
  if (name == "native" || is_control(name)) {
    kind_ = Kind::native;
  } else if (loop_function(name) != nullptr) {
    kind_ = Kind::loop;
  } else if (find_persistent_form(operation_, name)) {
    kind_ = Kind::persistent;
  } else if (is_native_variant(name)) {
    kind_ = Kind::native_variant;
    choice_ = std::make_unique<NativeChoice>(operation_);
    variant_ = find_variant(*choice_, split_prefix(name).second).value_or(NativeVariant{});
  }
  // Settings and variants belong to a communicator, so that each contender needs one of its own;
  // and the world's is warm from the measurement's own messages.
  if (choice_) choice_->set(variant_);
  comm_ = NativeChoice::duplicate_world(variant_);
  if (choice_) choice_->reset();
}

Contender::~Contender() {
  bound_.reset();
  MPI_Comm_free(&comm_);
}

void Contender::begin_turn() {
  if (choice_ && NativeChoice::is_read_per_call()) choice_->set(variant_);
}

void Contender::end_turn() {
  if (choice_ && NativeChoice::is_read_per_call()) choice_->reset();
}

// Settings come from the environment, once per process; a comparison in one process needs another
// for each communicator. The first call sets the communicator up, so that there is one to replace.
void Contender::force(Data& data) {
  if (forced_) return;
  forced_ = true;
  collective_call(data, comm_, Way::sibyl)();
  CommunicatorState* state = CommunicatorState::get(comm_);
  if (state == nullptr) return;
  const Collective collective = gives(operation_);
  Settings settings = state->settings();
  std::int32_t& chosen = settings.algorithm[static_cast<std::size_t>(collective)];
  chosen = choose_automatically;
  const auto rows = algorithms(collective);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name == name_) chosen = static_cast<std::int32_t>(i);
  }
  // Who is told something, or nothing, learns nothing besides.
  settings.predict = piggybacks_ || governed_ ? PredictionMode::piggyback : PredictionMode::off;
  settings.govern = governed_ ? 1 : 0;
  state->replace_settings(settings);
}

void Contender::expect(std::span<const double> arrivals) {
  const bool listens = kind_ == Kind::sibyl && !piggybacks_ && !governed_;
  if (!listens || !looks_at_arrivals(operation_)) return;
  CommunicatorState* state = CommunicatorState::get(comm_);
  if (state != nullptr) state->arrivals.publish(learns_ ? learnt_->told() : arrivals);
}

void Contender::pretend(double seconds) {
  if (bound_) bound_->pretend(seconds);
}

std::vector<double> Contender::learn(std::span<const double> arrivals) {
  return learns_ ? learnt_->learn(arrivals) : std::vector<double>{};
}

Costs Contender::costs() const {
  const CommunicatorState* state = kind_ == Kind::sibyl ? CommunicatorState::get(comm_) : nullptr;
  return state == nullptr ? Costs{} : state->known_costs();
}

std::function<int()> Contender::call(Data& data) {
  if (kind_ == Kind::loop) {
    return
        [scan = hand_scan(data, comm_), function = loop_function(name_)] { return function(scan); };
  }
  if (kind_ == Kind::persistent) {
    bound_ = std::make_unique<BoundCall>(*find_persistent_form(operation_, name_), data, comm_);
    return [bound = bound_.get()] { return bound->call(); };
  }
  if (governed_) {  // as in a program whose ranks always arrive as in this cell
    MPI_Comm_free(&comm_);
    comm_ = NativeChoice::duplicate_world(variant_);
    forced_ = false;
    if (!is_simulated) return collective_call(data, comm_, Way::program);
  }
  if (kind_ == Kind::sibyl) force(data);
  if (learns_) learnt_ = std::make_unique<LearntArrivals>(data.rank, data.ranks);
  return collective_call(data, comm_, kind_ == Kind::sibyl ? Way::sibyl : Way::native);
}

std::vector<std::string> contender_names(Operation operation) {
  std::vector<std::string> names{"native", std::string(again)};
  if (const auto collective = served(operation)) {
    names.emplace_back("auto");
    names.emplace_back(governed);
    for (const Algorithm& algorithm : algorithms(*collective)) names.emplace_back(algorithm.name);
  }
  for (const PersistentForm& form : persistent_forms(operation)) names.emplace_back(form.name);
  if (operation == Operation::exscan) names.insert(names.end(), loops.begin(), loops.end());
  for (const NativeVariant& variant : NativeChoice(operation).variants()) {
    names.push_back(std::string(variant_prefix) + variant.name);
  }
  return names;
}

}  // namespace sibyl::bench
