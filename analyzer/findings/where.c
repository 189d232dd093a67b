/* SPDX-License-Identifier: Apache-2.0 */
/* Where a call was made: from its stack, else from its return address, else its name. */
#include <inttypes.h>
#include <string.h>

#include "analyzer/findings/kernel_origin.h"
#include "analyzer/findings/where.h"
#include "analyzer/trace/graph_kernels.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/base_name.h"
#include "libtrace/base/format.h"
#include "libtrace/base/prefix.h"

struct gmt_known_stack {
    int64_t id; /* 0: none */
    struct gmt_report_frame *frames;
    size_t depth;
};
enum { KNOWN_STACKS = 1024 };

/* Frames of a stack, innermost first; returns how many. Calls come from few stacks, so those that were read stay, each in the
 * place of its number. */
static size_t stack_of(struct gmt_analysis *analysis, int64_t stack_id,
                       struct gmt_report_frame **frames)
{
    struct gmt_arena *arena = analysis->report->arena;

    if (analysis->stacks == NULL) {
        analysis->stacks = gmt_arena_alloc(arena, KNOWN_STACKS * sizeof(*analysis->stacks));
    }
    if (analysis->stacks == NULL) {
        return gmt_where_stack(analysis, arena, stack_id, frames);
    }
    struct gmt_known_stack *known = &analysis->stacks[stack_id % KNOWN_STACKS];
    if (known->id != stack_id) {
        known->id = stack_id;
        known->depth = gmt_where_stack(analysis, arena, stack_id, &known->frames);
    }
    *frames = known->frames;
    return known->depth;
}

/* An inline wrapper of the toolkit's: the line is there, not in the user's code. */
static bool is_toolkit_file(const char *path)
{
    return gmt_starts_with(gmt_base_name(path), "cuda_runtime") ||
           gmt_starts_with(path, "/usr/local/cuda") ||
           (strstr(path, "/targets/") != NULL && strstr(path, "/include/") != NULL);
}

static bool use_frame(struct gmt_analysis *analysis, const struct gmt_report_frame *frame,
                      struct gmt_where *where)
{
    struct gmt_arena *arena = analysis->report->arena;

    where->function = frame->function;
    where->module = frame->module;
    if (frame->file != NULL && frame->line > 0 && !is_toolkit_file(frame->file)) {
        where->file = frame->file;
        where->line = frame->line;
        where->label = gmt_arena_text(arena, "%s:%" PRId64, gmt_base_name(frame->file),
                                      frame->line);
    } else if (gmt_frame_is_made(frame) && frame->file != NULL) {
        where->file = frame->file;
        where->label = gmt_arena_text(arena, "%s:%s", gmt_base_name(frame->file), frame->function);
    } else if (frame->module != NULL) {
        where->label = gmt_arena_text(arena, "%s+0x%" PRIx64, gmt_base_name(frame->module),
                                      (uint64_t)frame->offset);
    } else if (frame->function != NULL) {
        where->label = frame->function;
    }
    return where->label[0] != '\0';
}

/*
 * The name of a function of the CUDA runtime without its return type, arguments and the suffix of
 * per-thread default streams; NULL: not one.
 */
static const char *runtime_name(struct gmt_arena *arena, const char *function)
{
    size_t length = strcspn(function, "(<");
    const char *name = function;

    for (size_t i = 0; i < length; i++) {
        if (function[i] == ' ') {
            name = function + i + 1;
        }
    }
    length -= (size_t)(name - function);
    if (length < 5 || !gmt_starts_with(name, "cuda") || name[4] < 'A' || name[4] > 'Z') {
        return NULL;
    }
    for (size_t i = 0; i < 2; i++) {
        const char *suffix = i == 0 ? "_ptsz" : "_ptds";

        if (length > 5 && strncmp(name + length - 5, suffix, 5) == 0) {
            length -= 5;
        }
    }
    return gmt_arena_text(arena, "%.*s", (int)length, name);
}

/*
 * What the user called: the outermost function of the runtime before the stack leaves it, else the usual
 * one. Functions of the user's that lie further out may be named as they like.
 */
static const char *called_api(struct gmt_analysis *analysis, const struct gmt_tl_api *api,
                              const struct gmt_report_frame *frames, size_t n)
{
    struct gmt_arena *arena = analysis->report->arena;
    const char *name = api->runtime_name;
    bool found = false;

    for (size_t i = 0; i < n; i++) {
        const struct gmt_report_frame *frame = &frames[i];
        const char *seen = frame->runtime && frame->function != NULL
                               ? runtime_name(arena, frame->function)
                               : NULL;

        /* Without a name it may still be a runtime, linked into a stripped program. */
        if (gmt_frame_is_beyond_runtime(frame) && (found || frame->function != NULL)) {
            break;
        }
        if (seen != NULL) {
            name = seen;
            found = true;
        }
    }
    if (api->name != NULL && name != NULL) {
        return gmt_arena_text(arena, "%s (%s)", name, api->name);
    }
    return gmt_arena_copy(arena, api->name);
}

/*
 * The frame that names the place: the innermost of the user's. Where an interpreter runs the program
 * that is mostly an installed library's, without lines, and the program's own is further out. A library that is
 * known or installed (makers.h) names no place where anything else is on the stack.
 */
static const struct gmt_report_frame *users_frame(const struct gmt_report_frame *frames, size_t n)
{
    const struct gmt_report_frame *first = NULL, *made = NULL, *library = NULL;

    for (size_t i = 0; i < n; i++) {
        const struct gmt_report_frame *frame = &frames[i];

        if (!gmt_frame_is_users(frame)) {
            continue;
        }
        if (gmt_origin_of_module(frame->module) != GMT_ORIGIN_USER ||
            (frame->line == 0 && gmt_module_is_installed(frame->module))) {
            library = library != NULL ? library : frame;
            continue;
        }
        if (gmt_frame_is_own(frame) && (first == NULL || gmt_frame_is_made(frame))) {
            return frame;
        }
        first = first != NULL ? first : frame;
        if (made == NULL && gmt_frame_is_made(frame)) {
            made = frame;
        }
    }
    if (made != NULL || first != NULL) {
        return made != NULL ? made : first;
    }
    return library;
}

/* Fills in where a call was made; false when nothing of the user's is known. */
static bool place(struct gmt_analysis *analysis, const struct gmt_tl_call *call,
                  struct gmt_where *where)
{
    struct gmt_report_frame *frames = NULL;

    *where = (struct gmt_where){.label = ""};
    if (call->stack_id > 0) {
        where->stack_depth = stack_of(analysis, call->stack_id, &frames);
    }
    where->stack = frames;
    where->api = called_api(analysis, &analysis->timeline->apis[call->api], frames,
                            where->stack_depth);
    const struct gmt_report_frame *user = users_frame(frames, where->stack_depth);
    where->note = gmt_where_note(analysis->report->arena, frames, where->stack_depth, user);
    if (where->note == NULL && call->stack_id > 0) {
        where->note = gmt_where_taken(analysis, call);
    }
    if (user != NULL && use_frame(analysis, user, where)) {
        return true;
    }
    /* A stack that ends inside the runtime says that the return address is the runtime's, too. */
    return where->stack_depth == 0 &&
           gmt_where_caller(analysis, analysis->report->arena, call->caller, where);
}

struct gmt_where gmt_where_of_stack(struct gmt_analysis *analysis, int64_t stack_id)
{
    struct gmt_where where = {.label = ""};
    struct gmt_report_frame *frames = NULL;

    where.stack_depth = stack_of(analysis, stack_id, &frames);
    where.stack = frames;
    const struct gmt_report_frame *user = users_frame(frames, where.stack_depth);
    if (user != NULL) {
        (void)use_frame(analysis, user, &where);
    }
    return where;
}

/* An offset into a library says nothing to who calls loss.backward(). PyTorch's backward pass runs in threads that it names so
 * (torch/csrc/autograd/engine.cpp), one for each device. Threads of other libraries are not named: which one of a pool runs a piece of work
 * changes from run to run. */
static void name_backward(struct gmt_analysis *analysis, const struct gmt_tl_call *call,
                          struct gmt_where *where)
{
    struct gmt_query query;

    if (where->line > 0 || where->module == NULL || !gmt_where_is_thread_of_libraries(where) ||
        gmt_query_open(&query, analysis->timeline->db,
                       "SELECT 1 FROM thread WHERE id = ?1 AND name GLOB 'pt_autograd_*'") != 0) {
        return;
    }
    sqlite3_bind_int64(query.statement, 1, call->thread);
    if (gmt_query_next(&query)) {
        where->label = gmt_arena_text(analysis->report->arena, "%s" GMT_WHERE_BACKWARD,
                                      where->label);
    }
    gmt_query_close(&query, 0);
}

struct gmt_where gmt_where_of_call(struct gmt_analysis *analysis, const struct gmt_tl_call *call)
{
    struct gmt_where where;

    if (!place(analysis, call, &where)) {
        where.label = where.api != NULL ? where.api : "unknown place";
    }
    name_backward(analysis, call, &where);
    return where;
}

struct gmt_where gmt_where_of_frame(struct gmt_analysis *analysis, const struct gmt_tl_call *call,
                                    size_t position)
{
    struct gmt_where where = gmt_where_of_call(analysis, call);

    if (position >= where.stack_depth) {
        return where;
    }
    struct gmt_where outer = {
        .label = "", .stack = where.stack + position, .stack_depth = where.stack_depth - position};
    if (!use_frame(analysis, &where.stack[position], &outer)) {
        return where;
    }
    name_backward(analysis, call, &outer);
    return outer;
}

struct gmt_where gmt_where_from(struct gmt_analysis *analysis, const struct gmt_tl_call *call,
                                size_t position)
{
    struct gmt_where where = gmt_where_of_call(analysis, call);
    size_t left = position < where.stack_depth ? where.stack_depth - position : 0;
    struct gmt_where outer = {.label = "", .stack = where.stack + position, .stack_depth = left};
    const struct gmt_report_frame *user = left > 0 ? users_frame(outer.stack, left) : NULL;

    return user != NULL && use_frame(analysis, user, &outer) ? outer : where;
}

/* How graphs run a kernel, and where the first of them is launched. */
static const char *launched_by(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_tl_launch *graph = gmt_timeline_launch(tl, class->nodes[0].launch_id);
    char launches[GMT_FORMAT_BYTES], all[GMT_FORMAT_BYTES];

    struct gmt_where where = graph != NULL ? gmt_where_of_call(analysis, &graph->call)
                                           : (struct gmt_where){.label = "an unknown place"};
    return gmt_text(analysis, "%s of %s runs in graphs, launched at %s%s",
                    gmt_format_count(launches, (double)class->in_graphs),
                    gmt_format_count(all, (double)class->launches), where.label,
                    gmt_class_is_of_graphs(class) ? "; named is where it was captured" : "");
}

struct gmt_where gmt_where_of_class(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const char *name = class->name != NULL ? class->name : "unnamed kernel";
    struct gmt_where where = {.label = ""};

    const struct gmt_tl_launch *launch = gmt_class_launch(tl, class);
    if (launch->call.id == 0 || !place(analysis, &launch->call, &where)) {
        where.label = name;
    }
    where.kernel = name;
    where.communicates = class->communicates;
    gmt_kernel_origin_say(analysis, class, &where);
    if (class->in_graphs > 0) {
        where.graph = launched_by(analysis, class);
    }
    return where;
}
