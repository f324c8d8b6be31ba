/* A number that says of texts whether they are alike (FNV-1a). */
#ifndef SIBYL_PROFILE_HASH_H
#define SIBYL_PROFILE_HASH_H

#include <stdint.h>

static inline uint64_t hash_of(const char* text) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (; *text != '\0'; ++text) hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
  return hash;
}

#endif
