# The Fortran forms of the C API. The C side is part of every libsibyl-<flavour>.so:
#
#   sibyl_fortran_sources(OUT_VAR FLAVOUR)
#
# The modules are written to SIBYL_FORTRAN_MODULES and installed as sources.
set(SIBYL_FORTRAN_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")
set(SIBYL_FORTRAN_MODULES ${PROJECT_BINARY_DIR}/fortran CACHE INTERNAL "")
include(SibylGenerate)

function(sibyl_fortran_generate what output)
  sibyl_generate(${SIBYL_FORTRAN_DIR}/generate.py ${what} ${output} "Generating Fortran's ${what}"
                 ${SIBYL_FORTRAN_DIR}/functions.txt)
endfunction()

function(sibyl_fortran_sources out_var flavour)
  if(NOT flavour MATCHES "^(openmpi|mpich)$")
    set(${out_var} "" PARENT_SCOPE)
    return()
  endif()
  # A file per flavour: targets that shared one would write it at the same time in a parallel build.
  set(bindings ${CMAKE_CURRENT_BINARY_DIR}/fortran-${flavour}/bindings.cpp)
  sibyl_fortran_generate(bindings ${bindings})
  set(${out_var} ${bindings} PARENT_SCOPE)
endfunction()

foreach(module sibyl sibyl_f08)
  sibyl_fortran_generate(${module} ${SIBYL_FORTRAN_MODULES}/${module}.f90)
  list(APPEND modules ${SIBYL_FORTRAN_MODULES}/${module}.f90)
endforeach()
add_custom_target(sibyl_fortran_modules ALL DEPENDS ${modules})
