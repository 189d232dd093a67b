#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gmtrace --device sim refuses the static CUDA runtime, and a program without PTX, with one command: run as it is printed, it
# makes a program that the device runs. Built by make, by CMake, by nvcc beside its source, and by nobody knows what.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

unset GMTRACE_COLLECT
gmtrace=$GMT_BUILD/bin/gmtrace
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || skip "no nvcc"
[ -x "$GMT_BUILD/tests/e2e/programs/no_ptx" ] || skip "this nvcc builds no programs"
PATH=$PATH:$(dirname "$nvcc")

cat >app.cu <<'END'
#include <cstdio>
__device__ int base = 40;
__global__ void add(int *sum) { atomicAdd(sum, base + threadIdx.x); }
int main()
{
    int *sum, result = 0;
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    add<<<1, 2>>>(sum);
    cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d %s\n", result, cudaGetErrorName(cudaGetLastError()));
    return result != 81;
}
END

# remedied NAME PROGRAM: refused in one line; its command, as it stands there, is the remedy. $command is that command.
remedied() {
    local name=$1 program=$2
    run "$name.refused" "$gmtrace" --device sim -o "$name.db" "$program"
    equal "$name: status of the refusal" 125 "$(cat "$name.refused.status")"
    equal "$name: lines about it" 1 "$(wc -l <"$name.refused.err")"
    command=$(sed -nE "s/^gmtrace: .*: ${why:-static CUDA runtime}: build it ${how:-for the software device by}: //p" "$name.refused.err")
    [ -n "$command" ] || fail "$name: no command in: $(cat "$name.refused.err")"
    "$gmtrace" doctor "$program" >"$name.doctor.txt" 2>&1 || true
    grep -qF "for --device sim build it ${how:-by}: $command" "$name.doctor.txt" || fail "$name: doctor gives another command"
    eval "$command" >"$name.build.log" 2>&1 || fail "$name: $command: $(tail -3 "$name.build.log")"
    [ -z "${then-}" ] || eval "$then" >>"$name.build.log" 2>&1 || fail "$name: $then"
    run "$name" "$gmtrace" --device sim -o "$name.db" "$program"
    equal "$name: status" 0 "$(cat "$name.status")"
    equal "$name: output" "81 cudaSuccess" "$(cat "$name.out")"
    finished "$name.db"
    equal "$name: launches" 1 "$(sql "$name.db" "SELECT count(*) FROM launch WHERE measured = 'simulated'")"
}

# make, from the folder itself, although the makefile says "static"; the program is below it, and its name needs quotes.
mkdir -p "it's made/bin"
cp app.cu "it's made"
printf 'bin/app: app.o\n\tnvcc -cudart static -o $@ $<\napp.o: app.cu\n\tnvcc -arch=sm_90 -c -o $@ $<\n' >"it's made/Makefile"
make -C "it's made" >make.log 2>&1 || fail "make: $(tail -3 make.log)"
remedied make "./it's made/bin/app"
equal "the command for make" "NVCC_APPEND_FLAGS='-cudart shared' make -B -C 'it'\\''s made'" "$command"

# From the makefile's folder.
make -B -C "it's made" >make.log 2>&1 || fail "make: $(tail -3 make.log)"
cd "it's made"
remedied here bin/app
equal "the command for make, here" "NVCC_APPEND_FLAGS='-cudart shared' make -B" "$command"
cd ..

# The same without PTX: both are remedied at once.
sed -i 's/-arch=sm_90/-gencode arch=compute_80,code=sm_80/' "it's made/Makefile"
make -B -C "it's made" >make.log 2>&1 || fail "make: $(tail -3 make.log)"
remedied without_ptx "./it's made/bin/app"
equal "the command without PTX" \
    "NVCC_APPEND_FLAGS='-cudart shared -gencode arch=compute_90,code=compute_90' make -B -C 'it'\\''s made'" "$command"

# CMake.
mkdir source
printf 'cmake_minimum_required(VERSION 3.20)\nproject(app LANGUAGES CUDA)\nadd_executable(app ../app.cu)\n' >source/CMakeLists.txt
{
    cmake -S source -B built -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_ARCHITECTURES=90-real
    cmake --build built
} >cmake.log 2>&1 || fail "cmake: $(tail -3 cmake.log)"
remedied cmake built/app
equal "the command for CMake" \
    "cmake -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared -DCMAKE_CUDA_ARCHITECTURES=90-virtual built && cmake --build built" "$command"

# nvcc, beside the source.
nvcc -o app app.cu >nvcc.log 2>&1 || fail "nvcc: $(cat nvcc.log)"
remedied nvcc ./app
equal "the command for a source file" "nvcc -g -lineinfo -cudart shared -o app app.cu" "$command"

# The shared runtime, and machine code alone.
nvcc -cudart shared -gencode arch=compute_90,code=sm_90 -o app app.cu >nvcc.log 2>&1 || fail "nvcc: $(cat nvcc.log)"
why='no PTX' remedied machine_code ./app
equal "the command for machine code alone" \
    "nvcc -g -lineinfo -cudart shared -gencode arch=compute_90,code=compute_90 -o app app.cu" "$command"

# nvcc without -o; the only source beside the program is not of its name.
mkdir plain
cp app.cu plain/main.cu
cd plain
nvcc main.cu >nvcc.log 2>&1 || fail "nvcc: $(cat nvcc.log)"
remedied plain ./a.out
equal "the command for the only source" "nvcc -g -lineinfo -cudart shared -o a.out main.cu" "$command"
cd ..

# None of these, or several sources: a variable for whatever the user builds with.
mkdir elsewhere
touch elsewhere/{one,two}.cu
nvcc -o elsewhere/tool app.cu >nvcc.log 2>&1 || fail "nvcc: $(cat nvcc.log)"
how='as before, after' then='nvcc -o elsewhere/tool app.cu' remedied unknown elsewhere/tool
equal "the command where nothing is known" "export NVCC_APPEND_FLAGS='-cudart shared'" "$command"
