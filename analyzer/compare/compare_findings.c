/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs the findings of two traces, and says what became of each. */
#include "analyzer/compare/compare_findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "libtrace/base/base_name.h"

/* Exact counts that differ by less are the same problem as before. */
#define GMT_SAME_EXCESS 0.01

static bool same_text(const char *a, const char *b)
{
    return (a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool by_fingerprint(const struct gmt_finding *a, const struct gmt_finding *b)
{
    return strcmp(a->fingerprint, b->fingerprint) == 0;
}

/* The same text in the same function, on whatever line. Of kernels the fingerprint has the name. */
static bool by_statement(const struct gmt_finding *a, const struct gmt_finding *b)
{
    const char *text = a->place.line_count > 0 ? a->place.lines[0] : NULL;

    return text != NULL && b->place.line_count > 0 && a->where.kernel == NULL &&
           b->where.kernel == NULL && strcmp(a->rule, b->rule) == 0 &&
           same_text(text, b->place.lines[0]) && same_text(a->where.function, b->where.function) &&
           same_text(gmt_base_name(a->where.file), gmt_base_name(b->where.file));
}

static bool by_both(const struct gmt_finding *a, const struct gmt_finding *b)
{
    return by_fingerprint(a, b) && by_statement(a, b);
}

/* A kernel that was renamed has another fingerprint; a function that was, another still. */
static bool by_place(const struct gmt_finding *a, const struct gmt_finding *b)
{
    if (strcmp(a->rule, b->rule) != 0) {
        return false;
    }
    if (a->where.kernel != NULL || b->where.kernel != NULL) {
        return same_text(a->where.kernel, b->where.kernel);
    }
    return a->where.file != NULL && same_text(a->where.file, b->where.file) &&
           (a->where.line == b->where.line || same_text(a->where.function, b->where.function));
}

struct pairing {
    struct gmt_comparison *comparison;
    struct gmt_arena *arena;
    const struct gmt_finding **of_a; /* the partner in B of each in A, or NULL */
    bool *taken;                     /* of B                                   */
};

static void pair(struct pairing *p,
                 bool (*equal)(const struct gmt_finding *, const struct gmt_finding *))
{
    const struct gmt_summary *a = p->comparison->a, *b = p->comparison->b;

    for (size_t i = 0; i < a->finding_count; i++) {
        for (size_t j = 0; p->of_a[i] == NULL && j < b->finding_count; j++) {
            if (!p->taken[j] && equal(&a->findings[i], &b->findings[j])) {
                p->of_a[i] = &b->findings[j];
                p->taken[j] = true;
            }
        }
    }
}

static bool is_note(const struct gmt_finding *finding)
{
    return finding->severity == GMT_SEVERITY_NOTE;
}

/* What a finding of both costs: exact excess where both have it, else the saving beyond noise. */
static void judge(struct gmt_finding_change *change, double noise)
{
    const struct gmt_finding *a = change->a, *b = change->b;

    change->fate = GMT_FATE_SAME;
    if (is_note(a) != is_note(b)) {
        change->fate = is_note(b) ? GMT_FATE_BETTER : GMT_FATE_WORSE;
        change->why = is_note(b) ? "it has become too small to act on"
                                 : "it was too small to act on";
        return;
    }
    if (a->excess_bytes > 0 && b->excess_bytes > 0) {
        double share = b->excess_bytes / a->excess_bytes - 1;

        change->why = "by the unnecessary traffic, which is exact";
        if (fabs(share) > GMT_SAME_EXCESS) {
            change->fate = share < 0 ? GMT_FATE_BETTER : GMT_FATE_WORSE;
        }
        return;
    }
    double by = a->modelled == b->modelled ? b->saving.best_ns - a->saving.best_ns : NAN;
    if (a->modelled && isfinite(by)) {
        change->why = "by its saving, modelled from exact counts";
        if (fabs(by) > GMT_SAME_EXCESS * a->saving.best_ns) {
            change->fate = by < 0 ? GMT_FATE_BETTER : GMT_FATE_WORSE;
        }
    } else if (isnan(by)) {
        change->why = "neither its bytes nor its saving is known in both";
    } else if (fabs(by) > GMT_FLOOR_NOISE_NS && fabs(by) > noise * a->saving.best_ns) {
        change->fate = by < 0 ? GMT_FATE_BETTER : GMT_FATE_WORSE;
        change->why = "by its saving, which changed by more than the noise of a run";
    } else {
        change->why = "its saving changed by no more than the noise of a run";
    }
}

/* Did the rule look at that trace? */
static bool was_checked(const struct gmt_summary *summary, const char *rule)
{
    const struct gmt_rule_result *result = gmt_summary_rule(summary, rule);

    return result != NULL && result->outcome != GMT_OUTCOME_COULD_NOT_CHECK;
}

static void add(struct pairing *p, const struct gmt_finding *a, const struct gmt_finding *b)
{
    struct gmt_comparison *c = p->comparison;
    const struct gmt_finding *one = a != NULL ? a : b;

    /* Notes that stay notes, come or go are nobody's concern. */
    if ((a == NULL || is_note(a)) && (b == NULL || is_note(b))) {
        return;
    }
    struct gmt_finding_change *change = GMT_PUSH(p->arena, c->findings, c->finding_count);
    if (change == NULL) {
        return;
    }
    *change = (struct gmt_finding_change){.a = a, .b = b};
    if (a != NULL && b != NULL) {
        judge(change, c->figures[GMT_FIGURE_saving_ns].noise);
        return;
    }
    if (!was_checked(a == NULL ? c->a : c->b, one->rule)) {
        change->fate = GMT_FATE_UNCHECKED;
        change->why = a == NULL ? "its rule could not check A" : "its rule could not check B";
        return;
    }
    change->fate = a == NULL ? GMT_FATE_NEW : GMT_FATE_FIXED;
    change->why = a == NULL ? "A has nothing like it" : "B has nothing like it";
}

static double rank_of(const struct gmt_finding_change *change)
{
    const struct gmt_finding *one = change->b != NULL ? change->b : change->a;

    return isnan(one->saving.best_ns) ? -1 : one->saving.best_ns;
}

static int compare_changes(const void *a, const void *b)
{
    /* What needs attention first. */
    static const int order[GMT_FATES] = {
        [GMT_FATE_NEW] = 0,   [GMT_FATE_WORSE] = 1, [GMT_FATE_BETTER] = 2,
        [GMT_FATE_FIXED] = 3, [GMT_FATE_SAME] = 4,  [GMT_FATE_UNCHECKED] = 5};
    const struct gmt_finding_change *x = a, *y = b;

    if (x->fate != y->fate) {
        return order[x->fate] - order[y->fate];
    }
    return (rank_of(x) < rank_of(y)) - (rank_of(x) > rank_of(y));
}

void gmt_compare_findings(struct gmt_comparison *comparison, struct gmt_arena *arena)
{
    const struct gmt_summary *a = comparison->a, *b = comparison->b;
    struct pairing p = {
        .comparison = comparison,
        .arena = arena,
        .of_a = gmt_arena_alloc(arena, (a->finding_count + 1) * sizeof(void *)),
        .taken = gmt_arena_alloc(arena, (b->finding_count + 1) * sizeof(*p.taken)),
    };

    if (p.of_a == NULL || p.taken == NULL) {
        return;
    }
    /* Of a trace without sources, fingerprints number the findings of one rule in a function: behind one that is
     * fixed or new, others have those of their neighbours. */
    pair(&p, by_both);
    pair(&p, by_statement);
    pair(&p, by_fingerprint);
    pair(&p, by_place);
    for (size_t i = 0; i < a->finding_count; i++) {
        add(&p, &a->findings[i], p.of_a[i]);
    }
    for (size_t j = 0; j < b->finding_count; j++) {
        if (!p.taken[j]) {
            add(&p, NULL, &b->findings[j]);
        }
    }
    if (comparison->finding_count > 1) {
        qsort(comparison->findings, comparison->finding_count, sizeof(*comparison->findings),
              compare_changes);
    }
}
