// How the transformed blocks come back to rank 0; see gathers.hpp.
#include "fft/gathers.hpp"

#include <sibyl/sibyl.h>

#include <string>

#include "fft/gather_names.hpp"

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
  PersistentGather(const GatherName& name, MPI_Comm comm, const float* share, int count,
                   float* all) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sibyl_algorithm", std::string(name.algorithm).c_str());
    MPI_Info_set(info, "sibyl_order", name.by_arrival ? "arrival" : "rank");
    MPI_Info_set(info, "sibyl_background", name.background ? "true" : "false");
    SIBYL_Gather_init(share, count, MPI_FLOAT, all, count, MPI_FLOAT, 0, comm, info, &request_);
    MPI_Info_free(&info);
  }
  ~PersistentGather() override { SIBYL_Request_free(&request_); }
  PersistentGather(const PersistentGather&) = delete;
  PersistentGather& operator=(const PersistentGather&) = delete;

  void start() override { SIBYL_Start(&request_); }
  void half_done() override { SIBYL_Edge(&request_, 0.5); }
  void run() override {
    SIBYL_Arrive(&request_);
    SIBYL_Wait(&request_);
  }

 private:
  SIBYL_Request request_ = SIBYL_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<Gather> make_gather(std::string_view name, MPI_Comm comm, const float* share,
                                    int count, float* all) {
  const GatherName& wanted = *find_gather(name);
  if (!wanted.algorithm.empty()) {
    return std::make_unique<PersistentGather>(wanted, comm, share, count, all);
  }
  return std::make_unique<PlainGather>(name == "native", comm, share, count, all);
}

}  // namespace sibyl::fft
