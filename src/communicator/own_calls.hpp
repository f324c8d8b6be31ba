// Collectives that Sibyl itself makes on the program's communicators, as a set-up does: an MPI
// library or a shim that hands all calls to Sibyl (openmpi_component/, SIBYL_INTERCEPT=pmpi) hands
// these to it, too, and they are the library's. Within the wrapper of a call of the program's they
// are known by standing there; a program may also have called SIBYL_X.
//
// Thread safety: each thread sees its own.
#pragma once

namespace sibyl {

class OwnCalls {
 public:
  OwnCalls() { ++depth; }
  ~OwnCalls() { --depth; }
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;
  static bool are_made() { return depth != 0; }

 private:
  static inline constinit thread_local int depth = 0;
};

}  // namespace sibyl
