/* SPDX-License-Identifier: Apache-2.0 */
/* GM116: copies that disregard the pitch of the allocation they go to or come from. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/findings/rule.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/trace/query.h"

/* A pitched allocation: row r begins at address + r x pitch and holds width bytes. */
struct pitched {
    int64_t id, pitch, width, height;
    uint64_t address;
};

/* The pitches that a copy of several rows was called with. */
struct pitch_shape {
    int64_t id, dst_pitch, src_pitch, width, height;
};

struct state {
    struct pitched *pitched; /* by id */
    size_t pitched_count;
    struct pitch_shape *shapes; /* by id of the copy */
    size_t shape_count;
};

static int compare_ids(const void *a, const void *b)
{
    const int64_t *x = a, *y = b; /* both structs begin with it */

    return (*x > *y) - (*x < *y);
}

static const struct pitched *find_pitched(const struct state *state, int64_t id)
{
    return id <= 0 ? NULL
                   : bsearch(&id, state->pitched, state->pitched_count, sizeof(struct pitched),
                             compare_ids);
}

static const struct pitch_shape *shape_of(const struct state *state, const struct gmt_tl_copy *copy)
{
    return bsearch(&copy->call.id, state->shapes, state->shape_count, sizeof(struct pitch_shape),
                   compare_ids);
}

static int load_pitched(sqlite3 *db, struct state *state)
{
    struct gmt_query query;
    int64_t n = 0;
    int rc = gmt_query_int64(db, "SELECT count(*) FROM allocation WHERE kind = 'pitched'", &n);

    state->pitched = calloc((size_t)n + 1, sizeof(*state->pitched));
    if (rc != 0 || state->pitched == NULL) {
        return -1;
    }
    rc = gmt_query_open(&query, db,
                        "SELECT id, pitch, width, height, address FROM allocation WHERE kind = "
                        "'pitched' AND pitch > width AND width > 0 AND height > 1 ORDER BY id");
    while (rc == 0 && state->pitched_count < (size_t)n && gmt_query_next(&query)) {
        state->pitched[state->pitched_count++] = (struct pitched){
            gmt_query_id(&query, 0), gmt_query_bytes(&query, 1), gmt_query_bytes(&query, 2),
            gmt_query_bytes(&query, 3), (uint64_t)gmt_query_int(&query, 4)};
    }
    return gmt_query_close(&query, rc);
}

#define GMT_ROWS_OF_PITCHED \
    " FROM transfer WHERE result = 0 AND capturing = 0 AND height > 1 AND coalesce(depth, 1) <= " \
    "1 " \
    "AND (dst_allocation_id IN (SELECT id FROM allocation WHERE kind = 'pitched') OR " \
    "src_allocation_id IN (SELECT id FROM allocation WHERE kind = 'pitched'))"

static int load_shapes(sqlite3 *db, struct state *state)
{
    struct gmt_query query;
    int64_t n = 0;
    int rc = gmt_query_int64(db, "SELECT count(*)" GMT_ROWS_OF_PITCHED, &n);

    state->shapes = calloc((size_t)n + 1, sizeof(*state->shapes));
    if (rc != 0 || state->shapes == NULL) {
        return -1;
    }
    rc = gmt_query_open(&query, db,
                        "SELECT id, dst_pitch, src_pitch, width, height" GMT_ROWS_OF_PITCHED
                        " ORDER BY id");
    while (rc == 0 && state->shape_count < (size_t)n && gmt_query_next(&query)) {
        state->shapes[state->shape_count++] = (struct pitch_shape){
            gmt_query_id(&query, 0), gmt_query_bytes(&query, 1), gmt_query_bytes(&query, 2),
            gmt_query_bytes(&query, 3), gmt_query_bytes(&query, 4)};
    }
    return gmt_query_close(&query, rc);
}

/* One row after the other without the padding, from somewhere in a row. */
static bool is_flat(const struct pitched *memory, uint64_t address, int64_t bytes)
{
    if (address < memory->address) {
        return false;
    }
    int64_t column = (int64_t)((address - memory->address) % (uint64_t)memory->pitch);
    int64_t end = (column + bytes) % memory->pitch;

    /* All rows there are, packed: that may be whole pitches (1024 x 4000 bytes are 1000 x 4096). */
    if (column == 0 && bytes % memory->width == 0 && bytes / memory->width == memory->height) {
        return true;
    }
    return column + bytes > memory->width && bytes % memory->pitch != 0 && end != 0 &&
           end != memory->width;
}

/* The pitched memory whose pitch the copy disregards, or NULL; pitch: what it took, 0: none at all. */
static const struct pitched *disregarded(const struct state *state, const struct gmt_tl_copy *copy,
                                         int64_t *pitch)
{
    const struct pitched *sides[2] = {find_pitched(state, copy->dst_allocation),
                                      find_pitched(state, copy->src_allocation)};
    const struct pitch_shape *shape = sides[0] != NULL || sides[1] != NULL ? shape_of(state, copy)
                                                                           : NULL;

    for (int i = 0; i < 2; i++) {
        const struct pitched *memory = sides[i];

        *pitch = 0;
        if (memory == NULL) {
            continue;
        }
        if (shape == NULL) {
            if (copy->linear && is_flat(memory, i == 0 ? copy->dst : copy->src, copy->bytes)) {
                return memory;
            }
            continue;
        }
        *pitch = i == 0 ? shape->dst_pitch : shape->src_pitch;
        if (*pitch > 0 && *pitch % memory->pitch != 0) {
            return memory;
        }
    }
    return NULL;
}

static const char *sketch_of(struct gmt_analysis *analysis, const struct gmt_tl_copy *copy,
                             const struct pitched *memory, int64_t rows)
{
    bool into = copy->dst_allocation == memory->id;

    return gmt_text(analysis,
                    "cudaMemcpy2D(dst, %s, src, %s,\n"
                    "             %" PRId64 ", %" PRId64 ", %s);  // pitch is %" PRId64 " here",
                    into ? "pitch" : "dst_pitch", into ? "src_pitch" : "pitch", memory->width, rows,
                    copy->direction == GMT_DIR_H2D   ? "cudaMemcpyHostToDevice"
                    : copy->direction == GMT_DIR_D2H ? "cudaMemcpyDeviceToHost"
                                                     : "cudaMemcpyDefault",
                    memory->pitch);
}

static void describe(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_tl_copy *copy, const struct pitched *memory, int64_t pitch)
{
    char size[GMT_FORMAT_BYTES];
    int64_t rows = (copy->bytes + memory->width - 1) / memory->width;

    rows = rows > memory->height ? memory->height : rows;
    gmt_finding_evidence(finding, "pitch", "bytes", (double)memory->pitch);
    gmt_finding_evidence(finding, "width", "bytes", (double)memory->width);
    gmt_finding_evidence(finding, "rows", "count", (double)memory->height);
    if (pitch > 0) {
        gmt_finding_evidence(finding, "pitch_of_the_copy", "bytes", (double)pitch);
    }
    finding->headline = gmt_text(
        analysis,
        "a copy of %s %s memory with a pitch of %" PRId64 " bytes and rows of %" PRId64 ": %s",
        gmt_format_bytes(size, (double)copy->bytes),
        copy->dst_allocation == memory->id ? "into" : "out of", memory->pitch, memory->width,
        pitch > 0 ? gmt_text(analysis, "its own pitch is %" PRId64, pitch)
                  : "from the second row on it is shifted");
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(analysis,
                            "Copy %" PRId64 " rows of %" PRId64 " bytes with cudaMemcpy2D and the "
                            "pitch that cudaMallocPitch gave.",
                            rows, memory->width);
    finding->sketch = sketch_of(analysis, copy, memory, rows);
}

static void report(struct gmt_analysis *analysis, size_t *members, size_t n, void *context)
{
    const struct state *state = context;
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_finding *finding = gmt_finding_new(analysis);
    double bytes = 0, cost_ns = 0;
    int64_t pitch = 0;

    for (size_t i = 0; finding != NULL && i < n; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[members[i]];

        bytes += (double)copy->bytes;
        cost_ns += gmt_copy_cost_ns(tl, copy);
        gmt_finding_claim(analysis, finding, gmt_copy_interval(tl, copy));
    }
    if (finding == NULL) {
        return;
    }
    const struct gmt_tl_copy *copy = &tl->copies[members[0]];
    const struct pitched *memory = disregarded(state, copy, &pitch);
    gmt_copy_group_fill(analysis, finding, members, n);
    describe(analysis, finding, copy, memory, pitch);
    finding->excess_bytes = bytes;
    /* Wrong results come before slow ones; without times nothing is put above medium. */
    finding->severity = tl->simulated ? GMT_SEVERITY_MEDIUM : GMT_SEVERITY_HIGH;
    finding->confidence = GMT_CONFIDENCE_HEURISTIC;
    if (gmt_timeline_is_untimed(tl)) {
        finding->method = gmt_unpriced(analysis);
    } else {
        finding->cost_ns = cost_ns;
        finding->method = "this is about correct results: no time is saved";
        gmt_finding_saving(finding, 0, 0, 0);
    }
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    size_t *members = calloc(tl->copy_count + 1, sizeof(*members));
    enum gmt_outcome outcome = GMT_OUTCOME_PASS;
    struct state state = {0};
    size_t n = 0;
    int64_t pitch;

    if (members == NULL || load_pitched(tl->db, &state) != 0 ||
        (state.pitched_count > 0 && load_shapes(tl->db, &state) != 0)) {
        outcome = gmt_could_not(analysis, "not enough memory, or the trace cannot be read");
        goto out;
    }
    for (size_t i = 0; i < tl->copy_count && state.pitched_count > 0; i++) {
        if (disregarded(&state, &tl->copies[i], &pitch) != NULL) {
            members[n++] = i;
        }
    }
    gmt_copy_groups(analysis, members, n, report, &state);
    if (state.pitched_count == 0) {
        outcome = GMT_OUTCOME_NOT_APPLICABLE;
    }
out:
    free(state.pitched);
    free(state.shapes);
    free(members);
    return outcome;
}

extern const struct gmt_rule gmt_rule_pitch_ignored;
const struct gmt_rule gmt_rule_pitch_ignored = {.id = "GM116",
                                                .slug = "pitch-ignored",
                                                .title = "Copies that disregard the pitch",
                                                .category = "transfers",
                                                .needs = GMT_NEED_COPIES | GMT_NEED_ALLOCATIONS,
                                                .run = run};
