/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which allocation does an address fall into? All live memory that the hooks know: device, managed
 * and page-locked. Written by allocation hooks, read by every copy and launch: readers take no lock.
 */
#ifndef GMT_PRELOAD_STATE_ALLOCMAP_H
#define GMT_PRELOAD_STATE_ALLOCMAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/layout.h"

struct gmt_allocation {
    uint64_t base;
    uint64_t bytes;
    uint32_t id;      /* gmt_alloc.id */
    uint16_t context; /* gmt_context.id, 0 = none */
    uint8_t kind;     /* enum gmt_alloc_kind */
    bool unreadable;  /* host memory that must not be read by us: see gmt_allocmap_set_unreadable */
    bool shared;      /* see gmt_allocmap_share */
};

/* Remember [base, base + bytes). Returns its new id (never 0); an id is given even when the map is
 * full (counted as a loss, the address is unknown then). */
uint32_t gmt_allocmap_insert(uint64_t base, uint64_t bytes, enum gmt_alloc_kind kind,
                             uint16_t context);

/* The host memory that starts at `base` is a device's own or write-combined: never read it. */
void gmt_allocmap_set_unreadable(uint64_t base);

/* Others see what is written to [first, first + bytes), and may write there: another process, a device on the bus, a
 * kernel of this one through a handle (a surface). True of every allocation that has a byte of it, for its life. False: no
 * allocation has. */
bool gmt_allocmap_share(uint64_t first, uint64_t bytes);

/* Put back what gmt_allocmap_remove took (the free call failed). */
void gmt_allocmap_restore(const struct gmt_allocation *allocation);

/* Forget the allocation that starts at `base`; false if there is none. */
bool gmt_allocmap_remove(uint64_t base, struct gmt_allocation *removed);

/* Forget one allocation of a context that is gone; false when none is left. */
bool gmt_allocmap_take_from(uint16_t context, struct gmt_allocation *removed);

/* Forget one allocation of that kind that lies inside [start, start + bytes); false: none is left. */
bool gmt_allocmap_take_within(uint64_t start, uint64_t bytes, enum gmt_alloc_kind kind,
                              struct gmt_allocation *removed);

/* Of all addresses that were ever known. */
extern struct gmt_allocmap_bounds {
    _Atomic uint64_t lowest, highest;
} gmt_allocmap_bounds;

/* False: no allocation holds `address`. Most words that a kernel is given end here. */
static inline bool gmt_allocmap_may_hold(uint64_t address)
{
    return address < atomic_load_explicit(&gmt_allocmap_bounds.highest, memory_order_relaxed) &&
           address >= atomic_load_explicit(&gmt_allocmap_bounds.lowest, memory_order_relaxed);
}

/* The allocation that holds `address`; false if none does. */
bool gmt_allocmap_find(uint64_t address, struct gmt_allocation *found);

/* Calls `visit` for each allocation in the order of addresses, until it returns false; it must not change them. False:
 * not all were visited. */
bool gmt_allocmap_each(bool (*visit)(void *data, const struct gmt_allocation *allocation),
                       void *data);

/* Memory class of an address; `otherwise` where no allocation is known. `id` gets the allocation's
 * id or 0, and may be NULL. */
enum gmt_mem_class gmt_allocmap_class(uint64_t address, enum gmt_mem_class otherwise, uint32_t *id);

/* Is any page-locked or managed memory alive (a kernel could wait on it for the host)? */
bool gmt_allocmap_has_host_visible(void);

/* In a forked child: everything is forgotten. */
void gmt_allocmap_reset(void);

#endif
