/* Fills a trace without MPI, for run_trace_tests.py: DIRECTORY MEMORY CALLS adds so many records,
 * of two sites in turn, and two strings. */
#include <stdio.h>
#include <stdlib.h>

#include "trace.h"

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
  return 0;
}
