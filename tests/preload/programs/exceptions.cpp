// Error handlers that leave by a C++ exception, through the MPI library's own frames and Sibyl's.
// Rank 0 alone makes the errors, on a communicator of its own, and goes on with the world
// afterwards. A std::bad_alloc of the handler's is the program's too, and must not be mistaken for
// one of Sibyl's. With an argument errors of all kinds, else of one.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "everyone.h"
#include "wrong_calls.h"

namespace {

bool out_of_memory = false;
int kinds = 1;  // of wrong calls
int rank = 0;
int caught = 0;
int destroyed = 0;
int handled = 0;

struct Local {
  ~Local() { ++destroyed; }
};

class Full : public std::bad_alloc {};

void leave(MPI_Comm*, int*, ...) {
  ++handled;
  const Local local;
  if (out_of_memory) throw Full();
  if (handled % 2 == 0) throw std::bad_alloc();
  throw std::runtime_error("left");
}

void make_error(int number, MPI_Comm own) {
  if (rank != 0) return;
  const int before = handled;
  try {
    const Local local;
    make_wrong_call(number % kinds, own);
    std::puts("no exception");
  } catch (const Full&) {
    ++caught;
  } catch (const std::bad_alloc&) {
    ++caught;
  } catch (const std::runtime_error& error) {
    if (error.what() == std::string("left")) ++caught;
  }
  if (handled != before + 1) std::puts("the handler was not called once");
  if (std::uncaught_exceptions() != 0) std::puts("an exception is still under way");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) kinds = wrong_calls;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  MPI_Comm_set_errhandler(own, handler);
  long sum = 0;
  int wrong = 0;
  for (int round = 0; round < 10; ++round) {
    int value = rank + round;
    int result = 0;
    out_of_memory = round % 3 == 2;
    make_error(round, own);
    for (int i = 0; i < 3; ++i) {
      MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
      sum += result;
    }
    MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, 0, own);
    sum += result;
    wrong += use_everyone(MPI_COMM_WORLD, 5, round) + use_everyone(own, 5, round);
  }
  if (wrong != 0) std::printf("rank %d: WRONG\n", rank);
  if (rank == 0) {
    std::printf("sum %ld, %d caught, %d handled, %d destroyed\n", sum, caught, handled, destroyed);
  }
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&own);
  MPI_Finalize();
  return 0;
}
