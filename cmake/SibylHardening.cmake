# What makes a mistake harder to exploit in all that is installed: libraries, which are loaded into
# everybody's programs, programs and the Python bindings. Off under sanitizers, which look closer and
# put other functions in the same places.
#
#   sibyl_harden(TARGET...)          how it is compiled, and which parts of it are read-only when loaded;
#                                    programs are loaded anywhere (PIE)
#   sibyl_bind_now(TARGET...)        the same for its table of functions, which are then all bound at once
#
# tests/hardening holds the built files against this list.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckPIESupported)
# Without it CMake compiles programs so (CMAKE_POSITION_INDEPENDENT_CODE), and leaves linking to the
# compiler's own choice.
check_pie_supported()

set(SIBYL_HARDENING "")
if(NOT SIBYL_SANITIZE)
  # The last two: indirect jumps only to where a function or a case begins, on x86 and on ARM.
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection
               -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "sibyl_has${flag}" known)
    check_cxx_compiler_flag(${flag} ${known})
    if(${known})
      list(APPEND SIBYL_HARDENING ${flag})
    endif()
  endforeach()
  # Level 3 asks the compiler for sizes that are known only at run time.
  check_cxx_source_compiles(
    "int main(int n, char** v) { return __builtin_dynamic_object_size(v[n - 1], 0) == 0; }"
    sibyl_has_dynamic_object_size)
  set(level 2)
  if(sibyl_has_dynamic_object_size)
    set(level 3)
  endif()
  # It needs an optimising compiler.
  list(APPEND SIBYL_HARDENING
       "$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${level}>")
endif()

function(sibyl_harden)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE ${SIBYL_HARDENING})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(SHARED_LIBRARY|MODULE_LIBRARY|EXECUTABLE)$" AND NOT SIBYL_SANITIZE)
      target_link_options(${target} PRIVATE -Wl,-z,relro -Wl,-z,noexecstack -Wl,--build-id)
    endif()
  endforeach()
endfunction()

function(sibyl_bind_now)
  if(NOT SIBYL_SANITIZE)
    foreach(target IN LISTS ARGN)
      target_link_options(${target} PRIVATE -Wl,-z,now)
    endforeach()
  endif()
endfunction()
