# What the preload asks of the build: the generated sources of the shim, and
#
#   sibyl_preload_sources(OUT_VAR FLAVOUR)
#
# sets OUT_VAR to the sources that each libsibyl-<FLAVOUR>.so needs besides the rooms
# above the line; compile them with that MPI's include directory and src/ in the
# include path, and link no MPI library. Call it in the directory that adds the library's target.
set(SIBYL_PRELOAD_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")

include(SibylGenerate)

function(sibyl_preload_generate what output)
  sibyl_generate(${SIBYL_PRELOAD_DIR}/generate.py ${what} ${output} "Generating the preload's ${what}"
                 ${SIBYL_PRELOAD_DIR}/tables.py ${SIBYL_PRELOAD_DIR}/fallbacks.py
                 ${SIBYL_PRELOAD_DIR}/functions.txt ${SIBYL_PRELOAD_DIR}/fortran.txt)
endfunction()

function(sibyl_preload_sources out_var flavour)
  if(NOT flavour MATCHES "^(openmpi|mpich|abi)$")
    set(${out_var} "" PARENT_SCOPE)
    return()
  endif()
  # A file per flavour: targets that shared one would write it at the same time in a parallel build.
  set(wrappers ${CMAKE_CURRENT_BINARY_DIR}/preload-${flavour}/wrappers.cpp)
  sibyl_preload_generate(implementation ${wrappers})
  set(${out_var} ${SIBYL_PRELOAD_DIR}/implementation/call_line.cpp
                 ${SIBYL_PRELOAD_DIR}/implementation/counted.cpp
                 ${SIBYL_PRELOAD_DIR}/implementation/entry.cpp
                 ${SIBYL_PRELOAD_DIR}/implementation/known_calls.cpp
                 ${SIBYL_PRELOAD_DIR}/implementation/pmi.cpp
                 ${SIBYL_PRELOAD_DIR}/implementation/served_world.cpp
                 ${SIBYL_PRELOAD_DIR}/implementation/spawn.cpp
                 ${SIBYL_PRELOAD_DIR}/implementation/support.cpp ${wrappers} PARENT_SCOPE)
endfunction()
