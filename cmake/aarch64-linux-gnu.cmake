# SPDX-License-Identifier: Apache-2.0
# Toolchain for preset aarch64: Debian's cross compiler, with the libraries that scripts/aarch64 fetched.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

get_filename_component(GMT_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-root/root" ABSOLUTE)
set(CMAKE_SYSROOT "${GMT_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH) # CUDA's headers are this machine's: they are the same for both
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${GMT_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${GMT_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${GMT_SYSROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_PATH} "")

# What the build itself runs, and what the tests look at.
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64;-L;${GMT_SYSROOT}")
set(GMT_OBJCOPY aarch64-linux-gnu-objcopy CACHE STRING "objcopy for aarch64")
