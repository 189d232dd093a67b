/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector of the software device writes of a launch. The device and the spool are fakes. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/record/collector.h"
#include "libtrace/record/spool.h"
#include "simgpu/simgpu.h"

enum { LOAD, COLUMN_STORE, SHARED, BRANCH, NEVER, SITES };

static const struct sim_source_level levels[] = {
    {.function = "_Z3ldgPf", .file = "/usr/include/ldg.h", .line = 70, .level = -1},
    {.function = "_Z3putPf", .file = "k.h", .line = 9, .level = 0},
    {.file = "k.cu", .line = 31, .level = 1}};
static struct sim_inst_info infos[SITES] = {
    [LOAD] = {.function = "k", .opcode = "ld.global.f32", .file = "k.cu", .line = 7, .width = 4},
    [COLUMN_STORE] = {.function = "k",
                      .opcode = "st.global.f32",
                      .file = "k.h",
                      .line = 9,
                      .caller_file = "k.cu",
                      .caller_line = 31,
                      .levels = levels,
                      .level_count = 3},
    [SHARED] = {.function = "k", .opcode = "ld.shared.f32", .file = "k.cu", .line = 8},
    [BRANCH] = {.function = "k", .opcode = "bra", .ptx_line = 40},
    [NEVER] = {.function = "k", .opcode = "trap"},
};
static struct sim_inst_counts sites[SITES] = {
    [LOAD] = {.executed = 8,
              .lanes = 256,
              .requests = 8,
              .bytes = 1024,
              .sectors = 32,
              .ideal_sectors = 32,
              .lines = 8,
              .kind = SIM_INST_GLOBAL_LOAD},
    [COLUMN_STORE] = {.executed = 8,
                      .lanes = 256,
                      .requests = 8,
                      .bytes = 1024,
                      .sectors = 256,
                      .ideal_sectors = 32,
                      .lines = 256,
                      .kind = SIM_INST_GLOBAL_STORE},
    [SHARED] = {.executed = 8,
                .lanes = 256,
                .requests = 8,
                .bytes = 1024,
                .wavefronts = 256,
                .ideal_wavefronts = 8,
                .max_degree = 32,
                .kind = SIM_INST_SHARED_LOAD},
    [BRANCH] = {.executed = 8, .lanes = 200, .addresses = 3, .kind = SIM_INST_BRANCH},
};
static struct sim_footprint footprints[] = {
    {.base = 0x1000, .bytes = 1024, .read_sectors = 32, .read_traffic = 64},
    {.base = 0x9000, .bytes = 64, .write_sectors = 2, .write_traffic = 2, .name = "table"},
};
static struct sim_race races[] = {{.first_site = SHARED, .second_site = COLUMN_STORE, .count = 5}};
static struct sim_counts counts = {.sites = sites,
                                   .site_count = SITES,
                                   .footprints = footprints,
                                   .footprint_count = 2,
                                   .races = races,
                                   .race_count = 1};

static const struct sim_counts *last;
static int counting;

static void device_count(int on)
{
    counting = on;
}

static const struct sim_counts *device_last_launch(void)
{
    const struct sim_counts *found = last;
    last = NULL;
    return found;
}

static void device_forget_launch(void)
{
    last = NULL;
}

static const struct sim_inst_info *device_last_sites(size_t *count)
{
    *count = SITES;
    return infos;
}

static int reach_result;

static int device_code_reach(void *function, void (*variable)(void *data, const char *name),
                             void *data)
{
    variable(data, function);
    return reach_result;
}

static bool allocates;

static bool device_code_allocates(void)
{
    return allocates;
}

static struct simgpu_interface interface = {
    .version = SIMGPU_INTERFACE_VERSION,
    .bytes = sizeof(interface),
    .count = device_count,
    .last_launch = device_last_launch,
    .forget_launch = device_forget_launch,
    .last_sites = device_last_sites,
    .code_reach = device_code_reach,
    .code_allocates = device_code_allocates,
};

static const struct simgpu_interface *simgpu_interface(void)
{
    return &interface;
}

static void *real_symbol(const char *name)
{
    simgpu_interface_function function = simgpu_interface;
    void *symbol = NULL;
    if (strcmp(name, SIMGPU_INTERFACE_SYMBOL) == 0) {
        memcpy(&symbol, &function, sizeof(symbol));
    }
    return symbol;
}

static void *no_symbol(const char *name)
{
    (void)name;
    return NULL;
}

static uint32_t allocation_at(uint64_t address)
{
    return address == 0x1000 ? 12 : 0;
}

/* ---- the spool -------------------------------------------------------------------------------- */

static unsigned records[256]; /* by type */
static struct gmt_counter_value values[64];
static struct gmt_counters counters;
static struct gmt_instruction instructions[SITES + 1];
static struct gmt_footprint touched[3];
static struct gmt_race race;
static struct gmt_inlining inlining;
static char texts[1024], capabilities[1024], losses[256];

int gmt_spool_side(enum gmt_rec_type type, const void *fixed, size_t bytes,
                   const char *const *strings, size_t n)
{
    unsigned at = records[type]++;
    if (type == GMT_REC_INSTRUCTION && at <= SITES) {
        memcpy(&instructions[at], fixed, bytes);
    } else if (type == GMT_REC_FOOTPRINT && at < 3) {
        memcpy(&touched[at], fixed, bytes);
    } else if (type == GMT_REC_RACE) {
        memcpy(&race, fixed, bytes);
    } else if (type == GMT_REC_INLINING) {
        memcpy(&inlining, fixed, bytes);
    }
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(texts);
        (void)snprintf(texts + used, sizeof(texts) - used, "%s|", strings[i] ? strings[i] : "");
    }
    return 0;
}

int gmt_spool_side_data(enum gmt_rec_type type, const void *fixed, size_t bytes, const void *tail,
                        size_t tail_bytes)
{
    records[type]++;
    cr_assert_eq(bytes, sizeof(counters));
    cr_assert_leq(tail_bytes, sizeof(values));
    memcpy(&counters, fixed, bytes);
    memcpy(values, tail, tail_bytes);
    return 0;
}

void gmt_spool_capability(const char *name, enum gmt_capability_state state, int code,
                          const char *detail, const char *remedy)
{
    size_t used = strlen(capabilities);
    (void)code, (void)detail, (void)remedy;
    (void)snprintf(capabilities + used, sizeof(capabilities) - used, "%s=%d;", name, (int)state);
}

void gmt_spool_loss(const char *kind, const char *detail, uint64_t count)
{
    (void)count;
    (void)snprintf(losses, sizeof(losses), "%s: %s", kind, detail);
}

/* ---- tests ------------------------------------------------------------------------------------ */

static struct gmt_collector_class cls = {.id = 3, .kernel = 2, .kernel_name = "k"};

static const struct gmt_collector_ops *start(bool with_counters)
{
    const struct gmt_collector_ops *ops = gmt_sim_collector();
    struct gmt_collector_config config = {.counters = with_counters,
                                          .samples_per_class = 2,
                                          .real_symbol = real_symbol,
                                          .allocation_at = allocation_at};
    cr_assert_eq(ops->start(&config), 0);
    return ops;
}

/* As the launch hook does it; `ran` = what the launch left in the device. */
static enum gmt_counter_group launch(const struct gmt_collector_ops *ops, uint32_t seq,
                                     bool capturing, const struct sim_counts *ran)
{
    struct gmt_launch_call site = {.cls = &cls,
                                   .launch_seq = seq,
                                   .forbidden = capturing ? GMT_UNMEASURED_CAPTURED
                                                          : GMT_UNMEASURED_SHARED};
    enum gmt_counter_group group = ops->want(&cls);
    if (group != GMT_GROUP_NONE) {
        group = ops->begin(&site);
    }
    last = ran;
    if (group != GMT_GROUP_NONE) {
        ops->end(&site, group);
    }
    return group;
}

static double value_of(uint16_t metric)
{
    for (unsigned i = 0; i < counters.count; i++) {
        if (values[i].metric == metric) {
            return values[i].value;
        }
    }
    return -1;
}

Test(simulated, is_no_collector_of_another_driver)
{
    struct gmt_collector_config config = {.counters = true, .real_symbol = no_symbol};
    cr_expect_eq(gmt_sim_collector()->start(&config), -ENODEV);
    cr_expect_not(gmt_sim_note_device(no_symbol));
    cr_expect_str_eq(capabilities, "");
}

Test(simulated, says_what_it_knows_and_what_not)
{
    cr_expect(gmt_sim_note_device(real_symbol));
    const struct gmt_collector_ops *ops = start(true);
    cr_expect_eq(counting, 1);
    cr_expect_str_eq(capabilities,
                     "software_device=1;timestamps=4;hardware_counters=2;counters=1;");
    cr_expect_not(ops->kernel_activity_on());
    uint32_t id;
    cr_expect_eq(ops->stream_id(NULL, NULL, false, &id), -ENOTSUP);
}

Test(simulated, refuses_a_device_of_another_version)
{
    struct gmt_collector_config config = {.counters = true, .real_symbol = real_symbol};
    interface.version++;
    cr_expect_eq(gmt_sim_collector()->start(&config), -EPROTO);
    cr_expect_eq(counting, 0);
    cr_expect_not_null(strstr(capabilities, "counters=2;"));
}

Test(simulated, counts_nothing_that_was_not_asked_for)
{
    const struct gmt_collector_ops *ops = start(false);
    cr_expect_eq(counting, 0);
    cr_expect_eq(launch(ops, 1, false, &counts), GMT_GROUP_NONE);
    cr_expect_eq(records[GMT_REC_COUNTERS], 0);
}

Test(simulated, sums_the_counts_of_a_launch)
{
    cr_expect_eq(launch(start(true), 9, false, &counts), GMT_GROUP_SIMULATED);
    cr_expect_eq(counters.launch_seq, 9);
    cr_expect_eq(counters.kernel_class, 3);
    cr_expect_eq(counters.group, GMT_GROUP_SIMULATED);
    cr_expect_eq(counters.source, GMT_SOURCE_SIMULATED);
    cr_expect_eq(value_of(1), 1024);   /* global_load_bytes */
    cr_expect_eq(value_of(3), 32);     /* global_load_sectors */
    cr_expect_eq(value_of(4), 256);    /* global_store_sectors */
    cr_expect_eq(value_of(81), 32);    /* global_store_ideal_sectors */
    cr_expect_eq(value_of(9), 256);    /* shared_load_wavefronts */
    cr_expect_eq(value_of(84), 8);     /* shared_load_ideal_wavefronts */
    cr_expect_eq(value_of(86), 32);    /* shared_conflict_degree */
    cr_expect_eq(value_of(10), 0);     /* no shared stores: counted, and none */
    cr_expect_eq(value_of(42), 32);    /* instructions */
    cr_expect_eq(value_of(92), 968);   /* thread_instructions */
    cr_expect_eq(value_of(95), 3);     /* divergent_branches */
    cr_expect_eq(value_of(101), 1024); /* footprint_read_bytes */
    cr_expect_eq(value_of(102), 64);
    cr_expect_eq(value_of(32), -1); /* achieved occupancy: not known, not 0 */
    cr_expect_eq(value_of(33), -1); /* DRAM */
}

Test(simulated, names_executed_instructions_footprints_and_races_of_the_first_launches)
{
    const struct gmt_collector_ops *ops = start(true);
    launch(ops, 1, false, &counts);
    cr_expect_eq(records[GMT_REC_INSTRUCTION], SITES - 1);
    cr_expect_eq(instructions[1].site, COLUMN_STORE);
    cr_expect_eq(instructions[1].line, 9);
    cr_expect_eq(instructions[1].sectors, 256);
    cr_expect_eq(instructions[1].kind, GMT_INST_GLOBAL_STORE);
    cr_expect_eq(instructions[3].ptx_line, 40);
    cr_expect_not_null(strstr(texts, "k|ld.global.f32|k.cu||"));
    cr_expect_not_null(strstr(texts, "k|st.global.f32|k.h|k.cu|"));
    cr_expect_eq(instructions[0].caller_line, 0);
    cr_expect_eq(instructions[1].caller_line, 31);
    cr_expect_eq(records[GMT_REC_INLINING], 1, "one of them was inlined");
    cr_expect_eq(inlining.site, COLUMN_STORE);
    cr_expect_eq(inlining.kernel_class, 3);
    cr_assert_eq(inlining.count, 3);
    cr_expect_arr_eq(inlining.level, ((const int32_t[]){-1, 0, 1}), 3 * sizeof(int32_t));
    cr_expect_arr_eq(inlining.line, ((const uint32_t[]){70, 9, 31}), 3 * sizeof(uint32_t));
    cr_expect_not_null(strstr(texts, "_Z3ldgPf|/usr/include/ldg.h|_Z3putPf|k.h||k.cu|"));
    cr_expect_eq(touched[0].alloc, 12);
    cr_expect_eq(touched[0].read_bytes, 1024);
    cr_expect_eq(touched[0].read_traffic_bytes, 2048);
    cr_expect_eq(touched[1].alloc, 0);
    cr_expect_not_null(strstr(texts, "|table|"));
    cr_expect_eq(race.count, 5);
    cr_expect_eq(race.line[0], 8);
    cr_expect_eq(race.line[1], 9);
    cr_expect_eq(race.caller_line[0], 0);
    cr_expect_eq(race.caller_line[1], 31);
    cr_expect_not_null(strstr(texts, "ld.shared.f32|k.cu||st.global.f32|k.h|k.cu|"));
    launch(ops, 2, false, &counts);
    launch(ops, 3, false, &counts);
    cr_expect_eq(records[GMT_REC_INSTRUCTION], 2 * (SITES - 1));
    cr_expect_eq(records[GMT_REC_FOOTPRINT], 4);
    cr_expect_eq(records[GMT_REC_COUNTERS], 3, "sums of every launch");
}

Test(simulated, gives_no_launch_the_counts_of_another)
{
    const struct gmt_collector_ops *ops = start(true);
    last = &counts; /* of a launch that nobody asked about */
    cr_expect_eq(launch(ops, 4, false, NULL), GMT_GROUP_SIMULATED);
    cr_expect_eq(records[GMT_REC_COUNTERS], 0);
    cr_expect_str_eq(losses, "kernel counters: k");
    cr_expect_eq(launch(ops, 5, true, NULL), GMT_GROUP_NONE, "it goes into a graph");
}

Test(simulated, says_when_the_sites_do_not_fit_the_counts)
{
    static struct sim_counts odd;
    odd = counts;
    odd.site_count = SITES - 1;
    launch(start(true), 1, false, &odd);
    cr_expect_eq(records[GMT_REC_INSTRUCTION], 0);
    cr_expect_eq(records[GMT_REC_RACE], 0);
    cr_expect_eq(records[GMT_REC_COUNTERS], 1);
    cr_expect_str_eq(losses, "instruction counts: k");
}

static void note_variable(void *data, const char *name)
{
    *(const char **)data = name;
}

Test(simulated, asks_the_device_what_the_code_of_a_function_reaches)
{
    char function[] = "function";
    const char *variable = NULL;
    const struct gmt_collector_ops *ops = start(true);
    cr_expect_eq(ops->code_reach(&cls, function, note_variable, &variable), 0);
    cr_expect_str_eq(variable, "function");
    reach_result = -EPERM;
    cr_expect_eq(ops->code_reach(&cls, function, note_variable, &variable), -EPERM);
    cr_expect_not(ops->code_allocates());
    allocates = true;
    cr_expect(ops->code_allocates());
}

Test(simulated, refuses_a_device_that_cannot_be_asked_for_that)
{
    struct gmt_collector_config config = {.counters = true, .real_symbol = real_symbol};
    interface.bytes = offsetof(struct simgpu_interface, code_allocates);
    cr_expect_eq(gmt_sim_collector()->start(&config), -EPROTO);
}
