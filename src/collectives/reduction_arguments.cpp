// Judges the arguments of reductions; see reduction_arguments.hpp.
#include "collectives/reduction_arguments.hpp"

namespace sibyl {

Verdict judge_scan(const ReductionArguments& now, bool exclusive, int rank) {
  if (now.op == MPI_OP_NULL) return {MPI_ERR_OP, any_refuses()};
  const bool in_place = now.send == MPI_IN_PLACE;
  // Where it is not significant, unless it is the input, any address is right.
  const bool written = !exclusive || rank > 0 || in_place;
  if (now.receive == MPI_IN_PLACE && (written || mpich_refuses())) {
    return {MPI_ERR_BUFFER, exclusive ? mpich_refuses() : any_refuses()};
  }
  if (!in_place) {
    const Verdict sent = judge_data(now.send, now.count, now.datatype);
    if (!sent.right()) return sent;
  }
  const Verdict received = judge_data(written ? now.receive : &now, now.count, now.datatype);
  if (!received.right()) return received;
  const bool twice = now.send == now.receive && now.count > 0;
  return twice && mpich_refuses() && refuses_twice() ? Verdict{MPI_ERR_BUFFER, true} : Verdict{};
}

void* receive_buffer_of_exscan(const void* send, void* receive, MPI_Comm comm) {
  static char anywhere;
  const bool refused = receive == MPI_IN_PLACE || receive == send;
  int rank = 0;
  if (!refused || send == MPI_IN_PLACE || !mpich_refuses() || comm == MPI_COMM_NULL ||
      PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS || rank != 0) {
    return receive;
  }
  return &anywhere;
}

// MPICH does not look at a negative count of an allreduce.
Verdict judge_allreduce(const ReductionArguments& now, int rank) {
  return now.count < 0 ? Verdict{MPI_ERR_COUNT, openmpi_refuses()} : judge_scan(now, false, rank);
}

void place_vectors(const ReductionArguments& now, const DatatypeInfo& type, bool in_place,
                   bool receives, CollectiveCall& call) {
  char* const receive = static_cast<char*>(now.receive);
  call.send.base = in_place ? receive : static_cast<char*>(const_cast<void*>(now.send));
  call.receive.base = receives ? receive : nullptr;
  call.send.count = call.receive.count = now.count;
  call.send.type = call.receive.type = type;
  call.op = now.op;
}

Verdict judge_reduce(const ReductionArguments& now, int root, int rank, int ranks) {
  if (now.op == MPI_OP_NULL) return {MPI_ERR_OP, any_refuses()};
  if (root < 0 || root >= ranks) return {MPI_ERR_ROOT, any_refuses()};
  const bool in_place = now.send == MPI_IN_PLACE;
  const bool at_root = rank == root;
  if (in_place && !at_root) return {MPI_ERR_BUFFER, openmpi_refuses()};
  if (at_root && now.receive == MPI_IN_PLACE) return {MPI_ERR_BUFFER, any_refuses()};
  if (!in_place) {
    const Verdict sent = judge_data(now.send, now.count, now.datatype);
    if (!sent.right()) return sent;
  }
  if (!at_root) return {};
  const Verdict received = judge_data(now.receive, now.count, now.datatype);
  if (!received.right()) return received;
  const bool twice = now.send == now.receive && now.count > 0;
  return twice && any_refuses() && refuses_twice() ? Verdict{MPI_ERR_BUFFER, true} : Verdict{};
}

bool commutes(MPI_Op op, OperatorUse use) {
  if (use == OperatorUse::predefined) return true;
  int flag = 0;
  return PMPI_Op_commutative(op, &flag) == MPI_SUCCESS && flag != 0;
}

}  // namespace sibyl
