/* What MPICH 4.0 with UCX 1.13 (Debian 12) lacks for more ranks than processors over TCP; preloaded
 * into its ranks by `sibyl cluster run`.
 *
 * In MPI_Finalize each rank flushes its connections, for which the other side must answer, then
 * waits in a barrier of the process manager, in which it answers nobody. A rank that flushes late
 * waits for ever; most runs did. Here all ranks flush before the first disconnects, and go on
 * answering until the last has flushed. That all hosts see one directory makes the meeting simple:
 * a rank that has flushed leaves a file there.
 *
 * No UCX header is needed: requests, workers and endpoints are addresses, a status is one byte.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef signed char Status;
enum { most_workers = 64 };
static void* workers[most_workers];
static int worker_count = 0;

/* UCX's own function; the program has loaded it, since it called us. Python loads MPI for a module
 * alone, out of the sight of RTLD_NEXT. */
static void* next_symbol(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found != NULL) return found;
  void* const library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
  return library == NULL ? NULL : dlsym(library, name);
}
#define NEXT(name, result, ...) (__extension__((result (*)(__VA_ARGS__))next_symbol(name)))

static void progress_all(void) {
  static unsigned (*progress)(void*) = NULL;
  if (progress == NULL) progress = NEXT("ucp_worker_progress", unsigned, void*);
  for (int i = 0; i < worker_count; ++i) progress(workers[i]);
}

static void on_flushed(void* request, Status status) {
  (void)request;
  (void)status;
}

static void flush_all(void) {
  void* (*flush)(void*, unsigned, void (*)(void*, Status)) =
      NEXT("ucp_worker_flush_nb", void*, void*, unsigned, void (*)(void*, Status));
  int (*completed)(void*) = NEXT("ucp_request_is_completed", int, void*);
  void (*release)(void*) = NEXT("ucp_request_free", void, void*);
  if (flush == NULL || completed == NULL || release == NULL) return;
  for (int i = 0; i < worker_count; ++i) {
    void* request = flush(workers[i], 0, on_flushed);
    /* 0 is done; the last 100 addresses stand for errors. */
    if (request == NULL || (uintptr_t)request >= (uintptr_t)-100) continue;
    while (!completed(request)) {
      progress_all();
      sched_yield();
    }
    release(request);
  }
}

static int files_in(const char* directory) {
  DIR* stream = opendir(directory);
  if (stream == NULL) return INT_MAX; /* nobody to wait for */
  int count = 0;
  for (struct dirent* entry; (entry = readdir(stream)) != NULL;) count += entry->d_name[0] != '.';
  closedir(stream);
  return count;
}

/* Returns whether all ranks have met, so that nobody needs an answer any more. */
static int finish_together(void) {
  const char* directory = getenv("CLUSTER_FINISH_DIRECTORY");
  const char* rank = getenv("PMI_RANK");
  const char* size = getenv("PMI_SIZE");
  if (directory == NULL || rank == NULL || size == NULL || atoi(size) < 2) return 0;
  flush_all();
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s", directory, rank) >= (int)sizeof path) return 0;
  const int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return 0;
  close(file);
  while (files_in(directory) < atoi(size)) {
    for (int i = 0; i < 20; ++i) {
      progress_all();
      sched_yield();
    }
  }
  return 1;
}

__attribute__((visibility("default"))) Status ucp_worker_create(void* context, const void* wanted,
                                                                void** worker) {
  Status (*create)(void*, const void*, void**) =
      NEXT("ucp_worker_create", Status, void*, const void*, void**);
  const Status status = create(context, wanted, worker);
  if (status == 0 && worker_count < most_workers) workers[worker_count++] = *worker;
  return status;
}

__attribute__((visibility("default"))) void* ucp_disconnect_nb(void* endpoint) {
  static int met = -1;
  if (met < 0) met = finish_together();
  if (met) return NULL; /* done */
  return NEXT("ucp_disconnect_nb", void*, void*)(endpoint);
}
