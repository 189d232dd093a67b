/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operation is ordered before which: vector clocks over chains of operations.
 *
 * Operations form chains, each before the next: a stream is one, each branch of a graph another. An operation continues
 * the chain of one that it comes after, if that is its last; else it begins a chain. The number of chains is that of
 * operations that may be done side by side, not that of all.
 */
#include <stdlib.h>
#include <string.h>

#include "simgpu/order/state.h"

/* By chain: the place of its last operation, and whether any of it is open or remembered. */
static struct {
    uint32_t *last;
    uint32_t *live; /* operations not done, or remembered */
    size_t count;
} chains;

static bool grow_chains(void)
{
    size_t grown = chains.count != 0 ? 2 * chains.count : 16;
    uint32_t *last = realloc(chains.last, grown * sizeof *last);
    if (last == NULL) {
        return false;
    }
    chains.last = last;
    uint32_t *live = realloc(chains.live, grown * sizeof *live);
    if (live == NULL) {
        return false;
    }
    chains.live = live;
    memset(last + chains.count, 0, (grown - chains.count) * sizeof *last);
    memset(live + chains.count, 0, (grown - chains.count) * sizeof *live);
    chains.count = grown;
    return true;
}

/* A chain of which nothing is left is begun again: its places count on. */
static bool free_chain(uint32_t *chain)
{
    for (size_t i = 0; i < chains.count; i++) {
        if (chains.live[i] == 0 && chains.last[i] != UINT32_MAX) {
            *chain = (uint32_t)i;
            return true;
        }
    }
    *chain = (uint32_t)chains.count;
    return grow_chains();
}

static bool join(struct sim_clock *clock, const struct sim_clock *other)
{
    if (other->count > clock->count) {
        uint32_t *at = realloc(clock->at, other->count * sizeof *at);
        if (at == NULL) {
            return false;
        }
        memset(at + clock->count, 0, (other->count - clock->count) * sizeof *at);
        clock->at = at;
        clock->count = other->count;
    }
    for (size_t i = 0; i < other->count; i++) {
        clock->at[i] = other->at[i] > clock->at[i] ? other->at[i] : clock->at[i];
    }
    return true;
}

bool sim_clock_begin(struct sim_operation *operation)
{
    bool found = false;
    for (size_t i = 0; i < operation->before_count; i++) {
        const struct sim_operation *before = operation->before[i];
        if (!join(&operation->clock, &before->clock)) {
            return false;
        }
        if (!found && before->place != 0 && chains.last[before->chain] == before->place) {
            operation->chain = before->chain;
            found = true;
        }
    }
    if (!found && !free_chain(&operation->chain)) {
        return false;
    }
    size_t count = operation->chain + 1;
    struct sim_clock least = {calloc(count, sizeof(uint32_t)), count};
    bool joined = least.at != NULL && join(&operation->clock, &least);
    free(least.at);
    if (!joined) {
        return false;
    }
    operation->place = ++chains.last[operation->chain];
    operation->clock.at[operation->chain] = operation->place;
    chains.live[operation->chain]++;
    return true;
}

void sim_clock_end(const struct sim_operation *operation)
{
    if (operation->place != 0) {
        chains.live[operation->chain]--;
    }
}

/* Where memory was short and an operation has no place, it counts as ordered: nothing false is reported. */
bool sim_is_ordered(const struct sim_operation *first, const struct sim_operation *second)
{
    return first->place == 0 || second->place == 0 ||
           (first->seen != 0 && first->seen <= second->number) ||
           (first->chain < second->clock.count && second->clock.at[first->chain] >= first->place);
}

static void see(struct sim_operation *operation, const struct sim_operation *last)
{
    if (operation->seen == 0 && (operation == last || sim_is_ordered(operation, last))) {
        operation->seen = sim_order.submitted + 1;
    }
}

/* Those that are open are not done: they are not before one that is. */
void sim_clock_seen(struct sim_operation *operation)
{
    if (operation->seen != 0) {
        return;
    }
    see(operation, operation);
    for (struct sim_operation *at = sim_order.remembered.first; at != NULL; at = at->next) {
        see(at, operation);
    }
}
