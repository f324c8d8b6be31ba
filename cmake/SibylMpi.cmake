# The MPIs that Sibyl is built for.
#
# The machine may have several MPIs, and a program that was built for one cannot use a library that
# was built for another. FindMPI finds one; so this file asks compiler wrappers itself. An MPI's
# *flavour* is the family whose binary interface it keeps: openmpi, mpich (also Intel MPI and every
# other member of the MPICH ABI), abi (the MPI standard's own, from MPI 5 on, of any library that has
# it), or smpi (SimGrid's simulated MPI, for experiments only).
#
# sibyl_find_mpis() reads SIBYL_MPICC and sets, in the caller's scope,
#   SIBYL_FLAVOURS             the flavours found, the default one first
#   SIBYL_PROGRAM_FLAVOURS     those of them for which programs and tests are built as well: all but
#                              abi, unless SIBYL_MPICC names it
#   SIBYL_<flavour>_MPICC      the wrapper
#   SIBYL_<flavour>_LAUNCHER   the mpiexec that belongs to it
#   SIBYL_<flavour>_VERSION    one line for people
# and makes, per flavour, the targets
#   sibyl_mpi_<flavour>_headers   the include directories
#   sibyl_mpi_<flavour>           the same and the MPI library, for programs

set(SIBYL_MPICC "" CACHE STRING
    "MPI compiler wrappers, separated by semicolons; empty: mpicc, mpicc.openmpi, mpicc.mpich in PATH")
# Programs for it run under the preload, which needs the library alone; tests of the library's inside
# run with the other flavours.
set(SIBYL_MPICC_ABI mpicc_abi CACHE STRING
    "Wrapper of an MPI with the standard's ABI, looked at where SIBYL_MPICC is empty")
option(SIBYL_SMPI "Build for SimGrid's simulated MPI as well where smpicc is found" ON)

# Preprocesses a probe with `wrapper`: which MPI is it?
function(sibyl_probe_flavour wrapper out_flavour out_version)
  set(probe ${CMAKE_BINARY_DIR}/CMakeFiles/sibyl_mpi_probe.c)
  file(WRITE ${probe} [[
#include <mpi.h>
#if defined(OPEN_MPI)
SIBYL_PROBE openmpi "Open MPI " OMPI_MAJOR_VERSION "." OMPI_MINOR_VERSION "." OMPI_RELEASE_VERSION
#elif defined(I_MPI_VERSION)
SIBYL_PROBE mpich "Intel MPI " I_MPI_VERSION
#elif defined(MPICH_VERSION)
SIBYL_PROBE mpich "MPICH " MPICH_VERSION
#elif defined(MPICH_NAME) || defined(MVAPICH_VERSION)
SIBYL_PROBE mpich "MPICH ABI"
#elif defined(MPI_ABI_VERSION)
SIBYL_PROBE abi "MPI standard ABI " MPI_ABI_VERSION "." MPI_ABI_SUBVERSION
#else
SIBYL_PROBE unknown "unknown"
#endif
]])
  execute_process(COMMAND ${wrapper} -E ${probe}
                  OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
  set(flavour "")
  set(version "")
  if(status EQUAL 0 AND text MATCHES "SIBYL_PROBE ([a-z]+) ([^\n]*)")
    set(flavour ${CMAKE_MATCH_1})
    string(REPLACE "\"" "" version "${CMAKE_MATCH_2}")
    string(REGEX REPLACE " *\\. *" "." version "${version}")
    string(REGEX REPLACE "  +" " " version "${version}")
  else()
    set(version "${errors}")
  endif()
  set(${out_flavour} "${flavour}" PARENT_SCOPE)
  set(${out_version} "${version}" PARENT_SCOPE)
endfunction()

# Makes the targets of one flavour from what its wrapper would tell the compiler.
function(sibyl_add_mpi_targets flavour wrapper)
  # Both families know -show: the command that the wrapper would run.
  execute_process(COMMAND ${wrapper} -show
                  OUTPUT_VARIABLE command OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${wrapper} -show failed: is it an MPI compiler wrapper?")
  endif()
  separate_arguments(arguments UNIX_COMMAND "${command}")
  set(includes "")
  set(definitions "")
  set(options "")
  set(libraries "")
  foreach(argument IN LISTS arguments)
    if(argument MATCHES "^-I(.+)$")
      list(APPEND includes ${CMAKE_MATCH_1})
    elseif(argument MATCHES "^-D(.+)$")
      list(APPEND definitions ${CMAKE_MATCH_1})
    elseif(argument STREQUAL "-pthread")
      list(APPEND libraries ${argument})
    elseif(argument MATCHES "^-L|^-Wl,")
      # MPI's own choice of -z defs, -shared and the like is not ours to follow.
      if(NOT argument STREQUAL "-Wl,-z,defs")
        string(APPEND options " ${argument}")
      endif()
    elseif(argument MATCHES "^-l" OR argument MATCHES "\\.(so|a)[.0-9]*$")
      list(APPEND libraries ${argument})
    endif()
  endforeach()
  # As a system directory /usr/include hides the C++ library's own headers; it is searched anyway.
  list(REMOVE_ITEM includes /usr/include)

  add_library(sibyl_mpi_${flavour}_headers INTERFACE)
  target_include_directories(sibyl_mpi_${flavour}_headers SYSTEM INTERFACE ${includes})
  # The C++ bindings were removed from MPI in 2012 and only bring warnings.
  target_compile_definitions(sibyl_mpi_${flavour}_headers INTERFACE
    ${definitions} OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  add_library(sibyl_mpi_${flavour} INTERFACE)
  target_link_libraries(sibyl_mpi_${flavour} INTERFACE sibyl_mpi_${flavour}_headers ${libraries})
  if(options)
    # SHELL: keeps pairs such as "-Wl,-rpath -Wl,DIR" together.
    string(STRIP "${options}" options)
    target_link_options(sibyl_mpi_${flavour} INTERFACE "SHELL:${options}")
  endif()
endfunction()

function(sibyl_find_launcher flavour wrapper out)
  get_filename_component(directory ${wrapper} DIRECTORY)
  set(names_openmpi mpiexec.openmpi mpirun.openmpi mpiexec mpirun)
  set(names_mpich mpiexec.mpich mpiexec.hydra mpiexec mpirun)
  set(names_abi mpiexec mpirun)
  set(names_smpi smpirun)
  set(${out} "" PARENT_SCOPE)
  foreach(name IN LISTS names_${flavour})
    if(EXISTS ${directory}/${name})
      set(${out} ${directory}/${name} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

function(sibyl_find_mpis)
  set(wanted ${SIBYL_MPICC})
  set(explicit ON)
  if(NOT wanted)
    set(explicit OFF)
    set(wanted mpicc mpicc.openmpi mpicc.mpich ${SIBYL_MPICC_ABI})
  endif()
  if(SIBYL_SMPI)
    list(APPEND wanted smpicc)
  endif()
  set(flavours "")
  set(with_programs "")
  foreach(name IN LISTS wanted)
    unset(wrapper)
    find_program(wrapper ${name} NO_CACHE)
    if(NOT wrapper)
      if(explicit AND NOT name STREQUAL "smpicc")
        message(FATAL_ERROR "SIBYL_MPICC names ${name}, which is not there")
      endif()
      continue()
    endif()
    if(name STREQUAL "smpicc")
      set(flavour smpi)
      set(version "SimGrid SMPI")
    else()
      sibyl_probe_flavour(${wrapper} flavour version)
    endif()
    if(NOT flavour MATCHES "^(openmpi|mpich|abi|smpi)$")
      set(wrong "has neither Open MPI's nor MPICH's nor the standard's ABI: ${version}")
      if(explicit)
        message(FATAL_ERROR "${wrapper} ${wrong}")
      endif()
      message(WARNING "${wrapper} left out, it ${wrong}")
      continue()
    endif()
    if(flavour IN_LIST flavours)
      if(explicit)
        message(FATAL_ERROR "SIBYL_MPICC names two wrappers of the flavour ${flavour}")
      endif()
      continue()
    endif()
    sibyl_find_launcher(${flavour} ${wrapper} launcher)
    sibyl_add_mpi_targets(${flavour} ${wrapper})
    list(APPEND flavours ${flavour})
    if(explicit OR NOT flavour STREQUAL "abi")
      list(APPEND with_programs ${flavour})
    endif()
    set(SIBYL_${flavour}_MPICC ${wrapper} PARENT_SCOPE)
    set(SIBYL_${flavour}_LAUNCHER "${launcher}" PARENT_SCOPE)
    set(SIBYL_${flavour}_VERSION "${version}" PARENT_SCOPE)
    message(STATUS "MPI: ${version} (${wrapper}, ${launcher}), flavour ${flavour}")
  endforeach()
  set(SIBYL_FLAVOURS ${flavours} PARENT_SCOPE)
  set(SIBYL_PROGRAM_FLAVOURS ${with_programs} PARENT_SCOPE)
  if(NOT flavours)
    message(WARNING "No MPI found: only planners, verifier and exporters are built. "
                    "scripts/setup installs one; or set SIBYL_MPICC.")
  endif()
endfunction()
