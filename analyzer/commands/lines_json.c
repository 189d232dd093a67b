/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of gmanalyze lines for editors and scripts. */
#include <math.h>
#include <stdio.h>

#include "analyzer/commands/lines_write.h"
#include "libtrace/base/memory_short.h"
#include "reports/json/json_values.h"
#include "reports/model/inlining.h"

static json_t *of_chains(const struct gmt_source_line *line)
{
    json_t *array = json_array();

    for (size_t i = 0; i < line->chain_count; i++) {
        json_array_append_new(array, json_pack("{so, so}", "function",
                                               gmt_json_text(line->chains[i].function),
                                               "inlined_at", gmt_json_chain(&line->chains[i])));
    }
    return array;
}

static json_t *of_line(const struct gmt_source_line *line)
{
    json_t *json = json_object();

    json_object_set_new(json, "file", gmt_json_text(line->file));
    json_object_set_new(json, "line", gmt_json_line(line->line));
    json_object_set_new(json, "ptx_line", gmt_json_line(line->ptx_line));
    json_object_set_new(json, "kind", gmt_json_text(line->kind));
    json_object_set_new(json, "opcodes", gmt_json_text(line->opcodes));
#define COUNT(field) json_object_set_new(json, #field, gmt_json_number(line->field))
    COUNT(instructions);
    COUNT(executed);
    COUNT(lanes);
    COUNT(requests);
    COUNT(bytes);
    COUNT(sectors);
    COUNT(ideal_sectors);
    COUNT(wavefronts);
    COUNT(ideal_wavefronts);
    COUNT(excess_bytes);
#undef COUNT
    json_object_set_new(json, "chains", of_chains(line));
    json_object_set_new(json, "chain_count", json_integer((json_int_t)line->all_chains));
    return json;
}

static json_t *of_kernel(const struct gmt_kernel_lines *kernel)
{
    json_t *json = json_object(), *lines = json_array();

    for (size_t i = 0; i < kernel->line_count; i++) {
        json_array_append_new(lines, of_line(&kernel->lines[i]));
    }
    json_object_set_new(json, "kernel", gmt_json_text(kernel->kernel));
    json_object_set_new(json, "launches", gmt_json_integer((uint64_t)kernel->launches));
    json_object_set_new(json, "simulated", json_boolean(kernel->simulated));
    json_object_set_new(json, "excess_bytes", gmt_json_number(kernel->excess_bytes));
    json_object_set_new(json, "lines", lines);
    return json;
}

void gmt_lines_json(const struct gmt_lines_view *view)
{
    json_t *kernels = json_array(), *root = json_object();

    for (size_t i = 0; i < view->shown; i++) {
        json_array_append_new(kernels, of_kernel(&view->kernels[i]));
    }
    json_object_set_new(root, "trace", gmt_json_text(view->trace));
    json_object_set_new(root, "kernels", kernels);
    /* With a part missing it would look whole. */
    if (!gmt_memory_short()) {
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(root);
}
