# What the Fourier transform of apps/fft needs: FFTW in single and double precision with threads,
# and libsndfile; CLI11, fmt and nlohmann-json were found before. Where they are there are
#   sibyl_fft_libraries   to link, with the directory of apps/fft's own headers
#   sibyl_fft_serial      the files of apps/fft that need no MPI, for the program and its tests
find_path(SIBYL_FFTW_INCLUDE fftw3.h)
find_library(SIBYL_FFTW_SINGLE fftw3f)
find_library(SIBYL_FFTW_SINGLE_THREADS fftw3f_threads)
find_library(SIBYL_FFTW_DOUBLE fftw3)
include(SibylSndfile)
mark_as_advanced(SIBYL_FFTW_INCLUDE SIBYL_FFTW_SINGLE SIBYL_FFTW_SINGLE_THREADS SIBYL_FFTW_DOUBLE)
if(SIBYL_FFTW_INCLUDE AND SIBYL_FFTW_SINGLE AND SIBYL_FFTW_SINGLE_THREADS AND SIBYL_FFTW_DOUBLE
   AND TARGET sibyl_sndfile)
  add_library(sibyl_fft_libraries INTERFACE)
  # As a system directory it would hide the C++ library's own headers; it is searched anyway.
  if(NOT SIBYL_FFTW_INCLUDE STREQUAL /usr/include)
    target_include_directories(sibyl_fft_libraries SYSTEM INTERFACE ${SIBYL_FFTW_INCLUDE})
  endif()
  target_include_directories(sibyl_fft_libraries INTERFACE ${PROJECT_SOURCE_DIR}/apps)
  target_link_libraries(sibyl_fft_libraries INTERFACE
    ${SIBYL_FFTW_SINGLE_THREADS} ${SIBYL_FFTW_SINGLE} ${SIBYL_FFTW_DOUBLE} sibyl_sndfile
    Threads::Threads)
  set(serial_sources "")
  foreach(file decimation gather_names local_transform options picture recording report times)
    list(APPEND serial_sources ${PROJECT_SOURCE_DIR}/apps/fft/${file}.cpp)
  endforeach()
  add_library(sibyl_fft_serial STATIC ${serial_sources})
  sibyl_harden(sibyl_fft_serial)
  target_include_directories(sibyl_fft_serial PUBLIC ${PROJECT_SOURCE_DIR}/tools)
  target_link_libraries(sibyl_fft_serial
    PUBLIC sibyl_fft_libraries
    PRIVATE sibyl_options nlohmann_json::nlohmann_json fmt::fmt-header-only CLI11::CLI11)
endif()
