/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of demangled C++ names: namespaces, template arguments, parameters, lambdas. */
#ifndef GMT_ANALYZER_BASE_DEMANGLED_H
#define GMT_ANALYZER_BASE_DEMANGLED_H

#include <stdbool.h>
#include <stddef.h>

#include "libtrace/base/arena.h"

struct gmt_name_type;

/* Between two "::". */
struct gmt_name_part {
    const char *text; /* into the name: the identifier alone */
    size_t length;
    struct gmt_name_type *arguments; /* of a template */
    size_t argument_count;
    struct gmt_name_type *parameters; /* of a function */
    size_t parameter_count;
    bool called; /* a function: it has parameters, or "()" */
    bool lambda;
    bool anonymous; /* "(anonymous namespace)" */
};

/* A type, a value, or the whole name. */
struct gmt_name_type {
    const char *text; /* as it stands there, without blanks around */
    size_t length;
    struct gmt_name_part *parts; /* outermost first; of words like "unsigned int" one */
    size_t part_count;
    bool value;   /* a number, true, false */
    bool pointer; /* or a reference */
};

/* The function that a demangled name names, without the type that it returns. 0, or -ENOMEM. What is no such name
 * is one part. */
int gmt_name_parse(struct gmt_arena *arena, const char *name, struct gmt_name_type *parsed);

/* The last part; NULL: none. */
const struct gmt_name_part *gmt_name_last(const struct gmt_name_type *type);

bool gmt_name_is(const struct gmt_name_part *part, const char *text);

#endif
