/* SPDX-License-Identifier: Apache-2.0 */
/* Adds an access that passed its checks to the counts of its instruction and to the footprints. */
#include "simgpu/exec/memory_state.h"
#include "simgpu/exec/touch.h"

#define WAVEFRONT_BYTES 128u

/* Kinds by space and use. */
static enum sim_inst_kind kind_of(const struct sim_access *access)
{
    const bool writes = (access->uses & SIM_USE_WRITE) != 0;

    if (access->is_async) {
        return SIM_INST_ASYNC_COPY;
    }
    switch ((enum ptx_space)access->space) {
    case PTX_GLOBAL:
        return access->is_atomic ? SIM_INST_GLOBAL_ATOMIC
               : writes          ? SIM_INST_GLOBAL_STORE
                                 : SIM_INST_GLOBAL_LOAD;
    case PTX_SHARED:
        return access->is_atomic ? SIM_INST_SHARED_ATOMIC
               : writes          ? SIM_INST_SHARED_STORE
                                 : SIM_INST_SHARED_LOAD;
    case PTX_LOCAL: return writes ? SIM_INST_LOCAL_STORE : SIM_INST_LOCAL_LOAD;
    case PTX_CONST: return SIM_INST_CONST_LOAD;
    default: return SIM_INST_OTHER; /* parameters */
    }
}

/* The kind stays what the first access was, unless lanes or executions touched different spaces. */
static void note_kind(struct sim_inst_counts *site, enum sim_inst_kind kind, enum ptx_space space)
{
    site->touched_kinds |= (uint8_t)(1u << space);
    site->kind = (uint8_t)((site->touched_kinds & (site->touched_kinds - 1)) != 0 ? SIM_INST_GENERIC
                                                                                  : kind);
}

static void add_traffic(struct sim_inst_counts *site, const struct sim_traffic *traffic)
{
    site->sectors += traffic->sectors;
    site->ideal_sectors += traffic->ideal_sectors;
    site->lines += traffic->lines;
    site->bytes += traffic->bytes;
}

static void add_conflicts(struct sim_inst_counts *site, const struct sim_access *access)
{
    struct sim_conflicts conflicts;

    if (!access->is_async) {
        site->bytes += (uint64_t)sim_count_addresses(access) * access->width;
    }
    if (access->is_bypass) { /* counted where it was read */
        return;
    }
    sim_count_shared(access, &conflicts);
    site->wavefronts += conflicts.wavefronts;
    site->ideal_wavefronts += conflicts.ideal;
    if (conflicts.degree > site->max_degree) {
        site->max_degree = conflicts.degree;
    }
}

/* How data that passes L1 by arrives in shared memory is recognised by its source. */
static void add_bypass(struct sim_inst_counts *site, const struct sim_access *access,
                       const struct sim_traffic *traffic)
{
    const uint32_t wavefronts = sim_count_bypass(access);

    site->wavefronts += wavefronts;
    site->ideal_wavefronts += (traffic->bytes + WAVEFRONT_BYTES - 1) / WAVEFRONT_BYTES;
    if (site->max_degree == 0) {
        site->max_degree = 1;
    }
}

static void count_site(struct sim_inst_counts *site, const struct sim_access *access,
                       const struct sim_traffic *traffic)
{
    struct sim_traffic local;

    if (!access->is_async) {
        note_kind(site, kind_of(access), (enum ptx_space)access->space);
    }
    site->requests += !access->is_later;
    switch ((enum ptx_space)access->space) {
    case PTX_GLOBAL:
        add_traffic(site, traffic);
        if (access->is_bypass) {
            add_bypass(site, access, traffic);
        }
        break;
    case PTX_LOCAL:
        sim_count_local(access, &local);
        add_traffic(site, &local);
        break;
    case PTX_SHARED: add_conflicts(site, access); break;
    case PTX_CONST: {
        const uint32_t addresses = sim_count_addresses(access);
        site->addresses += addresses;
        site->bytes += (uint64_t)addresses * access->width;
        break;
    }
    default: break;
    }
}

bool sim_access_count(struct sim_warp *warp, const struct sim_op *op,
                      const struct sim_access *access)
{
    struct sim_memory *memory = warp->worker->memory;
    const bool mapped = access->space == PTX_GLOBAL || access->space == PTX_CONST;
    const bool touches = mapped && memory->count;
    struct sim_traffic traffic;

    if (mapped && memory->touches != NULL && !sim_touches_note(memory->touches, access)) {
        sim_warp_fault(warp, op, access->mask, SIM_OUT_OF_MEMORY,
                       "no memory for the bitmaps that show which bytes a kernel touches");
        return false;
    }
    if (warp->sites == NULL && !touches) {
        return true;
    }
    if (mapped) {
        sim_count_global(access, &memory->lines, &traffic);
    }
    if (warp->sites != NULL) {
        count_site(&warp->sites[op->index], access, &traffic);
    }
    if (!touches || sim_memory_touch(memory, op->index, access, &traffic) == 0) {
        return true;
    }
    sim_warp_fault(warp, op, access->mask, SIM_OUT_OF_MEMORY,
                   "no memory for the bitmaps that show which sectors a kernel touches");
    return false;
}
