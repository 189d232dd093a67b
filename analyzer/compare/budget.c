/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a budget and holds a trace to it. */
#include "analyzer/compare/budget.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "analyzer/findings/rule.h"
#include "analyzer/run/rules.h"
#include "libtrace/base/format.h"

static const struct {
    const char *name;
    bool of_figures, least; /* may be asked of figures; a lower limit */
} limits[GMT_LIMITS] = {[GMT_LIMIT_NUMERIC] = {"maxNumericValue", true, false},
                        [GMT_LIMIT_LENGTH] = {"maxLength", false, false},
                        [GMT_LIMIT_SCORE] = {"minScore", false, true}};

#define LIMIT_MOST 1e18 /* ns: 30 years; bytes: more than there are */

struct reading {
    struct gmt_arena *arena;
    char *message;
    size_t bytes;
};

__attribute__((format(printf, 2, 3))) static int wrong(struct reading *r, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(r->message, r->bytes, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

static int read_level(struct reading *r, struct gmt_assertion *a, const json_t *value)
{
    static const char *const names[] = {
        [GMT_LEVEL_OFF] = "off", [GMT_LEVEL_WARN] = "warn", [GMT_LEVEL_ERROR] = "error"};

    for (unsigned i = 0; json_is_string(value) && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(json_string_value(value), names[i]) == 0) {
            a->level = (enum gmt_level)i;
            return 0;
        }
    }
    return wrong(r, "%s: the level must be off, warn or error", a->key);
}

static int read_limit(struct reading *r, struct gmt_assertion *a, const char *name,
                      const json_t *value)
{
    for (int i = 0; i < GMT_LIMITS; i++) {
        if (strcmp(name, limits[i].name) != 0) {
            continue;
        }
        if (!json_is_number(value)) {
            return wrong(r, "%s: %s must be a number", a->key, name);
        }
        if (a->figure >= 0 && !limits[i].of_figures) {
            return wrong(r, "%s: %s is asked of rules; a figure has maxNumericValue", a->key, name);
        }
        a->limits[i] = json_number_value(value);
        if (!(a->limits[i] >= 0 && a->limits[i] <= LIMIT_MOST)) {
            return wrong(r, "%s: %s must be between 0 and %g", a->key, name, LIMIT_MOST);
        }
        return 0;
    }
    /* A limit that is misspelt must not pass as one that holds. */
    return wrong(r, "%s: no limit '%s'; there are maxNumericValue, maxLength and minScore", a->key,
                 name);
}

static int find_key(struct reading *r, struct gmt_assertion *a)
{
    const struct gmt_rule *rule = gmt_rule_find(a->key);

    a->figure = -1;
    if (rule != NULL) {
        a->rule = rule->id;
        return 0;
    }
    for (int i = 0; i < GMT_FIGURES; i++) {
        if (strcmp(a->key, gmt_figure_rows[i].name) == 0) {
            a->figure = i;
            return 0;
        }
    }
    return wrong(r, "'%s' is neither a figure (gmanalyze(1), Budgets) nor a rule (--list-rules)",
                 a->key);
}

static int read_assertion(struct reading *r, struct gmt_assertion *a, const char *key,
                          json_t *value)
{
    const char *name;
    json_t *limit, *level = json_is_array(value) ? json_array_get(value, 0) : value;
    json_t *asked = json_is_array(value) ? json_array_get(value, 1) : NULL;

    *a = (struct gmt_assertion){.key = gmt_arena_copy(r->arena, key), .limits = {NAN, NAN, NAN}};
    int rc = find_key(r, a);
    if (rc == 0) {
        rc = read_level(r, a, level);
    }
    if (rc == 0 && json_is_array(value) &&
        (json_array_size(value) > 2 || (asked != NULL && !json_is_object(asked)))) {
        rc = wrong(r, "%s: must be a level, or a level and an object of limits", key);
    }
    size_t before = 0;
    json_object_foreach(asked, name, limit)
    {
        if (rc == 0) {
            rc = read_limit(r, a, name, limit);
        }
        before++;
    }
    if (rc != 0 || before > 0 || a->level == GMT_LEVEL_OFF) {
        return rc;
    }
    if (a->figure >= 0) {
        return wrong(r, "%s: a figure needs a limit: [\"error\", {\"maxNumericValue\": N}]", key);
    }
    /* As there: without a limit, a rule has to pass. */
    a->limits[GMT_LIMIT_SCORE] = 1;
    return 0;
}

static json_t *assertions_of(json_t *root)
{
    json_t *ci = json_object_get(json_object_get(root, "ci"), "assert");

    return json_object_get(ci != NULL ? ci : root, "assertions");
}

int gmt_budget_read(struct gmt_budget *budget, const char *path, struct gmt_arena *arena,
                    char *message, size_t bytes)
{
    struct reading r = {arena, message, bytes};
    json_error_t error;
    const char *key;
    json_t *value;
    int rc = 0;

    *budget = (struct gmt_budget){0};
    errno = 0;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL && error.line <= 0) {
        return wrong(&r, "%s", errno != 0 ? strerror(errno) : error.text);
    }
    if (root == NULL) {
        return wrong(&r, "line %d: %s", error.line, error.text);
    }
    json_t *assertions = assertions_of(root);
    if (!json_is_object(assertions)) {
        rc = wrong(&r, "no object \"assertions\"");
    }
    json_object_foreach(assertions, key, value)
    {
        struct gmt_assertion *slot = rc != 0 ? NULL
                                             : GMT_PUSH(arena, budget->assertions, budget->count);

        if (slot != NULL) {
            rc = read_assertion(&r, slot, key, value);
        }
    }
    json_decref(root);
    if (rc == 0 && arena->failed) {
        rc = wrong(&r, "%s", strerror(ENOMEM));
    }
    return rc;
}

/* Of a rule's findings: their number, and what they would save, each for itself. */
static void sum_rule(const struct gmt_summary *summary, const char *rule, double *n, double *ns)
{
    *n = 0;
    *ns = 0;
    for (size_t i = 0; i < summary->finding_count; i++) {
        const struct gmt_finding *finding = &summary->findings[i];

        if (finding->severity == GMT_SEVERITY_NOTE || strcmp(finding->rule, rule) != 0) {
            continue;
        }
        (*n)++;
        *ns += finding->saving.best_ns;
    }
}

/* NAN, with the reason in *why, where it is not known. */
static double value_of(const struct gmt_assertion *a, const struct gmt_summary *summary,
                       enum gmt_limit limit, const char **why)
{
    double n, ns;
    bool is_time = a->figure >= 0 ? gmt_figure_rows[a->figure].kind == GMT_KIND_NS
                                  : limit == GMT_LIMIT_NUMERIC;

    *why = "not measured";
    /* A limit is one of a device that ran it. */
    if (is_time && summary->modelled_for != NULL) {
        *why = "modelled, not measured";
        return NAN;
    }
    if (a->figure >= 0) {
        return summary->values[a->figure];
    }
    const struct gmt_rule_result *result = gmt_summary_rule(summary, a->rule);
    if (result == NULL || result->outcome == GMT_OUTCOME_COULD_NOT_CHECK) {
        *why = result == NULL ? "the rule did not run" : result->why;
        return NAN;
    }
    sum_rule(summary, a->rule, &n, &ns);
    return limit == GMT_LIMIT_NUMERIC ? ns : limit == GMT_LIMIT_LENGTH ? n : n == 0;
}

static void write_numbers(struct gmt_arena *arena, const struct gmt_assertion *a,
                          enum gmt_limit limit, double value, struct gmt_gate *gate)
{
    const char *sign = limits[limit].least ? ">=" : "<=";
    double bound = a->limits[limit];
    enum gmt_figure_kind kind = a->figure >= 0              ? gmt_figure_rows[a->figure].kind
                                : limit == GMT_LIMIT_LENGTH ? GMT_KIND_COUNT
                                                            : GMT_KIND_NS;
    char is[GMT_FORMAT_BYTES], most[GMT_FORMAT_BYTES];

    if (limit == GMT_LIMIT_SCORE) {
        gate->is = gmt_arena_text(arena, "score %g", value);
        gate->limit = gmt_arena_text(arena, "%s score %g", sign, bound);
        return;
    }
    gmt_format_apart(is, value, most, bound, kind);
    const char *noun = limit == GMT_LIMIT_LENGTH ? " finding" : "";
    gate->is = gmt_arena_text(arena, "%s%s%s", is, noun, noun[0] != '\0' && value != 1 ? "s" : "");
    gate->limit = gmt_arena_text(arena, "%s %s%s%s", sign, most, noun,
                                 noun[0] != '\0' && bound != 1 ? "s" : "");
}

/* Where a rule's findings are: what the reader of a log looks for next. */
static const char *places(struct gmt_arena *arena, const struct gmt_summary *summary,
                          const char *rule)
{
    const char *text = NULL;

    for (size_t i = 0; i < summary->finding_count; i++) {
        const struct gmt_finding *finding = &summary->findings[i];

        if (finding->severity != GMT_SEVERITY_NOTE && strcmp(finding->rule, rule) == 0) {
            text = text == NULL
                       ? gmt_arena_text(arena, "%s: %s", finding->slug, finding->where.label)
                       : gmt_arena_text(arena, "%s, %s", text, finding->where.label);
        }
    }
    return text;
}

static void check_limit(const struct gmt_assertion *a, const struct gmt_summary *summary,
                        enum gmt_limit limit, struct gmt_gates *gates)
{
    const char *why;
    double value = value_of(a, summary, limit, &why), bound = a->limits[limit];
    bool least = limits[limit].least;
    struct gmt_gate gate = {
        .level = a->level,
        .gate = "budget",
        .what = a->key,
    };

    write_numbers(gates->arena, a, limit, value, &gate);
    if (isnan(value)) {
        gate.is = "–";
        gate.holds = GMT_HOLDS_UNKNOWN;
        gate.note = why;
    } else if (least ? value < bound : value > bound) {
        gate.holds = GMT_HOLDS_NO;
        gate.note = a->rule != NULL ? places(gates->arena, summary, a->rule) : NULL;
    }
    gmt_gates_add(gates, &gate);
}

void gmt_budget_check(const struct gmt_budget *budget, const struct gmt_summary *summary,
                      struct gmt_gates *gates)
{
    for (size_t i = 0; i < budget->count; i++) {
        const struct gmt_assertion *a = &budget->assertions[i];

        for (int limit = 0; limit < GMT_LIMITS && a->level != GMT_LEVEL_OFF; limit++) {
            if (!isnan(a->limits[limit])) {
                check_limit(a, summary, (enum gmt_limit)limit, gates);
            }
        }
    }
}
