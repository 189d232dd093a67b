# SPDX-License-Identifier: Apache-2.0
# What is installed besides programs, and the packages: `cpack -G TGZ` and `cpack -G DEB` in the build tree; scripts/package
# makes a wheel of the tarball, too. The programs find each other, libgmtrace.so, the software device and the models
# relative to themselves: they run from wherever they are unpacked.

set(GMT_INSTALL_DOCDIR share/doc/gmtrace)
install(FILES LICENSE README.md DESTINATION ${GMT_INSTALL_DOCDIR})
# README.md refers to them by this name.
install(DIRECTORY docs/ DESTINATION ${GMT_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.html"
        PATTERN "man" EXCLUDE PATTERN "completion" EXCLUDE)

# What programs in Python import: scripts/package puts it among the modules of Python in the wheel.
install(DIRECTORY packaging/python/ DESTINATION ${GMT_INSTALL_DATADIR}/python FILES_MATCHING PATTERN "*.py"
        PATTERN "__pycache__" EXCLUDE)

# What is linked statically brings its licences along: Debian keeps them in these places.
if(GMT_PORTABLE)
    configure_file(packaging/THIRD_PARTY.md.in "${PROJECT_BINARY_DIR}/packaging/THIRD_PARTY.md" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/packaging/THIRD_PARTY.md" DESTINATION ${GMT_INSTALL_DOCDIR})
    string(REGEX REPLACE "[.].*" "" compiler "${CMAKE_CXX_COMPILER_VERSION}")
    foreach(row IN ITEMS elfutils:doc/libdw-dev sqlite:doc/libsqlite3-dev jansson:doc/libjansson-dev zlib:doc/zlib1g-dev
                         bzip2:doc/libbz2-dev xz:doc/liblzma-dev zstandard:doc/libzstd-dev lz4:doc/liblz4-dev
                         xxhash:doc/libxxhash-dev gcc:doc/gcc-${compiler}-base GPL-3:common-licenses/GPL-3 LGPL-3:common-licenses/LGPL-3)
        string(REGEX REPLACE ":.*" "" name "${row}")
        string(REGEX REPLACE ".*:" "/usr/share/" file "${row}")
        if(file MATCHES "/doc/")
            string(APPEND file "/copyright")
        endif()
        get_filename_component(file "${file}" REALPATH)
        if(EXISTS "${file}")
            install(FILES "${file}" DESTINATION ${GMT_INSTALL_DOCDIR}/licences RENAME ${name}.txt)
        else()
            message(WARNING "no licence of ${name} at ${file}: install the package without it, do not hand it on")
        endif()
    endforeach()
endif()

string(TOLOWER "${CMAKE_SYSTEM_NAME}" gmt_system)
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME gmtrace)
set(CPACK_PACKAGE_VENDOR gmtrace)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_FILE_NAME "gmtrace-${PROJECT_VERSION}-${gmt_system}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "the gmtrace maintainers")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.28)")
include(CPack)
