/* SPDX-License-Identifier: Apache-2.0 */
/* Where the lanes of an access lie: spaces and windows, shape, checks, faults. */
#include "simgpu/exec/access.h"

#include "simgpu/exec/memory_state.h"

#define WINDOW_SHIFT 40 /* of SIM_WINDOW_BYTES */

_Static_assert(SIM_WINDOW_BYTES == UINT64_C(1) << WINDOW_SHIFT,
               "windows are identified by their number");

/* ---- generic addresses ------------------------------------------------------------------------ */

enum ptx_space sim_space_of(uint64_t address)
{
    switch (address >> WINDOW_SHIFT) {
    case SIM_SHARED_WINDOW >> WINDOW_SHIFT: return PTX_SHARED;
    case SIM_LOCAL_WINDOW >> WINDOW_SHIFT: return PTX_LOCAL;
    case SIM_PARAM_WINDOW >> WINDOW_SHIFT: return PTX_PARAM;
    default: return PTX_GLOBAL;
    }
}

uint64_t sim_window_of(enum ptx_space space)
{
    switch (space) {
    case PTX_SHARED: return SIM_SHARED_WINDOW;
    case PTX_LOCAL: return SIM_LOCAL_WINDOW;
    case PTX_PARAM: return SIM_PARAM_WINDOW;
    default: return 0;
    }
}

/* The lanes whose generic address lies in the same space as the first one's, addresses made relative
 * to that space. */
static uint32_t take_window(struct sim_access *access, uint32_t rest)
{
    const enum ptx_space space = sim_space_of(access->address[sim_first_lane(rest)]);
    const uint64_t window = sim_window_of(space);
    uint32_t mask = 0;

    for (uint32_t left = rest; left != 0; left &= left - 1) {
        const unsigned i = sim_first_lane(left);
        if (sim_space_of(access->address[i]) == space) {
            mask |= 1u << i;
            access->address[i] -= window;
        }
    }
    access->space = (uint8_t)space;
    return mask;
}

/* ---- shape ----------------------------------------------------------------------------------- */

/* Fills the shape; `*low` gets the bits of all addresses that matter for alignment. */
static void scan_warp(struct sim_access *access, uint64_t *low)
{
    const uint64_t *address = access->address;
    const uint64_t first = address[0], width = access->width;
    uint64_t bits = first, apart = 0, uneven = 0;

    for (unsigned i = 1; i < SIM_LANES; i++) {
        bits |= address[i];
        apart |= address[i] ^ first;
        uneven |= (address[i] - address[i - 1]) ^ width;
    }
    *low = bits;
    access->shape = (uint8_t)(apart == 0    ? SIM_SHAPE_SAME
                              : uneven == 0 ? SIM_SHAPE_UNIT
                                            : SIM_SHAPE_ANY);
}

static void scan_lanes(struct sim_access *access, uint64_t *low)
{
    const unsigned lead = sim_first_lane(access->mask);
    const uint32_t shifted = access->mask >> lead;
    const uint64_t first = access->address[lead];
    uint64_t bits = 0, apart = 0, uneven = (shifted & (shifted + 1)) != 0; /* gaps between lanes */

    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        const unsigned i = sim_first_lane(left);
        const uint64_t distance = access->address[i] - first;
        bits |= access->address[i];
        apart |= distance;
        uneven |= distance ^ ((uint64_t)(i - lead) * access->width);
    }
    *low = bits;
    access->shape = (uint8_t)(apart == 0    ? SIM_SHAPE_SAME
                              : uneven == 0 ? SIM_SHAPE_UNIT
                                            : SIM_SHAPE_ANY);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static const char *what_of(const struct sim_access *access)
{
    return access->is_atomic                     ? "atomic operation"
           : (access->uses & SIM_USE_WRITE) != 0 ? "store"
                                                 : "load";
}

static bool misaligned(struct sim_warp *warp, const struct sim_op *op,
                       const struct sim_access *access)
{
    const uint64_t window = sim_window_of((enum ptx_space)access->space);
    unsigned lane = sim_first_lane(access->mask);

    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        lane = sim_first_lane(left);
        if ((access->address[lane] & (access->width - 1)) != 0) {
            break;
        }
    }
    const unsigned long long at = access->address[lane] + window;
    sim_warp_fault(warp, op, 1u << lane, SIM_MISALIGNED_ADDRESS,
                   "%s of %u bytes at address 0x%llx, which is not a multiple of %u",
                   what_of(access), access->width, at, access->width);
    return false;
}

static bool illegal(struct sim_warp *warp, const struct sim_op *op, const struct sim_access *access,
                    unsigned lane)
{
    char text[400];

    sim_memory_describe(warp->worker->memory, access->address[lane], access->width, text,
                        sizeof text);
    sim_warp_fault(warp, op, 1u << lane, SIM_ILLEGAL_ADDRESS, "%s of %u bytes: address %s",
                   what_of(access), access->width, text);
    return false;
}

static bool forbidden(struct sim_warp *warp, const struct sim_op *op,
                      const struct sim_access *access, unsigned lane,
                      const struct sim_region *region)
{
    const char *why = (region->flags & SIM_REGION_INVALID) != 0
                          ? "is another device's memory, and peer access is not enabled"
                      : (region->flags & SIM_REGION_CONST) != 0 ? "is constant memory"
                                                                : "is not constant memory";

    sim_warp_fault(warp, op, 1u << lane, SIM_ILLEGAL_ADDRESS,
                   "%s of %u bytes: address 0x%llx (%s%s%llu bytes at 0x%llx) %s", what_of(access),
                   access->width, (unsigned long long)access->address[lane],
                   region->name != NULL ? region->name : "", region->name != NULL ? ", " : "",
                   (unsigned long long)region->bytes, (unsigned long long)region->base, why);
    return false;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool allows(const struct sim_region *region, const struct sim_access *access)
{
    if ((region->flags & SIM_REGION_INVALID) != 0) {
        return false;
    }
    if ((region->flags & SIM_REGION_CONST) != 0) {
        return (access->uses & SIM_USE_WRITE) == 0;
    }
    return access->space != PTX_CONST;
}

static bool holds(const struct sim_region *region, uint64_t address, uint64_t bytes)
{
    return bytes <= region->bytes && address - region->base <= region->bytes - bytes;
}

/* All lanes in `region`? */
static bool all_within(const struct sim_region *region, const struct sim_access *access)
{
    const unsigned lead = sim_first_lane(access->mask);
    uint64_t bytes = access->width;

    if (access->shape == SIM_SHAPE_ANY) {
        if (bytes > region->bytes) {
            return false;
        }
        const uint64_t base = region->base, limit = region->bytes - bytes;
        bool out = false;
        SIM_FOR_LANES(access->mask, i, out |= access->address[i] - base > limit);
        return !out;
    }
    if (access->shape == SIM_SHAPE_UNIT) {
        bytes *= (unsigned)__builtin_popcount(access->mask);
    }
    return holds(region, access->address[lead], bytes);
}

/* Global and constant memory: addresses are the host's. */
static bool check_map(struct sim_warp *warp, const struct sim_op *op, struct sim_access *access)
{
    struct sim_memory *memory = warp->worker->memory;
    const unsigned lead = sim_first_lane(access->mask);
    uint32_t found = sim_memory_recall(memory, op->index, access->address[lead]);

    access->origin = 0;
    access->lane_stride = 0;
    access->is_split = 0;
    if (found != SIM_NO_REGION && all_within(&memory->map->regions[found], access)) {
        return allows(&memory->map->regions[found], access) ||
               forbidden(warp, op, access, lead, &memory->map->regions[found]);
    }
    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        const unsigned i = sim_first_lane(left);
        found = sim_memory_recall(memory, op->index, access->address[i]);
        if (found == SIM_NO_REGION ||
            !holds(&memory->map->regions[found], access->address[i], access->width)) {
            return illegal(warp, op, access, i);
        }
        if (!allows(&memory->map->regions[found], access)) {
            return forbidden(warp, op, access, i, &memory->map->regions[found]);
        }
    }
    access->is_split = 1;
    access->shape = SIM_SHAPE_ANY;
    return true;
}

/* Shared and local memory and parameters: addresses are offsets, below `limit`. */
static bool all_below(const struct sim_access *access, uint64_t limit)
{
    const unsigned lead = sim_first_lane(access->mask);
    uint64_t bytes = access->width;
    bool out = false;

    if (access->shape == SIM_SHAPE_UNIT) {
        bytes *= (unsigned)__builtin_popcount(access->mask);
    }
    if (bytes > limit) {
        return false;
    }
    if (access->shape != SIM_SHAPE_ANY) {
        return access->address[lead] <= limit - bytes;
    }
    SIM_FOR_LANES(access->mask, i, out |= access->address[i] > limit - bytes);
    return !out;
}

static bool check_window(struct sim_warp *warp, const struct sim_op *op,
                         const struct sim_access *access, uint64_t limit, const char *what)
{
    unsigned lane = sim_first_lane(access->mask);

    if (all_below(access, limit)) {
        return true;
    }
    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        lane = sim_first_lane(left);
        if (access->width > limit || access->address[lane] > limit - access->width) {
            break;
        }
    }
    sim_warp_fault(warp, op, 1u << lane, SIM_ILLEGAL_ADDRESS,
                   "%s of %u bytes: %s address 0x%llx is outside the %llu bytes of %s",
                   what_of(access), access->width, what, (unsigned long long)access->address[lane],
                   (unsigned long long)limit,
                   access->space == PTX_SHARED  ? "shared memory that the block has"
                   : access->space == PTX_LOCAL ? "local memory that the thread has"
                                                : "the kernel's parameters");
    return false;
}

static bool check_offsets(struct sim_warp *warp, const struct sim_op *op, struct sim_access *access)
{
    const struct sim_launch *launch = warp->worker->launch;

    access->lane_stride = 0;
    switch ((enum ptx_space)access->space) {
    case PTX_SHARED:
        access->origin = (uintptr_t)warp->block->shared;
        return check_window(warp, op, access, warp->block->shared_bytes, "shared");
    case PTX_LOCAL:
        access->origin = (uintptr_t)warp->local;
        access->lane_stride = warp->local_stride;
        return check_window(warp, op, access, warp->local_stride, "local");
    default:
        access->origin = (uintptr_t)launch->params;
        if ((access->uses & SIM_USE_WRITE) == 0) {
            return check_window(warp, op, access, sim_kernel_info(launch->kernel)->param_bytes,
                                "parameter");
        }
        sim_warp_fault(warp, op, 1u << sim_first_lane(access->mask), SIM_ILLEGAL_ADDRESS,
                       "%s of %u bytes: the kernel's parameters cannot be written", what_of(access),
                       access->width);
        return false;
    }
}

bool sim_access_check(struct sim_warp *warp, const struct sim_op *op, struct sim_access *access)
{
    const bool mapped = access->space == PTX_GLOBAL || access->space == PTX_CONST;
    uint64_t low;

    if (access->mask == SIM_FULL_MASK) {
        scan_warp(access, &low);
    } else {
        scan_lanes(access, &low);
    }
    if ((low & (access->width - 1)) != 0) {
        return misaligned(warp, op, access);
    }
    return mapped ? check_map(warp, op, access) : check_offsets(warp, op, access);
}

static bool look_for_races(struct sim_warp *warp, const struct sim_op *op,
                           const struct sim_access *access)
{
    struct sim_memory *memory = warp->worker->memory;

    if (memory->races == NULL) {
        memory->races = sim_races_new();
    }
    if (memory->races != NULL && sim_races_note(memory->races, warp, op, access) == 0) {
        return true;
    }
    sim_warp_fault(warp, op, access->mask, SIM_OUT_OF_MEMORY, "no memory to look for races");
    return false;
}

bool sim_access_next(struct sim_warp *warp, const struct sim_op *op, struct sim_access *access,
                     enum ptx_space space)
{
    access->mask = access->rest;
    access->space = (uint8_t)space;
    if (space == PTX_GENERIC) {
        access->mask = take_window(access, access->rest);
    }
    access->rest &= ~access->mask;
    if (!sim_access_check(warp, op, access)) {
        return false;
    }
    const bool counted = sim_access_count(warp, op, access);
    access->is_later = 1;
    if (access->space == PTX_SHARED && warp->worker->launch->check_races) {
        return counted && look_for_races(warp, op, access);
    }
    return counted;
}
