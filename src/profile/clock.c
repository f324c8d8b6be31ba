/* This process's clock, and how it compares with rank 0's of the world; see recorder.h.
 *
 * Ranks on rank 0's host share its clock. Of every other host the lowest rank sends messages to and
 * fro with rank 0, which answers with its time: half of the shortest round trip is how wrong the
 * comparison may be. At the end again, since clocks drift; a reader takes what lies between.
 *
 * In MPI_Init the messages go over MPI_COMM_WORLD, on which nobody else can have sent yet. In
 * MPI_Finalize a receive of the program's may still be posted there, so they have a communicator of
 * their own, which is made only where there are several hosts.
 *
 * A rank whose trace cannot be opened says in MPI_Init that it has no host, so that nobody waits
 * for it, and clocks stay unknown. So they do where a process has died before MPI_Finalize: who
 * meets that revokes the communicator, so that nobody waits for who has left.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hash.h"
#include "native.h"
#include "recorder.h"

/* SIBYL_TEST_CLOCKS: how far this rank's clock is said to be ahead. */
static int64_t pretended_lead;

int64_t clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + pretended_lead;
}

void clock_boot_id(char* text, int bytes) {
  text[0] = '\0';
  FILE* const file = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file != NULL) {
    if (fgets(text, bytes, file) != NULL) text[strcspn(text, "\n")] = '\0';
    fclose(file);
  }
  const size_t length = strlen(text);
  if (pretended_lead != 0) {
    snprintf(text + length, (size_t)bytes - length, "%+lld", (long long)pretended_lead);
  }
}

int64_t clock_pretend(int rank) {
  const char* const list = secure_getenv("SIBYL_TEST_CLOCKS");
  if (list == NULL || list[0] == '\0') return 0;
  const char* at = list;
  for (int i = 0; i < rank; ++i) {
    const char* const comma = strchr(at, ',');
    at = comma == NULL ? list : comma + 1;
  }
  pretended_lead = strtoll(at, NULL, 10);
  return pretended_lead;
}

/* A number that processes have in common where they share a clock. */
static uint64_t own_host(void) {
  char text[128];
  clock_boot_id(text, (int)sizeof text);
  if (text[0] == '\0' && gethostname(text, sizeof text - 1) != 0) text[0] = '\0';
  text[sizeof text - 1] = '\0';
  return hash_of(text);
}

/* Whether the launcher says that all ranks are on this host, so that no message is needed: a rank
 * without the recorder would not answer. It tells all ranks the same. */
static int all_are_here(int ranks) {
  const char* const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
  if (secure_getenv("SIBYL_TEST_CLOCKS") != NULL) return 0;
  for (int i = 0; i < 2; ++i) {
    const char* const text = getenv(names[i]);
    if (text != NULL && strtol(text, NULL, 10) == ranks) return 1;
  }
  return 0;
}

enum { no_host = 0 };

/* The hosts of all ranks, to be freed; null where they are not known. */
static uint64_t* gather_hosts(uint64_t own, int ranks) {
  uint64_t* const hosts = malloc((size_t)ranks * sizeof *hosts);
  if (hosts == NULL || native.allgather(&own, (int)sizeof own, native.byte, hosts, (int)sizeof own,
                                        native.byte, native.world) != 0) {
    free(hosts);
    return NULL;
  }
  return hosts;
}

/* Of every rank the lowest rank of its host; null where all are on one, or cannot be compared. */
static int* leaders;
static word communicator; /* the recorder's own */

enum { rounds = 64, tag = 7081 };

static int fail(void) {
  if (native.comm_revoke != NULL) native.comm_revoke(communicator);
  return 0;
}

static int send_time(int64_t time, int to) {
  return native.send(&time, (int)sizeof time, native.byte, to, tag, communicator) == 0;
}

static int receive_time(int64_t* time, int from) {
  return native.recv(time, (int)sizeof *time, native.byte, from, tag, communicator,
                     native.status_ignore) == 0;
}

static int answer(int other) {
  for (int i = 0; i < rounds; ++i) {
    int64_t theirs;
    if (!receive_time(&theirs, other) || !send_time(clock_now(), other)) return 0;
  }
  return 1;
}

static int ask(struct clock_comparison* best) {
  best->error = INT64_MAX;
  for (int i = 0; i < rounds; ++i) {
    int64_t theirs;
    const int64_t before = clock_now();
    if (!send_time(before, 0) || !receive_time(&theirs, 0)) return 0;
    const int64_t after = clock_now(), error = (after - before + 1) / 2;
    if (error >= best->error) continue;
    best->error = error;
    best->at = before + (after - before) / 2;
    best->offset = theirs - best->at;
  }
  return 1;
}

static int compare(int rank, int ranks, struct clock_comparison* result) {
  struct clock_comparison own = {0, 0, 0};
  int good = 1;
  if (rank == 0) {
    for (int other = 1; other < ranks && good; ++other) {
      if (leaders[other] == other) good = answer(other);
    }
  } else if (leaders[rank] == rank) {
    good = ask(&own);
  }
  struct clock_comparison* const all = malloc((size_t)ranks * sizeof *all);
  if (!good || all == NULL) {
    free(all);
    return fail();
  }
  good = native.allgather(&own, (int)sizeof own, native.byte, all, (int)sizeof own, native.byte,
                          communicator) == 0;
  if (good) *result = all[leaders[rank]];
  free(all);
  return good || fail();
}

int clock_compare_at_begin(int rank, int ranks, struct clock_comparison* result) {
  *result = (struct clock_comparison){0, 0, 0};
  if (ranks <= 0 || rank < 0) return 0;
  if (ranks == 1 || all_are_here(ranks)) return 1;
  uint64_t* const hosts = gather_hosts(own_host(), ranks);
  leaders = malloc((size_t)ranks * sizeof *leaders);
  int several = 0;
  int good = hosts != NULL && leaders != NULL;
  for (int i = 0; i < ranks && good; ++i) good = hosts[i] != no_host;
  for (int i = 0; i < ranks && good; ++i) {
    leaders[i] = i > 0 && hosts[i] == hosts[i - 1] ? leaders[i - 1] : 0;
    while (hosts[leaders[i]] != hosts[i]) ++leaders[i];
    several = several || leaders[i] != 0;
  }
  free(hosts);
  if (good && several) {
    good = native.comm_dup(native.world, &communicator) == 0 &&
           native.comm_set_errhandler(communicator, native.errors_return) == 0 &&
           compare(rank, ranks, result);
  }
  if (good && several) return 1;
  free(leaders);
  leaders = NULL;
  return good;
}

void clock_leave_comparison(int ranks) {
  if (ranks > 1 && !all_are_here(ranks)) free(gather_hosts(no_host, ranks));
}

int clock_compare_at_end(int rank, int ranks, struct clock_comparison* result) {
  *result = (struct clock_comparison){0, 0, 0};
  if (leaders == NULL) return 1;
  const int good = compare(rank, ranks, result);
  native.comm_free(&communicator);
  return good;
}
