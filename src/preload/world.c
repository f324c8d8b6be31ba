/* Marks this process, for the other ranks of its program, as one under the preload.
 *
 * Open MPI starts by PMIx: in MPI_Init each rank publishes how it can be reached (PMIx_Put,
 * PMIx_Commit), and all wait for all. The shim puts one key more before the first PMIx_Commit. It
 * calls PMIx for nothing else, and in no process that does not use it by itself.
 * implementation/served_world.cpp says what the mark is for.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim.h"

enum { everywhere = 3, type_bool = 1, no_such_function = -47 };
struct value {
  uint16_t type;
  union {
    bool flag;
    uint64_t room[3];
  };
};

__attribute__((visibility("default"))) int PMIx_Commit(void);
int PMIx_Commit(void) {
  static atomic_flag marked = ATOMIC_FLAG_INIT;
  const void* caller = __builtin_return_address(0);
  int (*commit)(void) = (int (*)(void))sibyl_preload_find("PMIx_Commit", caller);
  int (*put)(uint8_t, const char*, struct value*) =
      (int (*)(uint8_t, const char*, struct value*))sibyl_preload_find("PMIx_Put", caller);
  if (commit == NULL) return no_such_function;
  /* Where Sibyl cannot serve, there is no mark; where it fails, the others leave this rank alone.
   */
  if (put != NULL && sibyl_preload_has_implementation(caller) &&
      !atomic_flag_test_and_set(&marked)) {
    struct value value = {.type = type_bool, .flag = true};
    (void)put(everywhere, "sibyl.preload", &value);
  }
  return commit();
}
