/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicted gains against measured ones of the reference kernels on an H200, each family left out of
 * the model that predicts it. "Points" are points of the bad kernel's run time. With --verbose=1 the
 * program prints all figures.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/price/price.h"
#include "tests/rules/fixture.h"

static struct gmt_timeline device(void)
{
    return (struct gmt_timeline){.device = {.sm_count = 132, .max_threads_per_sm = 2048}};
}

static void load_model(struct gmt_model *model)
{
    char message[256] = "";
    int rc = gmt_model_read(model, GMT_SOURCE_DIR "/kernels/models/nvidia-h200.json", message,
                            sizeof(message));

    cr_assert_eq(rc, 0, "%s", message);
    model->provenance = GMT_MODEL_CALIBRATED;
}

/* What the counters of a reference kernel say; blocks of 256 threads, one load per thread. */
static struct gmt_tl_class class_of(const struct gmt_model_variant *v)
{
    double loads = isfinite(v->load_requests) ? v->load_requests : 0;
    struct gmt_tl_class class = {.grid = {(int64_t)(loads / 8), 1, 1},
                                 .block = {256, 1, 1},
                                 .theoretical_occupancy = 1,
                                 .median_ns = v->median_ns,
                                 .footprint_bytes = NAN};
    double stores = isfinite(v->store_sectors) ? v->store_sectors * 32 : 0;

    for (size_t i = 0; i < GMT_METRICS; i++) {
        class.counter[i] = NAN;
    }
    if (class.grid[0] == 0) {
        class.grid[0] = 1056;
    }
    class.counter[GMT_M_global_load_bytes] = v->bytes_asked - stores;
    class.counter[GMT_M_global_load_requests] = v->load_requests;
    class.counter[GMT_M_global_load_sectors] = v->sectors;
    class.counter[GMT_M_global_store_bytes] = stores;
    class.counter[GMT_M_global_store_requests] = v->store_requests;
    class.counter[GMT_M_global_store_sectors] = v->store_sectors;
    class.counter[GMT_M_shared_load_wavefronts] = v->wavefronts;
    class.counter[GMT_M_shared_load_requests] = v->shared_requests;
    class.counter[GMT_M_shared_load_bytes] = v->shared_requests * 128;
    return class;
}

struct score {
    double sum, worst;
    int n;
};

static void count(struct score *score, const struct gmt_model_variant *bad, double good_ns,
                  struct gmt_gain gain)
{
    double truth = bad->median_ns - good_ns;
    double points = 100 * fabs(gain.best_ns - truth) / bad->median_ns;

    cr_log_info("%-22s truth %5.1f %%, predicted %5.1f %% (%.1f to %.1f): %.1f points", bad->name,
                100 * truth / bad->median_ns, 100 * gain.best_ns / bad->median_ns,
                100 * gain.low_ns / bad->median_ns, 100 * gain.high_ns / bad->median_ns, points);
    score->sum += points;
    score->worst = fmax(score->worst, points);
    score->n++;
}

static void expect(const char *family, const struct score *score, int n, double mean, double worst)
{
    cr_log_info("%s: mean %.1f, worst %.1f points over %d kernels", family, score->sum / score->n,
                score->worst, score->n);
    cr_assert_geq(score->n, n, "%s: only %d kernels", family, score->n);
    cr_assert_leq(score->sum / score->n, mean, "%s: mean %.1f", family, score->sum / score->n);
    cr_assert_leq(score->worst, worst, "%s: worst %.1f", family, score->worst);
}

static bool is_bad(const struct gmt_model_variant *v)
{
    return v->reference != NULL && v->relative_time > 1.005;
}

Test(predictions, of_stride_without_the_stride_family)
{
    struct gmt_timeline timeline = device();
    struct gmt_model model;
    struct score score = {0};

    load_model(&model);
    struct gmt_model_family family = model.stride;
    double good_ns = gmt_family_variant(&family, "stride_1")->median_ns;
    model.stride.n = 0;
    model.dram_copy_bytes_per_s = NAN; /* of a kernel of that family */
    for (size_t i = 0; i < family.n; i++) {
        const struct gmt_model_variant *v = &family.variants[i];
        struct gmt_tl_class class = class_of(v);

        if (is_bad(v)) {
            count(&score, v, good_ns, gmt_price_access(&model, &timeline, &class, true, false));
        }
    }
    expect("stride", &score, 5, 5, 8);
    gmt_model_free(&model);
}

Test(predictions, of_offset_without_the_offset_family)
{
    struct gmt_timeline timeline = device();
    struct gmt_model model;
    struct score score = {0};

    load_model(&model);
    struct gmt_model_family family = model.offset;
    double good_ns = gmt_family_variant(&family, "offset_0")->median_ns;
    model.offset.n = 0;
    for (size_t i = 0; i < family.n; i++) {
        const struct gmt_model_variant *v = &family.variants[i];
        struct gmt_tl_class class = class_of(v);

        if (is_bad(v) && v->sectors_per_request > 4) {
            count(&score, v, good_ns, gmt_price_misaligned(&model, &timeline, &class));
        }
    }
    expect("offset", &score, 3, 5, 5);
    gmt_model_free(&model);
}

Test(predictions, of_conflicts_without_the_bank_family)
{
    struct gmt_timeline timeline = device();
    struct gmt_model model;
    struct score score = {0};

    load_model(&model);
    struct gmt_model_family family = model.bank;
    double good_ns = gmt_family_variant(&family, "bank_1")->median_ns;
    model.bank.n = 0;
    model.shared_wavefronts_per_s = NAN; /* the best of that family */
    for (size_t i = 0; i < family.n; i++) {
        const struct gmt_model_variant *v = &family.variants[i];
        struct gmt_tl_class class = class_of(v);

        if (v->ways > 1) {
            count(&score, v, good_ns, gmt_price_conflicts(&model, &timeline, &class));
        }
    }
    expect("bank", &score, 5, 5, 5);
    gmt_model_free(&model);
}

Test(predictions, of_occupancy_without_its_curve)
{
    struct gmt_timeline timeline = device();
    struct gmt_model model;
    struct score score = {0};

    load_model(&model);
    struct gmt_model_family family = model.occupancies;
    model.occupancy.n = model.in_flight.n = 0;
    for (size_t i = 0; i < family.n; i++) {
        const struct gmt_model_variant *v = &family.variants[i];
        const struct gmt_model_variant *good = gmt_family_variant(&family, v->reference);
        struct gmt_tl_class class = class_of(v);

        class.counter[GMT_M_dram_read_bytes] = v->bytes_asked;
        if (is_bad(v) && good != NULL) {
            count(&score, v, good->median_ns,
                  gmt_price_occupancy(&model, &timeline, &class, v->occupancy, good->occupancy));
        }
    }
    expect("occupancy", &score, 12, 6, 12);
    gmt_model_free(&model);
}
