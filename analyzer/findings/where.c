/* SPDX-License-Identifier: Apache-2.0 */
/* Where a call was made: from its stack, else from its return address, else its name. */
#include <inttypes.h>
#include <string.h>

#include "analyzer/findings/where.h"
#include "analyzer/trace/graph_kernels.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/format.h"
#include "libtrace/base/prefix.h"
#include "libtrace/store/db/own_schema.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

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

/* Frames of a stack, innermost first; returns how many. */
static size_t read_stack(struct gmt_analysis *analysis, int64_t stack_id,
                         struct gmt_report_frame **frames)
{
    struct gmt_arena *arena = analysis->report->arena;
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

static bool read_caller(struct gmt_analysis *analysis, uint64_t caller, struct gmt_where *where)
{
    struct gmt_arena *arena = analysis->report->arena;
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
            where->label = gmt_arena_text(arena, "%s+0x%" PRIx64, base_name(where->module),
                                          (uint64_t)gmt_query_int(&query, 1));
        }
    }
    gmt_query_close(&query, rc);
    return where->module != NULL;
}

/* An inline wrapper of the toolkit's: the line is there, not in the user's code. */
static bool is_toolkit_file(const char *path)
{
    return gmt_starts_with(base_name(path), "cuda_runtime") ||
           gmt_starts_with(path, "/usr/local/cuda") ||
           (strstr(path, "/targets/") != NULL && strstr(path, "/include/") != NULL);
}

/* Loader and C library: they call, but nobody can change a line there. */
static bool is_system_module(const char *path)
{
    static const char *const names[] = {"libc.so", "libpthread.so", "ld-linux", "libdl.so"};

    for (size_t i = 0; path != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        if (gmt_starts_with(base_name(path), names[i])) {
            return true;
        }
    }
    return false;
}

static bool is_user_frame(const struct gmt_report_frame *frame)
{
    /* Launch stubs that nvcc generates for kernels are skipped, whatever module they lie in. */
    bool stub = frame->function != NULL && strstr(frame->function, "__device_stub__") != NULL;

    return !frame->runtime && !stub && !is_system_module(frame->module);
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
        where->label = gmt_arena_text(arena, "%s:%" PRId64, base_name(frame->file), frame->line);
    } else if (gmt_frame_is_made(frame) && frame->file != NULL) {
        where->file = frame->file;
        where->label = gmt_arena_text(arena, "%s:%s", base_name(frame->file), frame->function);
    } else if (frame->module != NULL) {
        where->label = gmt_arena_text(arena, "%s+0x%" PRIx64, base_name(frame->module),
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
        if (is_user_frame(frame) && (found || frame->function != NULL)) {
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

/* Packages that are installed beside the program, and what Python itself brings. */
static bool is_library_file(const char *path)
{
    static const char *const marks[] = {"/site-packages/", "/dist-packages/", "/lib/python3",
                                        "<frozen "};

    for (size_t i = 0; path != NULL && i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (strstr(path, marks[i]) != NULL) {
            return true;
        }
    }
    return false;
}

bool gmt_frame_is_users(const struct gmt_report_frame *frame)
{
    return is_user_frame(frame) && !gmt_frame_is_nameless(frame);
}

bool gmt_frame_is_own(const struct gmt_report_frame *frame)
{
    return frame->file != NULL && !is_library_file(frame->file) && !is_library_file(frame->module);
}

/*
 * The frame that names the place: the innermost of the user's. Where an interpreter runs the program
 * that is mostly an installed library's, without lines, and the program's own is further out.
 */
static const struct gmt_report_frame *users_frame(const struct gmt_report_frame *frames, size_t n)
{
    const struct gmt_report_frame *first = NULL, *made = NULL;

    for (size_t i = 0; i < n; i++) {
        const struct gmt_report_frame *frame = &frames[i];

        if (!gmt_frame_is_users(frame)) {
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
    return made != NULL ? made : first;
}

/* Fills in where a call was made; false when nothing of the user's is known. */
static bool place(struct gmt_analysis *analysis, const struct gmt_tl_call *call,
                  struct gmt_where *where)
{
    struct gmt_report_frame *frames = NULL;

    *where = (struct gmt_where){.label = ""};
    if (call->stack_id > 0) {
        where->stack_depth = read_stack(analysis, call->stack_id, &frames);
    }
    where->stack = frames;
    where->api = called_api(analysis, &analysis->timeline->apis[call->api], frames,
                            where->stack_depth);
    const struct gmt_report_frame *user = users_frame(frames, where->stack_depth);
    where->note = gmt_where_note(analysis->report->arena, frames, where->stack_depth, user);
    if (user != NULL && use_frame(analysis, user, where)) {
        return true;
    }
    /* A stack that ends inside the runtime says that the return address is the runtime's, too. */
    return where->stack_depth == 0 && read_caller(analysis, call->caller, where);
}

struct gmt_where gmt_where_of_call(struct gmt_analysis *analysis, const struct gmt_tl_call *call)
{
    struct gmt_where where;

    if (!place(analysis, call, &where)) {
        where.label = where.api != NULL ? where.api : "unknown place";
    }
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
    return use_frame(analysis, &where.stack[position], &outer) ? outer : where;
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
    if (class->in_graphs > 0) {
        where.graph = launched_by(analysis, class);
    }
    return where;
}
