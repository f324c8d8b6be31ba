# libsndfile, by which recordings are read, as the target sibyl_sndfile; none where it is not there.
include_guard(GLOBAL)
find_path(SIBYL_SNDFILE_INCLUDE sndfile.h)
find_library(SIBYL_SNDFILE sndfile)
mark_as_advanced(SIBYL_SNDFILE_INCLUDE SIBYL_SNDFILE)
if(SIBYL_SNDFILE_INCLUDE AND SIBYL_SNDFILE)
  add_library(sibyl_sndfile INTERFACE)
  # As a system directory it would hide the C++ library's own headers; it is searched anyway.
  if(NOT SIBYL_SNDFILE_INCLUDE STREQUAL /usr/include)
    target_include_directories(sibyl_sndfile SYSTEM INTERFACE ${SIBYL_SNDFILE_INCLUDE})
  endif()
  target_link_libraries(sibyl_sndfile INTERFACE ${SIBYL_SNDFILE})
endif()
