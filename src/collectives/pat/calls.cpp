// The collectives of the iterative model: from the program's memory to the staging memory of a
// request, through it, and back; see pat.hpp.
#include <limits>
#include <optional>

#include "collectives/call.hpp"
#include "collectives/operators.hpp"
#include "collectives/pat/pat.hpp"
#include "collectives/verdict.hpp"
#include "executor/datatype.hpp"
#include "executor/host_copies.hpp"

namespace sibyl {
namespace {

// One side of a call in the program's memory.
struct Side {
  void* buffer;
  int count;
  MPI_Datatype type;
  DatatypeInfo info{};

  int check() {
    if (buffer == MPI_IN_PLACE) return MPI_ERR_BUFFER;
    const int wrong = judge_data(buffer, count, type).error_class;
    if (wrong != MPI_SUCCESS) return wrong;
    return inspect(type, info) == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_TYPE;
  }
  // For a call in which rank `rank` owns the block that begins here.
  UserBuffer as_blocks(int rank) const {
    UserBuffer blocks;
    blocks.count = count;
    blocks.type = info;
    blocks.stride = MPI_Aint{count} * info.extent;
    blocks.base = static_cast<char*>(buffer) - MPI_Aint{rank} * blocks.stride;
    return blocks;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(count) * info.size; }
  char* block(int rank) const {
    return static_cast<char*>(buffer) + MPI_Aint{rank} * MPI_Aint{count} * info.extent;
  }
};

struct Place {
  int rank = 0;
  int size = 0;
  bool is_root = false;
};

int refuse(MPI_Comm comm, int error_class) {
  return comm == MPI_COMM_NULL ? raise_nowhere(error_class) : raise(comm, error_class);
}

// MPI_SUCCESS, or what is wrong with communicator, root or the moment, which has been raised.
int find_place(MPI_Comm comm, int root, Place& place) {
  Pat* pat = Pat::get();
  if (pat == nullptr || pat->processing()) return refuse(comm, MPI_ERR_OTHER);
  if (comm == MPI_COMM_NULL) return refuse(comm, MPI_ERR_COMM);
  int inter = -1;
  const int raised = PMPI_Comm_test_inter(comm, &inter);
  if (raised != MPI_SUCCESS) return raised;
  if (inter < 0) return MPI_ERR_COMM;  // MPICH 5 returns no error that a handler has taken
  if (inter != 0) return refuse(comm, MPI_ERR_COMM);
  PMPI_Comm_rank(comm, &place.rank);
  PMPI_Comm_size(comm, &place.size);
  place.is_root = place.rank == root;
  return root < 0 || root >= place.size ? refuse(comm, MPI_ERR_ROOT) : MPI_SUCCESS;
}

// Arrives and waits, and raises its errors.
int join(PatRequest& request) {
  const int error = request.arrive();
  return error == MPI_SUCCESS ? request.wait() : error;
}

// The copies around a call. Packing may send messages to this rank itself, which are not for the
// program's communicator: a receive from anybody may be open there.
class Copies {
 public:
  MPI_Comm comm() const { return comm_; }
  HostCopies& of_device() { return of_device_; }
  // Does the next one, unless one before has failed.
  template <class Copy>
  void then(Copy copy) {
    if (error_ == MPI_SUCCESS) error_ = copy();
  }
  // The first error, which has not been raised.
  int error() const { return error_; }

 private:
  MPI_Comm comm_ = Process::get()->own_self();
  HostCopies of_device_;
  int error_ = MPI_SUCCESS;
};

// Joins a request between its copies, also where one of those before has failed: other ranks count
// on this one.
template <class Before, class After>
int join_between(MPI_Comm comm, PatRequest& request, Before before, After after) {
  int error = MPI_SUCCESS;
  int copying = MPI_SUCCESS;
  {
    Copies copies;
    before(copies);
    error = join(request);
    if (error == MPI_SUCCESS) {
      after(copies);
      copies.then([&] { return copies.of_device().deliver(); });
    }
    copying = copies.error();
  }  // error handlers, which may jump out of here, find no copies
  return error != MPI_SUCCESS || copying == MPI_SUCCESS ? error : raise_class(comm, copying);
}

// A gather or scatter: both sides, as far as they are significant here.
struct PatBlocks {
  Place at;
  bool up;  // a gather
  Side own;
  Side all;
  std::size_t bytes = 0;  // of a block

  bool in_place() const { return at.is_root && own.buffer == MPI_IN_PLACE; }
  int check();
  char* staged(const PatRequest& request, int rank) const {
    return at.is_root ? request.all() + static_cast<std::size_t>(rank) * bytes : request.own();
  }
  // Where buffers lie in device memory, copies in host memory take their place.
  int take_host_copies(HostCopies& copies, int root, MPI_Comm comm);
  int stage(const PatRequest& request, MPI_Comm comm) const;
  int deliver(const PatRequest& request, MPI_Comm comm) const;
};

// MPI_SUCCESS, or the class of what is wrong with the arguments.
int PatBlocks::check() {
  int wrong = at.is_root ? all.check() : MPI_SUCCESS;
  if (wrong == MPI_SUCCESS && !in_place()) wrong = own.check();
  if (wrong != MPI_SUCCESS) return wrong;
  bytes = at.is_root ? all.bytes() : own.bytes();
  if (bytes > std::size_t{std::numeric_limits<int>::max()}) return MPI_ERR_COUNT;
  const bool fits = !at.is_root || in_place() || own.bytes() == bytes;
  return fits ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

int PatBlocks::take_host_copies(HostCopies& copies, int root, MPI_Comm comm) {
  CollectiveCall call;
  if (!in_place()) (up ? call.send : call.receive) = own.as_blocks(at.rank);
  if (at.is_root) (up ? call.receive : call.send) = all.as_blocks(0);
  const CallShape shape{up ? Collective::gather : Collective::scatter, at.rank, at.size, root};
  const int error = copies.take(shape, call, comm);
  const std::ptrdiff_t sent = copies.shift_of_send();
  const std::ptrdiff_t received = copies.shift_of_receive();
  if (!in_place()) own.buffer = static_cast<char*>(own.buffer) + (up ? sent : received);
  if (at.is_root) all.buffer = static_cast<char*>(all.buffer) + (up ? received : sent);
  return error;
}

// Before the collective: what this rank sends goes to staging memory.
int PatBlocks::stage(const PatRequest& request, MPI_Comm comm) const {
  if (up) {
    return at.is_root ? MPI_SUCCESS
                      : pack(own.buffer, own.count, own.info, staged(request, at.rank), comm);
  }
  int error = MPI_SUCCESS;
  for (int r = 0; at.is_root && r < at.size && error == MPI_SUCCESS; ++r) {
    error = pack(all.block(r), all.count, all.info, staged(request, r), comm);
  }
  return error;
}

// After it: what this rank has received goes to the program. The root's own block of a gather has
// not been in the collective.
int PatBlocks::deliver(const PatRequest& request, MPI_Comm comm) const {
  if (!up) {
    return in_place() ? MPI_SUCCESS
                      : unpack(staged(request, at.rank), own.buffer, own.count, own.info, comm);
  }
  if (!at.is_root) return MPI_SUCCESS;
  int error = in_place() ? MPI_SUCCESS
                         : pack(own.buffer, own.count, own.info, staged(request, at.rank), comm);
  for (int r = 0; r < at.size && error == MPI_SUCCESS; ++r) {
    if (in_place() && r == at.rank) continue;
    error = unpack(staged(request, r), all.block(r), all.count, all.info, comm);
  }
  return error;
}

// A reduce by a request that is used for nothing else.
int reduce_once(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm) {
  SIBYL_Request once = SIBYL_REQUEST_NULL;
  int error =
      SIBYL_Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, MPI_INFO_NULL, &once);
  if (error == MPI_SUCCESS) error = SIBYL_Start(&once);
  if (error == MPI_SUCCESS) error = SIBYL_Arrive(&once);
  if (error == MPI_SUCCESS) error = SIBYL_Wait(&once);
  if (once != SIBYL_REQUEST_NULL) SIBYL_Request_free(&once);
  return error;
}

}  // namespace

int pat_blocks(const PatFunction& function, const void* sendbuf, int sendcount,
               MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
               MPI_Comm comm) {
  return raising_lack_of_memory(comm, [&] {
    Place at;
    const int raised = find_place(comm, root, at);
    if (raised != MPI_SUCCESS) return raised;
    const bool up = function.collective == Collective::gather;
    const Side sent{const_cast<void*>(sendbuf), sendcount, sendtype};
    const Side received{recvbuf, recvcount, recvtype};
    PatBlocks blocks{at, up, up ? sent : received, up ? received : sent};
    const int wrong = blocks.check();
    if (wrong != MPI_SUCCESS) return refuse(comm, wrong);

    PatRequest* request = nullptr;
    const PatTerms terms{&function, static_cast<int>(blocks.bytes), root, MPI_BYTE, MPI_OP_NULL};
    const int error = Pat::get()->take(terms, comm, &request);
    if (error != MPI_SUCCESS) return error;
    return join_between(
        comm, *request,
        [&](Copies& copies) {
          copies.then(
              [&] { return blocks.take_host_copies(copies.of_device(), root, copies.comm()); });
          copies.then([&] { return blocks.stage(*request, copies.comm()); });
        },
        [&](Copies& copies) {
          copies.then([&] { return blocks.deliver(*request, copies.comm()); });
        });
  });
}

int pat_reduce(const PatFunction& function, const void* sendbuf, void* recvbuf, int count,
               MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
  return raising_lack_of_memory(comm, [&] {
    Place at;
    const int raised = find_place(comm, root, at);
    if (raised != MPI_SUCCESS) return raised;
    const bool in_place = at.is_root && sendbuf == MPI_IN_PLACE;
    Side from{in_place ? recvbuf : const_cast<void*>(sendbuf), count, datatype};
    int wrong = from.check();
    if (wrong == MPI_SUCCESS && at.is_root) wrong = Side{recvbuf, count, datatype}.check();
    if (wrong == MPI_SUCCESS && op == MPI_OP_NULL) wrong = MPI_ERR_OP;
    if (wrong != MPI_SUCCESS) return refuse(comm, wrong);

    // Handles of the program's own may mean something else in the next turn, and at each rank.
    const bool lasting = from.info.named && from.info.dense &&
                         operator_use(op, datatype) == std::optional(OperatorUse::predefined) &&
                         from.bytes() <= std::size_t{std::numeric_limits<int>::max()};
    if (!lasting) return reduce_once(sendbuf, recvbuf, count, datatype, op, root, comm);
    PatRequest* request = nullptr;
    const int error = Pat::get()->take({&function, count, root, datatype, op}, comm, &request);
    if (error != MPI_SUCCESS) return error;
    CollectiveCall call;
    call.send = from.as_blocks(0);
    if (at.is_root) call.receive = Side{recvbuf, count, datatype, from.info}.as_blocks(0);
    const CallShape shape{Collective::reduce, at.rank, at.size, root};
    return join_between(
        comm, *request,
        [&](Copies& copies) {
          copies.then([&] { return copies.of_device().take(shape, call, copies.comm()); });
          copies.then([&] {
            return pack(call.send.base, count, from.info, request->own(), copies.comm());
          });
        },
        [&](Copies& copies) {
          if (!at.is_root) return;
          copies.then([&] {
            return unpack(request->all(), call.receive.base, count, from.info, copies.comm());
          });
        });
  });
}

}  // namespace sibyl
