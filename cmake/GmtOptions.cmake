# SPDX-License-Identifier: Apache-2.0
# Options and settings that hold for every target.

option(GMT_BUILD_TESTS "Build the tests" ON)
option(GMT_WERROR "Treat warnings as errors" OFF)
option(GMT_CHECK_LOCKS "Abort a traced program where libgmtrace.so takes mutexes out of order" OFF)
set(GMT_SANITIZE "" CACHE STRING "Sanitizers to build with, for instance address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The build tree has the shape of the installed tree, so that the programs find each other and the
# library by the same relative paths: bin/, lib/, libexec/gmtrace/, share/gmtrace/.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(GMT_LIBEXEC_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/gmtrace")
set(GMT_INSTALL_BINDIR bin)
set(GMT_INSTALL_LIBDIR lib)
set(GMT_INSTALL_LIBEXECDIR libexec/gmtrace)
set(GMT_INSTALL_DATADIR share/gmtrace)
set(GMT_INSTALL_MANDIR share/man)
# Libraries that travel beside the programs are found first, also by the libraries they need (RPATH,
# not RUNPATH), whatever LD_LIBRARY_PATH the traced program runs with.
set(CMAKE_INSTALL_RPATH "$ORIGIN:$ORIGIN/../lib")
set(CMAKE_BUILD_RPATH "$ORIGIN;$ORIGIN/../lib;$ORIGIN/../../lib")
add_link_options($<$<LINK_LANGUAGE:C,CXX>:LINKER:--disable-new-dtags>)
