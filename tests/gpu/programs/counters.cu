/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels with known counter values: `counters NAME [launches]`, `counters all`, `counters --list`.
 *
 * Every memory access is inline PTX, so that its width and its number are what the table says.
 * All global kernels read (or write) ITERATIONS words per thread from a buffer larger than L2.
 */

#include "check.cuh"

#include <stdint.h>
#include <string.h>

enum {
    THREADS = 256,
    BLOCKS = 16384, /* 15.5 waves of eight blocks on 132 multiprocessors */
    ITERATIONS = 8,
    SHARED_ITERATIONS = 32,
    SPILLED_VALUES = 48,
    LOCAL_WORDS = 32,
    LOW_OCCUPANCY_THREADS = 64,
    LOW_OCCUPANCY_SHARED_BYTES = 48 * 1024, /* 4 blocks of 2 warps where 228 KiB are available */
};
static constexpr uint32_t WORDS =
    1u << 26; /* 256 MiB of floats, a power of two so that indices wrap */
static constexpr uint32_t SLACK_WORDS = 1024;
static constexpr float NEVER = 1.5e33f; /* no sum of zeros */

static __device__ inline float load_f32(const float *address)
{
    float value;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(address) : "memory");
    return value;
}

static __device__ inline float load_f64(const float *address)
{
    double value;
    asm volatile("ld.global.f64 %0, [%1];" : "=d"(value) : "l"(address) : "memory");
    return static_cast<float>(value);
}

static __device__ inline float load_f128(const float *address)
{
    float a, b, c, d;
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(address)
                 : "memory");
    return (a + b) + (c + d);
}

static __device__ inline void store_f32(float *address, float value)
{
    asm volatile("st.global.f32 [%0], %1;" : : "l"(address), "f"(value) : "memory");
}

static __device__ inline uint32_t lane()
{
    return threadIdx.x % 32;
}

static __device__ inline uint32_t thread_index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* The running number of a word that a thread touches in one iteration, wrapped into the buffer. */
static __device__ inline uint32_t word(uint32_t iteration, uint32_t stride)
{
    return (iteration * gridDim.x * blockDim.x + thread_index()) * stride % WORDS;
}

static __device__ inline void keep(float sum, float *out)
{
    if (sum == NEVER)
        *out = sum;
}

template <uint32_t STRIDE, uint32_t OFFSET>
static __device__ inline void read_f32(const float *data, float *out)
{
    float sum = 0.0f;
#pragma unroll 1
    for (uint32_t i = 0; i < ITERATIONS; i++)
        sum += load_f32(data + word(i, STRIDE) + OFFSET);
    keep(sum, out);
}

/* clang-format off */
__global__ void k_coalesced_f32(float *data, float *out) { read_f32<1, 0>(data, out); }
__global__ void k_offset_1(float *data, float *out) { read_f32<1, 1>(data, out); }
__global__ void k_stride_2(float *data, float *out) { read_f32<2, 0>(data, out); }
__global__ void k_stride_4(float *data, float *out) { read_f32<4, 0>(data, out); }
__global__ void k_stride_8(float *data, float *out) { read_f32<8, 0>(data, out); }
__global__ void k_stride_32(float *data, float *out) { read_f32<32, 0>(data, out); }
/* clang-format on */

__global__ void k_coalesced_f128(float *data, float *out)
{
    float sum = 0.0f;
#pragma unroll 1
    for (uint32_t i = 0; i < ITERATIONS; i++)
        sum += load_f128(data + word(i, 4));
    keep(sum, out);
}

__global__ void k_load_f64(float *data, float *out)
{
    float sum = 0.0f;
#pragma unroll 1
    for (uint32_t i = 0; i < ITERATIONS; i++)
        sum += load_f64(data + word(i, 2));
    keep(sum, out);
}

/*
 * One float of a struct of three: thread n reads word 3 n. A warp spans 384 bytes and starts on a
 * sector, also where the index wraps.
 */
__global__ void k_struct_12(float *data, float *out)
{
    float sum = 0.0f;
#pragma unroll 1
    for (uint32_t i = 0; i < ITERATIONS; i++)
        sum += load_f32(data + (word(i, 1) - lane()) * 3 % WORDS + lane() * 3);
    keep(sum, out);
}

/* Each warp reads the start of another row of 1001 floats: one row in eight starts on a sector. */
__global__ void k_row_1001(float *data, float *out)
{
    float sum = 0.0f;
#pragma unroll 1
    for (uint32_t i = 0; i < ITERATIONS; i++)
        sum += load_f32(data + word(i, 1) / 32 * 1001 % WORDS + lane());
    keep(sum, out);
}

__global__ void k_reversed(float *data, float *out)
{
    float sum = 0.0f;
#pragma unroll 1
    for (uint32_t i = 0; i < ITERATIONS; i++)
        sum += load_f32(data + (word(i, 1) ^ 31));
    keep(sum, out);
}

__global__ void k_broadcast(float *data, float *out)
{
    float sum = 0.0f;
#pragma unroll 1
    for (uint32_t i = 0; i < ITERATIONS; i++)
        sum += load_f32(data + (word(i, 1) - lane()));
    keep(sum, out);
}

__global__ void k_half_warp(float *data, float *out)
{
    float sum = 0.0f;
    if (lane() >= 16)
        return;
#pragma unroll 1
    for (uint32_t i = 0; i < ITERATIONS; i++)
        sum += load_f32(data + word(i, 1));
    keep(sum, out);
}

template <uint32_t STRIDE> static __device__ inline void write_f32(float *data)
{
#pragma unroll 1
    for (uint32_t i = 0; i < ITERATIONS; i++)
        store_f32(data + word(i, STRIDE), 0.0f);
}

/* clang-format off */
__global__ void k_store_coalesced(float *data, float *) { write_f32<1>(data); }
__global__ void k_store_stride_8(float *data, float *) { write_f32<8>(data); }
/* clang-format on */

/* Coalesced loads, but launched with so much shared memory that few warps are resident. */
__global__ void k_low_occupancy(float *data, float *out)
{
    read_f32<1, 0>(data, out);
}

/*
 * 48 values are live at once and 32 registers allowed. Volatile loads keep their order, and the
 * sum, which takes the first one last, cannot be reassociated.
 */
__global__ void __maxnreg__(32) k_spill(float *data, float *out)
{
    float values[SPILLED_VALUES];
#pragma unroll
    for (uint32_t i = 0; i < SPILLED_VALUES; i++)
        asm volatile("ld.volatile.global.f32 %0, [%1];"
                     : "=f"(values[i])
                     : "l"(data + word(0, 1) + 32 * i)
                     : "memory");
    float sum = 0.0f;
#pragma unroll
    for (uint32_t i = SPILLED_VALUES; i-- > 0;)
        sum = sum * 0.5f + values[i];
    keep(sum, out);
}

/*
 * A dynamically indexed array: LOCAL_WORDS stores and as many loads per thread. With SPREAD = 0 the
 * lanes use the same index, which local memory lays side by side; with 1 each uses another one.
 */
template <uint32_t SPREAD> static __device__ inline void local_array(const float *data, float *out)
{
    float values[LOCAL_WORDS];
    const float first = load_f32(data + word(0, 1));
    const uint32_t shift = static_cast<uint32_t>(first); /* 0, but the compiler cannot know */
    float sum = 0.0f;
#pragma unroll 1
    for (uint32_t i = 0; i < LOCAL_WORDS; i++)
        values[(i + shift + SPREAD * lane()) % LOCAL_WORDS] = first + static_cast<float>(i);
#pragma unroll 1
    for (uint32_t i = 0; i < LOCAL_WORDS; i++)
        sum += values[(i * 7 + shift + SPREAD * lane()) % LOCAL_WORDS];
    keep(sum, out);
}

/* clang-format off */
__global__ void k_local_array(float *data, float *out) { local_array<0>(data, out); }
__global__ void k_local_divergent(float *data, float *out) { local_array<1>(data, out); }
/* clang-format on */

enum { SHARED_WORDS = 32 * 33 };

static __device__ inline uint32_t shared_address(const void *pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

static __device__ inline uint32_t filled_tile()
{
    __shared__ alignas(16) float tile[SHARED_WORDS];
    const uint32_t base = shared_address(tile);
    for (uint32_t i = threadIdx.x; i < SHARED_WORDS; i += THREADS)
        asm volatile("st.shared.f32 [%0], %1;" : : "r"(base + 4 * i), "f"(0.0f) : "memory");
    __syncthreads();
    return base;
}

static __device__ inline float load_shared_f32(uint32_t address)
{
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
    return value;
}

template <uint32_t STRIDE> static __device__ inline void read_shared(float *out)
{
    const uint32_t base = filled_tile();
    float sum = 0.0f;
#pragma unroll 1
    for (uint32_t i = 0; i < SHARED_ITERATIONS; i++)
        sum += load_shared_f32(base + 4 * ((lane() * STRIDE + i) % 1024));
    keep(sum, out);
}

/* clang-format off */
__global__ void k_shared_stride_1(float *, float *out) { read_shared<1>(out); }
__global__ void k_shared_stride_2(float *, float *out) { read_shared<2>(out); }
__global__ void k_shared_stride_8(float *, float *out) { read_shared<8>(out); }
__global__ void k_shared_stride_32(float *, float *out) { read_shared<32>(out); }
__global__ void k_shared_stride_33(float *, float *out) { read_shared<33>(out); }
__global__ void k_shared_broadcast(float *, float *out) { read_shared<0>(out); }
/* clang-format on */

__global__ void k_shared_f64(float *, float *out)
{
    const uint32_t base = filled_tile();
    double sum = 0.0;
#pragma unroll 1
    for (uint32_t i = 0; i < SHARED_ITERATIONS; i++) {
        double value;
        asm volatile("ld.shared.f64 %0, [%1];"
                     : "=d"(value)
                     : "r"(base + 8 * ((lane() + 32 * i) % 512))
                     : "memory");
        sum += value;
    }
    keep(static_cast<float>(sum), out);
}

__global__ void k_shared_f128(float *, float *out)
{
    const uint32_t base = filled_tile();
    float sum = 0.0f;
#pragma unroll 1
    for (uint32_t i = 0; i < SHARED_ITERATIONS; i++) {
        float a, b, c, d;
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                     : "r"(base + 16 * ((lane() + 32 * i) % 256))
                     : "memory");
        sum += (a + b) + (c + d);
    }
    keep(sum, out);
}

typedef void kernel(float *, float *);

struct variant {
    const char *name;
    kernel *entry;
    unsigned threads;
    unsigned shared_bytes;      /* dynamic */
    const char *load_sectors;   /* per global load request; "-": none */
    const char *load_percent;   /* bytes asked / (32 x sectors) */
    const char *store_sectors;  /* per global store request */
    const char *shared_n_way;   /* load wavefronts / ideal for the width */
    const char *shared_waves;   /* load wavefronts per request */
    const char *local_requests; /* loads + stores per warp; "some": the compiler decides */
    const char *comment;
};

/* clang-format off */
#define ROW(name, ...) {#name, name, THREADS, 0, __VA_ARGS__}
/* clang-format on */

static const variant variants[] = {
    ROW(k_coalesced_f32, "4", "100", "-", "-", "-", "0", "32 lanes x 4 bytes"),
    ROW(k_coalesced_f128, "16", "100", "-", "-", "-", "0", "32 lanes x 16 bytes, no finding"),
    ROW(k_load_f64, "8", "100", "-", "-", "-", "0", "32 lanes x 8 bytes"),
    ROW(k_offset_1, "5", "80", "-", "-", "-", "0", "misaligned by one float"),
    ROW(k_stride_2, "8", "50", "-", "-", "-", "0", "every second float"),
    ROW(k_stride_4, "16", "25", "-", "-", "-", "0", "sectors as k_coalesced_f128, bytes not"),
    ROW(k_stride_8, "32", "12.5", "-", "-", "-", "0", "one float per sector"),
    ROW(k_stride_32, "32", "12.5", "-", "-", "-", "0", "one float per 128-byte line"),
    ROW(k_struct_12, "12", "33.3333", "-", "-", "-", "0", "one float of a 12-byte struct"),
    ROW(k_row_1001, "4.875", "82.0513", "-", "-", "-", "0", "starts of unpitched rows"),
    ROW(k_reversed, "4", "100", "-", "-", "-", "0", "lanes backwards, no finding"),
    ROW(k_broadcast, "1", "400", "-", "-", "-", "0", "all lanes one word, no finding"),
    ROW(k_half_warp, "2", "100", "-", "-", "-", "0", "16 active lanes, no access finding"),
    ROW(k_store_coalesced, "-", "-", "4", "-", "-", "0", "store efficiency 100 %"),
    ROW(k_store_stride_8, "-", "-", "32", "-", "-", "0", "store efficiency 12.5 %"),
    ROW(k_shared_stride_1, "-", "-", "-", "1", "1", "0", "no conflict"),
    ROW(k_shared_stride_2, "-", "-", "-", "2", "2", "0", "2-way"),
    ROW(k_shared_stride_8, "-", "-", "-", "8", "8", "0", "8-way"),
    ROW(k_shared_stride_32, "-", "-", "-", "32", "32", "0", "a column of a 32 x 32 tile"),
    ROW(k_shared_stride_33, "-", "-", "-", "1", "1", "0", "a column of a 32 x 33 tile"),
    ROW(k_shared_broadcast, "-", "-", "-", "1", "1", "0", "all lanes one word"),
    ROW(k_shared_f64, "-", "-", "-", "1", "2", "0", "8-byte loads, no conflict"),
    ROW(k_shared_f128, "-", "-", "-", "1", "4", "0", "16-byte loads, no conflict"),
    {"k_low_occupancy", k_low_occupancy, LOW_OCCUPANCY_THREADS, LOW_OCCUPANCY_SHARED_BYTES, "4",
     "100", "-", "-", "-", "0", "theoretical occupancy 12.5 % with 228 KiB shared memory"},
    ROW(k_spill, "4", "100", "-", "-", "-", "some", "48 live values in 32 registers"),
    ROW(k_local_array, "4", "100", "-", "-", "-", "64", "4 sectors per local request"),
    ROW(k_local_divergent, "4", "100", "-", "-", "-", "64", "32 sectors per local request"),
};

static void print_list()
{
    printf("# %-20s %12s %12s %13s %12s %12s %14s  %s\n", "name", "load_sectors", "load_percent",
           "store_sectors", "shared_n_way", "shared_waves", "local_requests", "comment");
    for (const variant &v : variants)
        printf("%-22s %12s %12s %13s %12s %12s %14s  %s\n", v.name, v.load_sectors, v.load_percent,
               v.store_sectors, v.shared_n_way, v.shared_waves, v.local_requests, v.comment);
}

static void launch(const variant &v, float *data, float *out)
{
    v.entry<<<BLOCKS, v.threads, v.shared_bytes>>>(data, out);
    CHECK(cudaGetLastError());
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: counters NAME|all [launches] | counters --list\n");
        return 2;
    }
    if (strcmp(argv[1], "--list") == 0) {
        print_list();
        return 0;
    }
    const bool all = strcmp(argv[1], "all") == 0;
    const long launches = argc == 3 ? parse_number(argv[2], 1, 1000000) : 8;
    bool known = all;
    for (const variant &v : variants)
        known = known || strcmp(argv[1], v.name) == 0;
    if (!known) {
        fprintf(stderr, "counters: no kernel '%s' (--list names them)\n", argv[1]);
        return 2;
    }

    float *data = nullptr;
    const size_t bytes = sizeof(float) * (static_cast<size_t>(WORDS) + SLACK_WORDS);
    CHECK(cudaMalloc(&data, bytes + sizeof(float)));
    CHECK(cudaMemset(data, 0, bytes + sizeof(float)));
    float *out = data + WORDS + SLACK_WORDS;
    /* In rounds, as a program with a main loop does it. */
    for (long round = 0; round < launches; round++) {
        for (const variant &v : variants)
            if (all || strcmp(argv[1], v.name) == 0)
                launch(v, data, out);
        CHECK(cudaDeviceSynchronize());
    }
    for (const variant &v : variants)
        if (all || strcmp(argv[1], v.name) == 0)
            printf("%s launches %ld\n", v.name, launches);
    CHECK(cudaFree(data));
    return 0;
}
