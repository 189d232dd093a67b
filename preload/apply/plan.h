/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan: which fixes are applied to which program. `gmtrace try` writes one, `gmtrace apply` and GMTRACE_APPLY=FILE read
 * it. Lines of words:
 *
 *   gmtrace-apply 2
 *   program HASH PATH                    the file of a program that it was proven on, and its content; several, where several
 *                                        made CUDA calls
 *   fix NAME STATE [PARAMETER=NUMBER ...]
 *
 * STATE is proven, tried (some results could not be compared), differs (results differed), no-gain or trying (within
 * `gmtrace try` alone). What is not understood makes the whole plan invalid, and so does `gmtrace-apply 1`: such plans may call
 * proven what no result was compared of.
 */
#ifndef GMT_PRELOAD_APPLY_PLAN_H
#define GMT_PRELOAD_APPLY_PLAN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GMT_APPLY_VARIABLE "GMTRACE_APPLY"
#define GMT_PLAN_FIRST_LINE "gmtrace-apply 2"
#define GMT_PLAN_OLD_FIRST_LINE "gmtrace-apply 1\n"

enum gmt_fix {
#define GMT_FIX(id, name, rules, class, one, many, what) GMT_FIX_##id,
#include "preload/apply/fixes.def"
    GMT_FIX_COUNT
};

enum gmt_fix_class { GMT_FIX_SETTING, GMT_FIX_KEPT };

enum gmt_fix_parameter {
#define GMT_FIX_PARAMETER(id, name, standard, least, most, what) GMT_FIX_##id##_##name,
#include "preload/apply/fixes.def"
    GMT_FIX_PARAMETERS
};

/* A row of fixes.def. */
struct gmt_fix_row {
    const char *name, *rules, *one, *many, *what;
    enum gmt_fix_class class;
};
extern const struct gmt_fix_row gmt_fixes[GMT_FIX_COUNT];

/* A parameter of one, of fixes.def. */
struct gmt_fix_parameter_row {
    enum gmt_fix fix;
    const char *name;
    int64_t standard, least, most;
};
extern const struct gmt_fix_parameter_row gmt_fix_parameters[GMT_FIX_PARAMETERS];

enum gmt_fix_state {
    GMT_FIX_ABSENT,
    GMT_FIX_PROVEN,
    GMT_FIX_TRIED,
    GMT_FIX_DIFFERS,
    GMT_FIX_NO_GAIN,
    GMT_FIX_TRYING
};
extern const char *const gmt_fix_states[]; /* their words, by state */

enum { GMT_PLAN_PROGRAMS = 4 };

struct gmt_plan_program {
    char hash[33];       /* of its content, 32 digits */
    unsigned short path; /* where it begins in `paths` */
};

struct gmt_plan {
    struct gmt_plan_program programs[GMT_PLAN_PROGRAMS];
    unsigned program_count;
    char paths
        [PATH_MAX]; /* of all of them together: a plan is in the memory of every process that applies one */
    enum gmt_fix_state states[GMT_FIX_COUNT];
    int64_t values[GMT_FIX_PARAMETERS];
};

/* A plan without fixes, all parameters at their standard. */
void gmt_plan_clear(struct gmt_plan *plan);
/* Reads `text`, which it changes. 0, or the number of the line that is not understood. */
unsigned gmt_plan_parse(char *text, struct gmt_plan *plan);
/* Reads the file. NULL, or why not, in `why` or constant. */
const char *gmt_plan_read(const char *path, struct gmt_plan *plan, char *why, size_t bytes);
/* One more program. False: there are too many, or their paths are too long together. */
bool gmt_plan_add(struct gmt_plan *plan, const char *hash, const char *path);
/* The path of a program, of the plan. */
const char *gmt_plan_path(const struct gmt_plan *plan, unsigned program);
/* Was it proven on a file of that content? */
bool gmt_plan_is_for(const struct gmt_plan *plan, const char *hash);
/* The fix of that name; GMT_FIX_COUNT: there is none. */
enum gmt_fix gmt_fix_named(const char *name);

/* The content of a file as 32 digits; "": it cannot be read. */
void gmt_plan_hash_file(const char *path, char hash[static 33]);

#endif
