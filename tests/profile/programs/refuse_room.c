/* To be preloaded: a file system that has no room for one piece of the trace. Of the writes at a
 * place of a file, the one whose number is REFUSED fails; they are counted from 0.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>

ssize_t pwrite(int file, const void* from, size_t bytes, off_t offset);
ssize_t pwrite(int file, const void* from, size_t bytes, off_t offset) {
  static int calls;
  const char* const refused = getenv("REFUSED");
  if (refused != NULL && calls++ == atoi(refused)) {
    errno = ENOSPC;
    return -1;
  }
  ssize_t (*const next)(int, const void*, size_t, off_t) =
      (ssize_t (*)(int, const void*, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  return next(file, from, bytes, offset);
}
