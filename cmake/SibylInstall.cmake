# `cmake --install`: libraries, shim, headers, pkg-config files, CMake package, modulefile.
include(CMakePackageConfigHelpers)

# What is installed finds its parts from where it lies, so that the whole tree may be moved.
foreach(directory LIBDIR INCLUDEDIR BINDIR DATADIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${directory}}")
    file(RELATIVE_PATH inside "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_${directory}}")
    if(inside MATCHES "^\\.\\.(/|$)")
      message(FATAL_ERROR "CMAKE_INSTALL_${directory} is ${CMAKE_INSTALL_${directory}}: give a path "
                          "within the prefix, ${CMAKE_INSTALL_PREFIX}")
    endif()
    set(CMAKE_INSTALL_${directory} "${inside}")
  endif()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sibyl)
install(TARGETS sibyl_core EXPORT sibylTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sibyl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
if(SIBYL_FLAVOURS)
  # As sources: a compiled module fits only the compiler and the MPI that made it.
  install(DIRECTORY ${SIBYL_FORTRAN_MODULES}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sibyl
          FILES_MATCHING PATTERN "*.f90")
endif()

# From the pkg-config files to the prefix, so that an installed tree may be moved.
file(RELATIVE_PATH PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" PC_PREFIX "${PC_PREFIX}")
# A pkg-config file: sibyl_write_pkg_config(NAME LIBRARY DESCRIPTION)
function(sibyl_write_pkg_config name library description)
  set(PC_NAME ${name})
  set(PC_LIBRARY ${library})
  set(PC_DESCRIPTION "${description}")
  configure_file(${PROJECT_SOURCE_DIR}/packaging/sibyl.pc.in
                 ${PROJECT_BINARY_DIR}/packaging/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/packaging/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set(SIBYL_DEFAULT_FLAVOUR "")
foreach(flavour IN LISTS SIBYL_FLAVOURS)
  # smpi is for experiments inside the build tree.
  if(NOT TARGET sibyl_${flavour} OR flavour STREQUAL "smpi")
    continue()
  endif()
  install(TARGETS sibyl_${flavour} EXPORT sibylTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  sibyl_write_pkg_config(sibyl-${flavour} sibyl-${flavour}
                         "${PROJECT_DESCRIPTION} (for programs built with ${flavour})")
  if(NOT SIBYL_DEFAULT_FLAVOUR)
    set(SIBYL_DEFAULT_FLAVOUR ${flavour})
  endif()
endforeach()
if(TARGET sibyl_preload)
  install(TARGETS sibyl_preload sibyl_profile LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
# A modulefile, which finds the prefix from where it lies.
set(modulefiles ${CMAKE_INSTALL_DATADIR}/sibyl/modulefiles/sibyl)
file(RELATIVE_PATH MODULE_PREFIX /prefix/${modulefiles} /prefix)
string(REGEX REPLACE "/$" "" MODULE_PREFIX "${MODULE_PREFIX}")
configure_file(${PROJECT_SOURCE_DIR}/packaging/modulefile.in
               ${PROJECT_BINARY_DIR}/packaging/modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/packaging/modulefile DESTINATION ${modulefiles}
        RENAME ${PROJECT_VERSION})
if(TARGET sibyl_openmpi_component)
  install(TARGETS sibyl_openmpi_component
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sibyl/openmpi-4.1)
endif()
if(SIBYL_DEFAULT_FLAVOUR)
  sibyl_write_pkg_config(sibyl sibyl
                         "${PROJECT_DESCRIPTION} (default MPI: ${SIBYL_DEFAULT_FLAVOUR})")
  install(CODE "execute_process(COMMAND \${CMAKE_COMMAND} -E create_symlink
    libsibyl-${SIBYL_DEFAULT_FLAVOUR}.so
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libsibyl.so\"
    COMMAND_ERROR_IS_FATAL ANY)")
endif()

install(EXPORT sibylTargets NAMESPACE Sibyl:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/packaging/sibyl-config.cmake.in
  ${PROJECT_BINARY_DIR}/packaging/sibyl-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/packaging/sibyl-config-version.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/packaging/sibyl-config.cmake
              ${PROJECT_BINARY_DIR}/packaging/sibyl-config-version.cmake
        DESTINATION ${package_dir})

# The man pages, where `make docs` has built them.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}
        OPTIONAL FILES_MATCHING PATTERN "*.1")
