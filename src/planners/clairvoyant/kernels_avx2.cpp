// The kernels for x86 with AVX2. Everything that the library shares is included before the
// instruction set is switched on, so that no shared inline function is compiled with it.
#include "planners/clairvoyant/kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif

// Not __AVX2__: a preprocessor run apart from the compiler does not know of the pragma.
#define SIBYL_KERNELS_AVX2
#define SIBYL_KERNELS avx2
#include "planners/clairvoyant/kernels.inc"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
