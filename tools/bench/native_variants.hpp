// The MPI library's own algorithms, forced one by one in a running process.
//
// Which algorithm a library takes is a control variable of its tools interface (MPI_T): Open MPI
// reads coll_tuned_<operation>_algorithm (and _algorithm_segmentsize) when a communicator is made,
// MPICH reads MPIR_CVAR_<OPERATION>_INTRA_ALGORITHM at every call. So a variant can take its turn
// beside the default in one run, which variables of the environment do not allow.
//
// Open MPI's components for nodes, han and adapt, are variants as well: a communicator whose info
// prefers one takes it, where its priority is not 0.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/operation.hpp"

namespace sibyl::bench {

struct NativeVariant {
  std::string name;
  int value = 0;  // of the control variable
  // Segments that a vector is cut into, of libraries that can be told; 0: as the library takes it.
  int segment_bytes = 0;
  bool is_component = false;  // of that name, and not an algorithm
};

// To be called before MPI_Init when a variant will be wanted: Open MPI looks at its variables, and
// at some of its components, only where the environment has asked for them.
void allow_native_variants();

// The control variable of an operation. Whoever sets it does so on all ranks alike.
class NativeChoice {
 public:
  explicit NativeChoice(Operation operation);
  ~NativeChoice();
  NativeChoice(const NativeChoice&) = delete;
  NativeChoice& operator=(const NativeChoice&) = delete;

  // What the library offers; empty where it offers no choice. Collective over MPI_COMM_WORLD when
  // it is first asked.
  std::vector<NativeVariant> variants() const;
  // Whether variants may be told how large segments are.
  bool cuts_segments() const;
  void set(const NativeVariant& variant);
  void reset();  // to what it was when this object was made
  // The world once more, for a contender of its own; of a variant, made while that is set.
  static MPI_Comm duplicate_world(const NativeVariant& variant);
  // The library reads the variable at every call, rather than once per communicator.
  static bool is_read_per_call();

 private:
  struct Variable;
  [[maybe_unused]] Operation operation_;  // not in SMPI
  std::unique_ptr<Variable> variable_;
  std::unique_ptr<Variable> segment_;
};

}  // namespace sibyl::bench
