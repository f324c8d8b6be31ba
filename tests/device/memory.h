/* The memory of a pretended device, for stubs of device runtimes: whoever touches it on the host
 * gets SIGSEGV (or EFAULT from the kernel), and copies alone reach it, by a second view of the same
 * pages.
 *
 * As on a real device a copy from the host's plain memory may return before the device has the
 * data: here it has them when the stream is waited for, or at the next copy of the stream. What the
 * program's kernels see is what stub_read and stub_write reach.
 */
#ifndef SIBYL_TESTS_DEVICE_MEMORY_H
#define SIBYL_TESTS_DEVICE_MEMORY_H

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STUB __attribute__((visibility("default")))
enum { stub_bytes = 1 << 28, stub_allocations = 4096, stub_page = 4096 };

static int stub_file = -1;
static char* stub_device;  /* no access */
static char* stub_backing; /* the same pages */
static struct stub_allocation {
  char* begin;
  size_t bytes;
} stub_all[stub_allocations];
static size_t stub_top;
static struct stub_pending {
  struct stub_pending* next;
  char* to;
  size_t bytes;
  char data[];
} *stub_first, **stub_last = &stub_first;
static const char* stub_hosts; /* a page's multiple that the host has been given */
static const char* stub_hosts_end;
static long stub_copies;
static long stub_failing = -1; /* this copy, counted from now on, fails and all after it */

static void stub_fatal(const char* what) {
  fprintf(stderr, "device stub: %s\n", what);
  abort();
}

static void stub_open(void) {
  if (stub_device != NULL) return;
  const int file = memfd_create("device", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, stub_bytes) != 0) stub_fatal("no memory");
  stub_backing = mmap(NULL, stub_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  stub_device = mmap(NULL, stub_bytes, PROT_NONE, MAP_SHARED, file, 0);
  if (stub_backing == MAP_FAILED || stub_device == MAP_FAILED) stub_fatal("no address space");
  stub_file = file;
}

static int stub_holds(const void* address) {
  return stub_device != NULL && (const char*)address >= stub_device &&
         (const char*)address < stub_device + stub_bytes &&
         ((const char*)address < stub_hosts || (const char*)address >= stub_hosts_end);
}

static const struct stub_allocation* stub_find(const void* address) {
  for (size_t i = 0; i < stub_allocations && stub_holds(address); ++i) {
    const struct stub_allocation* one = &stub_all[i];
    if (one->begin != NULL && (const char*)address >= one->begin &&
        (const char*)address < one->begin + one->bytes) {
      return one;
    }
  }
  return NULL;
}

static char* stub_reachable(const void* address) {
  return stub_holds(address) ? stub_backing + ((const char*)address - stub_device) : (char*)address;
}

/* A copy beyond an allocation would be an error on a device. */
static void stub_check(const void* address, size_t bytes) {
  const struct stub_allocation* one = stub_find(address);
  if (stub_holds(address) &&
      (one == NULL || (const char*)address + bytes > one->begin + one->bytes)) {
    stub_fatal("a copy outside of what was allocated");
  }
}

static void stub_settle(void) {
  while (stub_first != NULL) {
    struct stub_pending* done = stub_first;
    memcpy(stub_reachable(done->to), done->data, done->bytes);
    stub_first = done->next;
    free(done);
  }
  stub_last = &stub_first;
}

/* 0, or 1 where the copy is to fail. */
static int stub_copy(void* to, const void* from, size_t bytes, int at_once) {
  stub_check(to, bytes);
  stub_check(from, bytes);
  ++stub_copies;
  if (stub_failing >= 0 && stub_failing-- == 0) return stub_failing = 0, 1;
  if (stub_holds(to) && !stub_holds(from) && !at_once) {
    struct stub_pending* later = malloc(sizeof *later + bytes);
    if (later == NULL) stub_fatal("no memory");
    later->next = NULL;
    later->to = to;
    later->bytes = bytes;
    if (bytes != 0) memcpy(later->data, from, bytes);
    *stub_last = later;
    stub_last = &later->next;
    return 0;
  }
  stub_settle();
  memmove(stub_reachable(to), stub_reachable(from), bytes);
  return 0;
}

/* For the tests. */
STUB void* stub_allocate(size_t bytes) {
  stub_open();
  const size_t whole = (bytes + stub_page) / stub_page * stub_page;
  for (size_t i = 0; i < stub_allocations; ++i) {
    if (stub_all[i].begin != NULL) continue;
    if (stub_top + whole > stub_bytes) stub_top = 0; /* tests hold little at a time */
    stub_all[i].begin = stub_device + stub_top;
    stub_all[i].bytes = bytes;
    stub_top += whole;
    return stub_all[i].begin;
  }
  return NULL;
}
STUB void stub_release(void* address) {
  for (size_t i = 0; i < stub_allocations; ++i) {
    if (stub_all[i].begin == address) stub_all[i].begin = NULL;
  }
}
/* Freed memory whose addresses the host gets, or has again given back. */
STUB void stub_to_host(void* address, size_t bytes, int host) {
  const size_t whole = (bytes + stub_page) / stub_page * stub_page;
  const off_t at = (char*)address - stub_device;
  void* const now = host ? mmap(address, whole, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
                         : mmap(address, whole, PROT_NONE, MAP_SHARED | MAP_FIXED, stub_file, at);
  if (now != address) stub_fatal("no address space");
  stub_hosts = host ? (char*)address : NULL;
  stub_hosts_end = host ? (char*)address + whole : NULL;
}
STUB int stub_owns(const void* address) { return stub_holds(address); }
STUB void stub_write(void* to, const void* from, size_t bytes) {
  if (bytes != 0) memcpy(stub_reachable(to), from, bytes);
}
STUB void stub_read(void* to, const void* from, size_t bytes) {
  if (bytes != 0) memcpy(to, stub_reachable(from), bytes);
}
STUB long stub_count(void) { return stub_copies; }
STUB void stub_fail(long copy) { stub_failing = copy; }

#endif
