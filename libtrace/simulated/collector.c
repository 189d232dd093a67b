/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector of the software device: asks it, after each launch, what the launch did.
 *
 * Launches run to their end inside the driver call, in the thread that makes it. So there is nothing
 * to wait for, nothing to sample and no hang to fear: every launch is counted.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/record/collector.h"
#include "libtrace/record/spool.h"
#include "libtrace/simulated/write.h"
#include "simgpu/simgpu.h"

static const struct simgpu_interface *device;
static uint32_t (*allocation_at)(uint64_t address);
static unsigned detailed_launches; /* per class: instructions, footprints, races */
static _Atomic bool counting;
static bool repeat_always;

/* NULL too where the device passes for a driver like any other (SIMGPU_INTERFACE=0). */
static simgpu_interface_function find_interface(void *(*real_symbol)(const char *name))
{
    void *symbol = real_symbol(SIMGPU_INTERFACE_SYMBOL);
    simgpu_interface_function function;
    memcpy(&function, &symbol, sizeof(function));
    return function != NULL && function() != NULL ? function : NULL;
}

bool gmt_sim_note_device(void *(*real_symbol)(const char *name))
{
    if (find_interface(real_symbol) == NULL) {
        return false;
    }
    gmt_spool_capability(
        "software_device", GMT_CAP_OK, 0,
        "kernels were executed on the CPU by the software device: exact counts for "
        "the PTX executed, no times",
        "");
    return true;
}

static bool is_known(const struct simgpu_interface *interface)
{
    return interface != NULL && interface->version == SIMGPU_INTERFACE_VERSION &&
           interface->bytes >= sizeof(*interface);
}

static void note_capabilities(bool counters)
{
    gmt_spool_capability("timestamps", GMT_CAP_OFF, 0, "software device: it states no times", "");
    gmt_spool_capability("hardware_counters", GMT_CAP_MISSING, 0,
                         "software device: there is no hardware whose occupancy, L2 and DRAM "
                         "traffic could be read",
                         "record on a machine with a GPU");
    if (counters) {
        gmt_spool_capability("counters", GMT_CAP_OK, 0,
                             "software device: exact for the PTX executed", "");
    } else {
        gmt_spool_capability("counters", GMT_CAP_OFF, 0, "not asked for", "");
    }
}

static int start(const struct gmt_collector_config *config)
{
    simgpu_interface_function function = find_interface(config->real_symbol);
    if (function == NULL) {
        return -ENODEV;
    }
    device = function();
    if (!is_known(device)) {
        char detail[96];
        (void)snprintf(detail, sizeof(detail),
                       "the software device speaks interface version %u, this gmtrace %u",
                       device != NULL ? device->version : 0, SIMGPU_INTERFACE_VERSION);
        gmt_spool_capability("timestamps", GMT_CAP_OFF, 0, "software device: it states no times",
                             "");
        gmt_spool_capability("counters", GMT_CAP_MISSING, 0, detail,
                             "use the software device that came with this gmtrace");
        return -EPROTO;
    }
    allocation_at = config->allocation_at;
    detailed_launches = config->samples_per_class;
    repeat_always = config->repeat_always && config->counters;
    note_capabilities(config->counters);
    if (config->counters) {
        device->count(1);
    }
    atomic_store(&counting, config->counters);
    return 0;
}

static void context_seen(void *context, uint32_t id, uint32_t ordinal)
{
    (void)context, (void)id, (void)ordinal;
}

static void context_gone(void *context)
{
    (void)context;
}

static int stream_id(void *context, void *stream, bool per_thread, uint32_t *id)
{
    (void)context, (void)stream, (void)per_thread, (void)id;
    return -ENOTSUP;
}

static void capture_begins(void (*count)(void))
{
    count();
}

static void quiesce(void)
{
}

static enum gmt_counter_group want(struct gmt_collector_class *cls)
{
    (void)cls;
    return atomic_load_explicit(&counting, memory_order_relaxed) ? GMT_GROUP_SIMULATED
                                                                 : GMT_GROUP_NONE;
}

static enum gmt_counter_group begin(const struct gmt_launch_call *call)
{
    if (call->forbidden == GMT_UNMEASURED_CAPTURED ||
        !atomic_load_explicit(&counting, memory_order_relaxed)) {
        return GMT_GROUP_NONE;
    }
    /* Counts of a launch that nobody asked for must not pass for those of this one. */
    device->forget_launch();
    return GMT_GROUP_SIMULATED;
}

static void end(const struct gmt_launch_call *call, enum gmt_counter_group group)
{
    const struct sim_counts *counts = group == GMT_GROUP_SIMULATED ? device->last_launch() : NULL;
    if (counts == NULL) { /* it did not run to its end */
        gmt_spool_loss("kernel counters", call->cls->kernel_name, 1);
        return;
    }
    struct gmt_simulated_launch launch = {
        .launch_seq = call->launch_seq,
        .kernel_class = call->cls->id,
        .kernel_name = call->cls->kernel_name,
        .counts = counts,
        .allocation_at = allocation_at,
    };
    gmt_simulated_write_sums(&launch);
    uint32_t before = atomic_load_explicit(&call->cls->measured[group], memory_order_relaxed);
    if (before < detailed_launches &&
        atomic_fetch_add(&call->cls->measured[group], 1) < detailed_launches) {
        launch.sites = device->last_sites(&launch.site_count);
        gmt_simulated_write_details(&launch);
    }
}

/* Counts of one execution are exact: a launch is repeated for tests alone, once. */
static uint64_t repeats(struct gmt_collector_class *cls, uint64_t kernel_ns, uint64_t copies_ns)
{
    static _Thread_local __attribute__((tls_model("initial-exec"))) bool executed_again;
    (void)cls, (void)copies_ns;
    bool again = repeat_always && !(kernel_ns != 0 && executed_again);
    executed_again = kernel_ns != 0;
    return again ? 1 : 0;
}

static bool prepare(const struct gmt_launch_call *call)
{
    return call->forbidden == GMT_MEASURABLE;
}

static void own_work(bool begins)
{
    (void)begins;
}

static void not_repeated(struct gmt_collector_class *cls, enum gmt_unmeasured why)
{
    char detail[512];
    (void)snprintf(detail, sizeof(detail), "%s: %s", cls->kernel_name,
                   gmt_unmeasured_texts[why].reason);
    gmt_spool_loss("kernel not repeated", detail, 1);
}

static void charge(uint64_t ns)
{
    (void)ns;
}

static void got_ready(uint64_t ns, bool in_vain)
{
    (void)ns;
    (void)in_vain;
}

static bool kernel_activity_on(void)
{
    return false; /* there are no device rows */
}

static int code_reach(const struct gmt_collector_class *cls, void *function,
                      void (*variable)(void *data, const char *name), void *data)
{
    (void)cls; /* the device is asked for this very function */
    return device->code_reach(function, variable, data);
}

static bool code_allocates(void)
{
    return device->code_allocates();
}

static void flush(void)
{
}

static void abandon(void)
{
    atomic_store(&counting, false);
}

const struct gmt_collector_ops *gmt_sim_collector(void)
{
    static const struct gmt_collector_ops ops = {
        .name = "software device",
        .survives_fork = true,
        .start = start,
        .context_seen = context_seen,
        .context_gone = context_gone,
        .stream_id = stream_id,
        .capture_begins = capture_begins,
        .quiesce = quiesce,
        .want = want,
        .begin = begin,
        .end = end,
        .kernel_activity_on = kernel_activity_on,
        .flush = flush,
        .abandon = abandon,
        .repeats = repeats,
        .prepare = prepare,
        .own_work = own_work,
        .not_repeated = not_repeated,
        .charge = charge,
        .got_ready = got_ready,
        .code_reach = code_reach,
        .code_allocates = code_allocates,
    };
    return &ops;
}
