/* SPDX-License-Identifier: Apache-2.0 */
/* Matches the device operations of one group with its host calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/record/checked.h"
#include "libtrace/store/ingest/join_internal.h"

/* What the conversion of device times to the host's clock may be off by. */
#define TOLERANCE_NS UINT64_C(200000)
/* Calls of several threads can be recorded in another order than they reached the stream. */
#define DISORDER 64u
/* How far a match may skip host calls, unless so many operations in a row found nothing nearer. */
#define LOOK_AHEAD 1024u
#define MISSES_TO_JUMP 16u
#define NONE SIZE_MAX

/* Host calls of one signature, in order. */
struct list {
    uint64_t signature;
    size_t head; /* NONE: used up; the list stays to say that the signature exists */
    size_t tail;
    bool used;
};

struct matcher {
    struct gmt_join_host *hosts;
    size_t host_count;
    struct gmt_join_op *ops;
    size_t op_count;
    struct list *lists;
    size_t mask;
    size_t *next_exact, *next_loose; /* successor in the list of the same signature               */
    size_t slack;
    size_t after;    /* one past the latest host matched                               */
    size_t expected; /* first host not taken                                           */
    unsigned misses;
    bool timed; /* times must fit                                                 */
    size_t matched;
};

static struct list *find_list(struct matcher *matcher, uint64_t signature)
{
    for (size_t i = signature & matcher->mask;; i = (i + 1) & matcher->mask) {
        struct list *list = &matcher->lists[i];
        if (!list->used || list->signature == signature) {
            return list;
        }
    }
}

static void append(struct matcher *matcher, uint64_t signature, size_t host, size_t *next)
{
    struct list *list = find_list(matcher, signature);
    next[host] = NONE;
    if (!list->used) {
        *list = (struct list){.signature = signature, .head = host, .tail = host, .used = true};
        return;
    }
    if (list->head == NONE) {
        list->head = host;
    } else {
        next[list->tail] = host;
    }
    list->tail = host;
}

static int prepare(struct matcher *matcher)
{
    size_t capacity = 64;
    int64_t thread = matcher->host_count > 0 ? matcher->hosts[0].thread : 0;
    while (capacity < 4 * matcher->host_count) {
        capacity *= 2;
    }
    matcher->lists = calloc(capacity, sizeof(*matcher->lists));
    matcher->next_exact = calloc(matcher->host_count + 1, sizeof(*matcher->next_exact));
    matcher->next_loose = calloc(matcher->host_count + 1, sizeof(*matcher->next_loose));
    if (matcher->lists == NULL || matcher->next_exact == NULL || matcher->next_loose == NULL) {
        return -ENOMEM;
    }
    matcher->mask = capacity - 1;
    for (size_t i = 0; i < matcher->host_count; i++) {
        const struct gmt_join_host *host = &matcher->hosts[i];
        if (host->thread != thread) {
            matcher->slack = DISORDER;
        }
        append(matcher, host->signature.exact, i, matcher->next_exact);
        if (host->signature.loose != host->signature.exact) {
            append(matcher, host->signature.loose, i, matcher->next_loose);
        }
    }
    return 0;
}

static void release(struct matcher *matcher)
{
    free(matcher->lists);
    free(matcher->next_exact);
    free(matcher->next_loose);
}

static bool began_too_late(const struct matcher *matcher, const struct gmt_join_host *host,
                           uint64_t start_ns)
{
    return matcher->timed && start_ns != 0 && host->begin_ns > start_ns + TOLERANCE_NS;
}

static bool ended_too_early(const struct matcher *matcher, const struct gmt_join_host *host,
                            uint64_t start_ns)
{
    return matcher->timed && start_ns != 0 && host->latest_ns < UINT64_MAX - TOLERANCE_NS &&
           host->latest_ns + TOLERANCE_NS < start_ns;
}

/* The first host of a signature that an operation started at `start_ns` can belong to. Hosts that no
 * later operation can belong to either are dropped from the list. */
static size_t first_of(struct matcher *matcher, struct list *list, size_t *next, uint64_t start_ns)
{
    while (list->head != NONE) {
        const struct gmt_join_host *host = &matcher->hosts[list->head];
        if (!host->taken && list->head + matcher->slack >= matcher->after &&
            !ended_too_early(matcher, host, start_ns)) {
            return began_too_late(matcher, host, start_ns) ? NONE : list->head;
        }
        list->head = next[list->head];
    }
    return NONE;
}

static size_t find_host(struct matcher *matcher, struct gmt_join_signature signature,
                        uint64_t start_ns)
{
    struct list *list = find_list(matcher, signature.exact);
    size_t *next = matcher->next_exact;
    if (!list->used && signature.loose != signature.exact) {
        /* The other side spells names or directions differently: go without. */
        list = find_list(matcher, signature.loose);
        next = matcher->next_loose;
    }
    size_t host = list->used ? first_of(matcher, list, next, start_ns) : NONE;
    if (host != NONE && host > matcher->after + LOOK_AHEAD && matcher->misses < MISSES_TO_JUMP) {
        return NONE;
    }
    return host;
}

static void take(struct matcher *matcher, size_t at, uint64_t start_ns, uint64_t stop_ns)
{
    struct gmt_join_host *host = &matcher->hosts[at];
    host->taken = true;
    host->start_ns = start_ns;
    host->stop_ns = stop_ns;
    matcher->after = at + 1 > matcher->after ? at + 1 : matcher->after;
    matcher->misses = 0;
}

/* Operations [first, first + count) belong to host `at`. */
static void assign(struct matcher *matcher, size_t at, size_t first, size_t count)
{
    uint64_t start_ns = UINT64_MAX, stop_ns = 0;
    bool is_known = true;
    for (size_t i = first; i < first + count; i++) {
        struct gmt_join_op *op = &matcher->ops[i];
        op->call = matcher->hosts[at].id;
        start_ns = op->start_ns < start_ns ? op->start_ns : start_ns;
        stop_ns = op->stop_ns > stop_ns ? op->stop_ns : stop_ns;
        is_known &= gmt_join_is_timed(op) && !op->is_false;
    }
    matcher->matched += count;
    take(matcher, at, is_known ? start_ns : 0, is_known ? stop_ns : 0);
}

/* One record for several copies of a batch: they share its time in proportion to their bytes. */
static bool assign_merged(struct matcher *matcher, size_t at)
{
    struct gmt_join_op *op = &matcher->ops[at];
    size_t first = matcher->expected, last = first;
    uint64_t bytes = 0, done = 0;
    if (op->copies < 2) {
        return false;
    }
    while (last < matcher->host_count && last - first < op->copies && matcher->hosts[last].batch &&
           !matcher->hosts[last].taken && bytes < op->bytes) {
        bytes = gmt_add_clamped_u64(bytes, matcher->hosts[last++].bytes);
    }
    if (last - first < 2 || bytes == 0 || bytes != op->bytes ||
        began_too_late(matcher, &matcher->hosts[first], op->start_ns)) {
        return false;
    }
    bool is_known = gmt_join_is_timed(op) && !op->is_false;
    uint64_t taken_ns = op->stop_ns > op->start_ns ? op->stop_ns - op->start_ns : 0;
    double ns_per_byte = (double)taken_ns / (double)bytes;
    for (size_t i = first; i < last; i++) {
        uint64_t start_ns = op->start_ns + (uint64_t)((double)done * ns_per_byte);
        done += matcher->hosts[i].bytes;
        uint64_t stop_ns = op->start_ns + (uint64_t)((double)done * ns_per_byte);
        take(matcher, i, is_known ? start_ns : 0, is_known ? stop_ns : 0);
    }
    op->call = matcher->hosts[first].id;
    matcher->matched++;
    return true;
}

/* Number of copies from `at` on that one call made: its records have one correlation. */
static size_t copies_of_call(const struct matcher *matcher, size_t at, uint64_t *bytes)
{
    const struct gmt_join_op *op = &matcher->ops[at];
    size_t count = 0;
    *bytes = 0;
    while (op->kind == GMT_JOIN_COPY && at + count < matcher->op_count &&
           matcher->ops[at + count].kind == GMT_JOIN_COPY &&
           matcher->ops[at + count].correlation == op->correlation) {
        *bytes = gmt_add_clamped_u64(*bytes, matcher->ops[at + count].bytes);
        count++;
    }
    return count;
}

/* The next host call in line is a copy of just so many bytes. */
static bool is_expected(const struct matcher *matcher, uint64_t bytes, uint64_t start_ns)
{
    const struct gmt_join_host *host = &matcher->hosts[matcher->expected];
    return matcher->expected < matcher->host_count && host->kind == GMT_JOIN_COPY &&
           host->bytes == bytes && !began_too_late(matcher, host, start_ns) &&
           !ended_too_early(matcher, host, start_ns);
}

/* Host calls that have their times by now, or that order rules out, are not expected any more. */
static void advance_expected(struct matcher *matcher, uint64_t start_ns)
{
    size_t floor = matcher->after > matcher->slack ? matcher->after - matcher->slack : 0;
    if (matcher->expected < floor) {
        matcher->expected = floor;
    }
    while (matcher->expected < matcher->host_count &&
           (matcher->hosts[matcher->expected].taken ||
            ended_too_early(matcher, &matcher->hosts[matcher->expected], start_ns))) {
        matcher->expected++;
    }
}

/* Match the operation at `at`, or several from there on; returns how many were dealt with. */
static size_t match_one(struct matcher *matcher, size_t at)
{
    const struct gmt_join_op *op = &matcher->ops[at];
    uint64_t bytes;
    size_t count = copies_of_call(matcher, at, &bytes);
    advance_expected(matcher, op->start_ns);
    if (count > 1 && bytes != op->bytes && is_expected(matcher, bytes, op->start_ns)) {
        assign(matcher, matcher->expected, at, count);
        return count;
    }
    if (assign_merged(matcher, at)) {
        return 1;
    }
    size_t host = find_host(matcher, op->signature, op->start_ns);
    if (host != NONE) {
        assign(matcher, host, at, 1);
        return 1;
    }
    matcher->misses++;
    return 1;
}

static int match(struct matcher *matcher)
{
    int error = prepare(matcher);
    for (size_t at = 0; error == 0 && at < matcher->op_count;) {
        at += matcher->ops[at].call == 0 ? match_one(matcher, at) : 1;
    }
    release(matcher);
    return error;
}

static void undo(struct gmt_join_host *hosts, size_t host_count, struct gmt_join_op *ops,
                 size_t op_count)
{
    for (size_t i = 0; i < host_count; i++) {
        hosts[i].taken = false;
        hosts[i].start_ns = hosts[i].stop_ns = 0;
    }
    for (size_t i = 0; i < op_count; i++) {
        ops[i].call = 0;
    }
}

int gmt_join_match(struct gmt_join_host *hosts, size_t host_count, struct gmt_join_op *ops,
                   size_t op_count)
{
    struct matcher timed = {
        .hosts = hosts, .host_count = host_count, .ops = ops, .op_count = op_count, .timed = true};
    struct matcher untimed = {
        .hosts = hosts, .host_count = host_count, .ops = ops, .op_count = op_count};
    if (host_count == 0 || op_count == 0) {
        return 0;
    }
    int error = match(&timed);
    if (error != 0 || timed.matched == op_count) {
        return error;
    }
    /* Should the device's clock be far off, order alone is better than nothing. */
    undo(hosts, host_count, ops, op_count);
    error = match(&untimed);
    if (error == 0 && timed.matched * 10 >= untimed.matched * 9) {
        undo(hosts, host_count, ops, op_count);
        timed = (struct matcher){.hosts = hosts,
                                 .host_count = host_count,
                                 .ops = ops,
                                 .op_count = op_count,
                                 .timed = true};
        error = match(&timed);
    }
    return error;
}
