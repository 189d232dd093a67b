# SPDX-License-Identifier: Apache-2.0
# Libraries of the system, as imported targets PkgConfig::SQLITE3, LIBDW, JANSSON, ZLIB and CRITERION.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
if(GMT_PORTABLE)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
endif()
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3>=3.34)
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
if(GMT_PORTABLE)
    # What libdw.a needs.
    foreach(library IN ITEMS elf z lzma bz2)
        find_library(GMT_STATIC_${library} ${library} REQUIRED)
        target_link_libraries(PkgConfig::LIBDW INTERFACE "${GMT_STATIC_${library}}")
    endforeach()
endif()
if(GMT_BUILD_TESTS)
    pkg_check_modules(CRITERION REQUIRED IMPORTED_TARGET criterion)
endif()
