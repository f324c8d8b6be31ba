// The committed datatypes of messages that carry a record behind their data.
//
// Such a message is one struct of two absolute addresses, so that neither is copied. A program
// calls with the same few buffers again and again, and to make and commit a type costs as much as a
// short message does; MPICH 4.0 over UCX also keeps 64 bytes for good of each that was committed.
// So types of predefined elements stay, as many as there are slots, where the hash of a message's
// parts says. The handle of a derived type says nothing once it has been freed.
//
// Thread safety: none; a workspace has its own. Goes while MPI is there.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace sibyl {

class CarryingTypes {
 public:
  // What a message is made of.
  struct Parts {
    MPI_Aint data = 0;    // where its data lie
    MPI_Aint record = 0;  // and the record
    int count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    friend bool operator==(const Parts&, const Parts&) = default;
  };
  static constexpr std::size_t slots = 64;

  CarryingTypes() = default;
  ~CarryingTypes();
  CarryingTypes(const CarryingTypes&) = delete;
  CarryingTypes& operator=(const CarryingTypes&) = delete;

  // A committed type of it, to be used at MPI_BOTTOM, and the error of making it. It is this
  // object's, and there until the next one is asked for; messages under way by it go on after that.
  // The elements' type is predefined.
  int find(const Parts& parts, MPI_Datatype& made);

  // One that is the caller's to free, of elements of any type.
  static int make(const Parts& parts, MPI_Datatype& made);

 private:
  struct Slot {
    Parts parts;
    MPI_Datatype made = MPI_DATATYPE_NULL;
  };
  std::vector<Slot> slots_;  // none before the first
};

}  // namespace sibyl
