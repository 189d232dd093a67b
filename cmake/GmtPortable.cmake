# SPDX-License-Identifier: Apache-2.0
# Files that run on any Linux with glibc 2.28 or later, and need no other library there: x86-64 (preset release), aarch64.
#
# Libraries of others are linked statically (GmtDependencies), and names of libc are bound to versions that 2.28 has.
# A linker takes the newest version that the libc of the building machine has: pthread_create becomes
# pthread_create@GLIBC_2.34, which no older libc has, though the function is the same. So each name of
# packaging/old_glibc/moved.txt is defined once more, as a jump to its old version.

option(GMT_PORTABLE "Link what is installed so that it needs glibc 2.28 and no other library" OFF)
if(GMT_PORTABLE AND GMT_SANITIZE)
    message(FATAL_ERROR "GMT_PORTABLE is for builds without a sanitizer")
endif()
if(GMT_PORTABLE AND NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|aarch64)$")
    message(WARNING "GMT_PORTABLE knows the versions of x86-64 and aarch64: what is built needs the libraries of this machine")
    set(GMT_PORTABLE OFF)
endif()
if(NOT GMT_PORTABLE)
    function(gmt_portable)
    endfunction()
    return()
endif()
enable_language(ASM)

set(here "${PROJECT_SOURCE_DIR}/packaging/old_glibc")
set(made "${PROJECT_BINARY_DIR}/packaging/old_glibc")
set(moved "")
set(math "#include \"packaging/old_glibc/moved.inc\"\n")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${here}/moved.txt")
file(STRINGS "${here}/moved.txt" lines REGEX "^[^#]")
foreach(line IN LISTS lines)
    separate_arguments(words UNIX_COMMAND "${line}")
    list(POP_FRONT words macro version)
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64" AND version VERSION_LESS 2.17)
        set(version 2.17)
    endif()
    foreach(word IN LISTS words)
        string(REGEX REPLACE "=.*" "" name "${word}")
        string(REGEX REPLACE ".*=" "" old "${word}")
        if(macro STREQUAL "math")
            string(APPEND math "same ${name}, ${old}, GLIBC_${version}\n")
        else()
            file(CONFIGURE OUTPUT "${made}/${name}.S" CONTENT
                 "#include \"packaging/old_glibc/moved.inc\"\n${macro} ${name}, ${old}, GLIBC_${version}\n")
            list(APPEND moved "${made}/${name}.S")
        endif()
    endforeach()
endforeach()
file(CONFIGURE OUTPUT "${made}/math.S" CONTENT "${math}")

# One object per name, so that a file imports what it uses. Those of libm are one object: -lm stands before the archive.
add_library(gmt_old_glibc STATIC ${moved} "${here}/start.c" "${here}/find_object.c"
            "${here}/single_threaded.c")
add_library(gmt_old_glibc_math OBJECT "${made}/math.S")
foreach(target IN ITEMS gmt_old_glibc gmt_old_glibc_math)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endforeach()
set(GMT_OLD_GLIBC_ARCHIVE "${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/libgmt_old_glibc.a")

# -lstdc++ finds the archive: it is alone in its folder, which the linker looks into first.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a
                OUTPUT_VARIABLE archive OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/static")
file(CREATE_LINK "${archive}" "${PROJECT_BINARY_DIR}/static/libstdc++.a" SYMBOLIC)

# gmt_portable(target [MATH] [CXX] [RT]): for what is installed. MATH: it links libm. CXX: it holds C++. RT: it uses librt.
# The archive comes behind all libraries, as these need it, too. Before 2.34 threads, dlopen and shared memory were
# libraries of their own, which a later glibc does not ask for. Holds for all that is linked in the calling folder.
function(gmt_portable target)
    cmake_parse_arguments(PARSE_ARGV 1 has "MATH;CXX;RT" "" "")
    set(once "-l:libpthread.so.0 -l:libdl.so.2")
    if(has_RT)
        string(APPEND once " -l:librt.so.1")
    endif()
    set(CMAKE_C_STANDARD_LIBRARIES
        "${GMT_OLD_GLIBC_ARCHIVE} -Wl,--push-state,--no-as-needed ${once} -Wl,--pop-state" PARENT_SCOPE)
    add_dependencies(${target} gmt_old_glibc)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${GMT_OLD_GLIBC_ARCHIVE}")
    target_link_options(${target} PRIVATE -static-libgcc "-L${PROJECT_BINARY_DIR}/static")
    if(has_MATH)
        target_link_libraries(${target} PRIVATE gmt_old_glibc_math)
    endif()
    if(has_CXX) # its runtime asks for these where the archive has been searched
        foreach(name IN ITEMS _dl_find_object __pthread_key_create pthread_once)
            target_link_options(${target} PRIVATE LINKER:--undefined=${name})
        endforeach()
    endif()
endfunction()
