/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded reference kernels, each as a program of its own: the bad ones produce the rule that they name,
 * the others nothing above a note but what the table allows. Known misses stand in
 * tests/bench/prediction/expected.def.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/prediction/pages.h"

static void load(struct gmt_evidence_set *set)
{
    char message[512] = "";

    cr_assert_eq(gmt_evidence_load(set, GMT_SOURCE_DIR "/tests/data/prediction",
                                   GMT_SOURCE_DIR "/kernels/models/nvidia-h200.raw.json.gz",
                                   message, sizeof(message)),
                 0, "%s", message);
}

static bool is_bad(const json_t *row)
{
    return strcmp(gmt_text_of(row, "quality"), "bad") == 0;
}

Test(references, all_were_recorded_with_times_and_counters)
{
    struct gmt_evidence_set set;
    size_t i;
    json_t *row;

    load(&set);
    cr_assert_gt(json_array_size(set.variants), 50);
    json_array_foreach(set.variants, i, row)
    {
        const char *family = gmt_text_of(row, "family"), *name = gmt_text_of(row, "variant");
        const json_t *traced = gmt_evidence_find(set.traced, family, name);

        cr_expect_not_null(traced, "%s:%s has no trace", family, name);
        cr_expect_gt(gmt_number_of(json_object_get(traced, "time"), "median_ns"), 0, "%s:%s",
                     family, name);
    }
    gmt_evidence_free(&set);
}

static void score_all(struct gmt_evidence_set *set, struct gmt_arena *arena,
                      struct gmt_scores *scores)
{
    size_t i;
    json_t *row;

    load(set);
    *scores = (struct gmt_scores){calloc(json_array_size(set->variants), sizeof(*scores->rows)), 0};
    cr_assert_not_null(scores->rows);
    json_array_foreach(set->variants, i, row)
    {
        char message[512] = "";

        if (gmt_is_loud(row)) {
            cr_assert_eq(gmt_score_variant(set, row, arena, &scores->rows[scores->n++], message,
                                           sizeof(message)),
                         0, "%s", message);
        }
    }
}

Test(references, bad_ones_are_found)
{
    struct gmt_evidence_set set;
    struct gmt_arena arena = {0};
    struct gmt_scores scores;

    score_all(&set, &arena, &scores);
    cr_assert_gt(scores.n, 20);
    for (size_t i = 0; i < scores.n; i++) {
        const struct gmt_score *score = &scores.rows[i];
        bool missed = gmt_miss_reason("loud", score->family, score->variant) != NULL;
        bool target = gmt_miss_reason("target", score->family, "all") != NULL;

        cr_expect_neq(gmt_score_is_heard(score), missed, "%s:%s, rule %s, first finding %s: %s",
                      score->family, score->variant, score->rule,
                      score->top_rule != NULL ? score->top_rule : "none",
                      missed ? "found now, but listed as missed" : "not found, and not listed");
        bool unnamed = gmt_miss_reason("name", score->family, score->variant) != NULL;
        cr_expect_not_null(score->name, "%s:%s has no row in named.def", score->family,
                           score->variant);
        cr_expect(score->named != unnamed || score->headline == NULL,
                  "%s:%s must name \"%s\", and says: %s", score->family, score->variant,
                  score->name, score->headline);
        cr_expect_neq(gmt_family_meets_target(&scores, score->family), target,
                      "the errors of %s and expected.def disagree", score->family);
    }
    free(scores.rows);
    gmt_arena_free(&arena);
    gmt_evidence_free(&set);
}

Test(references, the_others_are_quiet)
{
    struct gmt_evidence_set set;
    size_t i, quiet = 0;
    json_t *row;

    load(&set);
    json_array_foreach(set.variants, i, row)
    {
        const char *family = gmt_text_of(row, "family"), *name = gmt_text_of(row, "variant");
        const json_t *traced = gmt_evidence_find(set.traced, family, name);
        struct gmt_trial trial;
        char message[512] = "";

        if (is_bad(row) || traced == NULL) {
            continue;
        }
        int rc = gmt_trial_variant(&trial, &set, traced, NULL, message, sizeof(message));
        cr_assert_eq(rc, 0, "%s", message);
        bool missed = gmt_miss_reason("quiet", family, name) != NULL;
        const struct gmt_finding *said = gmt_trial_unexpected(&trial, row);
        cr_expect_neq(said == NULL, missed, "%s:%s: %s", family, name,
                      said == NULL ? "quiet now, but listed as missed" : said->headline);
        quiet += trial.report.finding_count == 0 &&
                 strcmp(gmt_text_of(row, "quality"), "good") == 0;
        gmt_trial_free(&trial);
    }
    cr_assert_geq(quiet, 12);
    gmt_evidence_free(&set);
}

/* Bytes per lane of an access, where warps are full; NAN: there are none. */
static double width_of(const double *counter, size_t bytes, size_t requests)
{
    return counter[requests] > 0 ? counter[bytes] / counter[requests] / 32 : NAN;
}

/* Whether some lanes do not ask, or several ask for one word. */
static bool has_idle_lanes(const char *family, const char *name)
{
    static const char *const families[] = {"partial_warp", "serial", "pitch"};
    static const char *const names[] = {"half_warp", "word_broadcast", "word_pairs",
                                        "pair_broadcast", "quad_broadcast"};

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (strcmp(family, families[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * The patched counters are those of the machine code: each instruction adds what it asks for. So they
 * show whether ptxas has merged, split or narrowed an access that inline PTX asks for.
 */
Test(references, access_as_many_bytes_at_once_as_the_table_says)
{
    struct gmt_evidence_set set;
    size_t i, seen = 0;
    json_t *row;

    load(&set);
    json_array_foreach(set.variants, i, row)
    {
        const char *family = gmt_text_of(row, "family"), *name = gmt_text_of(row, "variant");
        const json_t *traced = gmt_evidence_find(set.traced, family, name);
        double width = gmt_number_of(row, "width_bytes");
        struct gmt_trial trial;
        char message[512] = "";

        if (traced == NULL) {
            continue;
        }
        int rc = gmt_trial_variant(&trial, &set, traced, NULL, message, sizeof(message));
        cr_assert_eq(rc, 0, "%s", message);
        bool counted = false, found = false;
        for (size_t k = 0; k < trial.timeline.class_count; k++) {
            const double *c = trial.timeline.classes[k].counter;
            const double widths[] = {
                width_of(c, GMT_M_global_load_bytes, GMT_M_global_load_requests),
                width_of(c, GMT_M_global_store_bytes, GMT_M_global_store_requests),
                width_of(c, GMT_M_shared_load_bytes, GMT_M_shared_load_requests)};

            for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
                counted |= isfinite(widths[w]);
                found |= fabs(widths[w] - width) < 1e-3 * width;
            }
        }
        /* Host memory, constants and graphs are not patched. */
        cr_expect(found || !counted || has_idle_lanes(family, name), "%s:%s: not %g bytes", family,
                  name, width);
        seen += found;
        gmt_trial_free(&trial);
    }
    cr_assert_gt(seen, 150);
    gmt_evidence_free(&set);
}

Test(references, only_real_ones_are_excused)
{
    struct gmt_evidence_set set;

    load(&set);
    for (const struct gmt_miss *miss = gmt_misses; miss->list != NULL; miss++) {
        const json_t *row = gmt_evidence_find(set.variants, miss->family, miss->variant);

        cr_expect_gt(strlen(miss->reason), 20, "%s:%s", miss->family, miss->variant);
        if (strcmp(miss->list, "target") == 0) {
            continue;
        }
        cr_expect(strcmp(miss->list, "loud") == 0 || strcmp(miss->list, "name") == 0 ||
                  strcmp(miss->list, "quiet") == 0);
        cr_assert_not_null(row, "%s:%s", miss->family, miss->variant);
        cr_expect_eq(strcmp(miss->list, "quiet") != 0, is_bad(row), "%s:%s", miss->family,
                     miss->variant);
    }
    gmt_evidence_free(&set);
}
