/* SPDX-License-Identifier: Apache-2.0 */
/* Collects a profile: stacks of the trace, what was called from each, and what the findings would save. */
#include "analyzer/commands/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/commands/commands.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/guard.h"

/* A stack of the trace, in the order of their ids. */
struct stack {
    int64_t id;
    size_t first, depth; /* of `indices` */
};

struct collector {
    struct gmt_profile *profile;
    sqlite3 *db;
    struct stack *stacks;
    size_t stack_count;
    uint32_t *indices; /* of frames */
    size_t index_count;
    uint32_t *slots; /* frames by hash: index + 1; 0: empty */
    size_t slot_count;
    uint32_t *nowhere; /* the stack of calls whose stack is not known: one frame */
};

static uint64_t hash_of(const char *name, const char *file, int64_t line)
{
    uint64_t hash = 14695981039346656037u ^ (uint64_t)line;

    for (int part = 0; part < 2; part++) {
        for (const char *at = part == 0 ? name : file; at != NULL && *at != '\0'; at++) {
            hash = (hash ^ (unsigned char)*at) * 1099511628211u;
        }
        hash = (hash ^ 0xff) * 1099511628211u;
    }
    return hash;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Where the frame is or belongs. */
static uint32_t *slot_of(const struct collector *c, const char *name, const char *file,
                         int64_t line)
{
    size_t at = hash_of(name, file, line) & (c->slot_count - 1);

    for (; c->slots[at] != 0; at = (at + 1) & (c->slot_count - 1)) {
        const struct gmt_profile_frame *frame = &c->profile->frames[c->slots[at] - 1];

        if (frame->line == line && is_same(frame->name, name) && is_same(frame->file, file)) {
            break;
        }
    }
    return &c->slots[at];
}

static int grow(struct collector *c)
{
    size_t n = c->slot_count == 0 ? 1024 : 2 * c->slot_count;
    uint32_t *grown = calloc(n, sizeof(*grown));

    if (grown == NULL) {
        return -ENOMEM;
    }
    free(c->slots);
    c->slots = grown;
    c->slot_count = n;
    for (size_t i = 0; i < c->profile->frame_count; i++) {
        const struct gmt_profile_frame *frame = &c->profile->frames[i];

        *slot_of(c, frame->name, frame->file, frame->line) = (uint32_t)i + 1;
    }
    return 0;
}

/* Each frame is once among those of the profile. 0 or -ENOMEM. */
static int frame_index(struct collector *c, const char *name, const char *file, int64_t line,
                       uint32_t *index)
{
    struct gmt_profile *p = c->profile;

    if (2 * p->frame_count >= c->slot_count && grow(c) != 0) {
        return -ENOMEM;
    }
    uint32_t *slot = slot_of(c, name, file, line);
    if (*slot == 0) {
        struct gmt_profile_frame *frame = GMT_PUSH(&p->arena, p->frames, p->frame_count);

        if (frame == NULL) {
            return -ENOMEM;
        }
        *frame = (struct gmt_profile_frame){gmt_arena_copy(&p->arena, name),
                                            gmt_arena_copy(&p->arena, file), line};
        *slot = (uint32_t)p->frame_count;
    }
    *index = *slot - 1;
    return 0;
}

/* "function", "libcublas.so.13+0x1f20" where no symbol is known. */
static int frame_of(struct collector *c, const struct gmt_report_frame *from, uint32_t *index)
{
    char text[512];
    const char *name = from->function;

    if (name == NULL) {
        const char *slash = from->module != NULL ? strrchr(from->module, '/') : NULL;

        snprintf(text, sizeof(text), "%s+0x%" PRIx64,
                 slash != NULL          ? slash + 1
                 : from->module != NULL ? from->module
                                        : "?",
                 (uint64_t)from->offset);
        name = text;
    }
    return frame_index(c, name, from->file, from->file != NULL ? from->line : 0, index);
}

static int push_index(struct collector *c, uint32_t index)
{
    uint32_t *slot = GMT_PUSH(&c->profile->arena, c->indices, c->index_count);

    if (slot == NULL) {
        return -ENOMEM;
    }
    *slot = index;
    return 0;
}

static int read_stacks(struct collector *c)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, c->db,
                            "SELECT stack_id, function, file, module, line, offset FROM v_stack "
                            "ORDER BY stack_id, position");

    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_report_frame frame = {.function = gmt_query_text_here(&query, 1),
                                         .file = gmt_query_text_here(&query, 2),
                                         .module = gmt_query_text_here(&query, 3),
                                         .line = gmt_query_count(&query, 4),
                                         .offset = gmt_query_int(&query, 5)};
        int64_t id = gmt_query_int(&query, 0);
        uint32_t index;

        if (c->stack_count == 0 || c->stacks[c->stack_count - 1].id != id) {
            struct stack *stack = GMT_PUSH(&c->profile->arena, c->stacks, c->stack_count);

            if (stack == NULL) {
                rc = -ENOMEM;
                break;
            }
            *stack = (struct stack){.id = id, .first = c->index_count};
        }
        rc = frame_of(c, &frame, &index);
        if (rc == 0) {
            rc = push_index(c, index);
            c->stacks[c->stack_count - 1].depth++;
        }
    }
    return gmt_query_close(&query, rc);
}

static const struct stack *find_stack(const struct collector *c, int64_t id)
{
    size_t low = 0, high = c->stack_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->stacks[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < c->stack_count && c->stacks[low].id == id ? &c->stacks[low] : NULL;
}

static struct gmt_profile_sample *push_sample(struct collector *c, const uint32_t *frames,
                                              size_t depth, uint32_t leaf)
{
    struct gmt_profile *p = c->profile;
    struct gmt_profile_sample *sample = GMT_PUSH(&p->arena, p->samples, p->sample_count);

    if (sample != NULL) {
        *sample = (struct gmt_profile_sample){.frames = depth > 0 ? frames : c->nowhere,
                                              .depth = depth > 0 ? depth : 1,
                                              .leaf = leaf};
    }
    return sample;
}

/*
 * Work by stack: (stack, what it is, calls, device time, bytes copied, bytes allocated). What only went into a
 * graph, or failed, did nothing. Kernels that a graph ran belong to the call that launched it.
 */
#define RAN " WHERE result = 0 AND capturing <> 1 "
#define DEVICE_TIME "total(max(0, device_end_ns - device_start_ns))"
static const char work_sql[] =
    "SELECT stack_id, what, calls, device_ns, copied, allocated FROM ("
    "SELECT stack_id, 'copy ' || direction AS what, count(*) AS calls, " DEVICE_TIME
    " AS device_ns, "
    "total(bytes) AS copied, 0 AS allocated FROM transfer" RAN "GROUP BY 1, 2 "
    "UNION ALL SELECT stack_id, 'memset', count(*), " DEVICE_TIME ", 0, 0 FROM memset" RAN
    "GROUP BY 1 "
    "UNION ALL SELECT l.stack_id, coalesce(k.name, 'kernel'), count(*), "
    "total(max(0, l.device_end_ns - l.device_start_ns)), 0, 0 FROM launch l LEFT JOIN kernel k ON "
    "k.id = l.kernel_id "
    "WHERE l.result = 0 AND l.capturing <> 1 AND l.kind <> 'graph' GROUP BY l.stack_id, "
    "l.kernel_id "
    "UNION ALL SELECT l.stack_id, 'graph', count(*), 0, 0, 0 FROM launch l "
    "WHERE l.result = 0 AND l.capturing <> 1 AND l.kind = 'graph' GROUP BY 1 "
    "UNION ALL SELECT l.stack_id, CASE d.kind WHEN 'kernel' THEN coalesce(k.name, s.text, "
    "'kernel') ELSE d.kind END, 0, total(max(0, d.end_ns - d.start_ns)), "
    "CASE d.kind WHEN 'copy' THEN total(d.bytes) ELSE 0 END, 0 "
    "FROM device_op d JOIN launch l ON l.id = d.call_id AND l.kind = 'graph' "
    "LEFT JOIN string s ON s.id = d.kernel_name_id "
    "LEFT JOIN (SELECT mangled, min(name) AS name FROM kernel GROUP BY mangled) k ON k.mangled = "
    "s.text "
    "WHERE d.graph IS NOT NULL GROUP BY l.stack_id, d.kind, d.kernel_name_id "
    "UNION ALL SELECT stack_id, 'allocate ' || kind, count(*), 0, 0, total(bytes) FROM allocation "
    "GROUP BY stack_id, kind "
    "UNION ALL SELECT stack_id, 'allocate ' || kind, count(*), 0, 0, total(bytes) FROM "
    "host_allocation "
    "GROUP BY stack_id, kind) ORDER BY stack_id, what";

static int64_t whole(double value)
{
    return isfinite(value) && value > 0 ? (int64_t)fmin(value, 9e18) : 0;
}

static int read_work(struct collector *c)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, c->db, work_sql);

    while (rc == 0 && gmt_query_next(&query)) {
        const struct stack *stack = find_stack(c, gmt_query_int(&query, 0));
        const char *what = gmt_query_text_here(&query, 1);
        uint32_t leaf = 0;

        rc = frame_index(c, what != NULL ? what : "?", NULL, 0, &leaf);
        struct gmt_profile_sample *sample =
            rc == 0 ? push_sample(c, stack != NULL ? c->indices + stack->first : NULL,
                                  stack != NULL ? stack->depth : 0, leaf)
                    : NULL;
        if (sample == NULL) {
            rc = -ENOMEM;
            break;
        }
        sample->values[GMT_PROFILE_CALLS] = gmt_query_int(&query, 2);
        sample->values[GMT_PROFILE_DEVICE] = whole(gmt_query_real(&query, 3));
        sample->values[GMT_PROFILE_COPIED] = whole(gmt_query_real(&query, 4));
        sample->values[GMT_PROFILE_ALLOCATED] = whole(gmt_query_real(&query, 5));
    }
    return gmt_query_close(&query, rc);
}

/* The leaf is the finding, at the line that causes most of it. */
static int add_finding(struct collector *c, const struct gmt_finding *f)
{
    struct gmt_profile *p = c->profile;
    bool by_line = f->line_count > 0 && f->lines[0].file != NULL;
    size_t depth = f->where.stack_depth;
    uint32_t *frames = gmt_arena_alloc(&p->arena, (depth + 1) * sizeof(*frames)), leaf;
    const char *name = gmt_arena_text(&p->arena, "%s %s", f->rule, f->slug);
    int rc = frames == NULL ? -ENOMEM
                            : frame_index(c, name, by_line ? f->lines[0].file : f->where.file,
                                          by_line ? f->lines[0].line : f->where.line, &leaf);

    for (size_t i = 0; rc == 0 && i < depth; i++) {
        rc = frame_of(c, &f->where.stack[i], &frames[i]);
    }
    if (rc == 0 && depth == 0) {
        depth = 1;
        rc = frame_index(c, f->where.label, NULL, 0, &frames[0]);
    }
    if (rc == 0 && f->where.kernel != NULL && !is_same(f->where.kernel, f->where.label)) {
        uint32_t *longer = gmt_arena_alloc(&p->arena, (depth + 1) * sizeof(*longer));

        if (longer == NULL) {
            return -ENOMEM;
        }
        memcpy(longer + 1, frames, depth * sizeof(*frames));
        rc = frame_index(c, f->where.kernel, NULL, 0, &longer[0]);
        frames = longer;
        depth++;
    }
    struct gmt_profile_sample *sample = rc == 0 ? push_sample(c, frames, depth, leaf) : NULL;
    if (sample == NULL) {
        return -ENOMEM;
    }
    sample->values[GMT_PROFILE_SAVING] = whole(f->saving.best_ns);
    return 0;
}

static int read_findings(struct collector *c, const struct gmt_report *report)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < report->finding_count; i++) {
        if (whole(report->findings[i].saving.best_ns) > 0) {
            rc = add_finding(c, &report->findings[i]);
        }
    }
    return rc;
}

/* Of the software device neither time nor what that would save means anything. */
static void find_known(struct gmt_profile *profile, bool simulated)
{
    for (size_t i = 0; i < profile->sample_count; i++) {
        struct gmt_profile_sample *sample = &profile->samples[i];

        if (simulated) {
            sample->values[GMT_PROFILE_DEVICE] = sample->values[GMT_PROFILE_SAVING] = 0;
        }
        for (int k = 0; k < GMT_PROFILE_VALUES; k++) {
            profile->known[k] |= sample->values[k] > 0;
        }
    }
}

int gmt_profile_fill(struct gmt_profile *profile, struct gmt_trace_session *session)
{
    struct collector c = {.profile = profile, .db = session->db};
    const struct gmt_report *report = &session->report;

    profile->trace = report->trace_path;
    profile->program = report->exe;
    profile->wall_ns = whole(report->wall_ns);
    c.nowhere = gmt_arena_alloc(&profile->arena, sizeof(*c.nowhere));
    int rc = c.nowhere != NULL ? frame_index(&c, "(no stack recorded)", NULL, 0, c.nowhere)
                               : -ENOMEM;
    /* Samples point into the frames of stacks, which move while they are read. */
    rc = rc == 0 ? read_stacks(&c) : rc;
    rc = rc == 0 ? read_work(&c) : rc;
    rc = rc == 0 ? read_findings(&c, report) : rc;
    find_known(profile, report->simulated);
    free(c.slots);
    if (rc != 0) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", profile->trace,
                rc == -EIO ? gmt_guard_reason(session->db) : gmt_command_reason(rc));
    }
    return rc;
}

void gmt_profile_free(struct gmt_profile *profile)
{
    gmt_arena_free(&profile->arena);
}
