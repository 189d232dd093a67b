/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of the last launch, summed up by kind of access. */
#include "device_counts.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static const struct simgpu_interface *interface;

int device_counts_begin(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    simgpu_interface_function function = NULL;

    if (library == NULL) {
        return -ENODEV;
    }
    *(void **)&function = dlsym(library, SIMGPU_INTERFACE_SYMBOL);
    interface = function != NULL ? function() : NULL;
    if (interface == NULL || interface->version != SIMGPU_INTERFACE_VERSION ||
        interface->bytes != sizeof(*interface)) {
        return -ENODEV;
    }
    interface->count(1);
    return 0;
}

void device_counts_switch(int on)
{
    interface->count(on);
}

static void add_site(struct sim_inst_counts *sum, const struct sim_inst_counts *site)
{
    sum->executed += site->executed;
    sum->lanes += site->lanes;
    sum->requests += site->requests;
    sum->bytes += site->bytes;
    sum->sectors += site->sectors;
    sum->ideal_sectors += site->ideal_sectors;
    sum->lines += site->lines;
    sum->wavefronts += site->wavefronts;
    sum->ideal_wavefronts += site->ideal_wavefronts;
    sum->addresses += site->addresses;
    if (site->max_degree > sum->max_degree) {
        sum->max_degree = site->max_degree;
    }
}

int device_counts_take(struct device_counts *counts)
{
    const struct sim_counts *last = interface->last_launch();
    size_t site_count = 0;
    const struct sim_inst_info *sites = interface->last_sites(&site_count);

    memset(counts, 0, sizeof(*counts));
    if (last == NULL || sites == NULL || site_count != last->site_count) {
        return -ENODATA;
    }
    for (size_t i = 0; i < last->site_count; i++) {
        const struct sim_inst_counts *site = &last->sites[i];
        const unsigned kind = site->kind < SIM_INST_KINDS ? site->kind : SIM_INST_OTHER;

        counts->executed += site->executed;
        counts->lanes += site->lanes;
        counts->lane_bytes[kind] += site->lanes * sites[i].width;
        add_site(&counts->kind[kind], site);
    }
    return 0;
}

void device_counts_add(struct device_counts *sum, const struct device_counts *counts)
{
    sum->executed += counts->executed;
    sum->lanes += counts->lanes;
    for (unsigned kind = 0; kind < SIM_INST_KINDS; kind++) {
        sum->lane_bytes[kind] += counts->lane_bytes[kind];
        add_site(&sum->kind[kind], &counts->kind[kind]);
    }
}
