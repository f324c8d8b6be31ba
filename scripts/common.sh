# What the scripts share: where things are. Sourced by bash scripts, never run.
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

configure() {  # PRESET [CMAKE ARGUMENT...]: quiet unless it fails
  local preset="$1" log
  shift
  log="$root/build/$preset-configure.log"
  mkdir -p "$root/build"
  (cd "$root" && cmake --preset "$preset" "$@") > "$log" 2>&1 || { cat "$log"; return 1; }
  grep -E '^-- MPI:' "$log" || true
}
