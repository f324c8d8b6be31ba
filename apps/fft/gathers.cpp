// How the transformed blocks come back to rank 0; see gathers.hpp.
#include "fft/gathers.hpp"

#include <sibyl/sibyl.h>

#include <cstdint>
#include <string>

#include "fft/clock.hpp"
#include "fft/gather_names.hpp"
#include "fft/pretending.hpp"

namespace sibyl::fft {
namespace {

// MPI_Gather, or by the profiling name, which no preloaded library takes.
class PlainGather : public Gather {
 public:
  PlainGather(bool native, MPI_Comm comm, const float* share, int count, float* all)
      : native_(native), comm_(comm), share_(share), count_(count), all_(all) {}

  void run() override {
    if (native_) {
      PMPI_Gather(share_, count_, MPI_FLOAT, all_, count_, MPI_FLOAT, 0, comm_);
    } else {
      MPI_Gather(share_, count_, MPI_FLOAT, all_, count_, MPI_FLOAT, 0, comm_);
    }
  }

 private:
  bool native_;
  MPI_Comm comm_;
  const float* share_;
  int count_;
  float* all_;
};

// Sibyl's persistent gather, which is told how far the computation is.
class PersistentGather : public Gather {
 public:
  PersistentGather(const GatherName& name, MPI_Comm comm, const float* share, int count, float* all)
      : pretends_(name.told_others) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sibyl_algorithm", std::string(name.algorithm).c_str());
    MPI_Info_set(info, "sibyl_order", name.by_arrival ? "arrival" : "rank");
    MPI_Info_set(info, "sibyl_background", name.background ? "true" : "false");
    if (name.outstanding) {
      MPI_Info_set(info, "sibyl_outstanding", std::to_string(*name.outstanding).c_str());
    }
    SIBYL_Gather_init(share, count, MPI_FLOAT, all, count, MPI_FLOAT, 0, comm, info, &request_);
    MPI_Info_free(&info);
  }
  ~PersistentGather() override { SIBYL_Request_free(&request_); }
  PersistentGather(const PersistentGather&) = delete;
  PersistentGather& operator=(const PersistentGather&) = delete;

  void start() override {
    began_ = now();
    SIBYL_Start(&request_);
  }
  void half_done() override {
    SIBYL_Edge(&request_, pretends_ ? told_fraction(now() - began_, later_) : 0.5);
  }
  void run() override {
    SIBYL_Arrive(&request_);
    SIBYL_Wait(&request_);
  }

  bool compares() const override { return pretends_; }
  // The next window's edges are to say another rank's time, each time another's.
  void compare(std::span<const double> arrivals) override {
    if (!pretends_) return;
    const auto own = static_cast<std::size_t>(rank_);
    const std::size_t other = told_of(arrivals.size(), ++compared_)[own];  // alike on all ranks
    later_ = arrivals[other] - arrivals[own];
  }

 private:
  bool pretends_;
  int rank_ = 0;
  double began_ = 0;
  double later_ = 0;  // than this rank the one came whose time is told
  std::uint64_t compared_ = 0;
  SIBYL_Request request_ = SIBYL_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<Gather> make_gather(std::string_view name, MPI_Comm comm, const float* share,
                                    int count, float* all) {
  const GatherName wanted = *find_gather(name);
  if (!wanted.algorithm.empty()) {
    return std::make_unique<PersistentGather>(wanted, comm, share, count, all);
  }
  return std::make_unique<PlainGather>(name == "native", comm, share, count, all);
}

}  // namespace sibyl::fft
