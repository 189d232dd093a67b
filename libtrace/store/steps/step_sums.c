/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up what happens in a step. */
#include "libtrace/store/steps/step_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLACES (2 * (size_t)GMT_STEP_CELLS)

int gmt_step_sums_open(struct gmt_step_sums *sums, unsigned collectives_most)
{
    bool whole = true;
    *sums = (struct gmt_step_sums){.collectives_most = collectives_most};
    for (unsigned source = 0; source < GMT_COLLECTIVE_SOURCES; source++) {
        sums->collective[source] = calloc(collectives_most, sizeof(**sums->collective));
        whole = whole && sums->collective[source] != NULL;
    }
    sums->cells = calloc(GMT_STEP_CELLS, sizeof(*sums->cells));
    sums->place = calloc(PLACES, sizeof(*sums->place));
    return whole && sums->cells != NULL && sums->place != NULL ? 0 : -ENOMEM;
}

void gmt_step_sums_close(struct gmt_step_sums *sums)
{
    free(sums->cells);
    free(sums->place);
    for (unsigned source = 0; source < GMT_COLLECTIVE_SOURCES; source++) {
        free(sums->collective[source]);
    }
    *sums = (struct gmt_step_sums){0};
}

static size_t home_of(uint32_t kind, uint32_t id)
{
    uint64_t key = (uint64_t)kind << 32 | id;
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & (PLACES - 1);
}

/* Only the places that are in use are cleared: most steps have a few. */
void gmt_step_sums_clear(struct gmt_step_sums *sums)
{
    struct gmt_step_cell *cells = sums->cells;
    uint32_t *place = sums->place;
    for (size_t i = 0; i < sums->count; i++) {
        size_t at = home_of(cells[i].kind, cells[i].id);
        while (place[at] != 0) { /* all of a run go together */
            place[at] = 0;
            at = (at + 1) & (PLACES - 1);
        }
    }
    struct gmt_step_sums empty = {
        .cells = cells, .place = place, .collectives_most = sums->collectives_most};
    memcpy(empty.collective, sums->collective, sizeof(empty.collective));
    *sums = empty;
}

static struct gmt_step_cell *cell_of(struct gmt_step_sums *sums, uint32_t kind, uint32_t id)
{
    size_t at = home_of(kind, id);
    if (id == 0) {
        return &sums->rest[kind];
    }
    while (sums->place[at] != 0) {
        struct gmt_step_cell *cell = &sums->cells[sums->place[at] - 1];
        if (cell->kind == kind && cell->id == id) {
            return cell;
        }
        at = (at + 1) & (PLACES - 1);
    }
    if (sums->count == GMT_STEP_CELLS) {
        return &sums->rest[kind];
    }
    struct gmt_step_cell *cell = &sums->cells[sums->count++];
    *cell = (struct gmt_step_cell){.kind = kind, .id = id};
    sums->place[at] = (uint32_t)sums->count;
    return cell;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t duration(const struct gmt_step_event *event)
{
    return event->end_ns > event->begin_ns ? event->end_ns - event->begin_ns : 0;
}

void gmt_step_sums_call(struct gmt_step_sums *sums, const struct gmt_step_event *call)
{
    struct gmt_step_cell *cell = cell_of(sums, call->kind, call->stack);
    uint64_t ns = (call->flags & GMT_STEP_BATCHED) != 0 ? 0 : duration(call);
    cell->calls++;
    cell->bytes += call->bytes;
    cell->ns += ns;
    cell->blocking_ns += (call->flags & GMT_STEP_BLOCKING) != 0 ? ns : 0;
    cell->longest_ns = greater(cell->longest_ns, ns);
    if (call->kind == GMT_STEP_KERNEL || call->kind == GMT_STEP_COLLECTIVE) {
        cell_of(sums, GMT_STEP_OF_KERNEL, call->name)->calls++;
    }
}

static void note_slow(struct gmt_step_sums *sums, const struct gmt_step_event *op, uint64_t ns)
{
    size_t at = GMT_STEP_SLOWEST;
    while (at > 0 && sums->slowest[at - 1].ns < ns) {
        at--;
    }
    if (at < GMT_STEP_SLOWEST) {
        memmove(&sums->slowest[at + 1], &sums->slowest[at],
                (GMT_STEP_SLOWEST - 1 - at) * sizeof(sums->slowest[0]));
        sums->slowest[at] = (struct gmt_step_slow){op->name, op->device, op->begin_ns, ns};
    }
}

void gmt_step_sums_op(struct gmt_step_sums *sums, const struct gmt_step_event *op)
{
    unsigned device = op->device < GMT_STEP_DEVICES ? op->device : GMT_STEP_DEVICES - 1;
    struct gmt_step_cell *work = &sums->work[device][op->kind < GMT_STEP_WORK_KINDS ? op->kind : 0];
    uint64_t ns = duration(op);
    sums->devices = sums->devices > device ? sums->devices : device + 1;
    work->calls++;
    work->bytes += op->bytes;
    work->ns += ns;
    work->longest_ns = greater(work->longest_ns, ns);
    if (op->kind == GMT_STEP_KERNEL || op->kind == GMT_STEP_COLLECTIVE) {
        struct gmt_step_cell *cell = cell_of(sums, GMT_STEP_OF_KERNEL, op->name);
        cell->operations++;
        cell->ns += ns;
        cell->longest_ns = greater(cell->longest_ns, ns);
        note_slow(sums, op, ns);
    }
}

void gmt_step_collective_say(struct gmt_step_collective *kernel,
                             const struct gmt_step_collective *of)
{
    kernel->communicator = of->communicator;
    kernel->number = of->number;
    kernel->bytes = of->bytes;
    kernel->ranks = of->ranks;
    kernel->said = of->said;
}

static bool is_kept(const struct gmt_step_collective *collective, unsigned halvings)
{
    uint64_t number = collective->number != 0 ? collective->number : collective->position;
    return number % (UINT64_C(1) << halvings) == 0;
}

/* Those that are left when half as many are kept. */
static void halve(struct gmt_step_sums *sums, enum gmt_collective_source source)
{
    struct gmt_step_collective *kept = sums->collective[source];
    unsigned count = 0;
    sums->halvings[source]++;
    for (unsigned i = 0; i < sums->collectives[source]; i++) {
        if (is_kept(&kept[i], sums->halvings[source])) {
            kept[count++] = kept[i];
        }
    }
    sums->collectives[source] = count;
}

void gmt_step_sums_collective(struct gmt_step_sums *sums, enum gmt_collective_source source,
                              const struct gmt_step_collective *collective)
{
    while (sums->collectives[source] == sums->collectives_most &&
           is_kept(collective, sums->halvings[source]) && sums->halvings[source] < 63) {
        halve(sums, source);
    }
    if (sums->collectives[source] < sums->collectives_most &&
        is_kept(collective, sums->halvings[source])) {
        sums->collective[source][sums->collectives[source]++] = *collective;
    }
}

void gmt_step_sums_name(struct gmt_step_sums *sums, uint64_t position,
                        const struct gmt_step_collective *of)
{
    const struct gmt_step_collective none = {0};
    struct gmt_step_collective *kernels = sums->collective[GMT_COLLECTIVE_DEVICE];
    for (unsigned i = sums->collectives[GMT_COLLECTIVE_DEVICE]; i-- > 0;) {
        if (kernels[i].position == position) {
            gmt_step_collective_say(&kernels[i], of != NULL ? of : &none);
            return;
        }
    }
}

/* ---- which of them have rows ------------------------------------------------------------------ */

static int by_time(const struct gmt_step_cell *left, const struct gmt_step_cell *right)
{
    int order = (left->ns < right->ns) - (left->ns > right->ns);
    return order != 0 ? order : (left->calls < right->calls) - (left->calls > right->calls);
}

static _Thread_local const struct gmt_step_names *ranked_names; /* qsort has no context */

/* Calls before kernels. Of names the text decides: their numbers are as they came. */
static int by_rank(const void *a, const void *b)
{
    const struct gmt_step_cell *left = a, *right = b;
    bool is_kernel = left->kind == GMT_STEP_OF_KERNEL;
    if (is_kernel != (right->kind == GMT_STEP_OF_KERNEL)) {
        return is_kernel ? 1 : -1;
    }
    int order = by_time(left, right);
    if (order == 0 && is_kernel) {
        return strcmp(gmt_step_names_get(ranked_names, left->id)->text,
                      gmt_step_names_get(ranked_names, right->id)->text);
    }
    order = order != 0 ? order : (left->kind > right->kind) - (left->kind < right->kind);
    return order != 0 ? order : (left->id > right->id) - (left->id < right->id);
}

static void add(struct gmt_step_cell *to, const struct gmt_step_cell *cell)
{
    to->calls += cell->calls;
    to->bytes += cell->bytes;
    to->operations += cell->operations;
    to->ns += cell->ns;
    to->blocking_ns += cell->blocking_ns;
    to->longest_ns = greater(to->longest_ns, cell->longest_ns);
}

size_t gmt_step_sums_rank(struct gmt_step_sums *sums, const struct gmt_step_names *names,
                          size_t *kernels)
{
    size_t calls = 0, first, most;
    ranked_names = names;
    memset(sums->place, 0, PLACES * sizeof(*sums->place));
    if (sums->count > 1) {
        qsort(sums->cells, sums->count, sizeof(*sums->cells), by_rank);
    }
    while (calls < sums->count && sums->cells[calls].kind != GMT_STEP_OF_KERNEL) {
        calls++;
    }
    first = calls < GMT_STEP_PLACES ? calls : GMT_STEP_PLACES;
    most = calls + GMT_STEP_KERNELS < sums->count ? calls + GMT_STEP_KERNELS : sums->count;
    for (size_t i = first; i < sums->count; i++) {
        if (i < calls || i >= most) {
            add(&sums->rest[sums->cells[i].kind], &sums->cells[i]);
        }
    }
    *kernels = most - calls;
    memmove(&sums->cells[first], &sums->cells[calls], *kernels * sizeof(*sums->cells));
    sums->count = 0; /* the hash is empty */
    return first;
}
