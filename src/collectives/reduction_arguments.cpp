// Checks the arguments of reductions; see reduction_arguments.hpp.
#include "collectives/reduction_arguments.hpp"

#include "collectives/call.hpp"

namespace sibyl {

int check_scan(const ReductionArguments& now, bool writes_receive) {
  if (now.op == MPI_OP_NULL) return MPI_ERR_OP;
  const bool in_place = now.send == MPI_IN_PLACE;
  if (now.receive == MPI_IN_PLACE) return MPI_ERR_BUFFER;
  if (!in_place) {
    const int error = check_data(now.send, now.count, now.datatype);
    if (error != MPI_SUCCESS) return error;
  }
  // Where it is not significant, unless it is the input, any address is right.
  return check_data(writes_receive || in_place ? now.receive : &now, now.count, now.datatype);
}

int check_reduce(const ReductionArguments& now, bool at_root) {
  if (now.op == MPI_OP_NULL) return MPI_ERR_OP;
  const bool in_place = now.send == MPI_IN_PLACE;
  if (in_place && !at_root) return MPI_ERR_BUFFER;
  if (at_root && now.receive == MPI_IN_PLACE) return MPI_ERR_BUFFER;
  if (!in_place) {
    const int error = check_data(now.send, now.count, now.datatype);
    if (error != MPI_SUCCESS) return error;
  }
  return at_root ? check_data(now.receive, now.count, now.datatype) : MPI_SUCCESS;
}

bool commutes(MPI_Op op, OperatorUse use) {
  if (use == OperatorUse::predefined) return true;
  int flag = 0;
  return PMPI_Op_commutative(op, &flag) == MPI_SUCCESS && flag != 0;
}

}  // namespace sibyl
