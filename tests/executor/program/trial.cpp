// Buffers of a trial, what they must hold, and the engines; see trial.hpp.
#include "executor/program/trial.hpp"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "executor/program/engines.hpp"
#include "executor/program/execution.hpp"

namespace sibyl::test {
namespace {

constexpr std::int64_t gap = -3;
constexpr std::int64_t nothing_yet = -1;
constexpr std::int64_t too_early = -2;
constexpr std::size_t word = sizeof(std::int64_t);

std::int64_t value(Rank rank, std::int64_t block, MPI_Count i) {
  return 1000 * rank + 37 * block + i * i + 7;
}

// Elements of two words, of which the second is data.
MPI_Datatype make_gapped() {
  const MPI_Aint at = word;
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(1, 1, &at, MPI_INT64_T, &inner);
  MPI_Type_create_resized(inner, 0, 2 * word, &made);
  MPI_Type_commit(&made);
  MPI_Type_free(&inner);
  return made;
}

void add_second_words(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const std::int64_t*>(in);
  auto* to = static_cast<std::int64_t*>(inout);
  for (int i = 0; i < *count; ++i) to[2 * i + 1] += from[2 * i + 1];
}

bool sums_for_all(Collective collective) {
  return combines(collective) && collective != Collective::reduce;
}

bool is_in_place(Collective collective, const TrialOptions& options, Rank rank, Rank size) {
  if (!options.in_place) return false;
  if (sums_for_all(collective)) return rank % 2 == 1 || size == 1;
  if (collective == Collective::reduce) return rank == options.root;
  return gathers_everywhere(collective) || exchanges_all(collective);
}

bool has_blocks_of_any_sizes(Collective collective) {
  return collective == Collective::gatherv || collective == Collective::scatterv ||
         collective == Collective::allgatherv || collective == Collective::alltoallv;
}

}  // namespace

Trial::Trial(const Algorithm& algorithm, const TrialOptions& options, MPI_Comm comm)
    : algorithm_(algorithm),
      collective_(algorithm.collective),
      options_(options),
      rank_(rank_in(comm)),
      size_(size_of(comm)),
      in_place_(is_in_place(collective_, options, rank_, size_)),
      irregular_(has_blocks_of_any_sizes(collective_)),
      gapped_(make_gapped()) {
  MPI_Op_create(&add_second_words, 1, &op_);
  PlanRequest request;
  request.ranks = size_;
  request.root = options.root;
  request.in_place = in_place_;
  request.background = options.background;
  if (algorithm.segments) request.segments = options.segments;
  std::vector<Rank> nodes;
  if (algorithm.any_placement && options.count % 2 != 0) {  // dealt out in turn
    for (Rank rank = 0; rank < size_; ++rank) nodes.push_back(rank % ((size_ + 2) / 3));
    request.nodes = nodes;
    if (algorithm.lanes) request.lanes = static_cast<std::uint32_t>(std::min(size_, 2));
  } else if (algorithm.nodes) {
    request.ranks_per_node = 2;
  }
  EXPECT_EQ(check_request(algorithm, request), "");
  prepare(algorithm, request, rank_, prepared_);
  const bool everywhere = combines(collective_);  // operators want one type
  lay_out(send_, sent_counts(), options.gaps && (everywhere || rank_ % 2 == 0));
  lay_out(receive_, received_counts(), options.gaps && (everywhere || rank_ % 2 == 1));
  fill();
  expect();
  call_.comm = comm;
  call_.window = options.window;
  call_.piggyback = options.piggyback;
  bind();
}

Trial::~Trial() {
  MPI_Type_free(&gapped_);
  MPI_Op_free(&op_);
}

std::string Trial::text() const {
  return std::string(name_of(collective_)) + " " + std::string(algorithm_.name) + ", root " +
         std::to_string(options_.root) + ", " + std::to_string(options_.count) + " elements" +
         (options_.in_place ? ", in place" : "") + (options_.gaps ? ", gaps" : "") +
         (options_.background ? ", background" : "");
}

std::size_t Trial::sends_by_window(Workspace& workspace) const {
  const Frame frame(prepared_, call_, workspace);
  std::size_t sends = 0;
  for (StepIndex i = 0; i < prepared_.program.steps.size(); ++i) {
    const Step& step = prepared_.program.steps[i];
    const bool within = step.kind == StepKind::send && options_.window->reaches(step.peer);
    if (within && frame.is_sent(i)) ++sends;
  }
  return sends;
}

// Of the block from one rank to another; the same both ways where blocks change places.
MPI_Count Trial::block_count(Rank from, Rank to) const {
  Rank kind = 0;
  switch (collective_) {
    case Collective::gatherv:
    case Collective::allgatherv:
      kind = from;
      break;
    case Collective::scatterv:
    case Collective::reduce_scatter:
      kind = to;
      break;
    case Collective::alltoallv:
      kind = options_.in_place ? from + to : from + 2 * to;
      break;
    default:
      return options_.count;
  }
  return kind % 3 == 1 ? 0 : options_.count + kind % 4;
}

// Of the blocks that this rank has for all ranks, or from all ranks.
std::vector<MPI_Count> Trial::counts_of_rows(bool received) const {
  std::vector<MPI_Count> counts;
  for (Rank other = 0; other < size_; ++other) {
    counts.push_back(received ? block_count(other, rank_) : block_count(rank_, other));
  }
  return counts;
}

std::vector<MPI_Count> Trial::sent_counts() const {
  if (in_place_ || collective_ == Collective::barrier) return {};
  const bool is_root = rank_ == options_.root;
  if (scatters(collective_)) return is_root ? counts_of_rows(false) : std::vector<MPI_Count>{};
  if (scatters_sums(collective_) || exchanges_all(collective_)) return counts_of_rows(false);
  if (collective_ == Collective::bcast && !is_root) return {};
  return {block_count(rank_, options_.root)};
}

std::vector<MPI_Count> Trial::received_counts() const {
  if (collective_ == Collective::barrier) return {};
  const bool is_root = rank_ == options_.root;
  if (gathers(collective_)) return is_root ? counts_of_rows(true) : std::vector<MPI_Count>{};
  if (gathers_everywhere(collective_) || exchanges_all(collective_)) return counts_of_rows(true);
  if (scatters_sums(collective_) && in_place_) return counts_of_rows(false);
  const bool has_none =
      collective_ == Collective::reduce ? !is_root : collective_ == Collective::bcast && is_root;
  if (has_none) return {};
  return {block_count(options_.root, rank_)};
}

// Blocks of any sizes lie backwards, and apart from each other.
void Trial::lay_out(Side& side, std::vector<MPI_Count> counts, bool gaps) const {
  EXPECT_EQ(inspect(gaps ? gapped_ : MPI_INT64_T, side.type), MPI_SUCCESS);
  side.width = gaps ? 2 : 1;
  side.offset = gaps ? 1 : 0;
  side.total = std::accumulate(counts.begin(), counts.end(), MPI_Count{0});
  side.counts = std::move(counts);
  side.places.resize(side.counts.size());
  MPI_Aint cursor = 0;
  for (std::size_t i = 0; i < side.places.size(); ++i) {
    const std::size_t block = irregular_ ? side.places.size() - 1 - i : i;
    side.places[block] = cursor;
    cursor += static_cast<MPI_Aint>(side.counts[block]) + (irregular_ ? 1 : 0);
  }
  side.words.assign(static_cast<std::size_t>(cursor) * side.width, gap);
  for (std::size_t block = 0; block < side.counts.size(); ++block) {
    for (MPI_Count i = 0; i < side.counts[block]; ++i) {
      side.words[static_cast<std::size_t>(side.places[block] + i) * side.width + side.offset] =
          nothing_yet;
    }
  }
}

void Trial::fill() {
  Side& side = input();
  for (std::size_t block = 0; block < side.counts.size(); ++block) {
    const auto number = static_cast<std::int64_t>(block);
    const bool own_of_all = in_place_ && gathers_everywhere(collective_);
    if (own_of_all && number != rank_) continue;
    for (MPI_Count i = 0; i < side.counts[block]; ++i) {
      const std::size_t at =
          static_cast<std::size_t>(side.places[block] + i) * side.width + side.offset;
      inputs_.push_back({at, value(rank_, own_of_all ? 0 : number, i)});
    }
  }
  for (const Input& input : inputs_) side.words[input.at] = input.value;
  sent_ = send_.words;
  initial_ = receive_.words;
}

std::int64_t Trial::sum(Rank end, std::int64_t block, MPI_Count i) const {
  std::int64_t total = 0;
  for (Rank r = 0; r < end; ++r) total += value(r, block, i);
  return total;
}

// How many ranks' operands this one gets the sum of.
Rank Trial::summands() const {
  if (collective_ == Collective::exscan) return rank_;
  return collective_ == Collective::scan ? rank_ + 1 : size_;
}

std::int64_t Trial::result(std::int64_t block, MPI_Count i) const {
  if (scatters_sums(collective_)) return sum(size_, rank_, i);
  if (combines(collective_)) return sum(summands(), 0, i);
  if (scatters(collective_)) return value(options_.root, rank_, i);
  if (exchanges_all(collective_)) return value(static_cast<Rank>(block), rank_, i);
  const bool from_root = collective_ == Collective::bcast;
  return value(from_root ? options_.root : static_cast<Rank>(block), 0, i);
}

void Trial::expect() {
  expected_ = initial_;
  if (combines(collective_) && summands() == 0) return;
  const auto write = [&](std::size_t block, MPI_Aint place, MPI_Count count) {
    for (MPI_Count i = 0; i < count; ++i) {
      expected_[static_cast<std::size_t>(place + i) * receive_.width + receive_.offset] =
          result(static_cast<std::int64_t>(block), i);
    }
  };
  if (scatters_sums(collective_)) {  // in place at the begin of the vector
    write(0, 0, block_count(rank_, rank_));
    return;
  }
  for (std::size_t block = 0; block < receive_.counts.size(); ++block) {
    write(block, receive_.places[block], receive_.counts[block]);
  }
}

UserBuffer Trial::buffer_of(Side& side) const {
  UserBuffer buffer;
  buffer.type = side.type;
  const bool of_all = side.counts.size() > 1 || (size_ == 1 && !side.counts.empty());
  if (irregular_ && of_all) {
    side.blocks = {reinterpret_cast<char*>(side.words.data()), side.type, side.counts.data(),
                   side.places.data()};
    buffer.irregular = &side.blocks;
    return buffer;
  }
  const bool blocks = partition_of(collective_) == Partition::blocks;
  buffer.base = reinterpret_cast<char*>(side.words.data());
  buffer.count = scatters_sums(collective_) ? side.total : side.counts.front();
  buffer.stride = static_cast<MPI_Aint>(buffer.count) * side.type.extent;
  if (blocks && !of_all && !combines(collective_)) {
    buffer.base -= static_cast<MPI_Aint>(rank_) * buffer.stride;
  }
  return buffer;
}

void Trial::bind() {
  call_.op = options_.gaps ? op_ : MPI_SUM;
  if (!send_.counts.empty()) call_.send = buffer_of(send_);
  if (!receive_.counts.empty()) call_.receive = buffer_of(receive_);
  for (const Side* side : {&send_, &receive_}) {
    for (const MPI_Count count : side->counts) {
      call_.block_bytes = std::max(call_.block_bytes, static_cast<std::size_t>(count) * word);
    }
  }
  call_.first_segment = call_.block_bytes / 3;
  call_.leaves_empty_out = irregular_ || scatters_sums(collective_);
  if (scatters_sums(collective_)) {
    begins_.push_back(0);
    for (const MPI_Count count : counts_of_rows(false)) begins_.push_back(begins_.back() + count);
    call_.block_bytes = static_cast<std::size_t>(begins_.back()) * word;
    if (in_place_) call_.send = call_.receive;
    call_.receive.count = call_.send.count;
    call_.receive.base -=
        static_cast<MPI_Aint>(begins_[static_cast<std::size_t>(rank_)]) * receive_.type.extent;
  } else if (in_place_) {
    call_.send = call_.receive;
  }
  if (in_place_ && collective_ == Collective::alltoallv) {
    begins_.push_back(0);
    for (const MPI_Count count : receive_.counts) {
      begins_.push_back(begins_.back() + count * static_cast<MPI_Count>(word));
    }
  }
  call_.block_begins = begins_;
}

int Trial::run(Engine engine, int tag_base, Workspace& workspace) {
  receive_.words = initial_;
  call_.tag_base = tag_base;
  if (engine == Engine::pieces) return run_in_pieces(workspace);
  if (engine == Engine::usual || Execution::needs_mirrors(prepared_, call_)) {
    return execute(prepared_, call_, workspace);
  }
  const Frame frame(prepared_, call_, workspace);
  EXPECT_TRUE(frame.ready());
  return engine == Engine::lockstep && has_lockstep()
             ? run_lockstep(prepared_, call_, frame)
             : run_dataflow(prepared_, call_, frame, workspace);
}

// What is significant from the arrival on is there no sooner.
int Trial::run_in_pieces(Workspace& workspace) {
  Side& side = input();
  for (const Input& input : inputs_) side.words[input.at] = too_early;
  Execution execution;
  EXPECT_EQ(execution.bind(prepared_, call_, workspace), MPI_SUCCESS);
  execution.start(false);
  for (int i = 0; i < 3; ++i) {
    execution.progress();
    usleep(static_cast<useconds_t>(300 * (rank_ % 3)));
  }
  for (const Input& input : inputs_) side.words[input.at] = input.value;
  execution.arrive();
  if (rank_ % 2 == 0) {
    execution.finish();
  } else {
    while (!execution.progress()) usleep(20);
  }
  EXPECT_TRUE(execution.ended());
  return execution.error();
}

}  // namespace sibyl::test
