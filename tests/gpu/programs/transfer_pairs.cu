/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers and allocations done badly and well, timed: transfer_pairs list | PAIR [--]bad|good|both
 *
 * Prints one line of JSON for each twin: the time of each repetition on the host's clock, from an
 * idle device to an idle device, and of what the good one sets up beforehand. Both twins of a pair
 * leave the same bytes in the same place. `both` runs them in turns, so that what slows the machine
 * for a while slows the one as much as the other.
 */
#include "check.cuh"

#include <string.h>
#include <time.h>

#define REPETITIONS 40

struct pair_state {
    char *device, *host, *pinned;
    size_t device_bytes, host_bytes;
    double setup_ns; /* page-locking, or filling a pool */
};

struct pair_row {
    const char *name;
    size_t host_bytes, device_bytes;
    bool pins; /* the good one works on page-locked memory */
    void (*bad)(pair_state *state);
    void (*good)(pair_state *state);
};

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/* ---- many small copies against one ---- */

#define PIECES 256
#define PIECE_BYTES 1024

static void pieces_up(pair_state *state)
{
    for (size_t i = 0; i < PIECES; i++)
        CHECK(cudaMemcpy(state->device + i * PIECE_BYTES, state->host + i * PIECE_BYTES,
                         PIECE_BYTES, cudaMemcpyHostToDevice)); // GM101
}

static void gathered_up(pair_state *state)
{
    char *staging = state->host + PIECES * PIECE_BYTES;

    for (size_t i = 0; i < PIECES; i++)
        memcpy(staging + i * PIECE_BYTES, state->host + i * PIECE_BYTES, PIECE_BYTES);
    CHECK(cudaMemcpy(state->device, staging, PIECES * PIECE_BYTES, cudaMemcpyHostToDevice));
}

static void pieces_down(pair_state *state)
{
    for (size_t i = 0; i < PIECES; i++)
        CHECK(cudaMemcpy(state->host + i * PIECE_BYTES, state->device + i * PIECE_BYTES,
                         PIECE_BYTES, cudaMemcpyDeviceToHost));
}

static void scattered_down(pair_state *state)
{
    char *staging = state->host + PIECES * PIECE_BYTES;

    CHECK(cudaMemcpy(staging, state->device, PIECES * PIECE_BYTES, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < PIECES; i++)
        memcpy(state->host + i * PIECE_BYTES, staging + i * PIECE_BYTES, PIECE_BYTES);
}

/* ---- row by row against one 2-D copy ---- */

#define ROWS 512
#define ROW_BYTES 4000
#define PITCH_BYTES 4096

static void rows_up(pair_state *state)
{
    for (size_t i = 0; i < ROWS; i++)
        CHECK(cudaMemcpy(state->device + i * PITCH_BYTES, state->host + i * ROW_BYTES, ROW_BYTES,
                         cudaMemcpyHostToDevice)); // GM104
}

static void plane_up(pair_state *state)
{
    CHECK(cudaMemcpy2D(state->device, PITCH_BYTES, state->host, ROW_BYTES, ROW_BYTES, ROWS,
                       cudaMemcpyHostToDevice));
}

static void rows_down(pair_state *state)
{
    for (size_t i = 0; i < ROWS; i++)
        CHECK(cudaMemcpy(state->host + i * ROW_BYTES, state->device + i * PITCH_BYTES, ROW_BYTES,
                         cudaMemcpyDeviceToHost));
}

static void plane_down(pair_state *state)
{
    CHECK(cudaMemcpy2D(state->host, ROW_BYTES, state->device, PITCH_BYTES, ROW_BYTES, ROWS,
                       cudaMemcpyDeviceToHost));
}

/* ---- pageable against page-locked ---- */

#define LARGE_BYTES ((size_t)64 << 20)

static void pageable_up(pair_state *state)
{
    CHECK(cudaMemcpy(state->device, state->host, LARGE_BYTES, cudaMemcpyHostToDevice)); // GM102
}

static void pinned_up(pair_state *state)
{
    CHECK(cudaMemcpy(state->device, state->pinned, LARGE_BYTES, cudaMemcpyHostToDevice));
}

static void pageable_down(pair_state *state)
{
    CHECK(cudaMemcpy(state->host, state->device, LARGE_BYTES, cudaMemcpyDeviceToHost));
}

static void pinned_down(pair_state *state)
{
    CHECK(cudaMemcpy(state->pinned, state->device, LARGE_BYTES, cudaMemcpyDeviceToHost));
}

/* ---- allocation in the loop against a pool ---- */

#define BUFFER_BYTES ((size_t)16 << 20)
#define BUFFERS 4

static void churn(pair_state *)
{
    for (int i = 0; i < BUFFERS; i++) {
        void *buffer = nullptr;

        CHECK(cudaMalloc(&buffer, BUFFER_BYTES)); // GM201
        CHECK(cudaMemsetAsync(buffer, 1, BUFFER_BYTES, nullptr));
        CHECK(cudaFree(buffer));
    }
}

static void pooled(pair_state *state)
{
    if (state->setup_ns == 0) {
        cudaMemPool_t pool;
        unsigned long long keep = ~0ull;

        state->setup_ns = 1;
        CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
        CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    }
    for (int i = 0; i < BUFFERS; i++) {
        void *buffer = nullptr;

        CHECK(cudaMallocAsync(&buffer, BUFFER_BYTES, nullptr));
        CHECK(cudaMemsetAsync(buffer, 1, BUFFER_BYTES, nullptr));
        CHECK(cudaFreeAsync(buffer, nullptr));
    }
}

/* One buffer, allocated in the first repetition. */
static void kept(pair_state *state)
{
    if (state->device == nullptr)
        CHECK(cudaMalloc(&state->device, BUFFER_BYTES));
    for (int i = 0; i < BUFFERS; i++)
        CHECK(cudaMemsetAsync(state->device, 1, BUFFER_BYTES, nullptr));
}

static const pair_row pairs[] = {
    {"small_up", 2 * PIECES *PIECE_BYTES, PIECES *PIECE_BYTES, false, pieces_up, gathered_up},
    {"small_down", 2 * PIECES *PIECE_BYTES, PIECES *PIECE_BYTES, false, pieces_down,
     scattered_down},
    {"rows_up", ROWS *ROW_BYTES, ROWS *PITCH_BYTES, false, rows_up, plane_up},
    {"rows_down", ROWS *ROW_BYTES, ROWS *PITCH_BYTES, false, rows_down, plane_down},
    {"pageable_up", LARGE_BYTES, LARGE_BYTES, true, pageable_up, pinned_up},
    {"pageable_down", LARGE_BYTES, LARGE_BYTES, true, pageable_down, pinned_down},
    {"churn", 0, 0, false, churn, pooled},
    {"churn_once", 0, 0, false, churn, kept},
};

static void set_up(const pair_row *row, bool good, pair_state *state)
{
    CHECK(cudaFree(nullptr));
    if (row->device_bytes > 0) {
        CHECK(cudaMalloc(&state->device, row->device_bytes));
        CHECK(cudaMemset(state->device, 1, row->device_bytes));
    }
    if (row->host_bytes > 0) {
        state->host = static_cast<char *>(malloc(row->host_bytes));
        if (state->host == nullptr)
            exit(1);
        memset(state->host, 1, row->host_bytes);
    }
    /* What the rule says to do with a buffer that is there already. */
    if (good && row->pins) {
        const double began = now_ns();

        CHECK(cudaHostRegister(state->host, row->host_bytes, cudaHostRegisterDefault));
        state->setup_ns = now_ns() - began;
        state->pinned = state->host;
    }
    CHECK(cudaDeviceSynchronize());
}

/* Each repetition has data of its own, up to the last kilobyte: only what changes is worth a copy. */
static void change(const pair_row *row, pair_state *state, int repetition)
{
    for (size_t at = 0; at < row->host_bytes; at += 1024)
        state->host[at] = static_cast<char>(repetition + 2);
}

static double time_once(const pair_row *row, bool good, pair_state *state)
{
    const double began = now_ns();

    (good ? row->good : row->bad)(state);
    CHECK(cudaDeviceSynchronize());
    return now_ns() - began;
}

static void print(const pair_row *row, bool good, const pair_state &state, const double *samples)
{
    printf("{\"pair\": \"%s\", \"twin\": \"%s\", \"setup_ns\": %.0f, \"samples_ns\": [", row->name,
           good ? "good" : "bad", state.setup_ns);
    for (int i = 0; i < REPETITIONS; i++)
        printf("%s%.0f", i > 0 ? ", " : "", samples[i]);
    printf("]}\n");
}

/* wanted: the bad twin, the good one. */
static void run(const pair_row *row, const bool (&wanted)[2])
{
    pair_state states[2] = {};
    double samples[2][REPETITIONS];

    for (int twin = 0; twin < 2; twin++) {
        if (wanted[twin])
            set_up(row, twin == 1, &states[twin]);
    }
    for (int i = 0; i < REPETITIONS; i++) {
        for (int twin = 0; twin < 2; twin++) {
            if (!wanted[twin])
                continue;
            change(row, &states[twin], i);
            samples[twin][i] = time_once(row, twin == 1, &states[twin]);
        }
    }
    for (int twin = 0; twin < 2; twin++) {
        if (wanted[twin])
            print(row, twin == 1, states[twin], samples[twin]);
        CHECK(cudaFree(states[twin].device));
        if (states[twin].pinned != nullptr)
            CHECK(cudaHostUnregister(states[twin].pinned));
        free(states[twin].host);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool wanted[2];
    } twins[] = {{"bad", {true, false}}, {"good", {false, true}}, {"both", {true, true}}};

    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (const pair_row &row : pairs)
            printf("%s\n", row.name);
        return 0;
    }
    for (const pair_row &row : pairs) {
        for (const auto &twin : twins) {
            if (argc == 3 && strcmp(argv[1], row.name) == 0 &&
                strcmp(argv[2] + strspn(argv[2], "-"), twin.name) == 0) {
                run(&row, twin.wanted);
                return 0;
            }
        }
    }
    fprintf(stderr, "usage: transfer_pairs list | PAIR bad|good|both\n");
    return 2;
}
