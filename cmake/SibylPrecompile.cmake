# Headers that are read once instead of once per source: those of the C++ library, mpi.h and
# GoogleTest's are most of what the compiler reads, and a third of the time of a build.
#
#   sibyl_precompile(TARGET KIND [HEADER]...)
#
# gives a target each HEADER, and those of the C++ library that more than a dozen sources include. The
# first target of a kind compiles them, the others take over what it has made; so targets of one kind
# must be compiled with the same options. A source still includes what it uses: clang-tidy and the
# Python package compile it without these (SIBYL_PRECOMPILED_HEADERS=OFF does so everywhere).
option(SIBYL_PRECOMPILED_HEADERS "Read the C++ library's headers, mpi.h and GoogleTest's once" ON)

set(SIBYL_COMMON_HEADERS
    algorithm array bit chrono cmath cstddef cstdint cstring functional limits map memory mutex new
    optional span string string_view utility vector)

function(sibyl_precompile target kind)
  if(NOT SIBYL_PRECOMPILED_HEADERS)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # a compiler cache asks for it
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC bug 105329 again (see SibylOptions.cmake): what it says of the C++ library's headers is no
    # longer held back where they were precompiled.
    target_compile_options(${target} PRIVATE
                           "$<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow;-Wno-array-bounds>")
  endif()
  get_property(owner GLOBAL PROPERTY sibyl_precompiled_${kind})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
    return()
  endif()
  set_property(GLOBAL PROPERTY sibyl_precompiled_${kind} ${target})
  set(headers "")
  foreach(header IN LISTS ARGN SIBYL_COMMON_HEADERS)
    list(APPEND headers "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
  endforeach()
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()
