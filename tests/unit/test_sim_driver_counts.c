/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of launches that the driver part hands to gmtrace. */
#include <pthread.h>
#include <stdint.h>

#include "sim_driver_fixture.h"
#include "simgpu/simgpu.h"

const struct simgpu_interface *simgpu_interface(void);

static CUdeviceptr memory;

static CUfunction start(void)
{
    sim_start(1);
    OK(cuMemAlloc(&memory, 4096));
    return sim_kernel_of(sim_ptx_fill, "fill");
}

Test(sim_driver_counts, are_given_once_to_those_who_ask)
{
    const struct simgpu_interface *interface = simgpu_interface();
    CUfunction fill = start();
    unsigned value = 0;
    void *params[] = {&memory, &value};
    size_t sites = 0, stores = 0;
    cr_assert_eq(interface->version, SIMGPU_INTERFACE_VERSION);
    OK(sim_launch_one(fill, 64, params));
    cr_expect_null(interface->last_launch());
    interface->count(1);
    OK(sim_launch_one(fill, 64, params));
    const struct sim_inst_info *info = interface->last_sites(&sites);
    const struct sim_counts *counts = interface->last_launch();
    cr_assert_not_null(counts);
    cr_assert_eq(counts->site_count, sites);
    for (size_t i = 0; i < sites; i++) {
        if (info[i].kind == SIM_INST_GLOBAL_STORE) {
            stores++;
            cr_expect_eq(counts->sites[i].requests, 2);
            cr_expect_eq(counts->sites[i].sectors, 8);
            cr_expect_eq(counts->sites[i].bytes, 256);
        }
    }
    cr_expect_eq(stores, 1);
    cr_expect_null(interface->last_launch());
    OK(sim_launch_one(fill, 64, params));
    FAILS(CUDA_ERROR_INVALID_VALUE, sim_launch_one(fill, 2000, params));
    cr_expect_null(interface->last_launch());
}

/* ---- whose they are ---- */

static void *look(void *interface)
{
    return (void *)(uintptr_t)((const struct simgpu_interface *)interface)->last_launch();
}

Test(sim_driver_counts, belong_to_the_thread_that_launched)
{
    const struct simgpu_interface *interface = simgpu_interface();
    CUfunction fill = start();
    unsigned value = 0;
    pthread_t thread;
    void *seen = &value;
    interface->count(1);
    OK(sim_launch_one(fill, 64, (void *[]){&memory, &value}));
    cr_assert_eq(pthread_create(&thread, NULL, look, (void *)(uintptr_t)interface), 0);
    pthread_join(thread, &seen);
    cr_expect_null(seen);
    cr_expect_not_null(interface->last_launch());
}

Test(sim_driver_counts, name_the_allocations_that_were_touched)
{
    const struct simgpu_interface *interface = simgpu_interface();
    CUfunction fill = start();
    unsigned value = 0;
    interface->count(1);
    OK(sim_launch_one(fill, 64, (void *[]){&memory, &value}));
    const struct sim_counts *counts = interface->last_launch();
    cr_assert_not_null(counts);
    cr_assert_eq(counts->footprint_count, 1);
    cr_expect_eq(counts->footprints[0].base, memory);
    cr_expect_eq(counts->footprints[0].bytes, 4096);
    cr_expect_eq(counts->footprints[0].write_sectors, 8);
    cr_expect_eq(counts->footprints[0].read_sectors, 0);
}

Test(sim_driver_counts, graphs_and_faults_have_none)
{
    const struct simgpu_interface *interface = simgpu_interface();
    CUfunction fill = start();
    CUfunction reach = sim_kernel_of(sim_ptx_faults, "reach");
    CUdeviceptr nowhere = 16;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    unsigned value = 0;
    interface->count(1);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&memory, &value}, NULL));
    cr_expect_null(interface->last_launch());
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    cr_expect_null(interface->last_launch());
    OK(sim_launch_one(reach, 1, (void *[]){&nowhere}));
    cr_expect_null(interface->last_launch());
}
