# What the scripts share: where things are. Sourced by bash scripts, never run.
unset CDPATH  # cd would print where it went
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$root/.venv"
# An MPI of the system comes first; the one in the private environment is there where none was.
export PATH="$PATH:$venv/bin"
jobs="${SIBYL_JOBS:-$(nproc)}"
# A compiler cache, where there is one, makes the sanitizer builds of a second run short.
if command -v ccache > /dev/null; then
  # Headers that are compiled beforehand, which are large and would be read again for every source
  # without a cache of what was read; and the same sources at another place.
  export CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:-pch_defines,time_macros}"
  export CCACHE_INODECACHE="${CCACHE_INODECACHE:-1}"
  export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$root}" CCACHE_NOHASHDIR="${CCACHE_NOHASHDIR:-1}"
  export CMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER:-ccache}"
  export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}"
fi

# Prints the flavours of MPI that a build tree was made for, one "FLAVOUR MPICC LAUNCHER" a line.
flavours_of() {
  cat "$1/sibyl-mpis.txt" 2> /dev/null
}

# The lines of a pinned file that are about one package.
pinned() {  # PACKAGE FILE
  awk -v package="$1" '/^[a-zA-Z]/ { wanted = index($0, package "==") == 1 } wanted' "$2"
}

configure() {  # PRESET [CMAKE ARGUMENT...]: quiet unless it fails
  local preset="$1" log abi="$venv/newest-mpich/bin/mpicc_abi" found=()
  shift
  # The MPI with the standard's binary interface, where set-up has installed it.
  if [ "$preset" = release ] && [ -x "$abi" ]; then found=("-DSIBYL_MPICC_ABI=$abi"); fi
  log="$root/build/$preset-configure.log"
  mkdir -p "$root/build"
  (cd "$root" && cmake --preset "$preset" "${found[@]}" "$@") > "$log" 2>&1 || { cat "$log"; return 1; }
  grep -E '^-- MPI:' "$log" || true
}

# Prints a clang++ that has libFuzzer's run-time library and can read the C++ library's ranges, which
# those before 16 cannot; fails where there is none.
fuzzing_compiler() {
  local candidate
  for candidate in clang++-{20,19,18,17,16} clang++; do
    if command -v "$candidate" > /dev/null 2>&1 &&
      "$candidate" -std=c++20 -fsanitize=fuzzer -x c++ - -o /dev/null > /dev/null 2>&1 << 'CODE'
#include <algorithm>
#include <cstddef>
static int sorted[2] = {1, 2};
extern "C" int LLVMFuzzerTestOneInput(const char*, std::size_t) {
  return std::ranges::equal_range(sorted, 3).empty() ? 0 : 1;
}
CODE
    then
      echo "$candidate"
      return 0
    fi
  done
  return 1
}
