/* SPDX-License-Identifier: Apache-2.0 */
/* Reads GMTRACE_* variables into gmt_options. */
#include "preload/session/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/option_limits.h"
#include "libtrace/record/ring_limits.h"
#include "libtrace/record/spool.h"
#include "libtrace/settings/dump_on.h"
#include "libtrace/settings/labels.h"

struct gmt_options gmt_options;
static char complaints[512];

static const struct {
    const char *field, *variable, *standard;
} rows[] = {
#define GMT_OPTION(field, flag, letter, variable, metavar, standard, help) \
    {#field, variable, standard},
#include "libtrace/record/options.def"
#undef GMT_OPTION
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void complain(const char *what, const char *variable)
{
    size_t used = strlen(complaints);
    (void)snprintf(complaints + used, sizeof(complaints) - used, "%s%s %s", used != 0 ? "; " : "",
                   what, variable);
}

/* Text of an option: the variable, or its default where that is unset or empty. */
static const char *value_of(const char *field, const char **variable)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].field, field) == 0) {
            const char *value = getenv(rows[i].variable);
            *variable = rows[i].variable;
            return value != NULL && value[0] != '\0' ? value : rows[i].standard;
        }
    }
    *variable = field;
    return "";
}

static const struct {
    const char *field;
    double least, most;
} limits[] = {
#define GMT_LIMIT(field, least, most) {#field, least, most},
    GMT_OPTION_LIMITS(GMT_LIMIT)
#undef GMT_LIMIT
};
enum { LIMITS = sizeof(limits) / sizeof(limits[0]) };

/* Behind a number; of a share the sign may be written. */
static bool is_end(const char *field, const char *end)
{
    return *end == '\0' || (strcmp(field, "overhead") == 0 && strcmp(end, "%") == 0);
}

static size_t limit_row(const char *field)
{
    size_t row = 0;
    while (row + 1 < LIMITS && strcmp(limits[row].field, field) != 0) {
        row++;
    }
    return row;
}

/* False: it is no number within the option's limits. */
static bool read_number(const char *field, const char *text, double *value)
{
    char *end;
    size_t row = limit_row(field);
    *value = strtod(text, &end);
    return end != text && is_end(field, end) && *value >= limits[row].least &&
           *value <= limits[row].most;
}

/* A number within its limits; otherwise the default, and a complaint. */
static double number_of(const char *field)
{
    const char *variable;
    double value;
    if (read_number(field, value_of(field, &variable), &value)) {
        return value;
    }
    complain("bad value in", variable);
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].field, field) == 0) {
            return strtod(rows[i].standard, NULL);
        }
    }
    return limits[limit_row(field)].least;
}

static bool is_unlimited(const char *text)
{
    return strcmp(text, "unlimited") == 0;
}

/* A share in percent of the run time; as good as infinite where it says so. */
static double budget_of(const char *field)
{
    const char *variable;
    if (is_unlimited(value_of(field, &variable))) {
        return GMT_UNLIMITED_BUDGET;
    }
    return number_of(field) / 100;
}

/* Index of the option's text in `names`; the first of them, and a complaint, if it is none. */
static int choice_of(const char *field, const char *const *names, int count, int standard)
{
    const char *variable;
    const char *text = value_of(field, &variable);
    for (int i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            return i;
        }
    }
    complain("bad value in", variable);
    return standard;
}

static void load_fingerprints(void)
{
    int choice = choice_of("fingerprints", (const char *const[]){"off", "sampled", "whole", "auto"},
                           4, 3);
    gmt_options.fingerprints = choice != 3 ? (enum gmt_fingerprints)choice
                               : gmt_options.collect == GMT_COLLECT_LIGHT ? GMT_PRINTS_OFF
                                                                          : GMT_PRINTS_SAMPLED;
    gmt_options.fingerprint_limit_bytes = (size_t)number_of("fingerprint_limit") << 10;
    gmt_options.fingerprint_budget = number_of("fingerprint_budget") / 100;
}

static void load_ring(void)
{
    const char *variable;
    const char *text = value_of("ring", &variable);
    gmt_options.ring = (struct gmt_ring_limits){0};
    if (text[0] == '\0') {
        return;
    }
    if (gmt_ring_limits_read(text, &gmt_options.ring) != 0) {
        complain("bad value in", variable);
    }
    /* The recorder gives records up in portions: until then both they and the new ones lie there. */
    if (gmt_options.spool_limit_bytes < 2 * gmt_options.ring.bytes) {
        gmt_options.spool_limit_bytes = 2 * gmt_options.ring.bytes;
    }
}

static void load_live(void)
{
    const char *variable;
    char step[GMT_SETTINGS_STEP_BYTES];
    gmt_options.metrics = value_of("metrics", &variable);
    gmt_options.metrics_seconds = (unsigned)number_of("metrics_interval");
    gmt_options.dump_on = value_of("dump_on", &variable);
    if (gmt_options.dump_on[0] != '\0' && gmt_dump_on_read(gmt_options.dump_on, step) != 0) {
        complain("bad value in", variable);
        gmt_options.dump_on = "";
    }
}

/* They are kept among the options (gmt_options_describe); what they mean is known to those who read the trace. */
static void check_labels(void)
{
    const char *variable;
    if (gmt_labels_check(value_of("label", &variable)) != 0) {
        complain("bad value in", variable);
    }
}

/* The user has named a share of the run time. What cannot be read names none. */
static bool is_share_given(const char *field, bool may_be_unlimited)
{
    const char *variable;
    const char *text = value_of(field, &variable), *given = getenv(variable);
    double unused;
    return given != NULL && given[0] != '\0' &&
           ((may_be_unlimited && is_unlimited(text)) || read_number(field, text, &unused));
}

static void load_overhead(void)
{
    gmt_options.overhead_given = is_share_given("overhead", false);
    gmt_options.counter_budget_given = is_share_given("counter_budget", true);
    gmt_options.fingerprint_budget_given = is_share_given("fingerprint_budget", false);
    gmt_options.overhead = number_of("overhead") / 100;
}

/* Of counters and fingerprints a trace of sums has nothing: they would cost all the same. */
static void load_aggregate(void)
{
    const char *variable;
    gmt_options.aggregate = choice_of("aggregate", (const char *const[]){"off", "on"}, 2, 0) != 0;
    gmt_options.step = value_of("step", &variable);
    if (strlen(gmt_options.step) >= GMT_SETTINGS_STEP_BYTES) {
        complain("bad value in", variable);
        gmt_options.step = "";
    }
    if (gmt_options.aggregate && gmt_options.ring.ns != 0) {
        complain("no effect with GMTRACE_RING:", "GMTRACE_AGGREGATE");
    }
    if (gmt_options.aggregate) {
        gmt_options.collect = gmt_options.collect == GMT_COLLECT_DEEP ? GMT_COLLECT_STANDARD
                                                                      : gmt_options.collect;
        gmt_options.counters = GMT_COUNTERS_OFF;
        gmt_options.fingerprints = GMT_PRINTS_OFF;
    }
}

/* Of the launcher, and of other commands. */
static const char *const other_variables[] = {"GMTRACE_RUN", GMT_SECOND_RUN_VARIABLE,
                                              "GMTRACE_APPLY", "GMTRACE_DUCKDB"};

static bool is_other(const char *entry, size_t length)
{
    bool is = false;
    for (size_t i = 0; i < sizeof(other_variables) / sizeof(other_variables[0]); i++) {
        is = is || (strlen(other_variables[i]) == length &&
                    strncmp(other_variables[i], entry, length) == 0);
    }
    return is;
}

static void find_unknown_variables(void)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        if (strncmp(*entry, "GMTRACE_", 8) != 0) {
            continue;
        }
        size_t length = strcspn(*entry, "=");
        bool known = is_other(*entry, length);
        for (size_t i = 0; i < ROWS && !known; i++) {
            known = strlen(rows[i].variable) == length &&
                    strncmp(rows[i].variable, *entry, length) == 0;
        }
        if (!known) {
            char name[64];
            (void)snprintf(name, sizeof(name), "%.*s", (int)(length < 60 ? length : 60), *entry);
            complain("unknown variable", name);
        }
    }
}

void gmt_options_load(void)
{
    const char *variable;
    complaints[0] = '\0';
    gmt_options.output = value_of("output", &variable);
    gmt_options.cupti = value_of("cupti", &variable);
    if (gmt_options.cupti[0] == '\0') {
        gmt_options.cupti = NULL;
    }
    gmt_options.collect = (enum gmt_collect)choice_of(
        "collect", (const char *const[]){"light", "standard", "deep"}, 3, GMT_COLLECT_STANDARD);
    gmt_options.deep = (enum gmt_deep)choice_of(
        "deep", (const char *const[]){"auto", "rerun", "phase"}, 3, GMT_DEEP_AUTO);
    gmt_options.launched = getenv("GMTRACE_RUN") != NULL;
    gmt_options.second_run = gmt_options.collect == GMT_COLLECT_DEEP &&
                             getenv(GMT_SECOND_RUN_VARIABLE) != NULL;
    gmt_options.stacks = (enum gmt_stacks)choice_of(
        "stacks", (const char *const[]){"off", "caller", "full"}, 3, GMT_STACKS_FULL);
    gmt_options.python = choice_of("python", (const char *const[]){"on", "off"}, 2, 0) == 0;
    gmt_options.counters = (enum gmt_counter_mode)choice_of(
        "counters", (const char *const[]){"auto", "on", "off"}, 3, GMT_COUNTERS_AUTO);
    gmt_options.graph_steps = (enum gmt_graph_steps_mode)choice_of(
        "graph_steps", (const char *const[]){"off", "on", "always"}, 3, GMT_GRAPH_STEPS_ON);
    gmt_options.repeat = (enum gmt_repeat_mode)choice_of(
        "repeat", (const char *const[]){"off", "on", "always"}, 3, GMT_REPEAT_ON);
    /* The launcher's and the recorder's business; only looked at for what is odd. */
    (void)choice_of("source", (const char *const[]){"on", "off"}, 2, 0);
    (void)choice_of("device", (const char *const[]){"gpu", "sim"}, 2, 0);
    (void)choice_of("summary", (const char *const[]){"on", "off"}, 2, 0);
    (void)choice_of("open", (const char *const[]){"off", "on"}, 2, 0);
    gmt_options.spool_limit_bytes = (uint64_t)number_of("spool_limit") << 20;
    gmt_options.counter_budget = budget_of("counter_budget");
    gmt_options.counter_samples = (unsigned)number_of("counter_samples");
    gmt_options.hold_limit_ns = (uint64_t)number_of("hold_limit") * UINT64_C(1000000);
    check_labels();
    load_overhead();
    load_fingerprints();
    load_ring();
    load_live();
    load_aggregate();
    find_unknown_variables();
}

void gmt_options_report(void)
{
    if (complaints[0] != '\0') {
        gmt_spool_capability("options", GMT_CAP_PARTIAL, EINVAL, complaints,
                             "gmtrace --help lists the variables and their values");
    }
}

void gmt_options_describe(char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < ROWS && used < bytes; i++) {
        const char *variable, *value = value_of(rows[i].field, &variable);
        /* One that is refused could read as another option. */
        bool is_refused = strcmp(rows[i].field, "label") == 0 && gmt_labels_check(value) != 0;
        int more = snprintf(text + used, bytes - used, "%s%s=%s", i != 0 ? ";" : "", rows[i].field,
                            is_refused ? "" : value);
        used += more > 0 ? (size_t)more : 0;
    }
}

const char *gmt_options_range(void)
{
    const char *variable;
    return value_of("range", &variable);
}

const char *gmt_options_exe(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    return path;
}

const char *gmt_options_rank(unsigned *size)
{
    static const struct {
        const char *rank, *size;
    } jobs[] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
        {"PMIX_RANK", "PMIX_SIZE"},
        {"PMI_RANK", "PMI_SIZE"},
        {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
        {"RANK", "WORLD_SIZE"},
        {"SLURM_PROCID", "SLURM_NTASKS"},
    };
    *size = 1;
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        const char *rank = getenv(jobs[i].rank);
        const char *count = getenv(jobs[i].size);
        /* A bare RANK is anybody's variable; torchrun sets both. */
        if (rank != NULL && (count != NULL || strcmp(jobs[i].rank, "RANK") != 0)) {
            unsigned long ranks = count != NULL ? strtoul(count, NULL, 10) : 1;
            *size = ranks < 1 ? 1 : ranks < UINT_MAX ? (unsigned)ranks : UINT_MAX;
            return rank;
        }
    }
    return NULL;
}
