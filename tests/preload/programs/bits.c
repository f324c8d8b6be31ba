/* Makes the same reductions again and again, each on a communicator of its own, while ranks are
 * late as a seed has it, and prints which bits came out: "rank R COLLECTIVE N: HASH...", one hash
 * where all calls gave the same. Operands differ so much in size that the order of the additions
 * shows. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { calls = 20, cases = 12, most = 20000 };

static uint64_t state;
static uint64_t next_number(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 20;
}

static double send[most];
static double receive[most];

static uint64_t hash_of(const double* values, int count) {
  const unsigned char* bytes = (const unsigned char*)values;
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < (size_t)count * sizeof *values; ++i)
    hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

static void show(int rank, const char* name, int count, const uint64_t* hashes) {
  printf("rank %d %s %d:", rank, name, count);
  for (int i = 0; i < calls; ++i) {
    int known = 0;
    for (int j = 0; j < i; ++j) known |= hashes[j] == hashes[i];
    if (!known) printf(" %016llx", (unsigned long long)hashes[i]);
  }
  printf("\n");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  state = (uint64_t)rank + 1;
  for (int i = 0; i < most; ++i) {
    const double value = (double)(next_number() % 1000003) - 500001;
    send[i] = value * (double)((uint64_t)1 << next_number() % 60);
  }
  state = (uint64_t)(argc > 1 ? atoi(argv[1]) : 1) * 1000003u + (uint64_t)rank;
  static const int counts[] = {1, 1000, 9000, most};
  for (int number = 0; number < cases; ++number) {
    const int count = counts[number / 3];
    const int root = (number + 1) % size;
    const char* name = number % 3 == 0 ? "reduce" : number % 3 == 1 ? "scan" : "exscan";
    uint64_t hashes[calls];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < calls; ++call) {
      if (next_number() % 3 == 0) usleep((useconds_t)(next_number() % 1500));
      if (number % 3 == 0) MPI_Reduce(send, receive, count, MPI_DOUBLE, MPI_SUM, root, comm);
      if (number % 3 == 1) MPI_Scan(send, receive, count, MPI_DOUBLE, MPI_SUM, comm);
      if (number % 3 == 2) MPI_Exscan(send, receive, count, MPI_DOUBLE, MPI_SUM, comm);
      hashes[call] = hash_of(receive, count);
    }
    MPI_Comm_free(&comm);
    if (number % 3 == 0 ? rank == root : number % 3 == 1 || rank > 0) {
      show(rank, name, count, hashes);
    }
  }
  MPI_Finalize();
  return 0;
}
