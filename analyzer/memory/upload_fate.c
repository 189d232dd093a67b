/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over copies, memsets, launches and releases in the order of time. */
#include "analyzer/memory/upload_fate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/sharing.h"

#define NONE SIZE_MAX

/* A device allocation, and the uploads into it that nobody has touched yet: a list, latest first. */
struct target {
    int64_t id;
    size_t pending;
    int64_t busy_until_ns; /* of the latest launch that got it, in busy_stream */
    int32_t busy_stream;
    bool unseen; /* by us: managed, others', arrays (kernels get them without a pointer) */
    bool handed; /* to a kernel */
};

struct memset_row {
    int64_t begin_ns, allocation, bytes;
    uint64_t dst;
    bool linear;
};

struct release {
    int64_t at_ns, allocation;
};

struct event_walk {
    const struct gmt_timeline *tl;
    const struct gmt_launch_rows *rows;
    struct gmt_upload_fates *fates;
    struct target *targets; /* by id */
    size_t target_count;
    size_t *next;     /* by index of copy: the list of its target */
    size_t *epoch_of; /* by index of copy: launches with unknown arguments before it */
    size_t epoch;
    struct memset_row *memsets;
    size_t memset_count;
    struct release *releases;
    size_t release_count;
};

static int compare_targets(const void *a, const void *b)
{
    const struct target *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static int compare_releases(const void *a, const void *b)
{
    const struct release *x = a, *y = b;

    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static struct target *find(const struct event_walk *walk, int64_t id)
{
    struct target key = {.id = id};

    return id <= 0 ? NULL
                   : bsearch(&key, walk->targets, walk->target_count, sizeof(key), compare_targets);
}

/* All pending uploads of the target end so; what launches may have read meanwhile does not. */
static void settle(struct event_walk *walk, struct target *target, enum gmt_upload_fate fate)
{
    for (size_t i = target->pending; i != NONE; i = walk->next[i]) {
        bool doubtful = walk->epoch_of[i] != walk->epoch;

        walk->fates->of_copy[i] = (unsigned char)(doubtful ? GMT_FATE_SEEN : fate);
        walk->fates->doubtful += doubtful && fate != GMT_FATE_SEEN;
    }
    target->pending = NONE;
}

static bool covers(const struct gmt_tl_copy *upload, uint64_t dst, int64_t bytes, bool linear)
{
    if (dst == 0 || upload->dst == 0) {
        return false;
    }
    if (!linear || !upload->linear) {
        return dst == upload->dst && bytes == upload->bytes && linear == upload->linear;
    }
    return dst <= upload->dst && dst + (uint64_t)bytes >= upload->dst + (uint64_t)upload->bytes;
}

static void overwrite(struct event_walk *walk, struct target *target, uint64_t dst, int64_t bytes,
                      bool linear)
{
    size_t *link = &target->pending;

    for (size_t seen = 0; *link != NONE && seen < GMT_PENDING_UPLOADS; seen++) {
        size_t i = *link;

        if (!covers(&walk->tl->copies[i], dst, bytes, linear)) {
            link = &walk->next[i];
            continue;
        }
        if (walk->epoch_of[i] == walk->epoch) {
            walk->fates->of_copy[i] = GMT_FATE_OVERWRITTEN;
        } else {
            walk->fates->doubtful++;
        }
        *link = walk->next[i];
    }
}

/* A kernel of another stream that is still running may be waiting for just these bytes. */
static bool may_be_polled(const struct target *target, const struct gmt_tl_copy *copy)
{
    int64_t at = copy->device_start_ns != GMT_NO_TIME ? copy->device_start_ns : copy->call.begin_ns;

    return target->busy_stream != copy->call.stream && target->busy_until_ns > at;
}

static void on_copy(struct event_walk *walk, size_t index)
{
    const struct gmt_tl_copy *copy = &walk->tl->copies[index];
    struct target *from = find(walk, copy->src_allocation);
    struct target *to = find(walk, copy->dst_allocation);

    if (from != NULL) {
        settle(walk, from, GMT_FATE_SEEN);
    }
    if (to == NULL) {
        return;
    }
    overwrite(walk, to, copy->dst, copy->bytes, copy->linear);
    if (copy->direction != GMT_DIR_H2D || copy->bytes <= 0 || to->unseen ||
        may_be_polled(to, copy)) {
        return;
    }
    walk->epoch_of[index] = walk->epoch;
    walk->next[index] = to->pending;
    to->pending = index;
}

bool gmt_class_is_open_ended(const struct gmt_timeline *tl, int32_t class_index)
{
    return class_index < 0 || tl->classes[class_index].signature == NULL ||
           tl->classes[class_index].communicates;
}

static void on_launch(struct event_walk *walk, size_t index)
{
    const struct gmt_tl_launch *launch = &walk->tl->launches[index];
    const struct gmt_launch_rows *rows = walk->rows;

    walk->epoch += !launch->arguments_complete ||
                   gmt_class_is_open_ended(walk->tl, launch->class_index);
    if (launch->argument_set == 0) {
        return;
    }
    for (size_t k = rows->first[index];
         k < rows->argument_count && rows->arguments[k].set == launch->argument_set; k++) {
        struct target *target = find(walk, rows->arguments[k].allocation);

        if (target == NULL) {
            continue;
        }
        settle(walk, target, GMT_FATE_SEEN);
        target->handed = true;
        if (launch->device_end_ns != GMT_NO_TIME && launch->device_end_ns > target->busy_until_ns) {
            target->busy_until_ns = launch->device_end_ns;
            target->busy_stream = launch->call.stream;
        }
    }
}

static int load_targets(struct event_walk *walk)
{
    const struct gmt_timeline *tl = walk->tl;

    walk->targets = calloc(tl->allocation_count + 1, sizeof(*walk->targets));
    walk->releases = calloc(tl->allocation_count + 1, sizeof(*walk->releases));
    if (walk->targets == NULL || walk->releases == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < tl->allocation_count; i++) {
        const struct gmt_tl_allocation *allocation = &tl->allocations[i];

        walk->targets[walk->target_count++] = (struct target){
            .id = allocation->call.id,
            .pending = NONE,
            .busy_until_ns = GMT_NO_TIME,
            .unseen = gmt_sharing_is_foreign(allocation->kind) ||
                      allocation->kind == GMT_ALLOC_MANAGED ||
                      allocation->kind == GMT_ALLOC_ARRAY || allocation->kind == GMT_ALLOC_MIPMAP};
        if (allocation->free_begin_ns != GMT_NO_TIME) {
            walk->releases[walk->release_count++] = (struct release){allocation->free_begin_ns,
                                                                     allocation->call.id};
        }
    }
    qsort(walk->targets, walk->target_count, sizeof(*walk->targets), compare_targets);
    qsort(walk->releases, walk->release_count, sizeof(*walk->releases), compare_releases);
    return 0;
}

static int load_memsets(struct event_walk *walk)
{
    struct gmt_query query;
    int64_t count = 0;
    int rc = gmt_query_int64(walk->tl->db, "SELECT count(*) FROM memset", &count);

    if (rc != 0) {
        return rc;
    }
    walk->memsets = calloc((size_t)count + 1, sizeof(*walk->memsets));
    if (walk->memsets == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, walk->tl->db,
                        "SELECT begin_ns, dst_allocation_id, bytes, dst, coalesce(height, 1) <= 1 "
                        "FROM memset WHERE result = 0 AND capturing = 0 ORDER BY begin_ns, id");
    while (rc == 0 && walk->memset_count < (size_t)count && gmt_query_next(&query)) {
        walk->memsets[walk->memset_count++] = (struct memset_row){
            .begin_ns = gmt_query_time(&query, 0),
            .allocation = gmt_query_id(&query, 1),
            .bytes = gmt_query_bytes(&query, 2),
            .dst = (uint64_t)gmt_query_int(&query, 3),
            .linear = gmt_query_int(&query, 4) != 0};
    }
    return gmt_query_close(&query, rc);
}

enum event_kind { KIND_COPY, KIND_MEMSET, KIND_LAUNCH, KIND_RELEASE, KINDS };

static void go(struct event_walk *walk)
{
    const struct gmt_timeline *tl = walk->tl;
    size_t at[KINDS] = {0};

    for (;;) {
        const int64_t never = INT64_MAX;
        int64_t time[KINDS] = {
            at[KIND_COPY] < tl->copy_count ? tl->copies[at[KIND_COPY]].call.begin_ns : never,
            at[KIND_MEMSET] < walk->memset_count ? walk->memsets[at[KIND_MEMSET]].begin_ns : never,
            at[KIND_LAUNCH] < tl->launch_count ? tl->launches[at[KIND_LAUNCH]].call.begin_ns
                                               : never,
            at[KIND_RELEASE] < walk->release_count ? walk->releases[at[KIND_RELEASE]].at_ns
                                                   : never};
        enum event_kind kind = KIND_COPY;

        for (enum event_kind k = KIND_COPY; k < KINDS; k++) {
            if (time[k] < time[kind]) {
                kind = k;
            }
        }
        if (time[kind] == never) {
            return;
        }
        size_t i = at[kind]++;
        struct target *target = NULL;
        if (kind == KIND_COPY) {
            on_copy(walk, i);
        } else if (kind == KIND_LAUNCH) {
            on_launch(walk, i);
        } else if (kind == KIND_MEMSET) {
            const struct memset_row *row = &walk->memsets[i];

            if ((target = find(walk, row->allocation)) != NULL) {
                overwrite(walk, target, row->dst, row->bytes, row->linear);
            }
        } else if ((target = find(walk, walk->releases[i].allocation)) != NULL) {
            settle(walk, target, GMT_FATE_FREED);
        }
    }
}

/*
 * Only a program that ended by itself has left its uploads for good. Of a buffer that kernels use the last
 * upload may be one ahead of a loop's end: once, and not a pattern.
 */
static void finish(struct event_walk *walk)
{
    const struct gmt_timeline *tl = walk->tl;
    bool ended = tl->complete && tl->end_reason != NULL && strcmp(tl->end_reason, "exit") == 0;

    for (size_t i = 0; i < walk->target_count; i++) {
        settle(walk, &walk->targets[i],
               ended && !walk->targets[i].handed ? GMT_FATE_LEFT : GMT_FATE_SEEN);
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct target *target = walk->fates->of_copy[i] != GMT_FATE_SEEN
                                          ? find(walk, tl->copies[i].dst_allocation)
                                          : NULL;

        walk->fates->reachable[i] = target != NULL && target->handed;
    }
}

int gmt_upload_fates_find(struct gmt_upload_fates *fates, const struct gmt_timeline *tl,
                          const struct gmt_launch_rows *rows)
{
    struct event_walk walk = {.tl = tl, .rows = rows, .fates = fates};
    int rc = -ENOMEM;

    *fates = (struct gmt_upload_fates){
        .of_copy = calloc(tl->copy_count + 1, sizeof(*fates->of_copy)),
        .reachable = calloc(tl->copy_count + 1, sizeof(*fates->reachable))};
    walk.next = calloc(tl->copy_count + 1, sizeof(*walk.next));
    walk.epoch_of = calloc(tl->copy_count + 1, sizeof(*walk.epoch_of));
    if (fates->of_copy == NULL || fates->reachable == NULL || walk.next == NULL ||
        walk.epoch_of == NULL) {
        goto out;
    }
    rc = load_targets(&walk);
    if (rc == 0) {
        rc = load_memsets(&walk);
    }
    if (rc == 0) {
        go(&walk);
        finish(&walk);
    }
out:
    free(walk.targets);
    free(walk.releases);
    free(walk.memsets);
    free(walk.next);
    free(walk.epoch_of);
    return rc;
}

void gmt_upload_fates_free(struct gmt_upload_fates *fates)
{
    free(fates->of_copy);
    free(fates->reachable);
    *fates = (struct gmt_upload_fates){0};
}
