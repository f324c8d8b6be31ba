/* The trace: what one process of a profiled program leaves behind, a file that is mapped into its
 * memory, so that what was seen stays when the process is killed.
 *
 * The layout is a contract with python/sibyl/profile, which reads it: little-endian, a header, then
 * tables that are as large as they may ever become, in a sparse file. `used` of a table is stored
 * after the entry that it lets be read.
 *
 * Thread safety: entries are made by the owner of a lock (recorder.c says which); the numbers in
 * them that several threads add to are atomic, or added to under a lock as well.
 */
#ifndef SIBYL_PROFILE_TRACE_H
#define SIBYL_PROFILE_TRACE_H

#include <stdatomic.h>
#include <stdint.h>

struct trace_table {
  uint64_t offset;
  uint64_t capacity; /* entries; of strings, bytes */
  _Atomic uint64_t used;
  uint64_t entry_bytes;
};

enum trace_flags {
  trace_sessions_only = 1, /* no MPI_Init: no rank of the world */
  trace_overflowed = 2,    /* a table was too small: some calls are missing in it */
  trace_spawned = 4,       /* started by MPI_Comm_spawn: a world of its own */
  trace_clock_unknown = 8  /* hosts differ and the clocks could not be compared */
};

struct trace_header {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  int32_t world_rank;
  int32_t world_size;
  int32_t pid;
  _Atomic uint32_t kept_every_log2;
  int64_t init_ns;
  int64_t begin_ns;
  int64_t end_ns;
  _Atomic int64_t last_ns;
  int64_t offset_begin_ns;
  int64_t error_begin_ns;
  int64_t offset_end_ns;
  int64_t error_end_ns;
  int64_t overhead_ns;
  _Atomic uint64_t lost_records;
  uint32_t flavour;
  _Atomic uint32_t flags;
  char host[72];
  char boot_id[64];
  char mpi_version[128];
  char program[256];
  struct trace_table strings, functions, sites, communicators, rows, records, threads;
  _Atomic int64_t python_ns; /* what finding a line of Python adds to a call; 0: there was none */
  /* When its host's clock was compared with rank 0's, on its own clock; 0: never. */
  int64_t compared_begin_ns, compared_end_ns;
  uint64_t job; /* the same in all processes that were started together; 0: nobody says so */
  char rest[1024 - 640 - 7 * 32 - 32];
};
_Static_assert(sizeof(struct trace_header) == 1024, "the header's size is part of the contract");

struct trace_function {
  uint32_t name;
  uint32_t kind; /* 1 a collective, 2 a message or a wait */
  uint64_t rest[3];
};

struct trace_site {
  uint32_t module;
  uint32_t file;
  uint32_t line;
  uint32_t function;
  uint64_t offset;
  uint64_t rest;
};

/* In the name of a communicator: it tells of which one this is a copy, and the how manieth. */
#define trace_copied (UINT64_C(1) << 63)

struct trace_communicator {
  uint64_t name; /* which of those of these members, alike on all of them; 0: the world */
  uint32_t members;
  int32_t size;
  int32_t rank;
  uint32_t flags; /* 1: two groups, 2: ranks of several worlds */
  _Atomic uint64_t calls;
};

enum { no_communicator = 0xffffffff };

struct trace_row {
  uint32_t site;
  uint32_t communicator;
  uint32_t function;
  uint32_t rest;
  _Atomic uint64_t calls;
  _Atomic uint64_t bytes;
  _Atomic int64_t ns;
  _Atomic int64_t max_ns;
  uint64_t rest_too;
};

/* In the bytes of a record: the call was served by Sibyl, and not by the MPI library. */
#define trace_by_sibyl (UINT64_C(1) << 63)

struct trace_record {
  uint32_t row;
  int32_t root;
  uint64_t number;
  int64_t enter_ns;
  int64_t exit_ns;
  uint64_t bytes;
  uint64_t signature;
};

struct trace_thread {
  _Atomic int32_t tid;
  _Atomic uint32_t row;
  _Atomic int32_t root;
  _Atomic uint32_t inside;
  _Atomic uint64_t number;
  _Atomic int64_t enter_ns;
  _Atomic uint64_t bytes;
  _Atomic uint64_t signature;
  uint64_t rest[2];
};
_Static_assert(sizeof(struct trace_function) == 32 && sizeof(struct trace_site) == 32 &&
                   sizeof(struct trace_communicator) == 32 && sizeof(struct trace_row) == 56 &&
                   sizeof(struct trace_record) == 48 && sizeof(struct trace_thread) == 64,
               "the sizes of entries are part of the contract");

/* One of a process; the pointer is null until trace_open has succeeded, and stays afterwards but
 * for trace_abandon. */
extern struct trace_header* trace;

enum { trace_default_memory = 64 << 20, trace_most_threads = 64 };
enum { trace_most_sites = 1 << 14, trace_most_communicators = 1 << 16, trace_most_rows = 1 << 17 };

/* Makes DIRECTORY/<host>-<pid>.trace; 0 where that cannot be. `memory`: bytes for records. */
int trace_open(const char* directory, uint64_t memory);
/* Removes the file again, as long as nobody else knows of it. */
void trace_abandon(void);

/* The entry at an index of a table. */
void* trace_entry(const struct trace_table* table, uint64_t index);
/* Room for the next entry, all zero, or null: the table or the file system is full. The entry is
 * there for readers once trace_publish has been called. */
void* trace_append(struct trace_table* table);
void trace_publish(struct trace_table* table);
/* Puts a string there and returns its offset; 0, the empty string, where it does not fit. Not
 * looked for among those that are there. */
uint32_t trace_string(const char* text);

/* Adds a record; one thread at a time. Where there is no room, half of the calls go, on every rank
 * the same ones; then totals alone tell of them. */
void trace_add_record(const struct trace_record* record);
/* Forgets what was recorded so far. */
void trace_clear_records(void);
/* Whether a call of this number is kept: every rank finds the same, and what is kept of fewer calls
 * is kept of more. By a hash, since programs call MPI in turns, and each site shall keep some. */
static inline int trace_keeps(uint64_t number) {
  const uint32_t log2 = atomic_load_explicit(&trace->kept_every_log2, memory_order_relaxed);
  return log2 == 0 || number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - log2) == 0;
}

#endif
