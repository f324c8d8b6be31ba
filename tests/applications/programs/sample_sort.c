/* A parallel sample sort that writes its result with MPI-IO, each rank at the place that an
 * exclusive prefix sum gives it. Ranks hold, and after the exchange receive, unequal parts: the
 * keys are crowded at the low end. Prints a checksum and what is wrong, if anything.
 *
 *   sample_sort FILE [ROUNDS] [KEYS_A_RANK] */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void* left, const void* right) {
  const uint64_t a = *(const uint64_t*)left;
  const uint64_t b = *(const uint64_t*)right;
  return (a > b) - (a < b);
}

static uint64_t next_random(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 2 ? atoi(argv[2]) : 20;
  const int most = argc > 3 ? atoi(argv[3]) : 20000;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2 || rounds < 1 || most < ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  const int count = most * (rank + 1) / ranks;
  uint64_t* keys = malloc((size_t)count * sizeof *keys);
  uint64_t* sorted = malloc((size_t)most * (size_t)ranks * sizeof *sorted);
  uint64_t* samples = malloc((size_t)ranks * (size_t)ranks * sizeof *samples);
  int* numbers = calloc(4 * (size_t)ranks, sizeof *numbers);
  int *send = numbers, *send_at = send + ranks, *receive = send_at + ranks,
      *receive_at = receive + ranks;
  uint64_t state = (uint64_t)rank + 1, before = 0;
  int received = 0;
  long wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) {
      const uint64_t drawn = next_random(&state) & 0xffff;
      keys[i] = drawn * drawn * drawn; /* crowded at the low end */
    }
    qsort(keys, (size_t)count, sizeof *keys, by_value);
    for (int i = 0; i < ranks; ++i) samples[i] = keys[(long)count * i / ranks];
    uint64_t* mine = malloc((size_t)ranks * sizeof *mine);
    for (int i = 0; i < ranks; ++i) mine[i] = samples[i];
    MPI_Allgather(mine, ranks, MPI_UINT64_T, samples, ranks, MPI_UINT64_T, MPI_COMM_WORLD);
    free(mine);
    qsort(samples, (size_t)ranks * (size_t)ranks, sizeof *samples, by_value);

    int taken = 0;
    for (int i = 0; i < ranks; ++i) {
      send_at[i] = taken;
      while (taken < count && (i + 1 == ranks || keys[taken] < samples[(i + 1) * ranks])) ++taken;
      send[i] = taken - send_at[i];
    }
    MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
    received = 0;
    for (int i = 0; i < ranks; ++i) {
      receive_at[i] = received;
      received += receive[i];
    }
    MPI_Alltoallv(keys, send, send_at, MPI_UINT64_T, sorted, receive, receive_at, MPI_UINT64_T,
                  MPI_COMM_WORLD);
    qsort(sorted, (size_t)received, sizeof *sorted, by_value);

    const uint64_t held = (uint64_t)received;
    before = 0;
    MPI_Exscan(&held, &before, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) before = 0;
    /* No key may be below the largest of the ranks before. */
    uint64_t largest = received > 0 ? sorted[received - 1] : 0, below = 0;
    MPI_Exscan(&largest, &below, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (rank > 0 && received > 0 && sorted[0] < below) ++wrong;
  }

  uint64_t sum[2] = {0, (uint64_t)received}, all[2] = {0, 0};
  for (int i = 0; i < received; ++i) sum[0] += sorted[i] * (before + (uint64_t)i + 1);
  MPI_Reduce(sum, all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  long wrong_anywhere = 0;
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);

  MPI_File file;
  int failed = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY,
                             MPI_INFO_NULL, &file);
  if (failed == MPI_SUCCESS) {
    failed = MPI_File_write_at_all(file, (MPI_Offset)(before * sizeof *sorted), sorted, received,
                                   MPI_UINT64_T, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
  }
  if (rank == 0) {
    printf("%llu keys, checksum %llu, %ld ranks out of order\n", (unsigned long long)all[1],
           (unsigned long long)all[0], wrong_anywhere);
  }
  free(keys);
  free(sorted);
  free(samples);
  free(numbers);
  MPI_Finalize();
  return wrong_anywhere != 0 || failed != MPI_SUCCESS;
}
