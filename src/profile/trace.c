/* Makes the trace and adds to it; see trace.h.
 *
 * A store into a mapped file for which the file system has no room kills the process (SIGBUS). So
 * zeros are written in pieces before anything is stored there, and a full disk is a full table.
 * Written pieces come into memory as a whole: where room was only reserved (fallocate), the first
 * store into each page took 4 us, four times as much. The file is opened anew for each piece: a
 * descriptor that stays open might be closed by the program, and its number given to a file of the
 * program's own.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct trace_header* trace;

static char path[PATH_MAX];

enum { page = 4096, first_piece = 1 << 16, largest_piece = 1 << 18 };
enum { table_count = 7, most_halvings = 40 };

/* Of each table, in their order: how many bytes the file system has promised, and whether it has
 * refused more, which is not asked for again. */
static uint64_t promised[table_count];
static int refused[table_count];

static uint64_t table_bytes(const struct trace_table* table) {
  return table->capacity * table->entry_bytes;
}

static uint64_t lay_out(struct trace_header* header, uint64_t memory) {
  const uint64_t sizes[table_count][2] = {
      {16 << 20, 1},
      {64, sizeof(struct trace_function)},
      {trace_most_sites, sizeof(struct trace_site)},
      {trace_most_communicators, sizeof(struct trace_communicator)},
      {trace_most_rows, sizeof(struct trace_row)},
      {memory / sizeof(struct trace_record), sizeof(struct trace_record)},
      {trace_most_threads, sizeof(struct trace_thread)},
  };
  struct trace_table* const tables = &header->strings;
  uint64_t end = page;
  for (int i = 0; i < table_count; ++i) {
    tables[i].offset = end;
    tables[i].capacity = sizes[i][0];
    tables[i].entry_bytes = sizes[i][1];
    end += (table_bytes(&tables[i]) + page - 1) / page * page;
  }
  return end;
}

/* Whether the file system has had room for zeros in these bytes of the file. */
static int is_promised(int file, uint64_t offset, uint64_t bytes) {
  static const char zeros[first_piece];
  while (bytes > 0) {
    const size_t most = bytes < sizeof zeros ? bytes : sizeof zeros;
    const ssize_t written = pwrite(file, zeros, most, (off_t)offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return 0;
    offset += (uint64_t)written;
    bytes -= (uint64_t)written;
  }
  return 1;
}

/* A descriptor of a directory, to which no link leads that lies in a directory to which all may
 * write: anybody could have laid it (as base/directory_of.hpp has it for the rest of Sibyl). -1
 * after an error. */
static int open_directory(const char* directory) {
  if (directory[0] == '\0') return -1;
  int here = open(directory[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  while (here >= 0) {
    directory += strspn(directory, "/");
    const size_t length = strcspn(directory, "/");
    char name[NAME_MAX + 1];
    struct stat state;
    if (length == 0) return here;
    int next = -1;
    if (length < sizeof name && fstat(here, &state) == 0) {
      memcpy(name, directory, length);
      name[length] = '\0';
      const int follow = (state.st_mode & S_IWOTH) != 0 ? O_NOFOLLOW : 0;
      next = openat(here, name, O_PATH | O_DIRECTORY | O_CLOEXEC | follow);
    }
    close(here);
    here = next;
    directory += length;
  }
  return -1;
}

/* Adds the file's name to `path`, which names the directory. */
static int create_in(int directory) {
  char host[sizeof trace->host] = "";
  if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') strcpy(host, "host");
  for (char* c = host; *c != '\0'; ++c) {
    if (*c == '/') *c = '_'; /* a name that leads elsewhere */
  }
  const size_t length = strlen(path);
  for (int attempt = 0; attempt < 16; ++attempt) { /* a file of an earlier process of this number */
    char suffix[16] = "";
    if (attempt > 0) snprintf(suffix, sizeof suffix, "-%d", attempt);
    const int wanted = snprintf(path + length, sizeof path - length, "/%s-%ld%s.trace", host,
                                (long)getpid(), suffix);
    if (wanted < 0 || (size_t)wanted >= sizeof path - length) return -1;
    const int file =
        openat(directory, path + length + 1, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

/* The file in this directory, whose name is left in `path`. */
static int create(const char* directory) {
  const int there = open_directory(directory);
  if (there < 0) return -1;
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", there);
  const ssize_t known = readlink(link, path, sizeof path - 1);
  path[known < 0 ? 0 : known] = '\0';
  const int file = known < 0 ? -1 : create_in(there);
  const int saved = errno;
  close(there);
  errno = saved;
  return file;
}

/* A file that grew beyond what a shell's `ulimit -f` allows would end the process. */
static int is_allowed(uint64_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

int trace_open(const char* directory, uint64_t memory) {
  if (trace != NULL) return 1;
  struct trace_header header = {.magic = "SIBYLTRC", .version = 2, .header_bytes = sizeof header};
  const uint64_t bytes = lay_out(&header, memory);
  if (!is_allowed(bytes)) return 0;
  const int file = create(directory);
  if (file < 0) return 0;
  void* there = MAP_FAILED;
  if (ftruncate(file, (off_t)bytes) == 0 && is_promised(file, 0, page)) {
    there = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  /* Nothing of it has been written before: reading ahead, megabytes on some machines, would fill
   * memory with zeros at the first touch of each table. Where that cannot be said it only takes
   * longer. */
  if (there != MAP_FAILED) madvise(there, bytes, MADV_RANDOM);
  if (there == MAP_FAILED) {
    unlink(path);
    return 0;
  }
  header.world_rank = -1;
  header.pid = (int32_t)getpid();
  gethostname(header.host, sizeof header.host - 1);
  memcpy(there, &header, sizeof header);
  trace = there;
  trace_string("");
  return 1;
}

void trace_abandon(void) {
  unlink(path);
  trace = NULL; /* its memory, which nobody has written but for a page or two, stays mapped */
}

void* trace_entry(const struct trace_table* table, uint64_t index) {
  return (char*)trace + table->offset + index * table->entry_bytes;
}

/* Asks for room for so many bytes of the table, and some more. */
static int ask_for_room(const struct trace_table* table, uint64_t bytes) {
  const long index = table - &trace->strings;
  const uint64_t have = promised[index];
  if (refused[index] || bytes > table_bytes(table)) return 0;
  uint64_t wanted = have + (have < first_piece     ? first_piece
                            : have > largest_piece ? largest_piece
                                                   : have);
  if (wanted < bytes) wanted = bytes;
  if (wanted > table_bytes(table)) wanted = table_bytes(table);
  const int saved = errno;
  int cancellation;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation); /* the caller has a lock */
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  const int is_there = file >= 0 && is_promised(file, table->offset + have, wanted - have);
  const int why = errno;
  if (file >= 0) close(file);
  pthread_setcancelstate(cancellation, NULL);
  errno = saved;
  /* A full disk stays full; what else may be in the way is tried again. */
  refused[index] = !is_there && (why == ENOSPC || why == EDQUOT || why == EFBIG);
  if (is_there) promised[index] = wanted;
  return is_there;
}

/* Whether so many bytes of the table may be written. */
static int has_room(const struct trace_table* table, uint64_t bytes) {
  return __builtin_expect(bytes <= promised[table - &trace->strings], 1) ||
         ask_for_room(table, bytes);
}

static uint64_t used_of(const struct trace_table* table) {
  return atomic_load_explicit(&table->used, memory_order_relaxed);
}

void* trace_append(struct trace_table* table) {
  const uint64_t used = used_of(table);
  if (!has_room(table, (used + 1) * table->entry_bytes)) return NULL;
  return trace_entry(table, used);
}

void trace_publish(struct trace_table* table) {
  atomic_store_explicit(&table->used, used_of(table) + 1, memory_order_release);
}

uint32_t trace_string(const char* text) {
  struct trace_table* const table = &trace->strings;
  const uint64_t used = used_of(table), bytes = strlen(text) + 1;
  if (used > 0 && bytes == 1) return 0; /* the empty one is there */
  if (!has_room(table, used + bytes)) {
    atomic_fetch_or_explicit(&trace->flags, trace_overflowed, memory_order_relaxed);
    return 0;
  }
  memcpy(trace_entry(table, used), text, bytes);
  atomic_store_explicit(&table->used, used + bytes, memory_order_release);
  return (uint32_t)used;
}

/* ---- Records -------------------------------------------------------------------------------- */

static void lose(uint64_t records) {
  atomic_fetch_add_explicit(&trace->lost_records, records, memory_order_relaxed);
}

/* Lets go half of the calls that are kept. Readers see whole records at any time, though
 * for the moment fewer of them. */
static void thin_out(void) {
  struct trace_table* const table = &trace->records;
  const struct trace_record* const records = trace_entry(table, 0);
  const uint64_t used = used_of(table);
  atomic_fetch_add_explicit(&trace->kept_every_log2, 1, memory_order_relaxed);
  atomic_store_explicit(&table->used, 0, memory_order_release);
  for (uint64_t i = 0; i < used; ++i) {
    if (!trace_keeps(records[i].number)) continue;
    const struct trace_record kept = records[i];
    memcpy(trace_append(table), &kept, sizeof kept);
    trace_publish(table);
  }
  lose(used - used_of(table));
}

void trace_add_record(const struct trace_record* record) {
  if (!trace_keeps(record->number)) {
    lose(1);
    return;
  }
  void* place = trace_append(&trace->records);
  /* The first call of every communicator stays, so where there are very many of them it is full for
   * good at some time. */
  while (place == NULL && used_of(&trace->records) > 0 &&
         atomic_load_explicit(&trace->kept_every_log2, memory_order_relaxed) < most_halvings) {
    thin_out();
    place = trace_append(&trace->records);
  }
  if (place != NULL && trace_keeps(record->number)) {
    memcpy(place, record, sizeof *record);
    trace_publish(&trace->records);
  } else {
    lose(1);
  }
}

void trace_clear_records(void) {
  atomic_store_explicit(&trace->records.used, 0, memory_order_release);
  atomic_store_explicit(&trace->kept_every_log2, 0, memory_order_relaxed);
  atomic_store_explicit(&trace->lost_records, 0, memory_order_relaxed);
}
