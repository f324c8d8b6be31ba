/* A library that is put before a program by LD_PRELOAD: by it rank 1 is on another machine, whose
 * clock goes 1 % slow. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int is_elsewhere(void) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("PMI_RANK");
  return rank != NULL && strcmp(rank, "1") == 0;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  static long long start = 0;
  int (*const get)(clockid_t, struct timespec*) = dlsym(RTLD_NEXT, "clock_gettime");
  const int error = get(clock, time);
  if (error != 0 || clock != CLOCK_MONOTONIC || !is_elsewhere()) return error;
  long long now = time->tv_sec * 1000000000LL + time->tv_nsec;
  if (start == 0) start = now;
  now -= (now - start) / 100;
  time->tv_sec = now / 1000000000LL;
  time->tv_nsec = now % 1000000000LL;
  return 0;
}

FILE* fopen64(const char* name, const char* mode) {
  FILE* (*const open)(const char*, const char*) = dlsym(RTLD_NEXT, "fopen64");
  const char* const machine = "/proc/sys/kernel/random/boot_id";
  return open(is_elsewhere() && strcmp(name, machine) == 0 ? "/proc/version" : name, mode);
}
