/* SPDX-License-Identifier: Apache-2.0 */
/* From CUPTI's callback for a loaded module to what the collector says of its kernels, and what the spool gets
 * of it. CUPTI is a fake. */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cubin_fixture.h"
#include "libtrace/cupti/code/cubins.h"
#include "libtrace/cupti/measure/measure.h"
#include "libtrace/record/collector.h"
#include "libtrace/record/spool.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/spool/spool_reader.h"

static CUpti_CallbackFunc callback;
static const char *variable;

static CUptiResult CUPTIAPI subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc function,
                                      void *data)
{
    *handle = (CUpti_SubscriberHandle)&callback;
    callback = function;
    cr_expect_null(data);
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI unsubscribe(CUpti_SubscriberHandle handle)
{
    (void)handle;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI enable(uint32_t on, CUpti_SubscriberHandle handle,
                                   CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    (void)on, (void)handle, (void)domain, (void)id;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI checksum(CUpti_GetCubinCrcParams *params)
{
    params->cubinCrc = params->cubinSize;
    return CUPTI_SUCCESS;
}

static void nothing(void)
{
}

static const struct gmt_cupti_api api = {
    .cuptiSubscribe = subscribe,
    .cuptiUnsubscribe = unsubscribe,
    .cuptiEnableCallback = enable,
    .cuptiGetCubinCrc = checksum,
};
static const struct gmt_collector_config config = {
    .enter = nothing, .leave = nothing, .repeat = true};

static void setup(void)
{
    const char *failed = NULL;
    cr_assert_eq(gmt_cubins_start(&api, &config, &failed), CUPTI_SUCCESS, "%s", failed);
}

TestSuite(cubins, .init = setup, .timeout = 60);

static void report(CUpti_CallbackId id, const void *cubin, size_t bytes)
{
    CUpti_ModuleResourceData module = {.cubinSize = bytes, .pCubin = cubin};
    CUpti_ResourceData resource = {.resourceDescriptor = &module};
    callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &resource);
}

static void load(const char *kernel)
{
    const struct cubin_symbol symbols[] = {{kernel, STT_FUNC, CUBIN_TEXT},
                                           {"variable", STT_OBJECT, CUBIN_GLOBAL}};
    struct cubin_image image = cubin_make(symbols, 2);
    report(CUPTI_CBID_RESOURCE_MODULE_LOADED, image.bytes, image.size);
    free(image.bytes);
}

static void note(void *data, const char *name)
{
    (void)data;
    variable = name;
}

static int reach(const char *kernel)
{
    const struct gmt_collector_class cls = {.kernel_name = kernel};
    variable = NULL;
    return gmt_cupti_collector()->code_reach(&cls, NULL, note, NULL);
}

Test(cubins, finds_what_the_code_of_a_loaded_kernel_reaches)
{
    cr_expect_eq(reach("k"), -ENOENT);
    load("k");
    cr_expect_eq(reach("k"), 0);
    cr_expect_str_eq(variable, "variable");
    report(CUPTI_CBID_RESOURCE_MODULE_PROFILED, NULL, 0);
    cr_expect_eq(reach("k"), 0, "no module was loaded");
}

Test(cubins, knows_nothing_where_cupti_shows_no_image)
{
    load("k");
    report(CUPTI_CBID_RESOURCE_MODULE_LOADED, NULL, 0);
    cr_expect_eq(reach("k"), -ENOENT);
}

Test(cubins, knows_nothing_after_the_program_had_the_subscription)
{
    load("k");
    cr_expect(gmt_cubins_yield(gmt_measure_quiesce));
    gmt_cubins_resume();
    load("k");
    cr_expect_eq(reach("k"), -ENOENT);
}

Test(cubins, knows_nothing_after_cupti_was_taken_down)
{
    load("k");
    gmt_cubins_lost();
    gmt_cubins_resume();
    cr_expect_eq(reach("k"), -ENOENT);
}

Test(cubins, forgets_what_the_parent_of_a_fork_has_loaded)
{
    load("k");
    gmt_cubins_abandon();
    cr_expect_eq(reach("k"), -ENOENT);
    load("k");
    cr_expect_eq(reach("k"), -ENOENT, "nobody listens there");
}

/* ---- the spool ---------------------------------------------------------------------------------- */

enum { BYTES = 3 << 20, CRC = BYTES /* which the fake makes of the size */ };

static char folder[64], output[96];

static void open_spool(void)
{
    cr_assert_eq(gmt_spool_open(&(struct gmt_spool_config){.output = output,
                                                           .bytes_limit = UINT64_C(1) << 30}),
                 0);
}

static void setup_spool(void)
{
    setup();
    (void)snprintf(folder, sizeof(folder), "/tmp/gmtrace-cubins.XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(output, sizeof(output), "%s/t.db", folder);
}

static void teardown_spool(void)
{
    char spool[128];
    (void)snprintf(spool, sizeof(spool), "%s.spool", output);
    gmt_spool_remove(spool);
    (void)unlink(output);
    (void)rmdir(folder);
}

TestSuite(cubins_spool, .init = setup_spool, .fini = teardown_spool, .timeout = 60);

static void load_bytes(char fill, size_t bytes)
{
    char *image = malloc(bytes);
    cr_assert_not_null(image);
    memset(image, fill, bytes);
    report(CUPTI_CBID_RESOURCE_MODULE_LOADED, image, bytes);
    free(image);
}

/* The records of the spool of one type, and the bytes of all. */
static size_t count_records(unsigned type, struct gmt_cubin_place *last, uint64_t *bytes)
{
    struct gmt_spool_reader *reader;
    struct gmt_spool_record record;
    size_t count = 0;
    *bytes = 0;
    cr_assert_eq(gmt_spool_reader_open(gmt_spool_directory(), &reader), 0);
    cr_assert_eq(gmt_spool_reader_begin_pass(reader, false), 0);
    while (gmt_spool_reader_next(reader, &record)) {
        *bytes += (uint64_t)record.slots * GMT_SLOT_BYTES;
        if (record.type == type) {
            count++;
            memcpy(last, record.data, sizeof(*last));
        }
    }
    gmt_spool_reader_close(reader);
    return count;
}

/* A launch of the program waits meanwhile. */
Test(cubins_spool, keeping_one_writes_none_of_its_bytes)
{
    struct gmt_cubin_place place;
    uint64_t before, after;
    char path[160];
    struct stat info;
    open_spool();
    load_bytes('a', 1000);
    load_bytes('b', BYTES);
    cr_assert_eq(count_records(GMT_REC_CUBIN_PLACE, &place, &before), 0);
    cr_expect(gmt_cubins_keep(CRC));
    cr_expect(gmt_cubins_keep(CRC), "it is kept already");
    cr_assert_eq(count_records(GMT_REC_CUBIN_PLACE, &place, &after), 1);
    cr_expect_eq(after - before, GMT_SLOT_BYTES);
    cr_expect_eq(place.crc, CRC);
    cr_expect_eq(place.offset, 1000);
    cr_expect_eq(place.bytes, BYTES);
    (void)snprintf(path, sizeof(path), "%s/" GMT_CUBIN_FILE, gmt_spool_directory());
    cr_assert_eq(stat(path, &info), 0);
    cr_expect_eq(info.st_size, 1000 + BYTES, "the image is there before the record is");
    cr_expect_not(gmt_cubins_keep(CRC + 1), "that was never loaded");
}

Test(cubins_spool, a_forked_child_wants_none_of_its_parents)
{
    struct gmt_cubin_place place;
    uint64_t bytes;
    open_spool();
    load_bytes('a', BYTES);
    gmt_cubins_abandon();
    cr_expect_not(gmt_cubins_keep(CRC));
    cr_expect_eq(count_records(GMT_REC_CUBIN_PLACE, &place, &bytes), 0);
}

/* A program that counts a launch and is killed, with nobody at work on its spool. */
static void be_killed(void)
{
    const struct gmt_capability deep = {.state = GMT_CAP_OK};
    const struct gmt_sass_instruction counts = {
        .launch_seq = 1, .cubin_crc = CRC, .values = {[GMT_SASS_EXECUTED] = 1}};
    open_spool();
    load_bytes('a', 1000);
    load_bytes('b', BYTES);
    (void)gmt_spool_side(GMT_REC_CAPABILITY, &deep, sizeof(deep),
                         (const char *[]){"instructions", "", ""}, 3);
    (void)gmt_spool_side(GMT_REC_SASS_INSTRUCTION, &counts, sizeof(counts), (const char *[]){"k"},
                         1);
    (void)gmt_cubins_keep(CRC);
    (void)raise(SIGKILL);
}

Test(cubins_spool, the_trace_of_a_killed_program_has_its_cubin)
{
    int status;
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        be_killed();
        _exit(1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status));
    int error = gmt_recording_recover(output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    sqlite3 *db;
    int64_t found = 0;
    cr_assert_eq(gmt_database_open(output, &db), 0);
    cr_expect_eq(gmt_database_integer(db,
                                      "SELECT count(*) FROM cubin WHERE length(image) = bytes AND "
                                      "hex(substr(image, 1, 1)) = '62' AND "
                                      "hex(substr(image, -1)) = '62' AND bytes = 3 << 20",
                                      0, &found),
                 0);
    cr_expect_eq(found, 1);
    cr_expect_eq(gmt_database_integer(db, "SELECT count(*) FROM loss WHERE kind = 'cubin not kept'",
                                      0, &found),
                 0);
    cr_expect_eq(found, 0);
    gmt_database_close(db);
}
