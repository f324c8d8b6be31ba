// The kernels for any 64-bit machine: SSE2 on x86, NEON on ARM.
#include "planners/clairvoyant/kernels.hpp"

#define SIBYL_KERNELS plain
#include "planners/clairvoyant/kernels.inc"
