// Buffers, contributions and results; see cases.hpp.
#include "collectives/persistent/cases.hpp"

#include <array>

#include <sched.h>
#include <unistd.h>

namespace sibyl::test {
namespace {

constexpr std::int64_t nothing = -77;

}  // namespace

template <class Count, class Place>
struct InitFunctions {
  using Blocks = int (*)(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, int,
                         MPI_Comm, MPI_Info, SIBYL_Request*);
  Blocks gather;
  Blocks scatter;
  int (*gatherv)(const void*, Count, MPI_Datatype, void*, const Count*, const Place*, MPI_Datatype,
                 int, MPI_Comm, MPI_Info, SIBYL_Request*);
  int (*scatterv)(const void*, const Count*, const Place*, MPI_Datatype, void*, Count, MPI_Datatype,
                  int, MPI_Comm, MPI_Info, SIBYL_Request*);
  int (*reduce)(const void*, void*, Count, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Info,
                SIBYL_Request*);
  using Sums = int (*)(const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                       SIBYL_Request*);
  Sums exscan;
  Sums allreduce;
  int (*bcast)(void*, Count, MPI_Datatype, int, MPI_Comm, MPI_Info, SIBYL_Request*);
  using Exchange = int (*)(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm,
                           MPI_Info, SIBYL_Request*);
  Exchange allgather;
  Exchange alltoall;
  int (*allgatherv)(const void*, Count, MPI_Datatype, void*, const Count*, const Place*,
                    MPI_Datatype, MPI_Comm, MPI_Info, SIBYL_Request*);
};

std::string PersistentCase::text() const {
  return std::string(name_of(collective)) + " " + algorithm + (by_arrival ? ", by arrival" : "") +
         (background ? ", background" : "") + ", root " + std::to_string(root) + ", " +
         std::to_string(count) + " elements" + (in_place ? ", in place" : "") +
         (gaps ? ", gaps" : "") + (large ? ", large counts" : "") +
         (outstanding ? ", " + std::to_string(*outstanding) + " under way" : "");
}

void take_the_thread_away(MPI_Comm comm) {
  CommunicatorState* state = CommunicatorState::get(comm);
  ASSERT_TRUE(state->serves(comm, true));
  Settings settings = state->settings();
  settings.thread = 0;
  state->replace_settings(settings);
}

PersistentCase any_persistent_case(Random& random, int size) {
  constexpr std::array<Collective, 11> collectives{
      Collective::gather,    Collective::scatter,  Collective::gatherv,   Collective::scatterv,
      Collective::reduce,    Collective::exscan,   Collective::allreduce, Collective::bcast,
      Collective::allgather, Collective::alltoall, Collective::allgatherv};
  PersistentCase now;
  now.collective = collectives[pick(random, collectives.size())];
  const bool rooted_irregular =
      now.collective == Collective::gatherv || now.collective == Collective::scatterv;
  const bool irregular = rooted_irregular || now.collective == Collective::allgatherv;
  std::vector<std::string> names{"auto", "native"};
  for (const Algorithm& row : algorithms(now.collective)) {
    const bool fits = row.check == nullptr || row.check({.ranks = size}).empty();
    if (fits && (!rooted_irregular || row.name == "linear")) names.emplace_back(row.name);
  }
  now.algorithm = names[pick(random, names.size())];
  now.by_arrival = pick(random, 4) != 0;
  now.background = pick(random, 4) != 0;
  now.root = has_root(now.collective) ? static_cast<int>(pick(random, size)) : 0;
  constexpr std::array<int, 6> counts{0, 1, 3, 130, 700, 5000};
  now.count = counts[pick(random, counts.size())];
  now.in_place = pick(random, 3) == 0;
  now.gaps = !combines(now.collective) && !irregular && pick(random, 2) == 0;
  now.large = MPI_VERSION >= 4 && pick(random, 3) == 0;
  if (pick(random, 2) == 0) now.outstanding = static_cast<int>(pick(random, 4));
  return now;
}

PersistentTrial::PersistentTrial(const PersistentCase& now, MPI_Comm comm)
    : now_(now),
      comm_(comm),
      rank_(rank_in(comm)),
      size_(size_of(comm)),
      is_root_(rank_ == now.root) {
  lay_out();
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "sibyl_algorithm", now.algorithm.c_str());
  MPI_Info_set(info, "sibyl_order", now.by_arrival ? "arrival" : "rank");
  MPI_Info_set(info, "sibyl_background", now.background ? "true" : "false");
  if (now.outstanding) {
    MPI_Info_set(info, "sibyl_outstanding", std::to_string(*now.outstanding).c_str());
  }
  EXPECT_EQ(make(info), MPI_SUCCESS) << now.text();
  MPI_Info_free(&info);
  if (own_type_ != MPI_INT64_T) MPI_Type_free(&own_type_);  // the request has its own
}

PersistentTrial::~PersistentTrial() {
  if (made()) SIBYL_Request_free(&request_);
}

void PersistentTrial::lay_out() {
  int all = 0;
  for (int rank = 0; rank < size_; ++rank) {
    counts_.push_back(block(rank));
    places_.push_back(all);
    all += block(rank);
  }
  const bool root_side = is_root_ && !combines(now_.collective);
  if (now_.gaps && rank_ % 2 == 1) {
    stride_ = 3;
    MPI_Datatype one = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_INT64_T, 0, 24, &one);
    MPI_Type_dup(one, &own_type_);
    MPI_Type_free(&one);
    MPI_Type_commit(&own_type_);
  }
  const auto own = static_cast<std::size_t>(stride_ * block(rank_));
  const auto whole = static_cast<std::size_t>(all);
  const bool to_all = exchanges_all(now_.collective);
  send_.resize(root_side && scatters(now_.collective) ? whole : own);
  if (to_all) send_.resize(whole * static_cast<std::size_t>(stride_));
  const bool collects = gathers(now_.collective) ? is_root_ : holds_all();
  receive_.resize(collects ? whole : own);
}

int PersistentTrial::make(MPI_Info info) {
#if MPI_VERSION >= 4
  if (now_.large) {
    const std::vector<MPI_Count> counts(counts_.begin(), counts_.end());
    const std::vector<MPI_Aint> places(places_.begin(), places_.end());
    return make_by(
        {SIBYL_Gather_init_c, SIBYL_Scatter_init_c, SIBYL_Gatherv_init_c, SIBYL_Scatterv_init_c,
         SIBYL_Reduce_init_c, SIBYL_Exscan_init_c, SIBYL_Allreduce_init_c, SIBYL_Bcast_init_c,
         SIBYL_Allgather_init_c, SIBYL_Alltoall_init_c, SIBYL_Allgatherv_init_c},
        counts, places, info);
  }
#endif
  return make_by({SIBYL_Gather_init, SIBYL_Scatter_init, SIBYL_Gatherv_init, SIBYL_Scatterv_init,
                  SIBYL_Reduce_init, SIBYL_Exscan_init, SIBYL_Allreduce_init, SIBYL_Bcast_init,
                  SIBYL_Allgather_init, SIBYL_Alltoall_init, SIBYL_Allgatherv_init},
                 counts_, places_, info);
}

// The arrays need to live as long as this call only.
template <class Count, class Place>
int PersistentTrial::make_by(const InitFunctions<Count, Place>& init,
                             const std::vector<Count>& counts, const std::vector<Place>& places,
                             MPI_Info info) {
  void* receive = receive_.data();
  const bool in_place = now_.in_place && (is_root_ || !has_root(now_.collective));
  const void* send = in_place ? MPI_IN_PLACE : static_cast<const void*>(send_.data());
  void* own_receive = in_place ? MPI_IN_PLACE : receive;
  const MPI_Datatype type = MPI_INT64_T;
  const Count own = counts[static_cast<std::size_t>(rank_)];
  const Count count = now_.count;
  switch (now_.collective) {
    case Collective::gather:
      return init.gather(send, own, own_type_, receive, count, type, now_.root, comm_, info,
                         &request_);
    case Collective::scatter:
      return init.scatter(send_.data(), count, type, own_receive, own, own_type_, now_.root, comm_,
                          info, &request_);
    case Collective::gatherv:
      return init.gatherv(send, own, type, receive, counts.data(), places.data(), type, now_.root,
                          comm_, info, &request_);
    case Collective::scatterv:
      return init.scatterv(send_.data(), counts.data(), places.data(), type, own_receive, own, type,
                           now_.root, comm_, info, &request_);
    case Collective::reduce:
      return init.reduce(send, receive, own, type, MPI_SUM, now_.root, comm_, info, &request_);
    case Collective::allreduce:
      return init.allreduce(send, receive, own, type, MPI_SUM, comm_, info, &request_);
    case Collective::bcast:
      return init.bcast(receive, own, own_type_, now_.root, comm_, info, &request_);
    case Collective::allgather:
      return init.allgather(send, own, own_type_, receive, count, type, comm_, info, &request_);
    case Collective::alltoall:
      return init.alltoall(send, own, own_type_, receive, count, type, comm_, info, &request_);
    case Collective::allgatherv:
      return init.allgatherv(send, own, type, receive, counts.data(), places.data(), type, comm_,
                             info, &request_);
    default:
      return init.exscan(send, receive, own, type, MPI_SUM, comm_, info, &request_);
  }
}

std::int64_t PersistentTrial::value(int rank, int element) const {
  return static_cast<std::int64_t>(seed_ % 100003) + 1000003 * rank + element;
}

void PersistentTrial::start(std::uint64_t seed) {
  seed_ = seed;
  send_.assign(send_.size(), nothing);
  receive_.assign(receive_.size(), nothing);
  EXPECT_EQ(SIBYL_Start(&request_), MPI_SUCCESS) << now_.text();
}

void PersistentTrial::arrive() {
  const bool in_place = now_.in_place && (is_root_ || !has_root(now_.collective));
  const auto stride = static_cast<std::size_t>(stride_);
  const auto own = static_cast<std::size_t>(block(rank_));
  if (now_.collective == Collective::bcast) {
    for (std::size_t i = 0; is_root_ && i < own; ++i) {
      receive_[i * stride] = value(rank_, static_cast<int>(i));
    }
  } else if (exchanges_all(now_.collective)) {
    std::vector<std::int64_t>& data = in_place ? receive_ : send_;
    const std::size_t step = in_place ? 1 : stride;
    for (std::size_t i = 0; i * step < data.size(); ++i) {
      data[i * step] = value(rank_, static_cast<int>(i));
    }
  } else if (scatters(now_.collective)) {
    for (std::size_t i = 0; is_root_ && i < send_.size(); ++i)
      send_[i] = value(0, static_cast<int>(i));
  } else {
    const bool at_place = in_place && (gathers(now_.collective) || holds_all());
    const auto first =
        at_place ? static_cast<std::size_t>(places_[static_cast<std::size_t>(rank_)]) : 0;
    std::vector<std::int64_t>& data = in_place ? receive_ : send_;
    const std::size_t step = at_place ? 1 : stride;
    for (std::size_t i = 0; i < own; ++i) {
      data[first + i * step] = value(rank_, static_cast<int>(i));
    }
  }
  EXPECT_EQ(SIBYL_Arrive(&request_), MPI_SUCCESS) << now_.text();
}

void PersistentTrial::wait_by_tests() {
  int flag = 0;
  while (flag == 0) {
    const int error = SIBYL_Test(&request_, &flag);
    EXPECT_EQ(error, MPI_SUCCESS) << now_.text();
    if (error != MPI_SUCCESS) return;
    sched_yield();
  }
}

void PersistentTrial::check() const {
  SCOPED_TRACE(now_.text());
  const auto own = static_cast<std::size_t>(block(rank_));
  const auto stride = static_cast<std::size_t>(stride_);
  switch (now_.collective) {
    case Collective::gather:
    case Collective::gatherv:
    case Collective::allgather:
    case Collective::allgatherv:
      for (int rank = 0; (is_root_ || holds_all()) && rank < size_; ++rank) {
        const auto first = static_cast<std::size_t>(places_[static_cast<std::size_t>(rank)]);
        for (int i = 0; i < block(rank); ++i) {
          ASSERT_EQ(receive_[first + static_cast<std::size_t>(i)], value(rank, i)) << rank;
        }
      }
      return;
    case Collective::scatter:
    case Collective::scatterv:
      if (is_root_ && now_.in_place) return;
      for (std::size_t i = 0; i < receive_.size(); ++i) {
        const int place = places_[static_cast<std::size_t>(rank_)] + static_cast<int>(i / stride);
        ASSERT_EQ(receive_[i], i % stride == 0 ? value(0, place) : nothing);
      }
      return;
    case Collective::bcast:
      for (std::size_t i = 0; i < receive_.size(); ++i) {
        const auto element = static_cast<int>(i / stride);
        ASSERT_EQ(receive_[i], i % stride == 0 ? value(now_.root, element) : nothing);
      }
      return;
    case Collective::alltoall:
      for (int rank = 0; rank < size_; ++rank) {
        for (int i = 0; i < now_.count; ++i) {
          const auto at = static_cast<std::size_t>(rank * now_.count + i);
          ASSERT_EQ(receive_[at], value(rank, rank_ * now_.count + i)) << "from " << rank;
        }
      }
      return;
    default: {
      const bool everywhere = now_.collective == Collective::allreduce;
      const bool reduces = now_.collective == Collective::reduce || everywhere;
      if (reduces ? !is_root_ && !everywhere : rank_ == 0) return;
      for (std::size_t i = 0; i < own; ++i) {
        std::int64_t sum = 0;
        for (int rank = 0; rank < (reduces ? size_ : rank_); ++rank) {
          sum += value(rank, static_cast<int>(i));
        }
        ASSERT_EQ(receive_[i], sum) << "element " << i;
      }
    }
  }
}

void compute(Random& random, unsigned most) { usleep(static_cast<useconds_t>(pick(random, most))); }

void iterate(PersistentTrial& trial, std::uint64_t seed, Edges edges, Random& own, unsigned most) {
  trial.start(seed);
  compute(own, most);
  if (edges == Edges::all || (edges == Edges::some && pick(own, 2) == 0)) trial.edge(0.5);
  compute(own, most);
  trial.arrive();
  if (pick(own, 2) == 0) {
    trial.wait();
  } else {
    trial.wait_by_tests();
  }
  trial.check();
}

}  // namespace sibyl::test
