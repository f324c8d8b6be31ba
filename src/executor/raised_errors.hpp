// Keeps what a wait finds away from handlers that are not concerned.
//
// The executor's requests belong to the private communicator, which returns its errors. But MPICH
// raises what MPI_Waitsome finds - a message too large for its buffer - on MPI_COMM_WORLD (4.0,
// and what MPI_Wait finds too) or on MPI_COMM_SELF (5.0): with the default handler the job ends,
// even if the user asked for errors to be returned on his communicator. So while a program that
// receives runs, this other communicator returns errors.
//
// With MPI_THREAD_MULTIPLE another thread may meet an error of its own meanwhile. Then a handler of
// ours stands in for the default one: it takes the errors of our own waits and ends the job for any
// other. A handler that the user wrote is left in its place there, since MPICH's locks let ours
// hand nothing on to it: it is told of our waits' errors, as of those of all waits.
//
// Open MPI raises on the request's communicator: nothing to do.
//
// Thread safety: any number of threads may run at once. One that asks MPI meanwhile which handler
// the world has may be told ours, which serves on as the default one if it is set again.
#pragma once

#include <mpi.h>

namespace sibyl {

#if defined(OPEN_MPI) || defined(SMPI_H)

class RaisedErrors {
 public:
  template <class Wait>
  static int caught(Wait wait) {
    return wait();
  }
};

#else

class RaisedErrors {
 public:
  RaisedErrors();
  ~RaisedErrors();
  RaisedErrors(const RaisedErrors&) = delete;
  RaisedErrors& operator=(const RaisedErrors&) = delete;

  // The error of one waiting call, returned or raised. (MPICH 5 returns none that was raised.)
  template <class Wait>
  static int caught(Wait wait) {
    int raised = MPI_SUCCESS;
    catch_into(&raised);
    const int returned = wait();
    catch_into(nullptr);
    return raised != MPI_SUCCESS ? raised : returned;
  }

 private:
  static void catch_into(int* raised);
};

#endif

}  // namespace sibyl
