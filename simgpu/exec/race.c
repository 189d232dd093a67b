/* SPDX-License-Identifier: Apache-2.0 */
/* Races in shared memory: a record per byte, and the pairs of instructions found. */
#include "simgpu/exec/race.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/exec/code.h"

#define MAX_PAIRS 256u /* of instructions; further ones are not listed separately */

/* Who touched a byte since the last barrier. Stamps that are not the present one mean: nobody. */
struct byte {
    uint32_t stored, read; /* stamps */
    uint32_t store_site, read_site[2];
    uint16_t storer, reader[2]; /* warps; two readers are enough to see that one is another */
    bool strong;                /* by an atomic or a volatile store */
};

/* A block under way. */
struct room {
    struct room *next;
    const struct sim_block *block;
    uint64_t number;
    uint32_t epoch; /* of the block's barriers */
    uint32_t stamp;
    size_t bytes;
    struct byte *byte;
};

struct sim_races {
    struct room *rooms;
    struct sim_race pairs[MAX_PAIRS];
    size_t pair_count;
};

struct sim_races *sim_races_new(void)
{
    return calloc(1, sizeof(struct sim_races));
}

void sim_races_free(struct sim_races *races)
{
    if (races == NULL) {
        return;
    }
    for (struct room *room = races->rooms, *next; room != NULL; room = next) {
        next = room->next;
        free(room->byte);
        free(room);
    }
    free(races);
}

/* ---- blocks ----------------------------------------------------------------------------------- */

static void forget_bytes(struct room *room)
{
    if (++room->stamp == 0) { /* all stamps have been used */
        memset(room->byte, 0, room->bytes * sizeof *room->byte);
        room->stamp = 1;
    }
}

static struct room *new_room(struct sim_races *races, const struct sim_block *block)
{
    struct room *room = calloc(1, sizeof *room);

    if (room == NULL) {
        return NULL;
    }
    room->byte = calloc(block->shared_bytes, sizeof *room->byte);
    if (room->byte == NULL) {
        free(room);
        return NULL;
    }
    room->block = block;
    room->number = block->number;
    room->epoch = block->barrier_epoch;
    room->bytes = block->shared_bytes;
    room->stamp = 1;
    room->next = races->rooms;
    races->rooms = room;
    return room;
}

/* The block's room; what was there before its last barrier, or of an earlier block, is forgotten. */
static struct room *room_of(struct sim_races *races, const struct sim_block *block)
{
    struct room *room = races->rooms;

    while (room != NULL && room->block != block) {
        room = room->next;
    }
    if (room == NULL) {
        return new_room(races, block);
    }
    if (room->number != block->number || room->epoch != block->barrier_epoch) {
        room->number = block->number;
        room->epoch = block->barrier_epoch;
        forget_bytes(room);
    }
    return room;
}

/* ---- pairs ------------------------------------------------------------------------------------ */

static void add_pair(struct sim_races *races, uint32_t first, uint32_t second)
{
    for (size_t i = 0; i < races->pair_count; i++) {
        struct sim_race *pair = &races->pairs[i];
        if (pair->first_site == first && pair->second_site == second) {
            pair->count++;
            return;
        }
    }
    if (races->pair_count < MAX_PAIRS) {
        races->pairs[races->pair_count++] = (struct sim_race){first, second, 1};
    }
}

struct visitor {
    uint32_t site;
    uint16_t warp;
    bool stores, strong;
};

/* The site that `visitor` races with at this byte, or -1. */
static int64_t opponent(const struct byte *byte, uint32_t stamp, const struct visitor *visitor)
{
    if (byte->stored == stamp && byte->storer != visitor->warp &&
        !(byte->strong && visitor->strong)) {
        return byte->store_site;
    }
    for (unsigned i = 0; i < 2 && visitor->stores && byte->read == stamp; i++) {
        if (byte->reader[i] != visitor->warp) {
            return byte->read_site[i];
        }
    }
    return -1;
}

static void remember(struct byte *byte, uint32_t stamp, const struct visitor *visitor)
{
    if (visitor->stores) {
        byte->stored = stamp;
        byte->storer = visitor->warp;
        byte->store_site = visitor->site;
        byte->strong = visitor->strong;
        return;
    }
    if (visitor->strong) {
        return; /* a strong read waits for a store: it is no race that one comes */
    }
    const bool first = byte->read != stamp;
    const unsigned at = first || byte->reader[0] == visitor->warp ? 0 : 1;
    byte->read = stamp;
    byte->reader[at] = visitor->warp;
    byte->read_site[at] = visitor->site;
    if (first) {
        byte->reader[1] = visitor->warp;
        byte->read_site[1] = visitor->site;
    }
}

int sim_races_note(struct sim_races *races, const struct sim_warp *warp, const struct sim_op *op,
                   const struct sim_access *access)
{
    const struct visitor visitor = {
        .site = warp->code->first_site + op->index,
        .warp = (uint16_t)warp->number,
        .stores = (access->uses & SIM_USE_WRITE) != 0,
        .strong = access->is_atomic || access->is_strong,
    };
    struct room *room = room_of(races, warp->block);

    if (room == NULL) {
        return -ENOMEM;
    }
    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        struct byte *bytes = &room->byte[access->address[sim_first_lane(left)]];
        int64_t other = -1;

        for (unsigned k = 0; k < access->width; k++) {
            const int64_t found = opponent(&bytes[k], room->stamp, &visitor);
            other = found >= 0 ? found : other;
            remember(&bytes[k], room->stamp, &visitor);
        }
        if (other >= 0) { /* once per lane */
            add_pair(races, (uint32_t)other, visitor.site);
        }
    }
    return 0;
}

int sim_races_collect(const struct sim_races *races, struct sim_race **list, size_t *count)
{
    struct sim_race *grown = realloc(*list, (*count + races->pair_count + 1) * sizeof *grown);

    if (grown == NULL) {
        return -ENOMEM;
    }
    *list = grown;
    for (size_t i = 0; i < races->pair_count; i++) {
        const struct sim_race *pair = &races->pairs[i];
        size_t at = 0;
        while (at < *count && (grown[at].first_site != pair->first_site ||
                               grown[at].second_site != pair->second_site)) {
            at++;
        }
        if (at == *count) {
            grown[(*count)++] = *pair;
        } else {
            grown[at].count += pair->count;
        }
    }
    return 0;
}
