// The kernels for x86 with AVX-512. Everything that the library shares is included before the
// instruction set is switched on, so that no shared inline function is compiled with it.
#include "planners/clairvoyant/kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(                                                                 \
    __attribute__((target("avx2,avx512f,avx512vl,avx512bw,avx512dq,bmi,bmi2,lzcnt,popcnt"))), \
    apply_to = function)
#else
#pragma GCC push_options
// GCC bug 105593: in its own header.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC target("avx2,avx512f,avx512vl,avx512bw,avx512dq,bmi,bmi2,lzcnt,popcnt")
#endif

// Not __AVX512F__: a preprocessor run apart from the compiler does not know of the pragma.
#define SIBYL_KERNELS_AVX512
#define SIBYL_KERNELS avx512
#include "planners/clairvoyant/kernels.inc"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
