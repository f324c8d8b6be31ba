# What makes compiling a test short: GoogleTest's header is read once for all tests of a kind, serial
# or a flavour of MPI, and the test itself, which is not what is measured, is optimised only a little.
# Where sources are compiled together, sixteen of tests take a fifth less than twice eight.
function(sibyl_compile_soon target kind)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 16)
  sibyl_precompile(${target} tests-${kind} gtest/gtest.h ${ARGN})
endfunction()

# All tests that run under mpiexec, and only they.
add_custom_target(mpi_tests)

# Registers tests that run under mpiexec.
#
#   sibyl_add_mpi_test(NAME <x> SOURCES <file>... [RANKS 1 2 3 ...] [TIMEOUT seconds]
#                      [ARGS argument...] [LIBRARIES target...] [SHARED] [NO_MAIN])
#
# builds, for every flavour of MPI but smpi, the executable test_<x>-<flavour> from the sources,
# tests/support/mpi_main.cpp (unless NO_MAIN) and the implementation's objects, so that a test can
# reach what the library does not export. With SHARED it is linked to libsibyl-<flavour>.so
# instead, as a program would be. One ctest entry per flavour runs all rank counts one after the
# other through scripts/mpi-launch, which says at which count it failed and where a hang was.
# TIMEOUT: a run that has printed nothing for so long is a hang.
#
#   sibyl_run_mpi_test(NAME <y> OF <x> [RANKS ...] [LONG_RANKS ...] [TIMEOUT seconds]
#                      [LONG_TIMEOUT seconds] [ARGS argument...])
#
# registers another entry <y>-<flavour> of the executables of <x>. LONG_RANKS and LONG_TIMEOUT hold
# where SIBYL_TEST_LONG is set.
set(SIBYL_RANK_COUNTS 1 2 3 4 5 7 8 11 13 16)

function(sibyl_add_mpi_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "SHARED;NO_MAIN" "NAME;TIMEOUT"
                        "SOURCES;RANKS;ARGS;LIBRARIES")
  if(NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "sibyl_add_mpi_test needs NAME and SOURCES")
  endif()
  foreach(flavour IN LISTS SIBYL_PROGRAM_FLAVOURS)
    if(flavour STREQUAL "smpi")
      continue()
    endif()
    set(target test_${arg_NAME}-${flavour})
    add_executable(${target} ${arg_SOURCES})
    add_dependencies(mpi_tests ${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(${target} PRIVATE SIBYL_FLAVOUR="${flavour}")
    if(NOT arg_NO_MAIN)
      target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/mpi_main.cpp)
      target_link_libraries(${target} PRIVATE GTest::gtest)
      sibyl_compile_soon(${target} ${flavour} mpi.h)
    endif()
    if(flavour MATCHES "^(mpich|abi)$")
      if(NOT TARGET sibyl_yield_when_idle)
        add_library(sibyl_yield_when_idle OBJECT
                    ${PROJECT_SOURCE_DIR}/tests/support/yield_when_idle.c)
      endif()
      target_link_libraries(${target} PRIVATE sibyl_yield_when_idle ${CMAKE_DL_LIBS})
    endif()
    if(arg_SHARED)
      target_link_libraries(${target} PRIVATE sibyl_${flavour})
    elseif(TARGET sibyl_${flavour}_objects)
      target_link_libraries(${target} PRIVATE sibyl_${flavour}_objects)
    endif()
    target_link_libraries(${target} PRIVATE sibyl_options sibyl_core ${arg_LIBRARIES}
                                            sibyl_mpi_${flavour})
  endforeach()
  sibyl_run_mpi_test(NAME ${arg_NAME} OF ${arg_NAME} RANKS ${arg_RANKS} TIMEOUT ${arg_TIMEOUT}
                     ARGS ${arg_ARGS})
endfunction()

function(sibyl_run_mpi_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;OF;TIMEOUT;LONG_TIMEOUT"
                        "RANKS;LONG_RANKS;ARGS")
  if(NOT arg_RANKS)
    set(arg_RANKS ${SIBYL_RANK_COUNTS})
  endif()
  if(NOT arg_LONG_RANKS)
    set(arg_LONG_RANKS ${arg_RANKS})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_LONG_TIMEOUT)
    set(arg_LONG_TIMEOUT ${arg_TIMEOUT})
  endif()
  if(SIBYL_SANITIZE)
    math(EXPR arg_TIMEOUT "2 * ${arg_TIMEOUT}")
    math(EXPR arg_LONG_TIMEOUT "2 * ${arg_LONG_TIMEOUT}")
  endif()
  list(LENGTH arg_LONG_RANKS counts)
  # The launcher ends a hang itself and says where; ctest's own limit is the net below it.
  math(EXPR limit "3 * ${counts} * ${arg_LONG_TIMEOUT}")
  list(JOIN arg_RANKS "," ranks)
  list(JOIN arg_LONG_RANKS "," long_ranks)
  foreach(flavour IN LISTS SIBYL_PROGRAM_FLAVOURS)
    if(flavour STREQUAL "smpi")
      continue()
    endif()
    add_test(NAME ${arg_NAME}-${flavour}
             COMMAND ${PROJECT_SOURCE_DIR}/scripts/mpi-launch --flavour ${flavour}
                     --mpiexec ${SIBYL_${flavour}_LAUNCHER} --timeout ${arg_TIMEOUT}
                     --long-timeout ${arg_LONG_TIMEOUT} --ranks ${ranks} --long-ranks ${long_ranks}
                     -- $<TARGET_FILE:test_${arg_OF}-${flavour}> ${arg_ARGS})
    # One of each MPI at a time: more would wait for one another until their limits. They begin first,
    # so that serial tests run where one MPI has no more of them.
    set_tests_properties(${arg_NAME}-${flavour} PROPERTIES
      TIMEOUT ${limit} COST ${limit} RESOURCE_LOCK mpi_${flavour} LABELS "mpi;${flavour}")
    # Waiting ranks of Open MPI run, and beside a busy process each of their messages waits for its
    # time slice: 8 ranks take nine times as long as by themselves.
    if(flavour STREQUAL "openmpi")
      set_tests_properties(${arg_NAME}-${flavour} PROPERTIES PROCESSORS 2)
    endif()
  endforeach()
endfunction()
