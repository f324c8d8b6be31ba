// What is wrong with a call's arguments at this rank, and who says so.
//
// Under the preload a call that the MPI library would refuse before it sends anything is handed to
// the library: its error has the class, the text and the function's name that the program would see
// without Sibyl. What the library lets pass, although the standard does not, is raised by Sibyl,
// which could not serve it, and so is everything that is wrong in a call of the C API. Either way
// this rank takes no part in the call and has not counted it, as in the MPI libraries.
//
// All this is found out before the call is counted anywhere: a rank that repeats it rightly is then
// in step with those that made it rightly at once.
//
// Which library refuses what was tried with calls that one rank alone makes: Open MPI 4.1 and 5.0
// look at no null pointer, at the same buffer twice only in a reduce; MPICH 4.0 and 5.0 look at
// both, and at no MPI_IN_PLACE of a rank that is not the root. Either can be told to let the same
// buffer pass twice (mpi_param_check, MPIR_CVAR_COLL_ALIAS_CHECK), so it is asked.
#pragma once

#include <mpi.h>

#include "executor/mpi_library.hpp"

namespace sibyl {

struct Verdict {
  int error_class = MPI_SUCCESS;
  bool library_refuses = false;

  bool right() const { return error_class == MPI_SUCCESS; }
};

// Nothing is known of a third library with the standard's binary interface: Sibyl refuses.
inline bool openmpi_refuses() { return mpi_library() == MpiLibrary::openmpi; }
inline bool mpich_refuses() { return mpi_library() == MpiLibrary::mpich; }
inline bool any_refuses() { return openmpi_refuses() || mpich_refuses(); }
// Of the two that do: whether this one has not been told to let the same buffer pass twice.
bool refuses_twice();

// Whether MPICH takes `own` for the place in a buffer that lies so many elements behind its begin.
// It reckons these by their size; where that is not where they lie, it is not taken for it here.
bool is_taken_for(const void* own, const void* buffer, MPI_Aint place, MPI_Datatype type);

// A null pointer to some elements.
Verdict judge_null_pointer(MPI_Datatype datatype);

// A type by which something is sent or received. Predefined ones, which are never freed, are
// remembered by each thread.
Verdict judge_type_at_length(MPI_Datatype datatype);
inline thread_local MPI_Datatype predefined_types[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
inline Verdict judge_type(MPI_Datatype datatype) {
  const auto& [one, other] = predefined_types;
  return datatype == one || datatype == other ? Verdict{} : judge_type_at_length(datatype);
}

// One buffer of a call.
inline Verdict judge_data(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (count < 0) return {MPI_ERR_COUNT, any_refuses()};
  if (datatype == MPI_DATATYPE_NULL) return {MPI_ERR_TYPE, any_refuses()};
  if (count == 0) return {};
  if (buffer == nullptr) return judge_null_pointer(datatype);
  return judge_type(datatype);
}

}  // namespace sibyl
