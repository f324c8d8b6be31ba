/* This process's clock, and how it compares with rank 0's; see recorder.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "native.h"
#include "recorder.h"
#include "trace.h"

int64_t clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void clock_boot_id(char* text, int bytes) {
  text[0] = '\0';
  FILE* const file = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file == NULL) return;
  if (fgets(text, bytes, file) != NULL) text[strcspn(text, "\n")] = '\0';
  fclose(file);
}
int clock_compare_at_begin(int rank, int ranks, struct clock_comparison* result) {
  (void)rank, (void)ranks, (void)result;
  return 1;
}
int clock_compare_at_end(int rank, int ranks, struct clock_comparison* result) {
  (void)rank, (void)ranks, (void)result;
  return 1;
}
