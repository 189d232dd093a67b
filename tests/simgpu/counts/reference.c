/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference [COUNTERS]: launches every reference kernel of kernels/ on the software device, as
 * gmcalibrate launches it but on a smaller problem, and compares what was counted with what the table
 * of kernels says of the launch, exactly; and, per request, with COUNTERS, recorded on a GPU
 * (tests/data/reference_counters_*.txt; differences.def explains where they may differ). Variants of
 * several kernels are summed up; those in graphs are launched, but give no counts.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_counts.h"
#include "kernels/families/families.h"

#define WORKING_SET_BYTES ((size_t)1 << 20)
#define MULTIPROCESSORS 2 /* of the launch shapes only */
#define L2_BYTES (1 << 18)
#define MEASURED_MOST 8192

/* ---- what was recorded on a GPU ----------------------------------------------------------------- */

struct measured {
    char variant[48]; /* family:name */
    char metric[48];
    double value; /* of one launch */
};

static struct measured measured[MEASURED_MOST];
static size_t measured_count;

static int read_measured(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256];

    if (file == NULL) {
        return -errno;
    }
    while (fgets(line, sizeof(line), file) != NULL && measured_count < MEASURED_MOST) {
        struct measured *row = &measured[measured_count];

        if (line[0] != '#' &&
            sscanf(line, "%47s %*s %47s %lf", row->variant, row->metric, &row->value) == 3) {
            measured_count++;
        }
    }
    fclose(file);
    return measured_count > 0 ? 0 : -ENODATA;
}

/* NAN: not recorded. Zeros are left out of the file, so a variant that is there has none of it. */
static double measured_value(const char *variant, const char *metric)
{
    double value = NAN;

    for (size_t i = 0; i < measured_count; i++) {
        if (strcmp(measured[i].variant, variant) != 0) {
            continue;
        }
        if (strcmp(measured[i].metric, metric) == 0) {
            return measured[i].value;
        }
        value = 0;
    }
    return value;
}

/* ---- what is compared --------------------------------------------------------------------------- */

/* Per request: the GPU's metrics, and the kind and member of the counts. */
#define RATIOS(X) \
    X(global_load_sectors, global_load_requests, GLOBAL_LOAD, sectors) \
    X(global_load_bytes, global_load_requests, GLOBAL_LOAD, bytes) \
    X(global_store_sectors, global_store_requests, GLOBAL_STORE, sectors) \
    X(global_store_bytes, global_store_requests, GLOBAL_STORE, bytes) \
    X(shared_load_wavefronts, shared_load_requests, SHARED_LOAD, wavefronts) \
    X(shared_load_bytes, shared_load_requests, SHARED_LOAD, bytes) \
    X(shared_store_wavefronts, shared_store_requests, SHARED_STORE, wavefronts) \
    X(shared_store_bytes, shared_store_requests, SHARED_STORE, bytes) \
    X(local_load_sectors, local_load_requests, LOCAL_LOAD, sectors) \
    X(local_store_sectors, local_store_requests, LOCAL_STORE, sectors)

/* Of a launch: members of struct gmt_variant_work. */
#define TOTALS(X) \
    X(load_requests, GLOBAL_LOAD, requests) \
    X(load_sectors, GLOBAL_LOAD, sectors) \
    X(store_requests, GLOBAL_STORE, requests) \
    X(store_sectors, GLOBAL_STORE, sectors) \
    X(shared_load_requests, SHARED_LOAD, requests) \
    X(shared_load_bytes, SHARED_LOAD, bytes) \
    X(wavefronts, SHARED_LOAD, wavefronts) \
    X(ideal_wavefronts, SHARED_LOAD, ideal_wavefronts) \
    X(local_load_requests, LOCAL_LOAD, requests) \
    X(constant_requests, CONST_LOAD, requests) \
    X(constant_addresses, CONST_LOAD, addresses)

static const struct difference {
    const char *variant, *metric, *why;
} differences[] = {
#define DIFFERENCE(variant, metric, why) {variant, metric, why},
#include "differences.def"
#undef DIFFERENCE
    {NULL, NULL, NULL},
};

static const struct difference *explained(const char *variant, const char *metric)
{
    for (const struct difference *row = differences; row->variant != NULL; row++) {
        if (strcmp(row->variant, variant) == 0 && strcmp(row->metric, metric) == 0) {
            return row;
        }
    }
    return NULL;
}

static unsigned check_totals(const char *name, const struct gmt_variant_work *work,
                             const struct device_counts *counts)
{
    const uint64_t asked = counts->kind[SIM_INST_GLOBAL_LOAD].bytes +
                           counts->kind[SIM_INST_GLOBAL_STORE].bytes;
    const struct {
        const char *what;
        double wanted;
        uint64_t got;
    } rows[] = {
#define TOTAL(member, kind_, count) {#member, work->member, counts->kind[SIM_INST_##kind_].count},
        TOTALS(TOTAL)
#undef TOTAL
            {"bytes_asked", work->bytes_asked, asked},
    };
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if ((double)rows[i].got == rows[i].wanted) {
            continue;
        }
        printf("  %s %s: %" PRIu64 " counted, %.0f by the launch's shape\n", name, rows[i].what,
               rows[i].got, rows[i].wanted);
        wrong++;
    }
    return wrong;
}

static unsigned check_ratio(const char *name, const char *metric, const char *per, uint64_t count,
                            uint64_t requests)
{
    double value = measured_value(name, metric), of = measured_value(name, per);
    const struct difference *difference = explained(name, metric);
    bool same;

    if (isnan(value)) { /* the variant was not recorded */
        return 0;
    }
    /* Equal ratios: no division, so that whole numbers compare exactly. */
    same = (of > 0) == (requests > 0) && (double)count * of == value * (double)requests;
    if (same && difference == NULL) {
        return 0;
    }
    printf("  %s %s per request: %g counted, %g on the GPU%s%s\n", name, metric,
           requests > 0 ? (double)count / (double)requests : 0.0, of > 0 ? value / of : 0.0,
           same ? ": no difference where differences.def has one" : "",
           !same && difference != NULL ? difference->why : "");
    return same || difference == NULL;
}

static unsigned check_ratios(const char *name, const struct device_counts *counts)
{
    unsigned wrong = 0;

#define RATIO(metric, per, kind_, member) \
    wrong += check_ratio(name, #metric, #per, counts->kind[SIM_INST_##kind_].member, \
                         counts->kind[SIM_INST_##kind_].requests);
    RATIOS(RATIO)
#undef RATIO
    return wrong;
}

/* ---- launching ---------------------------------------------------------------------------------- */

/* What the launches of a variant counted together. */
static struct device_counts counted;
static unsigned graphs;

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): names of --wrap */
cudaError_t __real___cudaLaunchKernel(cudaKernel_t kernel, struct dim3 grid, struct dim3 block,
                                      void **arguments, size_t shared_bytes, cudaStream_t stream);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, struct dim3 grid, struct dim3 block,
                                      void **arguments, size_t shared_bytes, cudaStream_t stream);
cudaError_t __real_cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);

/* The software device keeps the counts of the last launch only, and has run it on return. */
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, struct dim3 grid, struct dim3 block,
                                      void **arguments, size_t shared_bytes, cudaStream_t stream)
{
    cudaError_t status = __real___cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes,
                                                   stream);
    struct device_counts one;

    if (status == cudaSuccess && device_counts_take(&one) == 0) {
        device_counts_add(&counted, &one);
    }
    return status;
}

cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
    graphs++;
    return __real_cudaGraphLaunch(graph, stream);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

int gmt_bench_check(struct gmt_bench *bench, cudaError_t status, const char *what)
{
    if (status == cudaSuccess) {
        return 0;
    }
    (void)snprintf(bench->error, sizeof(bench->error), "%.*s: %s", (int)strcspn(what, "("), what,
                   cudaGetErrorString(status));
    return -EIO;
}

static int open_bench(struct gmt_bench *bench)
{
    size_t bytes = 2 * WORKING_SET_BYTES + (size_t)2 * GMT_ARENA_PAD_BYTES;
    int rc;

    bench->sm_count = MULTIPROCESSORS;
    bench->working_set_bytes = WORKING_SET_BYTES;
    GMT_TRY(bench, cudaGetDeviceProperties(&bench->properties, 0));
    bench->properties.l2CacheSize = L2_BYTES;
    bench->max_warps_per_sm = (unsigned)bench->properties.maxThreadsPerMultiProcessor / 32;
    GMT_TRY(bench, cudaMalloc((void **)&bench->arena, bytes));
    GMT_TRY(bench, cudaMemset(bench->arena, 0, bytes));
out:
    return rc;
}

/* 0, 1 if a count is wrong, or a negative errno. */
static int run_variant(struct gmt_bench *bench, const struct gmt_family *family,
                       const struct gmt_variant *variant)
{
    struct gmt_variant_work work = {.bytes_asked = 0};
    char name[64];
    unsigned wrong;
    int rc;

    (void)snprintf(name, sizeof(name), "%s:%s", variant->family, variant->name);
    rc = family->work(bench, variant, &work);
    if (rc != 0) {
        goto out;
    }
    memset(&counted, 0, sizeof(counted));
    graphs = 0;
    rc = family->launch(bench, variant);
    if (rc != 0) {
        goto out;
    }
    GMT_TRY(bench, cudaDeviceSynchronize());
    if (graphs > 0) {
        printf("%-32s launched, not counted: a graph\n", name);
        return 0;
    }
    wrong = check_totals(name, &work, &counted) + check_ratios(name, &counted);
    printf("%-32s %s\n", name, wrong == 0 ? "ok" : "WRONG");
    return wrong != 0;
out:
    printf("%s: %s %s\n", name, strerror(-rc), bench->error);
    return rc;
}

static unsigned run_family(struct gmt_bench *bench, const struct gmt_family *family,
                           unsigned *variants)
{
    unsigned wrong = 0;

    if (family->prepare != NULL && family->prepare(bench) != 0) {
        printf("%s: %s\n", family->name, bench->error);
        wrong++;
    }
    for (size_t i = 0; i < gmt_variant_count; i++) {
        if (strcmp(gmt_variants[i].family, family->name) != 0) {
            continue;
        }
        wrong += run_variant(bench, family, &gmt_variants[i]) != 0;
        ++*variants;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    struct gmt_bench bench = {.device = 0};
    unsigned wrong = 0, variants = 0;

    if (argc > 1 && read_measured(argv[1]) != 0) {
        fprintf(stderr, "reference: cannot read %s\n", argv[1]);
        return 1;
    }
    if (open_bench(&bench) != 0) {
        fprintf(stderr, "reference: %s\n", bench.error);
        return 1;
    }
    if (device_counts_begin() != 0) {
        fputs("reference: the device in use is not the software device\n", stderr);
        return 1;
    }
    for (size_t i = 0; i < gmt_family_count; i++) {
        wrong += run_family(&bench, gmt_families[i], &variants);
    }
    printf("%u variants, %u failures, %zu values of a GPU at hand\n", variants, wrong,
           measured_count);
    cudaFree(bench.arena);
    return wrong != 0;
}
