// The iterative model behind sibyl/pat.h, as a layer over persistent requests.
//
// In that model a program says when its computation begins, how far it is (PAT_Edge) and when it
// ends, and only then calls a collective. When the computation begins, Sibyl starts the request
// that the function in use had last, since the same call is likely to follow.
//
// Requests are bound to staging memory of Sibyl's own, not to the program's buffers, which are not
// known before the call. So a call can use the request of an earlier call if function, size of a
// block and root are the same; MPI requires these to be equal on all ranks, so all ranks make, find
// and drop the same requests at the same call, without telling each other.
//
// Starting a request sends nothing to other ranks by itself. If a different call follows, the
// request stays started, on this rank perhaps alone, until a call that fits it comes. Before a
// request is dropped, all ranks start it, if they have not, arrive and wait, so that no message of
// it is left.
#pragma once

#include <mpi.h>

#include <list>
#include <map>
#include <memory>
#include <vector>

#include "sibyl/planners.hpp"
#include "sibyl/sibyl.h"

namespace sibyl {

// One of the functions of sibyl/pat.h; there is one object for each.
struct PatFunction {
  Collective collective;
  const char* algorithm;
  bool by_arrival;
  bool background;
};

// What a request is bound to; equal on all ranks of the communicator.
struct PatTerms {
  const PatFunction* function;
  int count;  // of bytes, or of elements in a reduce
  int root;
  MPI_Datatype type;  // MPI_BYTE, or of a reduce
  MPI_Op op;
  bool operator==(const PatTerms&) const = default;
};

class PatRequest {
 public:
  explicit PatRequest(const PatTerms& terms) : terms_(terms) {}
  ~PatRequest();
  PatRequest(const PatRequest&) = delete;
  PatRequest& operator=(const PatRequest&) = delete;

  // Collective; raises its errors, as all that follow do.
  int bind(MPI_Comm comm);
  const PatTerms& terms() const { return terms_; }
  // Of this rank's block or vector, and of all blocks or the result at the root.
  char* own() const { return own_.get(); }
  char* all() const { return all_.get(); }

  bool started() const { return started_; }
  int start();
  int edge(double fraction) { return SIBYL_Edge(&request_, fraction); }
  int arrive() { return SIBYL_Arrive(&request_); }
  int wait();

 private:
  PatTerms terms_;
  std::unique_ptr<char[]> own_;
  std::unique_ptr<char[]> all_;
  SIBYL_Request request_ = SIBYL_REQUEST_NULL;
  bool started_ = false;
};

// Between PAT_Init and PAT_Finalize. Thread safety: none.
class Pat {
 public:
  // The process's one; nullptr outside PAT_Init and PAT_Finalize.
  static Pat* get();
  static int init();
  static int finalize();

  int use(const PatFunction* function);
  int processing_start();
  int edge(double fraction);
  int processing_end();
  bool processing() const { return processing_; }
  // What this turn has started; nullptr where nothing is known to start.
  const PatRequest* current() const { return current_; }
  // The request of these terms, bound where it is new, and started. Collective where it is new.
  int take(const PatTerms& terms, MPI_Comm comm, PatRequest** request);

 private:
  using Requests = std::list<std::unique_ptr<PatRequest>>;  // the one called last comes first
  static int on_delete(MPI_Comm comm, int key, void* value, void* extra);
  int requests_of(MPI_Comm comm, Requests** requests);
  int give_up(Requests& requests);
  void forget(const Requests& requests);

  bool processing_ = false;
  bool edge_reported_ = false;
  const PatFunction* in_use_ = nullptr;
  PatRequest* current_ = nullptr;  // started by this turn
  std::map<const PatFunction*, PatRequest*> last_;
  std::map<Requests*, std::unique_ptr<Requests>> all_;
  std::vector<MPI_Comm> comms_;  // with an attribute
};

// The bodies of the collectives: each returns an error code that has been raised.
int pat_blocks(const PatFunction& function, const void* sendbuf, int sendcount,
               MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
               MPI_Comm comm);
int pat_reduce(const PatFunction& function, const void* sendbuf, void* recvbuf, int count,
               MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);

}  // namespace sibyl
