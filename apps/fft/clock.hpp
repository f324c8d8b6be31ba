// What time it is.
#pragma once

namespace sibyl::fft {

// In seconds: MPI_Wtime of some libraries ticks in microseconds only.
double now();

// Whether all ranks read the clock of the same machine; a call for all of them.
bool common_clock();

}  // namespace sibyl::fft
