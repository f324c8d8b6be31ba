# Warnings and sanitizers, the same for every target of Sibyl's own.
option(SIBYL_WERROR "Warnings are errors (used by CI)" OFF)
set(SIBYL_SANITIZE "" CACHE STRING
    "Sanitizers for everything that is built: address,undefined or thread; empty: none")

add_library(sibyl_options INTERFACE)
target_compile_options(sibyl_options INTERFACE -Wall -Wextra -Wpedantic
                                               $<$<BOOL:${SIBYL_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in every "text" + std::string (GCC bug 105329).
  target_compile_options(sibyl_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

if(SIBYL_SANITIZE)
  # For all targets of the tree, and for linking too: a part without them would hide errors.
  add_compile_options(-fsanitize=${SIBYL_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  # MPI_BOTTOM is a null pointer, and every address of a buffer there is an offset from it.
  add_compile_options(-fno-sanitize=pointer-overflow)
  add_link_options(-fsanitize=${SIBYL_SANITIZE})
endif()
