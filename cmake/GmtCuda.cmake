# SPDX-License-Identifier: Apache-2.0
# Finds nvcc, also where it is not on PATH, and the toolkit's headers. Nothing of gmtrace links CUDA
# except the programs written in CUDA C++.

find_program(GMT_NVCC nvcc
             HINTS ENV CUDACXX ENV CUDA_PATH ENV CUDA_HOME
             PATHS /usr/local/cuda /opt/cuda
             PATH_SUFFIXES bin
             DOC "nvcc, the CUDA compiler")

if(GMT_NVCC)
    set(gmt_build_cuda_default ON)
else()
    set(gmt_build_cuda_default OFF)
endif()
option(GMT_BUILD_CUDA "Build what is written in CUDA C++ (needs nvcc)" ${gmt_build_cuda_default})

if(GMT_BUILD_CUDA)
    if(NOT CMAKE_CUDA_COMPILER AND GMT_NVCC)
        set(CMAKE_CUDA_COMPILER "${GMT_NVCC}")
    endif()
    if(NOT CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES all-major)
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
endif()

# Headers only (cuda.h, cupti.h): libcuda and libcupti are loaded at run time.
if(GMT_NVCC AND NOT CUDAToolkit_ROOT)
    get_filename_component(gmt_cuda_bin "${GMT_NVCC}" REALPATH)
    get_filename_component(gmt_cuda_bin "${gmt_cuda_bin}" DIRECTORY)
    get_filename_component(CUDAToolkit_ROOT "${gmt_cuda_bin}" DIRECTORY)
endif()
if(CMAKE_CROSSCOMPILING AND NOT GMT_BUILD_CUDA)
    # The toolkit of this machine has the headers, which are the same, and no library for the other one.
    find_path(CUDAToolkit_INCLUDE_DIRS cuda.h PATHS "${CUDAToolkit_ROOT}/include" NO_DEFAULT_PATH
              NO_CMAKE_FIND_ROOT_PATH REQUIRED)
    file(STRINGS "${CUDAToolkit_INCLUDE_DIRS}/cuda.h" line REGEX "#define CUDA_VERSION [0-9]+")
    string(REGEX REPLACE ".* ([0-9]+)([0-9][0-9])([0-9])$" "\\1.\\2.\\3" CUDAToolkit_VERSION "${line}")
    string(REGEX REPLACE "[.]0([0-9])[.]" ".\\1." CUDAToolkit_VERSION "${CUDAToolkit_VERSION}")
else()
    # CMake 3.25.1, which Debian 12 has, sets a property of this target, whose library CUDA 13 no longer has. Nothing links it.
    if(CMAKE_VERSION VERSION_LESS 3.26 AND NOT TARGET CUDA::nvToolsExt)
        add_library(CUDA::nvToolsExt INTERFACE IMPORTED GLOBAL)
    endif()
    find_package(CUDAToolkit 13.0 REQUIRED)
endif()

add_library(gmt_cuda_headers INTERFACE)
target_include_directories(gmt_cuda_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
find_path(GMT_CUPTI_INCLUDE_DIR cupti.h
          HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include)
if(GMT_CUPTI_INCLUDE_DIR)
    target_include_directories(gmt_cuda_headers SYSTEM INTERFACE ${GMT_CUPTI_INCLUDE_DIR})
endif()
# The occupancy calculator (analyzer/model/occupancy.c) and the software device are built around this one.
find_path(GMT_OCCUPANCY_INCLUDE_DIR cuda_occupancy.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
if(NOT GMT_OCCUPANCY_INCLUDE_DIR)
    message(FATAL_ERROR "cuda_occupancy.h is missing: it comes with the toolkit's cuda.h (cuda-cudart-dev)")
endif()
target_include_directories(gmt_cuda_headers SYSTEM INTERFACE ${GMT_OCCUPANCY_INCLUDE_DIR})
