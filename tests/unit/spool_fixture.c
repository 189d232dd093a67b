/* SPDX-License-Identifier: Apache-2.0 */
/* Writes spools byte by byte. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/unit/spool_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtrace/record/proc.h"

const char *gmt_fixture_path(const struct gmt_fixture *fixture, const char *name)
{
    static char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", fixture->spool, name);
    return path;
}

static void *map_new_file(const char *path, size_t bytes)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
    cr_assert_eq(ftruncate(fd, (off_t)bytes), 0);
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert_neq(map, MAP_FAILED);
    close(fd);
    return map;
}

/* The pid of a process that is no more. */
static uint32_t dead_pid(void)
{
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        _exit(0);
    }
    cr_assert_eq(waitpid(child, NULL, 0), child);
    return (uint32_t)child;
}

void gmt_fixture_make(struct gmt_fixture *fixture)
{
    const char *tmp = getenv("TMPDIR");
    memset(fixture, 0, sizeof(*fixture));
    (void)snprintf(fixture->root, sizeof(fixture->root), "%.100s/gmt-test-XXXXXX",
                   tmp != NULL ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(fixture->root));
    (void)snprintf(fixture->output, sizeof(fixture->output), "%s/trace.db", fixture->root);
    (void)snprintf(fixture->spool, sizeof(fixture->spool), "%s.spool", fixture->output);
    cr_assert_eq(mkdir(fixture->spool, 0777), 0);
    struct gmt_control *control = map_new_file(gmt_fixture_path(fixture, "control"),
                                               sizeof(*control));
    control->version = GMT_SPOOL_VERSION;
    control->byte_order = GMT_SPOOL_BYTE_ORDER;
    control->pid = dead_pid();
    control->pid_start = 1;
    control->ticks_are_ns = 1;
    control->bytes_limit = UINT64_C(1) << 30;
    control->first_pair = (struct gmt_clock_pair){.ticks = 1000, .monotonic_ns = 1000};
    control->last_pair = control->first_pair;
    (void)snprintf(control->output, sizeof(control->output), "%s", fixture->output);
    gmt_proc_boot_id(control->boot_id, sizeof(control->boot_id));
    control->magic = GMT_SPOOL_MAGIC;
    fixture->control = control;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

void gmt_fixture_remove(struct gmt_fixture *fixture)
{
    for (size_t i = 0; i < GMT_FIXTURE_CHUNKS; i++) {
        if (fixture->chunk[i].map != NULL) {
            munmap(fixture->chunk[i].map, fixture->chunk[i].bytes);
        }
    }
    munmap(fixture->control, sizeof(*fixture->control));
    (void)nftw(fixture->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void gmt_fixture_chunk(struct gmt_fixture *fixture, uint32_t index, size_t bytes)
{
    char name[32];
    cr_assert_lt(index, GMT_FIXTURE_CHUNKS);
    (void)snprintf(name, sizeof(name), "chunk-%u", index);
    struct gmt_chunk_header *header = map_new_file(gmt_fixture_path(fixture, name), bytes);
    header->version = GMT_SPOOL_VERSION;
    header->index = index;
    header->bytes = bytes;
    header->pid = fixture->control->pid;
    header->magic = GMT_CHUNK_MAGIC;
    fixture->chunk[index].map = (uint8_t *)header;
    fixture->chunk[index].bytes = bytes;
    fixture->chunk[index].used = sizeof(*header);
    fixture->control->bytes_in_use += bytes;
    if (fixture->control->chunk_count <= index) {
        fixture->control->chunk_count = index + 1;
    }
}

void gmt_fixture_close_chunk(struct gmt_fixture *fixture, uint32_t index)
{
    struct gmt_chunk_header *header = (void *)fixture->chunk[index].map;
    __atomic_store_n(&header->closed, 1, __ATOMIC_RELEASE);
}

void *gmt_fixture_reserve(struct gmt_fixture *fixture, uint32_t chunk, unsigned slots)
{
    size_t bytes = (size_t)slots * GMT_SLOT_BYTES;
    cr_assert_leq(fixture->chunk[chunk].used + bytes, fixture->chunk[chunk].bytes);
    void *record = fixture->chunk[chunk].map + fixture->chunk[chunk].used;
    fixture->chunk[chunk].used += bytes;
    return record;
}

void gmt_fixture_commit(void *record, unsigned type, unsigned slots)
{
    __atomic_store_n((uint32_t *)record, GMT_COMMIT(type, slots), __ATOMIC_RELEASE);
}

static unsigned slots_for(size_t bytes)
{
    return (unsigned)((bytes + GMT_SLOT_BYTES - 1) / GMT_SLOT_BYTES);
}

void gmt_fixture_call(struct gmt_fixture *fixture, uint32_t chunk, enum gmt_rec_type type,
                      const struct gmt_call *call, const void *payload, size_t payload_bytes)
{
    unsigned slots = 1 + slots_for(payload_bytes);
    uint8_t *record = gmt_fixture_reserve(fixture, chunk, slots);
    memcpy(record, call, sizeof(*call));
    memset(record, 0, sizeof(uint32_t));
    if (payload_bytes > 0) {
        memcpy(record + sizeof(*call), payload, payload_bytes);
    }
    gmt_fixture_commit(record, type, slots);
}

void gmt_fixture_side_data(struct gmt_fixture *fixture, uint32_t chunk, enum gmt_rec_type type,
                           const void *fixed, size_t fixed_bytes, const void *tail,
                           size_t tail_bytes)
{
    unsigned slots = slots_for(fixed_bytes + tail_bytes);
    uint8_t *record = gmt_fixture_reserve(fixture, chunk, slots);
    memcpy(record, fixed, fixed_bytes);
    memset(record, 0, sizeof(uint32_t));
    if (tail_bytes > 0) {
        memcpy(record + fixed_bytes, tail, tail_bytes);
    }
    gmt_fixture_commit(record, type, slots);
}

void gmt_fixture_side(struct gmt_fixture *fixture, uint32_t chunk, enum gmt_rec_type type,
                      const void *fixed, size_t fixed_bytes, ...)
{
    char texts[8192];
    size_t used = 0;
    const char *text;
    va_list arguments;
    va_start(arguments, fixed_bytes);
    while ((text = va_arg(arguments, const char *)) != NULL) {
        size_t bytes = strlen(text) + 1;
        cr_assert_leq(used + bytes, sizeof(texts));
        memcpy(texts + used, text, bytes);
        used += bytes;
    }
    va_end(arguments);
    gmt_fixture_side_data(fixture, chunk, type, fixed, fixed_bytes, texts, used);
}

void gmt_fixture_api(struct gmt_fixture *fixture, uint32_t chunk, uint16_t id,
                     enum gmt_call_family family, const char *name)
{
    struct gmt_api api = {.id = id, .family = (uint16_t)family};
    gmt_fixture_side(fixture, chunk, GMT_REC_API, &api, sizeof(api), name, "", NULL);
}

void gmt_fixture_process(struct gmt_fixture *fixture, uint32_t chunk, uint64_t ticks)
{
    struct gmt_process process = {
        .head.ticks = ticks, .pid = fixture->control->pid, .parent_pid = 1, .realtime_ns = 5};
    gmt_fixture_side(fixture, chunk, GMT_REC_PROCESS, &process, sizeof(process), "/bin/app", "/",
                     "host", "app\x1fit's\x1f-n", "stacks=caller", "0.1.0", "", NULL);
}

void gmt_fixture_context(struct gmt_fixture *fixture, uint32_t chunk, uint32_t id, uint32_t device)
{
    struct gmt_context context = {.handle = 0xc0 + id, .id = id, .device = device};
    gmt_fixture_side(fixture, chunk, GMT_REC_CONTEXT, &context, sizeof(context), NULL);
}

void gmt_fixture_stream(struct gmt_fixture *fixture, uint32_t chunk, uint64_t handle,
                        uint32_t cupti_id, uint64_t ticks)
{
    struct gmt_stream stream = {.head.ticks = ticks,
                                .handle = handle,
                                .context = 1,
                                .cupti_id = cupti_id,
                                .has_cupti_id = 1};
    gmt_fixture_side(fixture, chunk, GMT_REC_STREAM, &stream, sizeof(stream), NULL);
}

/* The query's first row, or NULL; the caller finalizes and closes. */
static sqlite3_stmt *query(const struct gmt_fixture *fixture, const char *sql, sqlite3 **db)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_open_v2(fixture->output, db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK,
                 "%s: %s", fixture->output, sqlite3_errmsg(*db));
    cr_assert_eq(sqlite3_prepare_v2(*db, sql, -1, &statement, NULL), SQLITE_OK, "%s: %s", sql,
                 sqlite3_errmsg(*db));
    int code = sqlite3_step(statement);
    cr_assert(code == SQLITE_ROW || code == SQLITE_DONE, "%s: %s", sql, sqlite3_errmsg(*db));
    return statement;
}

int64_t gmt_fixture_number(const struct gmt_fixture *fixture, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *row = query(fixture, sql, &db);
    int64_t value = -1;
    if (sqlite3_data_count(row) > 0) {
        value = sqlite3_column_type(row, 0) == SQLITE_NULL ? INT64_MIN
                                                           : sqlite3_column_int64(row, 0);
    }
    sqlite3_finalize(row);
    sqlite3_close(db);
    return value;
}

const char *gmt_fixture_text(const struct gmt_fixture *fixture, const char *sql)
{
    static char text[1024];
    sqlite3 *db;
    sqlite3_stmt *row = query(fixture, sql, &db);
    const unsigned char *value = sqlite3_data_count(row) > 0 ? sqlite3_column_text(row, 0) : NULL;
    (void)snprintf(text, sizeof(text), "%s", value != NULL ? (const char *)value : "");
    sqlite3_finalize(row);
    sqlite3_close(db);
    return text;
}

void gmt_fixture_expect(const struct gmt_fixture *fixture, const char *sql, int64_t value)
{
    int64_t found = gmt_fixture_number(fixture, sql);
    cr_expect_eq(found, value, "%s: %lld instead of %lld", sql, (long long)found, (long long)value);
}

void gmt_fixture_expect_text(const struct gmt_fixture *fixture, const char *sql, const char *value)
{
    const char *found = gmt_fixture_text(fixture, sql);
    cr_expect_str_eq(found, value, "%s: '%s' instead of '%s'", sql, found, value);
}
