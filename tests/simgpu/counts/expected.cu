/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of access on the software device: the counts of expected.def, exactly. */
#include "device_counts.h"

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <functional>

#define WARPS 64
#define THREADS (WARPS * 32)
#define BUFFER_BYTES ((size_t)4 << 20)

enum { BROADCAST, REVERSED, PERMUTED, HALF, ONE, PAIRS };

static char *source, *target;

/* ---- global memory ------------------------------------------------------------------------------ */

template <class T> static __global__ void k_gather(const T *in, T *out, unsigned stride)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = in[i * stride];
}

static __global__ void k_scatter(float *out, unsigned stride)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i * stride] = (float)i;
}

template <unsigned bytes> struct record {
    float first, rest[bytes / 4 - 1];
};

template <unsigned bytes> static __global__ void k_field(const record<bytes> *in, float *out)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = in[i].first;
}

/* A row per block, without the last warp where it is not full. */
static __global__ void k_rows(const float *in, float *out, unsigned width)
{
    for (unsigned x = threadIdx.x; x < width / 32 * 32; x += blockDim.x) {
        out[blockIdx.x * blockDim.x + threadIdx.x] = in[(size_t)blockIdx.x * width + x];
    }
}

static __global__ void k_pattern(const float *in, float *out, int which)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, first = i - lane;
    unsigned at = first + (which == BROADCAST  ? 0
                           : which == REVERSED ? 31 - lane
                           : which == PERMUTED ? lane * 13 % 32
                           : which == PAIRS    ? lane / 2
                                               : lane);

    if ((which == HALF && lane >= 16) || (which == ONE && lane != 5)) {
        return;
    }
    out[i] = in[at];
}

template <class T> static void gather(unsigned stride, unsigned offset)
{
    k_gather<<<WARPS / 8, 256>>>((const T *)source + offset, (T *)target, stride);
}

static void scatter(unsigned stride, unsigned offset)
{
    k_scatter<<<WARPS / 8, 256>>>((float *)target + offset, stride);
}

template <unsigned bytes> static void field()
{
    k_field<<<WARPS / 8, 256>>>((const record<bytes> *)source, (float *)target);
}

/* A multiple of 8 rows: then every offset within a sector comes equally often. */
static void rows(unsigned width)
{
    k_rows<<<48, 128>>>((const float *)source, (float *)target, width);
}

static void pattern(int which)
{
    k_pattern<<<WARPS / 8, 256>>>((const float *)source, (float *)target, which);
}

static void column(unsigned width)
{
    k_gather<<<WARPS / 2, 64>>>((const float *)source, (float *)target, width);
}

/* ---- shared memory ------------------------------------------------------------------------------ */

static __global__ void k_words(float *out, unsigned stride)
{
    __shared__ volatile float words[32 * 33];

    for (unsigned i = threadIdx.x; i < 32 * 33; i += 32) {
        words[i] = (float)i;
    }
    __syncthreads();
    out[threadIdx.x] = words[threadIdx.x * stride];
}

template <class T> static __global__ void k_vectors(T *out, unsigned one)
{
    __shared__ T items[33];

    items[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = items[threadIdx.x * one]; /* the compiler does not know its own value */
}

template <unsigned row> static __global__ void k_tile(float *out)
{
    __shared__ float tile[32][row];

    for (unsigned y = 0; y < 32; y++) {
        tile[y][threadIdx.x] = (float)y;
    }
    __syncthreads();
    for (unsigned x = 0; x < 32; x++) {
        out[x * 32 + threadIdx.x] = tile[threadIdx.x][x];
    }
}

static void words(unsigned stride)
{
    k_words<<<1, 32>>>((float *)target, stride);
}

template <class T> static void vectors()
{
    k_vectors<<<1, 32>>>((T *)target, 1);
}

template <unsigned row> static void tile()
{
    k_tile<row><<<1, 32>>>((float *)target);
}

/* ---- the tables --------------------------------------------------------------------------------- */

struct global_row {
    const char *name;
    enum sim_inst_kind kind;
    std::function<void()> launch;
    double sectors, efficiency, lines;
};

struct shared_row {
    const char *name;
    std::function<void()> launch;
    double wavefronts, ideal;
    unsigned ways;
};

static const global_row global_rows[] = {
#define LOAD SIM_INST_GLOBAL_LOAD
#define STORE SIM_INST_GLOBAL_STORE
#define GLOBAL(name, kind, call, sectors, efficiency, lines) \
    {name, kind, [] { call; }, sectors, efficiency, lines},
#define SHARED(...)
#include "expected.def"
#undef GLOBAL
#undef SHARED
};

static const shared_row shared_rows[] = {
#define GLOBAL(...)
#define SHARED(name, call, wavefronts, ideal, ways) {name, [] { call; }, wavefronts, ideal, ways},
#include "expected.def"
#undef GLOBAL
#undef SHARED
};

static bool launched(const char *name, const std::function<void()> &launch, device_counts *counts)
{
    cudaError_t status;

    launch();
    status = cudaGetLastError();
    if (status == cudaSuccess) {
        status = cudaDeviceSynchronize();
    }
    if (status == cudaSuccess && device_counts_take(counts) == 0) {
        return true;
    }
    printf("%s: %s\n", name, status != cudaSuccess ? cudaGetErrorString(status) : "no counts");
    return false;
}

/* Exactly: per request times requests, without a division. */
static bool exactly(uint64_t got, uint64_t requests, double per_request)
{
    return per_request < 0 || (requests > 0 && (double)got == per_request * (double)requests);
}

static bool check_global(const global_row &row)
{
    device_counts counts;

    if (!launched(row.name, row.launch, &counts)) {
        return false;
    }
    const sim_inst_counts &site = counts.kind[row.kind];
    double requests = (double)site.requests;
    double efficiency = 100 * (double)site.bytes / (32 * (double)site.sectors);
    bool ok = exactly(site.sectors, site.requests, row.sectors) &&
              exactly(site.lines, site.requests, row.lines) &&
              (row.efficiency == 0 || std::fabs(efficiency - row.efficiency) < 0.05);

    printf("%-6s %-24s %8.3f sectors (%g), %6.2f %% efficient (%g), %6.3f lines%s\n",
           row.kind == SIM_INST_GLOBAL_LOAD ? "load" : "store", row.name,
           (double)site.sectors / requests, row.sectors, efficiency, row.efficiency,
           (double)site.lines / requests, ok ? "" : "  WRONG");
    return ok;
}

static bool check_shared(const shared_row &row)
{
    device_counts counts;

    if (!launched(row.name, row.launch, &counts)) {
        return false;
    }
    const sim_inst_counts &site = counts.kind[SIM_INST_SHARED_LOAD];
    bool ok = exactly(site.wavefronts, site.requests, row.wavefronts) &&
              exactly(site.ideal_wavefronts, site.requests, row.ideal) &&
              site.max_degree == row.ways;

    printf("shared %-24s %8.3f wavefronts (%g), %g ideal, %u-way%s\n", row.name,
           (double)site.wavefronts / (double)site.requests, row.wavefronts,
           (double)site.ideal_wavefronts / (double)site.requests, site.max_degree,
           ok ? "" : "  WRONG");
    return ok;
}

int main()
{
    unsigned wrong = 0, rows_checked = 0;

    if (cudaMalloc((void **)&source, BUFFER_BYTES) != cudaSuccess ||
        cudaMalloc((void **)&target, BUFFER_BYTES) != cudaSuccess ||
        cudaMemset(source, 0, BUFFER_BYTES) != cudaSuccess ||
        cudaMemset(target, 0, BUFFER_BYTES) != cudaSuccess) {
        fputs("expected: no device memory\n", stderr);
        return 1;
    }
    if (device_counts_begin() != 0) {
        fputs("expected: the device in use is not the software device\n", stderr);
        return 1;
    }
    for (const global_row &row : global_rows) {
        wrong += !check_global(row);
        rows_checked++;
    }
    for (const shared_row &row : shared_rows) {
        wrong += !check_shared(row);
        rows_checked++;
    }
    printf("%u of %u rows right\n", rows_checked - wrong, rows_checked);
    return wrong != 0;
}
