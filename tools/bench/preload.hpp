// The entries of the preload, by which a program's calls come to Sibyl: what `governed` measures.
//
// The benchmark has Sibyl's functions of its own, whose settings it changes for each contender. The
// preload is loaded beside them, and brings an implementation of its own, which reads the
// environment as in any program and is known to nobody else here; MPI_X of the benchmark itself
// stays the MPI library's.
#pragma once

namespace sibyl::bench {

// The function MPI_X that a program under the preload would reach; nullptr where there is no
// preload: it lies in SIBYL_LIBRARY_DIR, or where libraries are installed with this program.
void* preload_entry(const char* name);
// On all ranks. Collective.
bool has_preload();

}  // namespace sibyl::bench
