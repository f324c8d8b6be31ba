/* Ranks that wait leave the processor to others: preloaded into the ranks by `sibyl cluster run`.
 *
 * MPI libraries look at their sockets again and again while they wait. On hosts of their own that
 * costs nobody anything; here the hosts share a few processors, and among 48 ranks that look and
 * yield, those who have something to do, and the kernel's threads that carry packets, are some
 * twenty-fifth in the queue. So a rank that has looked in vain for a while sleeps until its sockets
 * have something, as if it watched them on a processor of its own.
 *
 * It sleeps for a moment at most, since a socket is not all that a library may wait for: memory
 * that ranks of one host share, a thread of its own. Where hosts have several ranks,
 * CLUSTER_IDLE=yield has it yield only. One look now and then (MPI_Test while a program computes)
 * never sleeps. Nor does any but the first thread: one that looks in the background has pauses of
 * its own, and asleep it would hold the locks of the MPI library that the first one wants.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds; the first two of the thread's own processor time, which does not pass while others
 * have the processor. */
enum {
  patience = 20000,        /* of looks in vain before it sleeps */
  still_waits = 100000,    /* a thread that does more than this between two looks has other work */
  shortest_sleep = 100000, /* each is twice as long as the one before, in vain too */
  longest_sleep = 3000000
};

static __thread int64_t since; /* the first of the looks in vain */
static __thread int64_t last_look;
static __thread long next_sleep;

static int64_t own_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int yields_only(void) {
  static int known = -1;
  if (known < 0) {
    const char* wanted = getenv("CLUSTER_IDLE");
    known = wanted != NULL && strcmp(wanted, "yield") == 0;
  }
  return known;
}

static int is_first_thread(void) {
  static __thread int known = -1;
  if (known < 0) known = syscall(SYS_gettid) == getpid();
  return known;
}

/* After a look that found nothing: whether to sleep; else the first thread has yielded. */
static int is_to_sleep(void) {
  if (!is_first_thread()) return 0;
  const int64_t time = own_time();
  if (since == 0 || time - last_look > still_waits) {
    since = time;
    next_sleep = shortest_sleep;
  }
  last_look = time;
  if (!yields_only() && time - since > patience) return 1;
  sched_yield();
  return 0;
}

static struct timespec moment(void) {
  const struct timespec result = {0, next_sleep};
  if (next_sleep < longest_sleep) next_sleep *= 2;
  return result;
}

typedef int epoll_wait_function(int, struct epoll_event*, int, int);

/* The system call itself, which the C library has a function for only since 2022; the next best
 * where the kernel is from before 2021 or a container does not let it be called. */
static int wait_a_moment(int set, struct epoll_event* events, int most, epoll_wait_function* next) {
  const struct timespec time = moment();
#ifdef SYS_epoll_pwait2
  static int is_missing = 0;
  if (!is_missing) {
    const int count = (int)syscall(SYS_epoll_pwait2, set, events, most, &time, NULL, 0);
    if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
    is_missing = 1;
  }
#endif
  return next(set, events, most, (int)(time.tv_nsec / 1000000) + 1);
}

__attribute__((visibility("default"))) int epoll_wait(int set, struct epoll_event* events, int most,
                                                      int timeout) {
  static epoll_wait_function* next = NULL;
  if (next == NULL) next = (__extension__(epoll_wait_function*) dlsym(RTLD_NEXT, "epoll_wait"));
  int count = next(set, events, most, timeout);
  if (timeout != 0) return count;
  if (count == 0 && is_to_sleep()) {
    count = wait_a_moment(set, events, most, next);
    last_look = own_time();
  }
  if (count != 0) since = 0;
  return count;
}

__attribute__((visibility("default"))) int poll(struct pollfd* sockets, nfds_t most, int timeout) {
  static int (*next)(struct pollfd*, nfds_t, int) = NULL;
  if (next == NULL) {
    next = (__extension__(int (*)(struct pollfd*, nfds_t, int)) dlsym(RTLD_NEXT, "poll"));
  }
  int count = next(sockets, most, timeout);
  if (timeout != 0) return count;
  if (count == 0 && is_to_sleep()) {
    const struct timespec time = moment();
    count = ppoll(sockets, most, &time, NULL);
    last_look = own_time();
  }
  if (count != 0) since = 0;
  return count;
}
