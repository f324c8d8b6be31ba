// Which operators may be applied to which datatypes, so that a wrong pair never reaches
// PMPI_Reduce_local, whose errors go to another communicator's handler than the user's.
#pragma once

#include <mpi.h>

#include <optional>

#include "communicator/communicator_state.hpp"
#include "selection/choose.hpp"

namespace sibyl {

// predefined or user when Sibyl may apply `op` to `datatype`; empty when the call must go to the
// MPI library: a predefined operator on a type that the standard does not give it (which the
// library refuses, or extends), or on a type that this table does not know.
std::optional<OperatorUse> operator_use(MPI_Op op, MPI_Datatype datatype);
// The same, with the last pair of predefined ones remembered; `named` says that the type is
// predefined.
std::optional<OperatorUse> operator_use(CommunicatorState& state, MPI_Op op, MPI_Datatype datatype,
                                        bool named);
// Whether that is empty: for the MPI library to refuse, or to take.
inline bool is_librarys(CommunicatorState& state, MPI_Op op, MPI_Datatype datatype) {
  return !operator_use(state, op, datatype, true).has_value();
}

}  // namespace sibyl
