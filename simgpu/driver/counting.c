/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of launches for those who ask: simgpu_interface, and the shared-memory races that were found. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/driver/driver.h"
#include "simgpu/driver/ids.h"
#include "simgpu/driver/late.h"
#include "simgpu/simgpu.h"

/* The calling thread's last launch. */
struct record {
    struct sim_counts counts;
    const struct sim_inst_info *sites;
    size_t site_count;
    bool fresh; /* nobody has asked for it yet */
};

static atomic_bool counting;
static _Thread_local struct record *record;
static pthread_key_t record_key; /* only to free the record with its thread */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void record_free(void *gone)
{
    sim_counts_clear(&((struct record *)gone)->counts);
    free(gone);
}

static void make_key(void)
{
    (void)pthread_key_create(&record_key, record_free);
}

static struct record *record_get(void)
{
    if (record == NULL) {
        (void)pthread_once(&once, make_key);
        record = calloc(1, sizeof *record);
        if (record != NULL && pthread_setspecific(record_key, record) != 0) {
            free(record);
            record = NULL;
        }
    }
    return record;
}

/* SIMGPU_RACES=1: look for lanes of different warps that use shared memory without a barrier between. */
bool sim_looking_for_races(void)
{
    static atomic_int looking; /* 0 = not asked yet, 1 = no, 2 = yes */
    int state = atomic_load_explicit(&looking, memory_order_relaxed);
    if (state == 0) {
        const char *text = getenv("SIMGPU_RACES");
        state = text != NULL && text[0] != '\0' && strcmp(text, "0") != 0 ? 2 : 1;
        atomic_store_explicit(&looking, state, memory_order_relaxed);
    }
    return state == 2;
}

struct sim_counts *sim_counting_begin(void)
{
    bool wanted = atomic_load(&counting) && !sim_thread.in_graph;
    struct record *own = wanted || sim_looking_for_races() ? record_get() : NULL;
    if (own == NULL) {
        return NULL;
    }
    own->fresh = false;
    sim_counts_clear(&own->counts);
    return &own->counts;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void say_site(const struct sim_inst_info *site, char *out, size_t bytes)
{
    if (site->caller_file != NULL && site->file != NULL) {
        (void)snprintf(out, bytes, "%s at %s:%u, inlined at %s:%u,", site->opcode,
                       last_part(site->file), site->line, last_part(site->caller_file),
                       site->caller_line);
    } else if (site->file != NULL) {
        (void)snprintf(out, bytes, "%s at %s:%u", site->opcode, last_part(site->file), site->line);
    } else {
        (void)snprintf(out, bytes, "%s at PTX line %u", site->opcode, site->ptx_line);
    }
}

static void say_races(const struct record *own, const char *kernel)
{
    char first[256], second[256];
    for (size_t i = 0; i < own->counts.race_count; i++) {
        const struct sim_race *race = &own->counts.races[i];
        if (race->first_site < own->site_count && race->second_site < own->site_count) {
            say_site(&own->sites[race->first_site], first, sizeof first);
            say_site(&own->sites[race->second_site], second, sizeof second);
            sim_say("kernel %s: shared-memory race between %s and %s (%llu times)", kernel, first,
                    second, (unsigned long long)race->count);
        }
    }
}

void sim_counting_end(const struct sim_kernel *kernel)
{
    record->sites = sim_kernel_insts(kernel, &record->site_count);
    record->fresh = atomic_load(&counting) && !sim_thread.in_graph;
    if (sim_looking_for_races()) {
        say_races(record, sim_kernel_info(kernel)->name);
    }
}

void sim_counting_forget(void)
{
    if (sim_order_on()) {
        sim_late_record_forget();
    }
    if (record != NULL) {
        record->fresh = false;
    }
}

/* ---- the interface ---- */

static void count(int on)
{
    atomic_store(&counting, on != 0);
}

bool sim_counting_on(void)
{
    return atomic_load(&counting);
}

void *sim_counting_take(void)
{
    struct record *taken = record;
    record = NULL;
    if (taken != NULL) {
        (void)pthread_setspecific(record_key, NULL);
    }
    return taken;
}

void sim_counting_give(void *counts)
{
    if (counts != NULL) {
        (void)pthread_once(&once, make_key);
        sim_counting_free(sim_counting_take());
        record = counts;
        (void)pthread_setspecific(record_key, record);
    }
}

void sim_counting_free(void *counts)
{
    if (counts != NULL) {
        record_free(counts);
    }
}

static const struct sim_counts *last_launch(void)
{
    if (sim_order_on()) {
        sim_counting_give(sim_late_record());
    }
    if (record == NULL || !record->fresh) {
        return NULL;
    }
    record->fresh = false;
    return &record->counts;
}

static const struct sim_inst_info *last_sites(size_t *site_count)
{
    *site_count = record != NULL ? record->site_count : 0;
    return record != NULL ? record->sites : NULL;
}

__attribute__((visibility("default"))) const struct simgpu_interface *simgpu_interface(void)
{
    static const struct simgpu_interface interface = {.version = SIMGPU_INTERFACE_VERSION,
                                                      .bytes = sizeof interface,
                                                      .count = count,
                                                      .last_launch = last_launch,
                                                      .forget_launch = sim_counting_forget,
                                                      .last_sites = last_sites,
                                                      .watch = sim_watch,
                                                      .code_reach = sim_code_reach,
                                                      .code_allocates = sim_code_allocates};
    /* Tests of what gmtrace does with a driver that CUPTI refuses need one that it does not know. */
    const char *wanted = getenv("SIMGPU_INTERFACE");
    return wanted != NULL && strcmp(wanted, "0") == 0 ? NULL : &interface;
}
