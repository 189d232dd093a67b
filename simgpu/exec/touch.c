/* SPDX-License-Identifier: Apache-2.0 */
/* Bitmaps of bytes, one per use and page of 4096 bytes, made when a page is touched first. */
#include "simgpu/exec/touch.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "simgpu/exec/access.h"

#define PAGE_SHIFT 12u
#define PAGE_BYTES (UINT64_C(1) << PAGE_SHIFT)
#define WORD_BITS 64u
#define USES 4u /* of enum sim_touches_use */

struct page {
    _Atomic uint64_t bits[USES][PAGE_BYTES / WORD_BITS];
};

struct sim_touches {
    const struct sim_map *map;
    _Atomic(struct page *) *
        *pages; /* by region, then by page from the region's beginning; NULL: not touched */
};

static size_t pages_of(const struct sim_region *region)
{
    return (size_t)((region->bytes + PAGE_BYTES - 1) >> PAGE_SHIFT);
}

struct sim_touches *sim_touches_new(const struct sim_map *map)
{
    struct sim_touches *touches = calloc(1, sizeof *touches);
    if (touches == NULL) {
        return NULL;
    }
    touches->map = map;
    touches->pages = calloc(map->count != 0 ? map->count : 1, sizeof(*touches->pages));
    for (size_t i = 0; touches->pages != NULL && i < map->count; i++) {
        touches->pages[i] = calloc(pages_of(&map->regions[i]), sizeof(**touches->pages));
        if (touches->pages[i] == NULL) {
            sim_touches_free(touches);
            return NULL;
        }
    }
    if (touches->pages == NULL) {
        free(touches);
        return NULL;
    }
    return touches;
}

void sim_touches_free(struct sim_touches *touches)
{
    if (touches == NULL) {
        return;
    }
    for (size_t i = 0; i < touches->map->count && touches->pages[i] != NULL; i++) {
        for (size_t k = 0; k < pages_of(&touches->map->regions[i]); k++) {
            free(atomic_load(&touches->pages[i][k]));
        }
        free((void *)touches->pages[i]);
    }
    free((void *)touches->pages);
    free(touches);
}

/* ---- noting ------------------------------------------------------------------------------------ */

static struct page *page_at(_Atomic(struct page *) *slot)
{
    struct page *page = atomic_load_explicit(slot, memory_order_acquire), *made;
    if (page != NULL) {
        return page;
    }
    made = calloc(1, sizeof *made);
    if (made != NULL && !atomic_compare_exchange_strong(slot, &page, made)) {
        free(made); /* another worker was first */
        made = page;
    }
    return made;
}

static bool note(const struct sim_touches *touches, size_t index, uint64_t offset, uint64_t bytes,
                 unsigned use)
{
    uint64_t rest = touches->map->regions[index].bytes - offset;
    bytes = bytes < rest ? bytes : rest; /* an async copy may ask for more than it reads */
    while (bytes != 0) {
        uint64_t in_page = offset & (PAGE_BYTES - 1), bit = in_page % WORD_BITS;
        uint64_t count = bytes < WORD_BITS - bit ? bytes : WORD_BITS - bit;
        uint64_t mask = (UINT64_MAX >> (WORD_BITS - count)) << bit;
        struct page *page = page_at(&touches->pages[index][offset >> PAGE_SHIFT]);
        if (page == NULL) {
            return false;
        }
        _Atomic uint64_t *word = &page->bits[use][in_page / WORD_BITS];
        if ((atomic_load_explicit(word, memory_order_relaxed) & mask) != mask) {
            atomic_fetch_or_explicit(word, mask, memory_order_relaxed);
        }
        offset += count;
        bytes -= count;
    }
    return true;
}

/* The region that holds `address`, which one does. */
static size_t region_at(const struct sim_map *map, uint64_t address)
{
    size_t low = 0, high = map->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (map->regions[middle].base <= address) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static unsigned use_of(const struct sim_access *access)
{
    bool strong = access->is_atomic || access->is_strong;
    bool writes = (access->uses & SIM_USE_WRITE) != 0;
    return (strong ? 2u : 0u) + (writes ? 1u : 0u);
}

bool sim_touches_note(struct sim_touches *touches, const struct sim_access *access)
{
    const struct sim_map *map = touches->map;
    size_t index = region_at(map, access->address[sim_first_lane(access->mask)]);
    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        uint64_t address = access->address[sim_first_lane(left)], bytes = access->width;
        if (access->shape == SIM_SHAPE_SAME) {
            left = left & (~left + 1); /* one stands for all */
        } else if (access->shape == SIM_SHAPE_UNIT) {
            bytes *= (unsigned)__builtin_popcount(left);
            left = left & (~left + 1);
        } else if (address - map->regions[index].base >= map->regions[index].bytes) {
            index = region_at(map, address);
        }
        if (!note(touches, index, address - map->regions[index].base, bytes, use_of(access))) {
            return false;
        }
    }
    return true;
}

/* ---- reading ----------------------------------------------------------------------------------- */

struct touch_run {
    uint64_t first, end;
    unsigned uses;
    void (*extent)(void *data, uint64_t first, uint64_t bytes, unsigned uses);
    void *data;
};

static void end_run(struct touch_run *run)
{
    if (run->uses != 0) {
        run->extent(run->data, run->first, run->end - run->first, run->uses);
    }
    run->uses = 0;
}

static void add(struct touch_run *run, uint64_t first, uint64_t bytes, unsigned uses)
{
    if (uses != run->uses || first != run->end) {
        end_run(run);
        run->first = first;
        run->uses = uses;
    }
    run->end = first + bytes;
}

static void add_word(struct touch_run *run, const struct page *page, size_t word, uint64_t first)
{
    uint64_t bits[USES], any = 0, all = UINT64_MAX;
    for (unsigned use = 0; use < USES; use++) {
        bits[use] = atomic_load_explicit(&page->bits[use][word], memory_order_relaxed);
        any |= bits[use];
        all &= bits[use] == 0 || bits[use] == UINT64_MAX ? UINT64_MAX : 0;
    }
    for (unsigned bit = 0; any != 0 && bit < WORD_BITS; bit++) {
        unsigned uses = 0;
        for (unsigned use = 0; use < USES; use++) {
            uses |= (unsigned)(bits[use] >> bit & 1) << use;
        }
        if (all != 0) { /* all bytes alike */
            add(run, first, WORD_BITS, uses);
            return;
        }
        if (uses != 0) {
            add(run, first + bit, 1, uses);
        }
    }
}

void sim_touches_each(const struct sim_touches *touches,
                      void (*extent)(void *data, uint64_t first, uint64_t bytes, unsigned uses),
                      void *data)
{
    struct touch_run run = {.extent = extent, .data = data};
    for (size_t i = 0; i < touches->map->count; i++) {
        const struct sim_region *region = &touches->map->regions[i];
        for (size_t k = 0; k < pages_of(region); k++) {
            const struct page *page = atomic_load(&touches->pages[i][k]);
            for (size_t word = 0; page != NULL && word < PAGE_BYTES / WORD_BITS; word++) {
                add_word(&run, page, word, region->base + k * PAGE_BYTES + word * WORD_BITS);
            }
        }
    }
    end_run(&run);
}
