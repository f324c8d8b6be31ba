# Warnings and sanitizers, the same for every target of Sibyl's own.
option(SIBYL_WERROR "Warnings are errors (used by CI)" OFF)
set(SIBYL_SANITIZE "" CACHE STRING
    "Sanitizers for everything that is built: address,undefined or thread; empty: none")

add_library(sibyl_options INTERFACE)
target_compile_options(sibyl_options INTERFACE -Wall -Wextra -Wpedantic
                                               $<$<BOOL:${SIBYL_WERROR}>:-Werror>)

if(SIBYL_SANITIZE)
  # For all targets of the tree, and for linking too: a part without them would hide errors.
  add_compile_options(-fsanitize=${SIBYL_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SIBYL_SANITIZE})
endif()
