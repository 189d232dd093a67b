/* SPDX-License-Identifier: Apache-2.0 */
/* Launches chosen variants a given number of times, untimed: for a profiler, or for a trace. */
#include "kernels/untimed.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/families/families.h"

#define ROUND_PAUSE_NS 5000000 /* samplers that work in phases move on with time, too */

static bool same(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(text, name, length) == 0;
}

/* One item of the list, of which `length` characters are the name of the family. */
static bool matches(const char *item, size_t family_length, const struct gmt_variant *variant)
{
    const char *name = item + family_length + 1;
    size_t length = strcspn(name, ",");

    return (same(item, family_length, "all") || same(item, family_length, variant->family)) &&
           (same(name, length, "all") || same(name, length, variant->name));
}

static bool is_wanted(const struct gmt_untimed *untimed, const struct gmt_variant *variant)
{
    for (const char *item = untimed->wanted; *item != '\0';) {
        if (matches(item, strcspn(item, ":"), variant)) {
            return true;
        }
        item += strcspn(item, ",");
        item += *item == ',';
    }
    return false;
}

static bool item_is_known(const char *item)
{
    size_t family = strcspn(item, ":,");

    if (item[family] != ':') {
        return false;
    }
    for (size_t i = 0; i < gmt_variant_count; i++) {
        if (matches(item, family, &gmt_variants[i])) {
            return true;
        }
    }
    return false;
}

int gmt_untimed_check(struct gmt_bench *bench, const struct gmt_untimed *untimed)
{
    for (const char *item = untimed->wanted;; item++) {
        size_t length = strcspn(item, ",");

        if (!item_is_known(item)) {
            snprintf(bench->error, sizeof(bench->error), "%.*s", (int)length, item);
            return -EINVAL;
        }
        item += length;
        if (*item == '\0') {
            return 0;
        }
    }
}

static int mark(struct gmt_bench *bench, const struct gmt_untimed *untimed)
{
    if (untimed->rounds == 0) {
        return 0;
    }
    return gmt_bench_check(bench, gmt_launch_mark(bench->stream), "gmt_mark");
}

static void print_line(const struct gmt_untimed *untimed, const struct gmt_variant *variant,
                       const struct gmt_variant_work *work)
{
    json_t *expected = gmt_variant_work_json(work);
    char *text = json_dumps(expected, JSON_COMPACT | JSON_REAL_PRECISION(6));

    printf("%s:%s %u launches of %s, each %s\n", variant->family, variant->name, untimed->launches,
           variant->kernel_name, text != NULL ? text : "?");
    free(text);
    json_decref(expected);
}

/* The variants of a family that are wanted and can run here. */
static int choose(struct gmt_bench *bench, const struct gmt_untimed *untimed,
                  const struct gmt_family *family, const struct gmt_variant **chosen, size_t *count)
{
    for (size_t i = 0; i < gmt_variant_count; i++) {
        const struct gmt_variant *variant = &gmt_variants[i];
        struct gmt_variant_work work = {.bytes_asked = 0};

        if (strcmp(variant->family, family->name) != 0 || !is_wanted(untimed, variant)) {
            continue;
        }
        int rc = family->work(bench, variant, &work);
        if (rc == -ENOTSUP) {
            printf("%s:%s: not on this device\n", variant->family, variant->name);
        } else if (rc != 0) {
            return rc;
        } else {
            chosen[(*count)++] = variant;
        }
    }
    return 0;
}

static int run_rounds(struct gmt_bench *bench, const struct gmt_untimed *untimed,
                      const struct gmt_family *family, const struct gmt_variant *const *chosen,
                      size_t count)
{
    const struct timespec pause = {.tv_nsec = ROUND_PAUSE_NS};
    int rc = 0;

    for (unsigned round = 0; rc == 0 && round < untimed->rounds; round++) {
        for (size_t i = 0; rc == 0 && i < count; i++) {
            if (round == 0) {
                rc = mark(bench, untimed);
            }
            if (rc == 0) {
                rc = family->launch(bench, chosen[i]);
            }
        }
        if (rc == 0) {
            rc = gmt_bench_check(bench, cudaStreamSynchronize(bench->stream), family->name);
        }
        nanosleep(&pause, NULL);
    }
    return rc;
}

static int run_launches(struct gmt_bench *bench, const struct gmt_untimed *untimed,
                        const struct gmt_family *family, const struct gmt_variant *variant)
{
    struct gmt_variant_work work = {.bytes_asked = 0};
    int rc = mark(bench, untimed);

    for (unsigned launch = 0; rc == 0 && launch < untimed->launches; launch++) {
        rc = family->launch(bench, variant);
    }
    if (rc == 0) {
        rc = gmt_bench_check(bench, cudaStreamSynchronize(bench->stream), variant->name);
    }
    if (rc == 0) {
        rc = family->work(bench, variant, &work);
    }
    if (rc == 0) {
        print_line(untimed, variant, &work);
    }
    return rc;
}

static int run_family(struct gmt_bench *bench, const struct gmt_untimed *untimed,
                      const struct gmt_family *family, const struct gmt_variant **chosen)
{
    size_t count = 0;
    int rc = choose(bench, untimed, family, chosen, &count);

    if (rc != 0 || count == 0) {
        return rc;
    }
    if (family->prepare != NULL) {
        rc = family->prepare(bench);
    }
    if (rc == 0) {
        rc = run_rounds(bench, untimed, family, chosen, count);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = run_launches(bench, untimed, family, chosen[i]);
    }
    return rc;
}

int gmt_untimed_run(struct gmt_bench *bench, const struct gmt_untimed *untimed)
{
    /* An array of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
    const struct gmt_variant **chosen = calloc(gmt_variant_count, sizeof(*chosen));
    int rc = chosen != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < gmt_family_count; i++) {
        rc = run_family(bench, untimed, gmt_families[i], chosen);
    }
    free(chosen);
    return rc;
}
