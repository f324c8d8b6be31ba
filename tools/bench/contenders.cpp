// The participants of a comparison; see contenders.hpp.
#include "bench/contenders.hpp"

#include <array>

#include "bench/baselines.hpp"
#include "communicator/communicator_state.hpp"
#include "sibyl/planners.hpp"
#include "sibyl/sibyl.h"

namespace sibyl::bench {
namespace {

using HandFunction = int (*)(const HandScan&);

HandFunction hand_function(const std::string& name) {
  if (name == "loop-123") return &hand_123_doubling;
  if (name == "recursive-doubling") return &hand_recursive_doubling;
  if (name == "chain") return &hand_chain;
  return nullptr;
}

constexpr int root = 0;

}  // namespace

Data::Data(Collective wanted, const Operator& of, int elements, int own_rank, int all_ranks)
    : collective(wanted),
      op(of),
      count(elements),
      rank(own_rank),
      ranks(all_ranks),
      bytes(static_cast<std::size_t>(elements) * of.element_bytes()) {
  const bool is_root = rank == root;
  const auto blocks = static_cast<std::size_t>(ranks);
  send.resize(collective == Collective::scatter ? (is_root ? blocks * bytes : 0) : bytes);
  receive.resize(collective == Collective::gather ? (is_root ? blocks * bytes : 0) : bytes);
  if (collective == Collective::exscan) scratch.resize(2 * bytes);
  if (collective == Collective::scatter) {
    for (int r = 0; is_root && r < ranks; ++r) {
      op.fill(send.data() + static_cast<std::size_t>(r) * bytes, count, r);
    }
  } else {
    op.fill(send.data(), count, rank);
  }
}

bool Data::has_result() const {
  if (collective == Collective::exscan) return rank > 0;
  return collective != Collective::gather || rank == root;
}

int Data::result_count() const { return collective == Collective::gather ? count * ranks : count; }

Contender::Contender(Collective collective, const std::string& name)
    : collective_(collective), name_(name), kind_(Kind::sibyl) {
  if (name == "native") kind_ = Kind::native;
  if (hand_function(name) != nullptr) kind_ = Kind::hand;
  // Settings belong to a communicator, so that each of Sibyl's contenders needs one of its own.
  if (kind_ == Kind::sibyl) MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
}

Contender::~Contender() {
  if (kind_ == Kind::sibyl) MPI_Comm_free(&comm_);
}

std::function<int()> Contender::call_function(Data& data, bool native) const {
  const void* send = data.send.data();
  void* receive = data.receive.data();
  const int count = data.count;
  MPI_Datatype type = data.op.type();
  MPI_Op op = data.op.op();
  MPI_Comm comm = comm_;
  switch (collective_) {
    case Collective::exscan:
    case Collective::scan: {
      const bool inclusive = collective_ == Collective::scan;
      const auto function = native ? (inclusive ? &PMPI_Scan : &PMPI_Exscan)
                                   : (inclusive ? &SIBYL_Scan : &SIBYL_Exscan);
      return [=] { return function(send, receive, count, type, op, comm); };
    }
    case Collective::gather:
    case Collective::scatter: {
      const bool gather = collective_ == Collective::gather;
      const auto function = native ? (gather ? &PMPI_Gather : &PMPI_Scatter)
                                   : (gather ? &SIBYL_Gather : &SIBYL_Scatter);
      return [=] { return function(send, count, type, receive, count, type, root, comm); };
    }
  }
  return {};
}

// Settings come from the environment, once per process; a comparison in one process needs another
// for each communicator. The first call sets the communicator up, so that there is one to replace.
void Contender::force(Data& data) {
  if (forced_) return;
  forced_ = true;
  call_function(data, false)();
  CommunicatorState* state = CommunicatorState::get(comm_);
  if (state == nullptr) return;
  Settings settings = state->settings();
  std::int32_t& chosen = settings.algorithm[static_cast<std::size_t>(collective_)];
  chosen = choose_automatically;
  const auto rows = algorithms(collective_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name == name_) chosen = static_cast<std::int32_t>(i);
  }
  state->replace_settings(settings);
}

std::function<int()> Contender::call(Data& data) {
  if (kind_ == Kind::hand) {
    HandScan scan;
    scan.send = data.send.data();
    scan.receive = data.receive.data();
    scan.count = data.count;
    scan.type = data.op.type();
    scan.op = data.op.op();
    scan.comm = comm_;
    scan.rank = data.rank;
    scan.ranks = data.ranks;
    scan.bytes = data.bytes;
    scan.commutes = data.op.commutes();
    scan.first = data.scratch.data();
    scan.second = data.scratch.data() + data.bytes;
    const HandFunction function = hand_function(name_);
    return [scan, function] { return function(scan); };
  }
  if (kind_ == Kind::sibyl) force(data);
  return call_function(data, kind_ == Kind::native);
}

std::vector<std::string> contender_names(Collective collective) {
  std::vector<std::string> names{"native", "auto"};
  for (const Algorithm& algorithm : algorithms(collective)) names.emplace_back(algorithm.name);
  if (collective == Collective::exscan) {
    for (const char* hand : {"loop-123", "recursive-doubling", "chain"}) names.emplace_back(hand);
  }
  return names;
}

}  // namespace sibyl::bench
