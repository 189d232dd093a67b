# SPDX-License-Identifier: Apache-2.0
# Interface target gmt_warnings and the helpers with which rooms declare and install their targets.

add_compile_definitions(GMT_VERSION="${PROJECT_VERSION}")
include_directories("${PROJECT_SOURCE_DIR}")

# Link it to every C target of ours.
add_library(gmt_warnings INTERFACE)
target_compile_options(gmt_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes
        -Wmissing-prototypes -Wvla>
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow>
    $<$<AND:$<BOOL:${GMT_WERROR}>,$<COMPILE_LANGUAGE:C,CXX>>:-Werror>)

if(GMT_SANITIZE)
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${GMT_SANITIZE}>
                        $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=all>
                        $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>)
    add_link_options($<$<LINK_LANGUAGE:C,CXX>:-fsanitize=${GMT_SANITIZE}>)
endif()

# gmt_no_sanitize(target...): for what is loaded into foreign programs (libgmtrace.so and all that is
# linked into it, the software device): a sanitizer's runtime cannot be brought in by a library.
function(gmt_no_sanitize)
    if(NOT GMT_SANITIZE)
        return()
    endif()
    foreach(target IN LISTS ARGN)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize=all>)
        target_link_options(${target} PRIVATE -fno-sanitize=all)
    endforeach()
endfunction()

# gmt_small_frames(target [file...]): for what runs on the stacks of a program's threads, which may have 16 KiB.
# The largest frame is that of a walk of the stack (preload/unwind/walk.h). The files named run on a stack of
# our own (preload/session/own_stack.h). Without optimization frames say nothing.
function(gmt_small_frames target)
    target_compile_options(${target} PRIVATE
        $<$<AND:$<COMPILE_LANGUAGE:C>,$<NOT:$<CONFIG:Debug>>>:-Wframe-larger-than=3072>)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -Wframe-larger-than=32768)
endfunction()

# gmt_check_locks(target...): for what takes mutexes of libtrace/threads/locks.def. For users nothing is checked.
function(gmt_check_locks)
    foreach(target IN LISTS ARGN)
        target_compile_definitions(${target} PRIVATE $<$<BOOL:${GMT_CHECK_LOCKS}>:GMT_CHECK_LOCKS>)
    endforeach()
endfunction()

# gmt_install_program(target): bin/.
function(gmt_install_program target)
    install(TARGETS ${target} RUNTIME DESTINATION ${GMT_INSTALL_BINDIR})
endfunction()

# gmt_install_libexec(target): libexec/gmtrace/, for programs that users do not start themselves.
function(gmt_install_libexec target)
    set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${GMT_LIBEXEC_OUTPUT_DIRECTORY}"
        INSTALL_RPATH "$ORIGIN/../../lib")
    install(TARGETS ${target} RUNTIME DESTINATION ${GMT_INSTALL_LIBEXECDIR})
endfunction()

# gmt_install_library(target): lib/, for shared libraries that are loaded into foreign programs: they
# bring no search path along.
function(gmt_install_library target)
    set_target_properties(${target} PROPERTIES BUILD_RPATH "" INSTALL_RPATH "")
    install(TARGETS ${target} LIBRARY DESTINATION ${GMT_INSTALL_LIBDIR})
endfunction()
