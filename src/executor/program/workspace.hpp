// Memory and request storage of the executor that stay from call to call.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/program/carrying_types.hpp"
#include "executor/program/expected.hpp"
#include "executor/program/piggyback.hpp"
#include "executor/window/node_window.hpp"
#include "schedule/ready_sends.hpp"
#include "sibyl/schedule.hpp"

namespace sibyl {

// One area that grows to the largest size that was asked for.
class Area {
 public:
  Area() = default;
  ~Area();
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  // At least `bytes` bytes, aligned to 64, contents undefined; nullptr when there is no memory.
  // What was reserved before is gone.
  char* reserve(std::size_t bytes);
  std::size_t size() const { return size_; }
  void release();

 private:
  char* memory_ = nullptr;
  std::size_t size_ = 0;
};

// Where the packed copies of blocks of any sizes lie, in bytes.
struct MirroredBlocks {
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> places;
};

// Of a message in the packed area; no bytes where it needs none there.
struct PackedPlace {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

struct Workspace {
  Area frame;                              // what the steps of a program need; see frame.hpp
  Area mirrors;                            // packed copies of user buffers; see packed_mirror.hpp
  std::array<MirroredBlocks, 2> mirrored;  // of the send and the receive buffer

  std::vector<PackedPlace> packed;  // see frame.cpp

  // The dataflow engine's state; see dataflow.cpp.
  std::vector<MPI_Request> requests;
  std::vector<StepIndex> request_step;
  ExpectedMessages expected;  // by step
  std::vector<int> finished;
  std::vector<MPI_Status> statuses;
  std::vector<std::uint32_t> posting_waits;
  std::vector<std::uint32_t> combining_waits;
  std::vector<std::uint8_t> arrived;
  std::vector<std::uint32_t> staging_slot;
  std::vector<std::uint32_t> free_slots;
  std::vector<StepIndex> ready;
  std::vector<StepIndex> computable;
  ReadySends sendable;
  std::vector<std::uint32_t> sending_to;  // under way to each rank, where the window limits them
  std::vector<StepIndex> batch;
  std::vector<StepIndex> first_with;  // each rank, where ranks are admitted one by one
  std::vector<WindowSend> fan_out;    // of the same data
  std::vector<Piggyback> piggybacks;  // behind each message that carries one
  CarryingTypes carrying;             // of such messages
};

}  // namespace sibyl
