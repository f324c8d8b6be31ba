// How the transformed blocks come back to rank 0: one class for each way, made by name.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string_view>

namespace sibyl::fft {

// A gather to rank 0 whose buffers stay the same from iteration to iteration.
class Gather {
 public:
  Gather() = default;
  virtual ~Gather() = default;
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;

  // This rank's part of the computation begins; half of it is done. Of use to those who predict.
  virtual void start() {}
  virtual void half_done() {}
  // The computation is done: gathers.
  virtual void run() = 0;

  // Whether it is to hear, after every window, when all ranks came to the gather.
  virtual bool compares() const { return false; }
  virtual void compare(std::span<const double> /*arrivals*/) {}
};

// `name` is one of gather_names(). `count` floats of each rank go from `share` to `all`, which only
// rank 0 has.
std::unique_ptr<Gather> make_gather(std::string_view name, MPI_Comm comm, const float* share,
                                    int count, float* all);

}  // namespace sibyl::fft
