# SPDX-License-Identifier: Apache-2.0
# What is installed besides programs, and the tarball: `cpack -G TGZ` in the build tree. Its programs find
# each other, libgmtrace.so, the software device and the models relative to themselves: it runs from
# wherever it is unpacked.

set(GMT_INSTALL_DOCDIR share/doc/gmtrace)
install(FILES LICENSE README.md DESTINATION ${GMT_INSTALL_DOCDIR})
# README.md refers to them by this name.
install(DIRECTORY docs/ DESTINATION ${GMT_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md"
        PATTERN "man" EXCLUDE PATTERN "completion" EXCLUDE)

string(TOLOWER "${CMAKE_SYSTEM_NAME}" gmt_system)
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME gmtrace)
set(CPACK_PACKAGE_VENDOR gmtrace)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_FILE_NAME "gmtrace-${PROJECT_VERSION}-${gmt_system}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
include(CPack)
