/* Fills a trace without MPI, for run_trace_tests.py: DIRECTORY MEMORY CALLS adds so many records,
 * of two sites in turn, and two strings. Prints what the kernel has been told of the mapping. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

static void print_flags(void) {
  char line[4096], begin[32];
  int is_trace = 0;
  FILE* const maps = fopen("/proc/self/smaps", "re");
  if (maps == NULL) return;
  snprintf(begin, sizeof begin, "%lx-", (unsigned long)trace);
  while (fgets(line, sizeof line, maps) != NULL) {
    if (strncmp(line, begin, strlen(begin)) == 0) is_trace = 1;
    if (strncmp(line, "VmFlags:", 8) != 0) continue;
    if (is_trace) fputs(line, stdout);
    is_trace = 0;
  }
  fclose(maps);
}

int main(int argc, char** argv) {
  if (argc != 4 || !trace_open(argv[1], strtoull(argv[2], NULL, 10))) return 1;
  trace_string("first");
  trace_string("second");
  for (int i = 0; i < 2; ++i) {
    struct trace_row* const row = trace_append(&trace->rows);
    if (row == NULL) return 2;
    row->communicator = (uint32_t)no_communicator;
    trace_publish(&trace->rows);
  }
  const uint64_t calls = strtoull(argv[3], NULL, 10);
  for (uint64_t i = 0; i < calls; ++i) {
    const struct trace_record record = {.row = (uint32_t)(i % 2), .number = i, .bytes = 7 * i};
    trace_add_record(&record);
  }
  print_flags();
  return 0;
}
