/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs made executable (graphs.h). */
#include "preload/state/graphs.h"

#include <stdatomic.h>

#include "libtrace/record/spool.h"
#include "libtrace/threads/mutex.h"

#define SLOTS 4096u
#define GONE ((CUgraphExec)1)

static struct gmt_mutex mutex = GMT_MUTEX(GRAPHS);
static struct {
    CUgraphExec handle; /* NULL: never used */
    uint32_t id;        /* gmt_graph.id */
    uint32_t made;      /* gmt_graph.made */
    struct gmt_node_steps *steps;
    unsigned long long flags;
} graphs[SLOTS];
static unsigned used;
static _Atomic unsigned with_steps; /* graphs that have steps */
static uint32_t last_id;

static unsigned slot_of(CUgraphExec handle)
{
    return (unsigned)(((uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % SLOTS;
}

/* Locked. Its slot, or SLOTS if there is none. */
static unsigned find(CUgraphExec handle)
{
    unsigned at = slot_of(handle);
    while (graphs[at].handle != NULL && graphs[at].handle != handle) {
        at = (at + 1) % SLOTS;
    }
    return graphs[at].handle == handle ? at : SLOTS;
}

void gmt_graph_name(CUgraphExec handle, bool is_update, struct gmt_graph *graph)
{
    gmt_mutex_lock(&mutex);
    uint32_t id = ++last_id;
    unsigned at = find(handle);
    if (at == SLOTS && used < SLOTS / 2) {
        at = slot_of(handle);
        while (graphs[at].handle != NULL && graphs[at].handle != GONE) {
            at = (at + 1) % SLOTS;
        }
        used += graphs[at].handle == NULL;
        graphs[at].handle = handle;
        graphs[at].made = 0;
        graphs[at].steps = NULL;
        graphs[at].flags = 0;
    }
    if (at != SLOTS && !is_update) {
        graphs[at].flags = 0;
    }
    graph->id = graph->made = id;
    if (at != SLOTS) {
        graphs[at].id = id;
        graphs[at].made = is_update && graphs[at].made != 0 ? graphs[at].made : id;
        graph->made = graphs[at].made;
    }
    gmt_mutex_unlock(&mutex);
    if (at == SLOTS) {
        gmt_spool_loss("graph not followed", "more graphs than the table holds", 1);
    }
}

uint32_t gmt_graph_id(CUgraphExec handle)
{
    gmt_mutex_lock(&mutex);
    unsigned at = find(handle);
    uint32_t id = at != SLOTS ? graphs[at].id : 0;
    gmt_mutex_unlock(&mutex);
    return id;
}

struct gmt_node_steps *gmt_graph_steps(CUgraphExec handle)
{
    if (atomic_load_explicit(&with_steps, memory_order_relaxed) == 0) {
        return NULL;
    }
    gmt_mutex_lock(&mutex);
    unsigned at = find(handle);
    struct gmt_node_steps *steps = at != SLOTS ? graphs[at].steps : NULL;
    gmt_mutex_unlock(&mutex);
    return steps;
}

struct gmt_node_steps *gmt_graph_set_steps(CUgraphExec handle, struct gmt_node_steps *steps)
{
    struct gmt_node_steps *before = steps;
    gmt_mutex_lock(&mutex);
    unsigned at = find(handle);
    if (at != SLOTS) {
        before = graphs[at].steps;
        graphs[at].steps = steps;
        with_steps += (steps != NULL) - (unsigned)(before != NULL);
    }
    gmt_mutex_unlock(&mutex);
    return before;
}

void gmt_graph_add_flags(CUgraphExec handle, unsigned long long flags)
{
    gmt_mutex_lock(&mutex);
    unsigned at = find(handle);
    if (at != SLOTS) {
        graphs[at].flags |= flags;
    }
    gmt_mutex_unlock(&mutex);
}

unsigned long long gmt_graph_flags(CUgraphExec handle)
{
    gmt_mutex_lock(&mutex);
    unsigned at = find(handle);
    unsigned long long flags = at != SLOTS ? graphs[at].flags : GMT_GRAPH_NO_STEPS;
    gmt_mutex_unlock(&mutex);
    return flags;
}

bool gmt_graph_forget(CUgraphExec exec)
{
    gmt_mutex_lock(&mutex);
    unsigned at = find(exec);
    if (at != SLOTS) {
        graphs[at].handle = GONE;
    }
    gmt_mutex_unlock(&mutex);
    return at != SLOTS;
}

/* ---- updates ---------------------------------------------------------------------------------- */

/* Programs exist that update a large graph before every launch: reading all of it again may take a
 * fiftieth of the time since the first update, what lies beyond is counted. */
#define READ_ALWAYS 16u
#define READ_SHARE 50u
static _Atomic uint64_t first_update_ticks, reading_ticks;
static _Atomic uint32_t updates;

bool gmt_graph_may_read(uint64_t now)
{
    uint64_t none = 0;
    (void)atomic_compare_exchange_strong(&first_update_ticks, &none, now);
    return atomic_fetch_add(&updates, 1) < READ_ALWAYS ||
           reading_ticks <= (now - first_update_ticks) / READ_SHARE;
}

void gmt_graph_was_read(uint64_t ticks)
{
    atomic_fetch_add(&reading_ticks, ticks);
}

void gmt_graph_reset(void)
{
    gmt_mutex_renew(&mutex);
    for (unsigned i = 0; i < SLOTS; i++) {
        graphs[i].handle = NULL;
        graphs[i].steps = NULL;
    }
    with_steps = 0;
    used = 0;
    last_id = 0;
    updates = 0;
    reading_ticks = 0;
    first_update_ticks = 0;
}
