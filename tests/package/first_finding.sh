#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A newcomer without a GPU, with README.md and a stopwatch: the first line under "Install" and those under "No GPU?", as they
# stand there, name a fix with its line within 60 s of the tarball. Prints when each was done.
# shellcheck source=tests/package/lib.sh
source "${GMT_SOURCE:?}/tests/package/lib.sh"
limit_s=60

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || skip "no nvcc"
ln -s "$(package_file 'gmtrace-*-linux-x86_64.tar.gz')" .
cat >app.cu <<'END'
#include <cstdio>
#include <cstdlib>
__global__ void transpose(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}
int main()
{
    const int n = 1024;
    const size_t bytes = n * n * sizeof(float);
    float *host = static_cast<float *>(calloc(1, bytes)), *in, *out;
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, bytes);
    for (int i = 0; i < 10; i++) {
        cudaMemcpy(in, host, bytes, cudaMemcpyHostToDevice);
        transpose<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(in, out, n);
    }
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
END
# code TITLE: the indented lines of that section of README.md.
code() {
    sed -n "/^## $1\$/,/^## /s/^    //p" "$GMT_SOURCE/README.md"
}
{
    code Install | grep tar
    code 'No GPU?'
} >lines
equal "lines" 4 "$(wc -l <lines)"
# shellcheck disable=SC2016 # for that shell
{
    printf 'set -e\nexport PATH=$PATH:%q\n' "$(dirname "$nvcc")"
    sed 's/$/\necho "$(date +%s%N)" >>ended/' lines
} >typed
# The best of three: other processes may take most of the machine, and gmtrace does not wait for its answer for long.
for try in 1 2 3; do
    rm -f ended
    begin=$(date +%s%N)
    XDG_CACHE_HOME=$work/cache$try bash typed >out 2>err || fail "of README.md: $(tail -n 3 err)"
    mapfile -t times <ended
    equal "commands that ended" 4 "${#times[@]}"
    if grep -qE '^gmtrace: +1\. ' err && [ $((times[2] - begin)) -le $((limit_s * 1000000000)) ]; then
        break
    fi
done
grep -qx cudaSuccess out || fail "the program's results are wrong"
# By gmtrace, without another command; and by gmanalyze.
grep -qE '^gmtrace: +1\. ' err || fail "gmtrace names no fix"
grep -qE '^gmtrace: +app\.cu:[0-9]+ · .* on an NVIDIA H200 about [0-9]' err || fail "gmtrace names no line with a gain"
copy=$(grep -n cudaMemcpy app.cu | cut -d: -f1)
grep -qE "^ +[0-9] .* app\.cu:$copy +saves about " out || fail "gmanalyze does not name the copy"
for i in 0 1 2 3; do
    times[i]=$(((times[i] - begin) / 1000000))
    printf '%6d ms  %s\n' "${times[i]}" "$(sed -n "$((i + 1))p" lines)"
done
[ "${times[2]}" -le $((limit_s * 1000)) ] || fail "the first finding took more than $limit_s s"
