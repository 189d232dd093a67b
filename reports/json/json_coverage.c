/* SPDX-License-Identifier: Apache-2.0 */
/* The recording's check of itself as JSON. */
#include <math.h>
#include <string.h>

#include "reports/json/json_parts.h"
#include "reports/json/json_values.h"

static bool is(const struct gmt_coverage_line *line, const char *kind)
{
    return strcmp(line->kind, kind) == 0;
}

static json_t *of_lookup_path(const struct gmt_coverage_line *line)
{
    return json_pack("{so, so, so}", "name", gmt_json_text(line->what), "requests",
                     gmt_json_number(line->requests), "detail", gmt_json_text(line->detail));
}

static json_t *of_runtime(const struct gmt_coverage_line *line)
{
    return json_pack("{so, so, so}", "module", gmt_json_text(line->what), "runtime",
                     gmt_json_text(line->class), "detail", gmt_json_text(line->detail));
}

static json_t *of_entry_point(const struct gmt_coverage_line *line)
{
    return json_pack("{so, so, so, so, so}", "name", gmt_json_text(line->what), "class",
                     gmt_json_text(line->class), "requests", gmt_json_number(line->requests),
                     "calls", gmt_json_number(line->expected), "by", gmt_json_text(line->detail));
}

static json_t *of_records(const struct gmt_coverage *coverage, const struct gmt_coverage_line *line)
{
    json_t *examples = json_array();

    for (size_t i = 0; i < coverage->example_count; i++) {
        const struct gmt_coverage_example *example = &coverage->examples[i];

        if (strcmp(example->what, line->what) == 0) {
            json_array_append_new(examples,
                                  json_pack("{so, sI, so}", "side", gmt_json_text(example->side),
                                            "id", (json_int_t)example->id, "detail",
                                            gmt_json_text(example->detail)));
        }
    }
    return json_pack("{so, so, so, so, so, so}", "what", gmt_json_text(line->what), "expected",
                     gmt_json_number(line->expected), "seen", gmt_json_number(line->seen), "extra",
                     gmt_json_number(line->extra), "detail", gmt_json_text(line->detail),
                     "examples", examples);
}

json_t *gmt_json_coverage(const struct gmt_coverage *coverage)
{
    json_t *paths = json_array(), *runtimes = json_array(), *entries = json_array();
    json_t *records = json_array();
    json_int_t without = 0, asking = 0;

    for (size_t i = 0; i < coverage->line_count; i++) {
        const struct gmt_coverage_line *line = &coverage->lines[i];

        if (is(line, "lookup_path")) {
            json_array_append_new(paths, of_lookup_path(line));
        } else if (is(line, "runtime") && line->class != NULL && strcmp(line->class, "none") != 0) {
            json_array_append_new(runtimes, of_runtime(line));
        } else if (is(line, "runtime")) {
            without++;
        } else if (is(line, "entry point") && gmt_coverage_matters(line)) {
            json_array_append_new(entries, of_entry_point(line));
        } else if (is(line, "entry point")) {
            asking++;
        } else if (is(line, "records")) {
            json_array_append_new(records, of_records(coverage, line));
        }
    }
    json_t *agrees = coverage->compared ? json_boolean(!coverage->differs) : json_null();
    return json_pack("{so, so, so, sI, so, sI, so}", "agrees", agrees, "lookup_paths", paths,
                     "runtimes", runtimes, "modules_without_runtime", without, "entry_points",
                     entries, "entry_points_that_ask", asking, "records", records);
}
