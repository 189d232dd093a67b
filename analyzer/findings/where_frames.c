/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a call's stack, as the trace has them. */
#include <inttypes.h>
#include <string.h>

#include "analyzer/findings/makers.h"
#include "analyzer/findings/where.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/base_name.h"
#include "libtrace/base/prefix.h"
#include "libtrace/store/db/own_schema.h"

/* Is that the function's name, without namespaces, arguments and a return type? */
static bool is_called(const char *function, const char *name, size_t length)
{
    if (function == NULL || length == 0) {
        return false;
    }
    size_t head = strcspn(function, "<(");

    return head >= length && strncmp(function + head - length, name, length) == 0 &&
           (head == length || strchr(": ", function[head - length - 1]) != NULL);
}

static const char wrapper_mark[] = "__wrapper__device_stub_";

bool gmt_where_is_stub(const char *wrapper, const char *function)
{
    const char *name = wrapper != NULL ? strstr(wrapper, wrapper_mark) : NULL;

    if (name == NULL) {
        return false;
    }
    name += sizeof(wrapper_mark) - 1;
    return is_called(function, name, strcspn(name, "<("));
}

static void mark_stubs(struct gmt_report_frame *frames, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (frames[i].function == NULL || strstr(frames[i].function, wrapper_mark) == NULL) {
            continue;
        }
        frames[i].runtime = true;
        if (i + 1 < n && gmt_where_is_stub(frames[i].function, frames[i + 1].function)) {
            frames[i + 1].runtime = true;
        }
    }
}

size_t gmt_where_stack(struct gmt_analysis *analysis, struct gmt_arena *arena, int64_t stack_id,
                       struct gmt_report_frame **frames)
{
    struct gmt_query query;
    size_t n = 0;
    sqlite3 *db = analysis->timeline->db;
    /* Traces before format 4 know neither. */
    bool has_symbols = gmt_trace_has_column(db, "module", "symbols");
    int rc = gmt_query_open(&query, db,
                            has_symbols
                                ? "SELECT v.function, v.file, v.module, v.line, v.offset, "
                                  "v.runtime, v.inlined, m.symbols FROM stack_frame s "
                                  "JOIN v_frame v ON v.id = s.frame_id JOIN frame f ON f.id = v.id "
                                  "LEFT JOIN module m ON m.id = f.module_id "
                                  "WHERE s.stack_id = ?1 ORDER BY s.position"
                                : "SELECT function, file, module, line, offset, runtime, 0, NULL "
                                  "FROM v_stack WHERE stack_id = ?1 ORDER BY position");

    *frames = NULL;
    if (rc == 0) {
        sqlite3_bind_int64(query.statement, 1, stack_id);
    }
    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_report_frame *frame = GMT_PUSH(arena, *frames, n);

        if (frame == NULL) {
            break;
        }
        frame->function = gmt_query_text(&query, 0, arena);
        frame->file = gmt_query_text(&query, 1, arena);
        frame->module = gmt_query_text(&query, 2, arena);
        frame->line = gmt_query_count(&query, 3);
        frame->offset = gmt_query_int(&query, 4);
        frame->runtime = gmt_query_int(&query, 5) != 0;
        frame->interpreter = gmt_query_int(&query, 5) == 2;
        frame->inlined = gmt_query_int(&query, 6) != 0;
        frame->symbols = gmt_query_text(&query, 7, arena);
    }
    gmt_query_close(&query, rc);
    mark_stubs(*frames, n);
    return n;
}

bool gmt_where_caller(struct gmt_analysis *analysis, struct gmt_arena *arena, uint64_t caller,
                      struct gmt_where *where)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, analysis->timeline->db,
                            "SELECT path, ?1 - load_bias FROM module "
                            "WHERE start_address <= ?1 AND end_address > ?1 LIMIT 1");

    if (rc == 0) {
        sqlite3_bind_int64(query.statement, 1, (int64_t)caller);
    }
    if (rc == 0 && gmt_query_next(&query)) {
        where->module = gmt_query_text(&query, 0, arena);
        if (where->module != NULL) {
            where->label = gmt_arena_text(arena, "%s+0x%" PRIx64, gmt_base_name(where->module),
                                          (uint64_t)gmt_query_int(&query, 1));
        }
    }
    gmt_query_close(&query, rc);
    return where->module != NULL;
}

size_t gmt_where_frames(struct gmt_analysis *analysis, struct gmt_arena *arena,
                        const struct gmt_tl_call *call, struct gmt_report_frame **frames)
{
    struct gmt_where where = {.label = ""};
    size_t n = call->stack_id > 0 ? gmt_where_stack(analysis, arena, call->stack_id, frames) : 0;

    if (n > 0 || call->id == 0 || !gmt_where_caller(analysis, arena, call->caller, &where)) {
        return n;
    }
    *frames = NULL;
    struct gmt_report_frame *frame = GMT_PUSH(arena, *frames, n);
    if (frame != NULL) {
        frame->module = where.module;
    }
    return n;
}

bool gmt_where_is_thread_of_libraries(const struct gmt_where *where)
{
    const struct gmt_report_frame *frames = where->stack;
    size_t n = where->stack_depth;

    if (n < 2 || frames[n - 1].module == NULL ||
        !gmt_starts_with(gmt_base_name(frames[n - 1].module), "libc.so")) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (frames[i].module == NULL || frames[i].interpreter ||
            (!frames[i].runtime && !gmt_module_is_installed(frames[i].module) &&
             gmt_origin_of_module(frames[i].module) == GMT_ORIGIN_USER)) {
            return false;
        }
    }
    return true;
}
