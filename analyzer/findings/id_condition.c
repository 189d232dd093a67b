/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL that finds just those rows again which a finding counted: ids, said as short as they allow. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/rule.h"

enum {
    TERMS = 256, /* ids and patterns that a statement lists: more is no reading matter */
    PERIOD = 8,  /* calls of one turn of a loop                                          */
    TURNS = 3    /* fewer are no pattern                                                 */
};

/* Ids that repeat at a distance: those of a loop in which the same calls count in every turn. */
struct pattern {
    size_t count, period;
    int64_t distance;
};

static int compare_ids(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The longest pattern that the ids begin with. */
static struct pattern longest(const int64_t *ids, size_t n)
{
    struct pattern best = {.count = 1};

    for (size_t period = 1; period <= PERIOD && TURNS * period <= n; period++) {
        int64_t distance = ids[period] - ids[0];
        size_t count = period;

        while (count < n && ids[count] - ids[count - period] == distance) {
            count++;
        }
        if (count >= TURNS * period && count > best.count) {
            best = (struct pattern){count, period, distance};
        }
    }
    return best;
}

static const char *pattern_text(struct gmt_analysis *analysis, const char *column,
                                const int64_t *ids, const struct pattern *pattern)
{
    const char *text = gmt_text(analysis, "%s BETWEEN %" PRId64 " AND %" PRId64, column, ids[0],
                                ids[pattern->count - 1]);

    if (pattern->distance == (int64_t)pattern->period) {
        return text;
    }
    text = gmt_text(analysis, "(%s AND (%s - %" PRId64 ") %% %" PRId64 " IN (0", text, column,
                    ids[0], pattern->distance);
    for (size_t i = 1; i < pattern->period; i++) {
        text = gmt_text(analysis, "%s, %" PRId64, text, ids[i] - ids[0]);
    }
    return gmt_text(analysis, "%s))", text);
}

/* Both `ids`, sorted and each once, and room for as many that are in no pattern. NULL: too many terms. */
static const char *say(struct gmt_analysis *analysis, const char *column, const int64_t *ids,
                       size_t n, int64_t *single)
{
    const char *text = NULL, *list = "";
    size_t terms = 0, singles = 0;

    for (size_t i = 0; i < n && terms <= TERMS; terms++) {
        struct pattern pattern = longest(ids + i, n - i);

        if (pattern.count == 1) {
            single[singles++] = ids[i++];
            continue;
        }
        const char *one = pattern_text(analysis, column, ids + i, &pattern);
        text = text == NULL ? one : gmt_text(analysis, "%s OR %s", text, one);
        i += pattern.count;
    }
    if (terms > TERMS) {
        return NULL;
    }
    for (size_t i = 0; i < singles; i++) {
        list = gmt_text(analysis, "%s%s%" PRId64, list, i > 0 ? ", " : "", single[i]);
    }
    if (singles == 0) {
        return text == NULL ? "0" : gmt_text(analysis, "(%s)", text);
    }
    list = gmt_text(analysis, "%s IN (%s)", column, list);
    return text == NULL ? list : gmt_text(analysis, "(%s OR %s)", text, list);
}

const char *gmt_id_condition(struct gmt_analysis *analysis, const char *column, int64_t *ids,
                             size_t n, const char *otherwise)
{
    int64_t *single = calloc(TERMS + 1, sizeof(*single));
    size_t unique = 0;

    if (single == NULL || ids == NULL) {
        analysis->report->arena->failed = true;
        free(single);
        return otherwise;
    }
    qsort(ids, n, sizeof(*ids), compare_ids);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || ids[i] != ids[unique - 1]) {
            ids[unique++] = ids[i];
        }
    }
    const char *text = say(analysis, column, ids, unique, single);
    free(single);
    return text != NULL ? text : otherwise;
}
