"""Build files for exported code: CMake and pkg-config."""

from ..._support.version import __version__

_CMAKE = """# Written by pin_clusters {version}; do not edit.
cmake_minimum_required(VERSION 3.13)
project({robot} VERSION {version} LANGUAGES C)
include(GNUInstallDirs)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library({robot} {robot}.c)
add_library({robot}::{robot} ALIAS {robot})
set_target_properties({robot} PROPERTIES
  C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
target_include_directories({robot} PUBLIC
  "$<BUILD_INTERFACE:${{CMAKE_CURRENT_SOURCE_DIR}}>" "$<INSTALL_INTERFACE:${{CMAKE_INSTALL_INCLUDEDIR}}>")
if(UNIX)
  target_link_libraries({robot} PUBLIC m)
endif()

if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  enable_testing()
  add_executable({robot}_test test/{robot}_test.c)
  set_target_properties({robot}_test PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
  target_link_libraries({robot}_test PRIVATE {robot})
  add_test(NAME {robot} COMMAND {robot}_test)
endif()

file(WRITE "${{CMAKE_CURRENT_BINARY_DIR}}/{robot}.pc" "prefix=${{CMAKE_INSTALL_PREFIX}}
Name: {robot}
Description: {description}
Version: {version}
Libs: -L${{CMAKE_INSTALL_FULL_LIBDIR}} -l{robot} -lm
Cflags: -I${{CMAKE_INSTALL_FULL_INCLUDEDIR}}
")
install(TARGETS {robot} EXPORT {robot}-targets
  ARCHIVE DESTINATION "${{CMAKE_INSTALL_LIBDIR}}" LIBRARY DESTINATION "${{CMAKE_INSTALL_LIBDIR}}"
  RUNTIME DESTINATION "${{CMAKE_INSTALL_BINDIR}}")
install(EXPORT {robot}-targets NAMESPACE {robot}:: FILE {robot}-config.cmake
  DESTINATION "${{CMAKE_INSTALL_LIBDIR}}/cmake/{robot}")
install(FILES {robot}.h {robot}.hpp DESTINATION "${{CMAKE_INSTALL_INCLUDEDIR}}")
install(FILES "${{CMAKE_CURRENT_BINARY_DIR}}/{robot}.pc" DESTINATION "${{CMAKE_INSTALL_LIBDIR}}/pkgconfig")
"""

_PKG_CONFIG = """# Written by pin_clusters {version} for the files in this folder. CMake installs another file.
prefix=${{pcfiledir}}

Name: {robot}
Description: {description}
Version: {version}
Libs: {library} -lm
Cflags: -I${{prefix}}
"""


def cmake(robot: str) -> str:
    return _CMAKE.format(**_words(robot))


def pkg_config(robot: str, objects: bool) -> str:
    """Return ``ROBOT.pc``, which links ``ROBOT.o`` if ``objects`` is True, else a library built from the source."""
    library = f"${{prefix}}/{robot}.o" if objects else f"-L${{prefix}} -l{robot}"
    return _PKG_CONFIG.format(library=library, **_words(robot))


def _words(robot: str) -> dict[str, str]:
    return {"robot": robot, "version": __version__, "description": f"Exact dynamics of {robot}"}
