# SPDX-License-Identifier: Apache-2.0
# Text files in programs.

# gmt_text_bytes(FILE VARIABLE): VARIABLE gets the bytes of FILE, with a zero behind them, as a C initializer. CMake runs
# again when the file changes.
function(gmt_text_bytes file variable)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(................................................................................)"
           "\\1\n" bytes "${bytes}")
    set(${variable} "${bytes}0x00" PARENT_SCOPE)
endfunction()
