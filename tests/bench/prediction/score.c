/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted against measured, of one bad reference kernel. */
#include "score.h"

#include <math.h>
#include <string.h>

bool gmt_is_loud(const json_t *row)
{
    const char *quality = gmt_text_of(row, "quality");

    return quality != NULL && strcmp(quality, "bad") == 0 && gmt_text_of(row, "rule") != NULL;
}

const struct gmt_finding *gmt_trial_unexpected(const struct gmt_trial *trial, const json_t *row)
{
    const char *may = gmt_text_of(row, "rule");

    for (size_t i = 0; i < trial->report.finding_count; i++) {
        const struct gmt_finding *finding = &trial->report.findings[i];

        if (may == NULL || strcmp(finding->rule, may) != 0) {
            return finding;
        }
    }
    return NULL;
}

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
    const char *x = gmt_text_of(a, key), *y = gmt_text_of(b, key);

    return x != NULL && y != NULL && strcmp(x, y) == 0;
}

double gmt_good_ns(const struct gmt_evidence_set *set, const json_t *row)
{
    const json_t *reference = gmt_evidence_find(set->variants, gmt_text_of(row, "family"),
                                                gmt_text_of(row, "reference"));
    double fastest = NAN;
    size_t i;
    json_t *other;

    if (reference != NULL) {
        return gmt_number_of(reference, "median_ns");
    }
    json_array_foreach(set->variants, i, other)
    {
        if (same_text(row, other, "family") && same_text(row, other, "reference")) {
            fastest = fmin(fastest, gmt_number_of(other, "median_ns"));
        }
    }
    return fastest;
}

const char *gmt_trial_why(const struct gmt_trial *trial, const char *rule)
{
    for (size_t i = 0; i < trial->report.rule_count; i++) {
        if (strcmp(trial->report.rules[i].id, rule) == 0) {
            return trial->report.rules[i].why;
        }
    }
    return "no such rule";
}

/* What each bad variant's finding must name. */
static const struct name {
    const char *family, *variant, *text;
} names[] = {
#define GMT_NAMED(family, variant, text) {family, variant, text},
#include "named.def"
#undef GMT_NAMED
};

static const char *name_of(const char *family, const char *variant)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i].family, family) == 0 && strcmp(names[i].variant, variant) == 0) {
            return names[i].text;
        }
    }
    return NULL;
}

/* Whether the finding says so, of the kernel that ran. */
static bool names_it(const struct gmt_finding *finding, const json_t *row, const char *name)
{
    const char *kernel = gmt_text_of(row, "kernel"), *where = finding->where.kernel;

    if (name == NULL || kernel == NULL || strstr(finding->headline, name) == NULL) {
        return false;
    }
    /* The place is the second one of two kernels; then the headline has the first. */
    return (where != NULL && strstr(where, kernel) != NULL) ||
           strstr(finding->headline, kernel) != NULL;
}

/* Largest estimates over all that was profiled of the variant. */
static void read_ncu(const struct gmt_evidence_set *set, struct gmt_score *score)
{
    const json_t *entry = gmt_evidence_find(
        json_object_get(json_object_get(set->raw, "ncu"), "variants"), score->family,
        score->variant);
    size_t i, k;
    json_t *launch, *rule;

    json_array_foreach(json_object_get(entry, "launches"), i, launch)
    {
        json_array_foreach(json_object_get(launch, "rules"), k, rule)
        {
            const char *scope = gmt_text_of(rule, "scope");
            double share = gmt_number_of(rule, "percent") / 100;

            if (scope != NULL && strcmp(scope, "local") == 0) {
                score->ncu_local = fmax(score->ncu_local, share);
            } else {
                score->ncu = fmax(score->ncu, share);
            }
        }
    }
}

static void read_heard(const struct gmt_trial *trial, const json_t *row, struct gmt_arena *arena,
                       struct gmt_score *score)
{
    const struct gmt_report *report = &trial->report;
    const struct gmt_finding *finding = gmt_trial_finding(trial, score->rule);

    if (report->finding_count > 0) {
        score->top_rule = gmt_arena_copy(arena, report->findings[0].rule);
    }
    score->heard = GMT_HEARD_NOT;
    if (finding == NULL) {
        score->why = gmt_arena_copy(arena, gmt_trial_why(trial, score->rule));
        return;
    }
    score->headline = gmt_arena_copy(arena, finding->headline);
    score->named = names_it(finding, row, score->name);
    score->why = gmt_arena_copy(arena, finding->note_why);
    if (finding->note_why != NULL) {
        score->heard = GMT_HEARD_NOTE;
    } else {
        score->heard = strcmp(score->top_rule, score->rule) == 0 ? GMT_HEARD_TOP : GMT_HEARD_BELOW;
    }
}

static void read_prediction(const struct gmt_trial *trial, double run_ns, struct gmt_score *score)
{
    const struct gmt_finding *finding = gmt_trial_finding(trial, score->rule);

    if (finding == NULL || !(run_ns > 0)) {
        return;
    }
    score->low = finding->saving.low_ns / run_ns;
    score->best = finding->saving.best_ns / run_ns;
    score->high = finding->saving.high_ns / run_ns;
}

/*
 * Device time of all launches of a variant. Where copies belong to it, from the first of the copies
 * and kernels to the last: they were queued one after the other.
 */
static double run_time(const struct gmt_trial *trial, const json_t *traced)
{
    const struct gmt_timeline *tl = &trial->timeline;
    double begin_ns = INFINITY, end_ns = -INFINITY;

    for (size_t i = 0; i < tl->copy_count; i++) {
        begin_ns = fmin(begin_ns, (double)tl->copies[i].device_start_ns);
        end_ns = fmax(end_ns, (double)tl->copies[i].device_end_ns);
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        begin_ns = fmin(begin_ns, (double)tl->launches[i].device_start_ns);
        end_ns = fmax(end_ns, (double)tl->launches[i].device_end_ns);
    }
    if (tl->copy_count > 0) {
        return end_ns - begin_ns;
    }
    return gmt_number_of(json_object_get(traced, "time"), "median_ns") *
           gmt_number_of(traced, "launches");
}

/* With a model that does not know the family, or the variants of the same body. */
static int predict(struct gmt_evidence_set *set, const json_t *traced, double run_ns,
                   struct gmt_score *score, char *message, size_t bytes)
{
    const struct gmt_left_out without = {score->family, score->by_kin ? score->reference : NULL};
    struct gmt_trial trial;
    int rc = gmt_trial_variant(&trial, set, traced, &without, message, bytes);

    if (rc == 0) {
        read_prediction(&trial, run_ns, score);
    }
    gmt_trial_free(&trial);
    return rc;
}

int gmt_score_variant(struct gmt_evidence_set *set, const json_t *row, struct gmt_arena *arena,
                      struct gmt_score *score, char *message, size_t bytes)
{
    struct gmt_trial trial;

    *score = (struct gmt_score){
        .family = gmt_text_of(row, "family"),
        .variant = gmt_text_of(row, "variant"),
        .reference = gmt_text_of(row, "reference"),
        .rule = gmt_text_of(row, "rule"),
        .name = name_of(gmt_text_of(row, "family"), gmt_text_of(row, "variant")),
        .bad_ns = gmt_number_of(row, "median_ns"),
        .good_ns = gmt_good_ns(set, row),
        .low = NAN,
        .best = NAN,
        .high = NAN,
        .own_best = NAN,
        .ncu = NAN,
        .ncu_local = NAN,
        .heard = GMT_HEARD_UNTRACED};
    score->truth = (score->bad_ns - score->good_ns) / score->bad_ns;
    read_ncu(set, score);
    const json_t *traced = gmt_evidence_find(set->traced, score->family, score->variant);
    if (traced == NULL) {
        return 0;
    }
    double run_ns = NAN;
    int rc = gmt_trial_variant(&trial, set, traced, NULL, message, bytes);
    if (rc == 0) {
        run_ns = run_time(&trial, traced);
        read_heard(&trial, row, arena, score);
        read_prediction(&trial, run_ns, score);
        score->own_best = score->best;
        score->low = score->best = score->high = NAN;
    }
    gmt_trial_free(&trial);
    if (rc == 0) {
        rc = predict(set, traced, run_ns, score, message, bytes);
    }
    if (rc == 0 && isnan(score->best)) {
        score->by_kin = true;
        rc = predict(set, traced, run_ns, score, message, bytes);
    }
    return rc;
}
