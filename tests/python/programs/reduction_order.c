// Prints a fingerprint of the order in which MPI_Reduce adds: rounding gives each algorithm away,
// whatever the time that it takes. One line for each number of elements on the command line. A
// negative number -N instead gathers N bytes to the last rank, in place there, and checks them.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float number(int rank, int element) {
  uint32_t x = ((uint32_t)element * 16 + (uint32_t)rank + 1) * 2654435761u;
  x = (x ^ (x >> 15)) * 2246822519u;
  x ^= x >> 13;
  const float size = (float)(x >> 8) / (float)(1 << (x % 12));
  return (x & 4096) != 0 ? size : -size;
}

static void reduce(int elements, int rank) {
  float* send = malloc((size_t)elements * sizeof *send);
  float* result = malloc((size_t)elements * sizeof *result);
  for (int i = 0; i < elements; ++i) send[i] = number(rank, i);
  MPI_Reduce(send, result, elements, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
  uint32_t hash = 2166136261u;
  for (int i = 0; rank == 0 && i < elements; ++i) {
    uint32_t bits = 0;
    memcpy(&bits, &result[i], sizeof bits);
    hash = (hash ^ bits) * 16777619u;
  }
  if (rank == 0) printf("reduce %d %08x\n", elements, (unsigned)hash);
  free(send);
  free(result);
}

static void gather(int bytes, int rank, int ranks) {
  const int root = ranks - 1;
  char* own = malloc((size_t)bytes);
  char* all = malloc((size_t)bytes * (size_t)ranks);
  memset(own, rank + 1, (size_t)bytes);
  memset(all, rank + 1, (size_t)bytes * (size_t)ranks);
  if (rank == root) {
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, bytes, MPI_CHAR, root, MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < bytes * ranks; ++i) wrong += all[i] != i / bytes + 1;
    printf("gather %d %s\n", bytes, wrong == 0 ? "right" : "WRONG");
  } else {
    MPI_Gather(own, bytes, MPI_CHAR, NULL, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
  }
  free(own);
  free(all);
}

int main(int argument_count, char** arguments) {
  MPI_Init(&argument_count, &arguments);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < argument_count; ++i) {
    const int number_of = atoi(arguments[i]);
    if (number_of > 0) {
      reduce(number_of, rank);
    } else {
      gather(-number_of, rank, ranks);
    }
  }
  MPI_Finalize();
  return 0;
}
