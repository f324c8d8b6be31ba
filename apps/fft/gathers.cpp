// How the transformed blocks come back to rank 0; see gathers.hpp.
#include "fft/gathers.hpp"

namespace sibyl::fft {
namespace {

// MPI_Gather: as any program calls it, so that a preloaded library may serve it, or by the
// profiling name, which reaches the MPI library's own in any case.
class PlainGather : public Gather {
 public:
  PlainGather(bool native, MPI_Comm comm, const float* block, int count, float* all)
      : native_(native), comm_(comm), block_(block), count_(count), all_(all) {}

  void run() override {
    if (native_) {
      PMPI_Gather(block_, count_, MPI_FLOAT, all_, count_, MPI_FLOAT, 0, comm_);
    } else {
      MPI_Gather(block_, count_, MPI_FLOAT, all_, count_, MPI_FLOAT, 0, comm_);
    }
  }

 private:
  bool native_;
  MPI_Comm comm_;
  const float* block_;
  int count_;
  float* all_;
};

}  // namespace

std::unique_ptr<Gather> make_gather(std::string_view name, MPI_Comm comm, const float* block,
                                    int count, float* all) {
  return std::make_unique<PlainGather>(name == "native", comm, block, count, all);
}

}  // namespace sibyl::fft
