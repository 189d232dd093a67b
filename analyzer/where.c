/* SPDX-License-Identifier: Apache-2.0 */
/* Where a call was made: from its stack, else from its return address, else its name. */
#include <inttypes.h>
#include <string.h>

#include "analyzer/query.h"
#include "analyzer/rule.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Frames of a stack, innermost first; returns how many. */
static size_t read_stack(struct gmt_analysis *analysis, int64_t stack_id,
                         struct gmt_report_frame **frames)
{
    struct gmt_arena *arena = analysis->report->arena;
    struct gmt_query query;
    size_t n = 0;
    int rc = gmt_query_open(&query, analysis->timeline->db,
                            "SELECT function, file, module, line, offset, runtime FROM v_stack "
                            "WHERE stack_id = ?1 ORDER BY position");

    *frames = NULL;
    if (rc == 0)
        sqlite3_bind_int64(query.statement, 1, stack_id);
    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_report_frame *frame = GMT_PUSH(arena, *frames, n);

        if (frame == NULL)
            break;
        frame->function = gmt_query_text(&query, 0, arena);
        frame->file = gmt_query_text(&query, 1, arena);
        frame->module = gmt_query_text(&query, 2, arena);
        frame->line = gmt_query_int(&query, 3);
        frame->offset = gmt_query_int(&query, 4);
        frame->runtime = gmt_query_int(&query, 5) != 0;
    }
    gmt_query_close(&query, rc);
    return n;
}

static bool read_caller(struct gmt_analysis *analysis, uint64_t caller, struct gmt_where *where)
{
    struct gmt_arena *arena = analysis->report->arena;
    struct gmt_query query;
    int rc = gmt_query_open(&query, analysis->timeline->db,
                            "SELECT path, ?1 - load_bias FROM module "
                            "WHERE start_address <= ?1 AND end_address > ?1 LIMIT 1");

    if (rc == 0)
        sqlite3_bind_int64(query.statement, 1, (int64_t)caller);
    if (rc == 0 && gmt_query_next(&query)) {
        where->module = gmt_query_text(&query, 0, arena);
        if (where->module != NULL)
            where->label = gmt_arena_text(arena, "%s+0x%" PRIx64, base_name(where->module),
                                          (uint64_t)gmt_query_int(&query, 1));
    }
    gmt_query_close(&query, rc);
    return where->module != NULL;
}

static void use_frame(struct gmt_analysis *analysis, const struct gmt_report_frame *frame,
                      struct gmt_where *where)
{
    struct gmt_arena *arena = analysis->report->arena;

    where->function = frame->function;
    where->file = frame->file;
    where->module = frame->module;
    where->line = frame->line;
    if (frame->file != NULL && frame->line > 0)
        where->label = gmt_arena_text(arena, "%s:%" PRId64, base_name(frame->file), frame->line);
    else if (frame->module != NULL)
        where->label = gmt_arena_text(arena, "%s+0x%" PRIx64, base_name(frame->module),
                                      (uint64_t)frame->offset);
    else if (frame->function != NULL)
        where->label = frame->function;
}

struct gmt_where gmt_where_of_call(struct gmt_analysis *analysis, const struct gmt_tl_call *call)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_tl_api *api = &tl->apis[call->api];
    struct gmt_arena *arena = analysis->report->arena;
    struct gmt_where where = {.label = ""};
    struct gmt_report_frame *frames = NULL;

    if (api->name != NULL && api->runtime_name != NULL)
        where.api = gmt_arena_text(arena, "%s (%s)", api->runtime_name, api->name);
    else
        where.api = gmt_arena_copy(arena, api->name);
    if (call->stack_id > 0)
        where.stack_depth = read_stack(analysis, call->stack_id, &frames);
    where.stack = frames;
    for (size_t i = 0; i < where.stack_depth && where.label[0] == '\0'; i++) {
        if (!frames[i].runtime)
            use_frame(analysis, &frames[i], &where);
    }
    if (where.label[0] == '\0' && !read_caller(analysis, call->caller, &where))
        where.label = where.api != NULL ? where.api : "unknown place";
    return where;
}

struct gmt_where gmt_where_of_class(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_where where = {.label = "never launched"};

    if (class->launches > 0)
        where = gmt_where_of_call(analysis, &tl->launches[class->first_launch].call);
    where.kernel = class->name != NULL ? class->name : "unnamed kernel";
    return where;
}
