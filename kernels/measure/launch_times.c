/* SPDX-License-Identifier: Apache-2.0 */
/* Times launches of the variants of one family, good and bad ones in turn. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fit/rawfile.h"
#include "kernels/measure/parts.h"
#include "kernels/measure/pass_loop.h"
#include "libtrace/base/progress.h"

#define WARM_UP_ROUNDS 3

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
        if (rc != 0) {
            goto out;
        }
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
        struct gmt_variant_work work = {.bytes_asked = 0};

        if (strcmp(variant->family, family->name) != 0) {
            continue;
        }
        int rc = family->work(bench, variant, &work);
        if (rc == -ENOTSUP) {
            continue;
        }
        if (rc != 0) {
            return rc;
        }
        variants[(*count)++] = variant;
        if (are_there) {
            continue;
        }
        json_t *row = json_object();
        json_object_set_new(row, "variant", json_string(variant->name));
        json_object_set_new(row, "parameter", json_integer((json_int_t)variant->parameter));
        json_object_set_new(row, "work", gmt_variant_work_json(&work));
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
        if (rc != 0 || !keep) {
            continue;
        }
        gmt_raw_sample(row, "samples_ns", elapsed_ns);
        if (family->host_bound) {
            gmt_raw_pass(row, bench->pass);
        }
    }
    return rc;
}

int gmt_bench_family(struct gmt_bench *bench, const struct gmt_family *family)
{
    json_t *rows = gmt_raw_array(gmt_raw_object(bench->raw, "families"), family->name);
    /* An array of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
    const struct gmt_variant **variants = calloc(gmt_variant_count, sizeof(*variants));
    struct gmt_sample_loop loop = gmt_bench_sample_loop(bench, 0);
    unsigned rounds = WARM_UP_ROUNDS + gmt_bench_samples(bench);
    size_t count = 0;
    int rc = -ENOMEM;

    if (variants == NULL) {
        goto out;
    }
    rc = family->prepare != NULL ? family->prepare(bench) : 0;
    if (rc == 0) {
        rc = collect_rows(bench, family, rows, variants, &count);
    }
    if (family->host_bound) {
        while (rc == 0 && gmt_sample_loop_next(&loop, gmt_now_ns())) {
            rc = measure_round(bench, family, variants, rows, loop.counts);
        }
        gmt_progress_add_part(1.0 / bench->pass_count, family->name);
        goto out;
    }
    for (unsigned round = 0; rc == 0 && round < rounds; round++) {
        rc = measure_round(bench, family, variants, rows, round >= WARM_UP_ROUNDS);
        gmt_progress_add_part(1.0 / rounds, family->name);
    }
out:
    free(variants);
    return rc;
}
