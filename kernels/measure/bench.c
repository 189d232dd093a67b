/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the device and measures families of kernels, good and bad variants in turn. */
#include "kernels/measure/bench.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/fit/rawfile.h"
#include "kernels/measure/progress.h"

#define WARM_UP_ROUNDS 3
#define SAMPLES_FULL 21
#define SAMPLES_QUICK 11
#define SAMPLES_LEAST 10
/*
 * Of each process: 45 and 6 passes in all, a third of them full ones (passes.c). Passes of one process
 * differ by 8 % in calls and copies, processes by 2 % (12 of 3 passes each on an H200): a calibration
 * wants passes, and a further process costs as much time as two of the full ones.
 */
#define PASSES_FULL 15
#define PASSES_QUICK 3
#define PROCESSES_FULL 3
#define PROCESSES_QUICK 2
#define BUDGET_FULL_NS 60000000000ull
#define BUDGET_QUICK_NS 10000000000ull
#define HURRY_AFTER_SHARE 0.85
#define WORKING_SET_LEAST ((size_t)16 << 20)
#define WORKING_SET_USUAL ((size_t)256 << 20) /* whatever L2 holds */
#define WORKING_SET_MOST ((size_t)1 << 30)

static const struct gmt_family *const families[] = {
#define GMT_ROW(name) &gmt_family_##name,
    GMT_FAMILIES(GMT_ROW)
#undef GMT_ROW
};

const struct gmt_family *gmt_family_find(const char *name)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (strcmp(families[i]->name, name) == 0)
            return families[i];
    }
    return NULL;
}

int gmt_bench_check(struct gmt_bench *bench, cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return 0;
    /* The call as it stands in the source, without its arguments. */
    snprintf(bench->error, sizeof(bench->error), "%.*s: %s", (int)strcspn(what, "("), what,
             cudaGetErrorString(status));
    cudaGetLastError();
    return -EIO;
}

uint64_t gmt_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void gmt_bench_note(struct gmt_bench *bench, const char *text)
{
    gmt_raw_note(bench->raw, text);
}

unsigned gmt_bench_samples(struct gmt_bench *bench)
{
    double spent_ns = (double)(gmt_now_ns() - bench->began_ns);

    if (!bench->hurried && spent_ns > HURRY_AFTER_SHARE * (double)bench->budget_ns) {
        bench->hurried = true;
        gmt_bench_note(bench, "slow machine: the later measurements have fewer samples");
    }
    return bench->hurried ? SAMPLES_LEAST : bench->sample_count;
}

bool gmt_bench_too_late(const struct gmt_bench *bench, double work_ns)
{
    return (double)(gmt_now_ns() - bench->began_ns) + work_ns > (double)bench->budget_ns;
}

static size_t power_of_two_from(size_t bytes)
{
    size_t power = 1;

    while (power < bytes)
        power *= 2;
    return power;
}

static int allocate_arena(struct gmt_bench *bench)
{
    size_t wanted = power_of_two_from(4 * (size_t)bench->properties.l2CacheSize);
    size_t free_bytes, total_bytes;
    int rc;

    if (wanted < WORKING_SET_USUAL)
        wanted = WORKING_SET_USUAL;
    if (wanted > WORKING_SET_MOST)
        wanted = WORKING_SET_MOST;
    bench->working_set_bytes = wanted;
    GMT_TRY(bench, cudaMemGetInfo(&free_bytes, &total_bytes));
    for (;;) {
        size_t bytes = 2 * bench->working_set_bytes + (size_t)2 * GMT_ARENA_PAD_BYTES;

        /* Half of what is free stays free for whoever else runs. */
        if (bytes <= free_bytes / 2 || bench->working_set_bytes == WORKING_SET_LEAST) {
            rc = gmt_bench_check(bench, cudaMalloc((void **)&bench->arena, bytes), "cudaMalloc");
            if (rc == 0) {
                GMT_TRY(bench, cudaMemset(bench->arena, 0, bytes));
                break;
            }
        }
        if (bench->working_set_bytes == WORKING_SET_LEAST)
            return rc;
        bench->working_set_bytes /= 2;
    }
    if (bench->working_set_bytes < wanted)
        gmt_bench_note(bench, "little free device memory: working sets are smaller than planned");
    if (bench->working_set_bytes < 4 * (size_t)bench->properties.l2CacheSize)
        gmt_bench_note(bench, "working sets are below four times L2: device memory looks faster");
out:
    return rc;
}

/* More processes than usual are an experiment, and have as much more time. */
static void set_extent(struct gmt_bench *bench)
{
    unsigned usual = bench->quick ? PROCESSES_QUICK : PROCESSES_FULL;

    bench->pass_count = bench->quick ? PASSES_QUICK : PASSES_FULL;
    bench->budget_ns = bench->quick ? BUDGET_QUICK_NS : BUDGET_FULL_NS;
    if (bench->process_count == GMT_PROCESSES_USUAL)
        bench->process_count = usual;
    else if (bench->process_count > usual)
        bench->budget_ns = bench->budget_ns / usual * bench->process_count;
    if (bench->process_count == 0)
        bench->pass_count *= usual;
}

int gmt_bench_open(struct gmt_bench *bench, int device)
{
    int rc;

    bench->device = device;
    bench->sample_count = bench->quick ? SAMPLES_QUICK : SAMPLES_FULL;
    set_extent(bench);
    GMT_TRY(bench, cudaSetDevice(device));
    GMT_TRY(bench, cudaGetDeviceProperties(&bench->properties, device));
    bench->sm_count = (unsigned)bench->properties.multiProcessorCount;
    bench->max_warps_per_sm = (unsigned)bench->properties.maxThreadsPerMultiProcessor / 32;
    GMT_TRY(bench, cudaStreamCreateWithFlags(&bench->stream, cudaStreamNonBlocking));
    GMT_TRY(bench, cudaEventCreate(&bench->start));
    GMT_TRY(bench, cudaEventCreate(&bench->stop));
    rc = allocate_arena(bench);
out:
    return rc;
}

void gmt_bench_close(struct gmt_bench *bench)
{
    gmt_bench_release_buffers(bench);
    cudaFree(bench->arena);
    if (bench->stop != NULL)
        cudaEventDestroy(bench->stop);
    if (bench->start != NULL)
        cudaEventDestroy(bench->start);
    if (bench->stream != NULL)
        cudaStreamDestroy(bench->stream);
}

json_t *gmt_work_json(const struct gmt_work *work)
{
    json_t *object = json_object();
    /*
     * The sum is what stands under "sectors"; zero means none, and is left out of the optional
     * ones.
     */
    const struct {
        const char *key;
        double value;
        bool always;
    } rows[] = {
        {"bytes_asked", work->bytes_asked, true},
        {"sectors", work->load_sectors + work->store_sectors, true},
        {"wavefronts", work->wavefronts, true},
        {"load_requests", work->load_requests, false},
        {"load_sectors", work->load_sectors, false},
        {"store_requests", work->store_requests, false},
        {"store_sectors", work->store_sectors, false},
        {"shared_load_requests", work->shared_load_requests, false},
        {"shared_load_bytes", work->shared_load_bytes, false},
        {"ideal_wavefronts", work->ideal_wavefronts, false},
        {"local_load_requests", work->local_load_requests, false},
        {"constant_requests", work->constant_requests, false},
        {"constant_addresses", work->constant_addresses, false},
        {"spilled_words", work->spilled_words, false},
        {"blocks_per_sm", work->blocks_per_sm, false},
        {"warps_per_sm", work->warps_per_sm, false},
        {"dependent_loads", work->dependent_loads, false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].always || rows[i].value > 0)
            json_object_set_new(object, rows[i].key, json_integer(llround(rows[i].value)));
    }
    if (work->occupancy > 0)
        json_object_set_new(object, "occupancy", json_real(work->occupancy));
    return object;
}

static int time_launch(struct gmt_bench *bench, const struct gmt_family *family,
                       const struct gmt_variant *variant, double *elapsed_ns)
{
    unsigned launches = family->launches_timed > 0 ? family->launches_timed : 1;
    float elapsed_ms;
    int rc;

    GMT_TRY(bench, gmt_launch_delay(bench->stream));
    GMT_TRY(bench, cudaEventRecord(bench->start, bench->stream));
    for (unsigned i = 0; i < launches; i++) {
        rc = family->launch(bench, variant);
        if (rc != 0)
            goto out;
    }
    GMT_TRY(bench, cudaEventRecord(bench->stop, bench->stream));
    GMT_TRY(bench, cudaEventSynchronize(bench->stop));
    GMT_TRY(bench, cudaEventElapsedTime(&elapsed_ms, bench->start, bench->stop));
    *elapsed_ns = (double)elapsed_ms * 1e6 / launches;
out:
    return rc;
}

/*
 * One row of raw results per variant that this device can run, in the order of the table. They are
 * there already in all passes but the first.
 */
static int collect_rows(struct gmt_bench *bench, const struct gmt_family *family, json_t *rows,
                        const struct gmt_variant **variants, size_t *count)
{
    bool are_there = json_array_size(rows) > 0;

    for (size_t i = 0; i < gmt_variant_count; i++) {
        const struct gmt_variant *variant = &gmt_variants[i];
        struct gmt_work work = {.bytes_asked = 0};

        if (strcmp(variant->family, family->name) != 0)
            continue;
        int rc = family->work(bench, variant, &work);
        if (rc == -ENOTSUP)
            continue;
        if (rc != 0)
            return rc;
        variants[(*count)++] = variant;
        if (are_there)
            continue;
        json_t *row = json_object();
        json_object_set_new(row, "variant", json_string(variant->name));
        json_object_set_new(row, "parameter", json_integer((json_int_t)variant->parameter));
        json_object_set_new(row, "work", gmt_work_json(&work));
        json_object_set_new(row, "samples_ns", json_array());
        json_array_append_new(rows, row);
    }
    return 0;
}

static int measure_round(struct gmt_bench *bench, const struct gmt_family *family,
                         const struct gmt_variant *const *variants, json_t *rows, bool keep)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        double elapsed_ns = 0;

        rc = time_launch(bench, family, variants[i], &elapsed_ns);
        if (rc != 0 || !keep)
            continue;
        gmt_raw_sample(row, "samples_ns", elapsed_ns);
        if (family->host_bound)
            gmt_raw_pass(row, bench->pass);
    }
    return rc;
}

int gmt_bench_family(struct gmt_bench *bench, const struct gmt_family *family)
{
    json_t *rows = gmt_raw_array(gmt_raw_object(bench->raw, "families"), family->name);
    /* An array of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
    const struct gmt_variant **variants = calloc(gmt_variant_count, sizeof(*variants));
    struct gmt_turns turns = gmt_bench_turns(bench, 0);
    unsigned rounds = WARM_UP_ROUNDS + gmt_bench_samples(bench);
    size_t count = 0;
    int rc = -ENOMEM;

    if (variants == NULL)
        goto out;
    rc = family->prepare != NULL ? family->prepare(bench) : 0;
    if (rc == 0)
        rc = collect_rows(bench, family, rows, variants, &count);
    if (family->host_bound) {
        while (rc == 0 && gmt_turns_next(&turns, gmt_now_ns()))
            rc = measure_round(bench, family, variants, rows, turns.counts);
        gmt_progress_add(bench->progress, 1.0 / bench->pass_count, family->name);
        goto out;
    }
    for (unsigned round = 0; rc == 0 && round < rounds; round++) {
        rc = measure_round(bench, family, variants, rows, round >= WARM_UP_ROUNDS);
        gmt_progress_add(bench->progress, 1.0 / rounds, family->name);
    }
out:
    free(variants);
    return rc;
}
