// The participants of a comparison; see contenders.hpp.
#include "bench/contenders.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "bench/baselines.hpp"
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

}  // namespace

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
  const std::vector<std::string> known = contender_names(side.operation);
  return std::find(known.begin(), known.end(), side.algorithm) != known.end();
}

Contender::Contender(const Side& side)
    : operation_(side.operation), name_(side.algorithm), text_(side.text) {
  learns_ = name_.starts_with(history_prefix);
  if (learns_) name_.erase(0, history_prefix.size());
  const std::string& name = name_;
  if (name == "native") {
    kind_ = Kind::native;
  } else if (loop_function(name) != nullptr) {
    kind_ = Kind::loop;
  } else if (find_persistent_form(operation_, name)) {
    kind_ = Kind::persistent;
  } else if (is_native_variant(name)) {
    kind_ = Kind::native_variant;
    choice_ = std::make_unique<NativeChoice>(operation_);
    for (const NativeVariant& variant : choice_->variants()) {
      if (variant.name == name.substr(variant_prefix.size())) variant_ = variant.value;
    }
  }
  // Settings and variants belong to a communicator, so that each contender needs one of its own.
  if (kind_ == Kind::native || kind_ == Kind::loop) return;
  begin_turn();
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  if (choice_) choice_->reset();
}

Contender::~Contender() {
  bound_.reset();
  if (comm_ != MPI_COMM_WORLD) MPI_Comm_free(&comm_);
}

void Contender::begin_turn() {
  if (choice_ && (NativeChoice::is_read_per_call() || comm_ == MPI_COMM_WORLD)) {
    choice_->set(variant_);
  }
}

void Contender::end_turn() {
  if (choice_ && NativeChoice::is_read_per_call()) choice_->reset();
}

std::function<int()> Contender::call_function(Data& data) const {
  const void* send = data.send.data();
  void* receive = data.receive.data();
  const int* counts = data.problem.counts.data();
  const int* places = data.displacements.data();
  const int count = data.count;
  const int root = data.problem.root;
  MPI_Datatype type = data.op.type();
  MPI_Op op = data.op.op();
  MPI_Comm comm = comm_;
  const bool sibyl = kind_ == Kind::sibyl;
  switch (operation_) {
    case Operation::exscan:
    case Operation::scan: {
      const bool inclusive = operation_ == Operation::scan;
      const auto function = sibyl ? (inclusive ? &SIBYL_Scan : &SIBYL_Exscan)
                                  : (inclusive ? &PMPI_Scan : &PMPI_Exscan);
      return [=] { return function(send, receive, count, type, op, comm); };
    }
    case Operation::gather:
    case Operation::scatter: {
      const bool gather = operation_ == Operation::gather;
      const auto function = sibyl ? (gather ? &SIBYL_Gather : &SIBYL_Scatter)
                                  : (gather ? &PMPI_Gather : &PMPI_Scatter);
      return [=] { return function(send, count, type, receive, count, type, root, comm); };
    }
    case Operation::reduce: {
      const auto function = sibyl ? &SIBYL_Reduce : &PMPI_Reduce;
      return [=] { return function(send, receive, count, type, op, root, comm); };
    }
    case Operation::gatherv: {
      const auto function = sibyl ? &SIBYL_Gatherv : &PMPI_Gatherv;
      return [=] { return function(send, count, type, receive, counts, places, type, root, comm); };
    }
    case Operation::scatterv: {
      const auto function = sibyl ? &SIBYL_Scatterv : &PMPI_Scatterv;
      return [=] { return function(send, counts, places, type, receive, count, type, root, comm); };
    }
    case Operation::allgather:
      return [=] { return PMPI_Allgather(send, count, type, receive, count, type, comm); };
    case Operation::bcast: {
      // The root's data are not copied: its buffer is the one that it fills.
      void* buffer = data.is_root() ? data.send.data() : receive;
      return [=] { return PMPI_Bcast(buffer, count, type, root, comm); };
    }
    case Operation::allreduce:
      return [=] { return PMPI_Allreduce(send, receive, count, type, op, comm); };
    case Operation::padded_gather: {
      const int own = data.problem.unpadded[static_cast<std::size_t>(data.rank)];
      return [=] {
        int largest = 0;
        const int error = PMPI_Allreduce(&own, &largest, 1, MPI_INT, MPI_MAX, comm);
        if (error != MPI_SUCCESS) return error;
        return PMPI_Gather(send, largest, type, receive, largest, type, root, comm);
      };
    }
    case Operation::padded_scatter: {
      // The root has the counts at hand; the others hear of the largest.
      const int known = data.is_root() ? count : 0;
      return [=] {
        int largest = known;
        const int error = PMPI_Bcast(&largest, 1, MPI_INT, root, comm);
        if (error != MPI_SUCCESS) return error;
        return PMPI_Scatter(send, largest, type, receive, largest, type, root, comm);
      };
    }
  }
  return {};
}

// Settings come from the environment, once per process; a comparison in one process needs another
// for each communicator. The first call sets the communicator up, so that there is one to replace.
void Contender::force(Data& data) {
  if (forced_) return;
  forced_ = true;
  call_function(data)();
  CommunicatorState* state = CommunicatorState::get(comm_);
  if (state == nullptr) return;
  const Collective collective = *traits(operation_).served;
  Settings settings = state->settings();
  std::int32_t& chosen = settings.algorithm[static_cast<std::size_t>(collective)];
  chosen = choose_automatically;
  const auto rows = algorithms(collective);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name == name_) chosen = static_cast<std::int32_t>(i);
  }
  state->replace_settings(settings);
}

void Contender::expect(std::span<const double> arrivals) {
  if (kind_ != Kind::sibyl || operation_ != Operation::reduce) return;
  CommunicatorState* state = CommunicatorState::get(comm_);
  if (state != nullptr) state->arrivals.publish(learns_ ? learnt_->told() : arrivals);
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
  if (kind_ == Kind::sibyl) force(data);
  if (learns_) learnt_ = std::make_unique<LearntArrivals>(data.rank, data.ranks);
  return call_function(data);
}

std::vector<std::string> contender_names(Operation operation) {
  std::vector<std::string> names{"native"};
  if (const auto served = traits(operation).served) {
    names.emplace_back("auto");
    for (const Algorithm& algorithm : algorithms(*served)) names.emplace_back(algorithm.name);
  }
  for (const PersistentForm& form : persistent_forms(operation)) names.emplace_back(form.name);
  if (operation == Operation::exscan) names.insert(names.end(), loops.begin(), loops.end());
  for (const NativeVariant& variant : NativeChoice(operation).variants()) {
    names.push_back(std::string(variant_prefix) + variant.name);
  }
  return names;
}

}  // namespace sibyl::bench
