/* SPDX-License-Identifier: Apache-2.0 */
/* The last seconds of a spool -> the rows of a trace. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/range_scope.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/ingest/join.h"
#include "libtrace/store/recording/ring.h"
#include "libtrace/store/recording/ring_content.h"
#include "libtrace/store/recording/ring_internal.h"
#include "libtrace/store/recording/ring_sift.h"
#include "libtrace/store/spool/spool_files.h"

/* Of a window that was cut for its size, so much of its beginning is left out at most: device work there
 * may belong to calls before it. */
#define MARGIN_PART 16u
#define MOST_ATTEMPTS 5

struct window {
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
};

bool gmt_ring_is_on(const struct gmt_control *control)
{
    return control->version >= 12 && control->ring_ns != 0 && control->ring_bytes != 0;
}

/* Nothing is given up meanwhile. -1: there is no lock, and no recorder that could. */
static int hold(int folder)
{
    int fd = gmt_spool_file_open(folder, "lock", O_RDONLY);
    struct flock lock = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = GMT_RING_LOCK_BYTE, .l_len = 1};
    while (fd >= 0 && fcntl(fd, F_OFD_SETLKW, &lock) != 0 && errno == EINTR) {
    }
    return fd;
}

static int load_once(struct gmt_recording *recording, struct gmt_ring_content *content,
                     bool *is_whole)
{
    struct gmt_control before, after;
    int error = gmt_spool_control_read(recording->folder, &before);
    if (error == 0) {
        error = gmt_ring_content_add_all(content, recording->folder, before.ring_base, geteuid());
    }
    if (error == 0) {
        error = gmt_spool_control_read(recording->folder, &after);
    }
    *is_whole = error == 0 && before.ring_begin_ns == after.ring_begin_ns;
    recording->control->ring_begin_ns = error == 0 ? after.ring_begin_ns : 0;
    return error;
}

/* A recorder that has too much does not wait for us: what it has given up meanwhile is looked for where it
 * is now. */
static int load(struct gmt_recording *recording, struct gmt_ring_content *content)
{
    int held = hold(recording->folder), error = 0;
    bool is_whole = false;
    for (int attempt = 0; attempt < MOST_ATTEMPTS && error == 0 && !is_whole; attempt++) {
        gmt_ring_content_free(content);
        error = load_once(recording, content, &is_whole);
    }
    if (held >= 0) {
        close(held);
    }
    return error == 0 && !is_whole ? -EBUSY : error;
}

static struct window find_window(struct gmt_recording *recording,
                                 const struct gmt_ring_content *content)
{
    const struct gmt_control *control = recording->control;
    bool lives = gmt_process_watch_check(&recording->watch) == GMT_PROCESS_ALIVE;
    uint64_t last_ns = gmt_ring_last_ns(content, &recording->time);
    uint64_t now_ns = gmt_clock_monotonic_ns(), began_ns = control->first_pair.monotonic_ns;
    /* Of a process that is gone, who knows for how long: to its last record. */
    struct window window = {.end_ns = lives || last_ns == 0 ? now_ns : last_ns};
    uint64_t kept_ns = window.end_ns > control->ring_ns ? window.end_ns - control->ring_ns : 0;
    window.begin_ns = began_ns > kept_ns ? began_ns : kept_ns;
    if (control->ring_begin_ns > window.begin_ns) {
        uint64_t rest_ns = window.end_ns > control->ring_begin_ns
                               ? window.end_ns - control->ring_begin_ns
                               : 0;
        uint64_t margin_ns = rest_ns / MARGIN_PART;
        window.begin_ns = control->ring_begin_ns +
                          (margin_ns < GMT_RING_MARGIN_NS ? margin_ns : GMT_RING_MARGIN_NS);
    }
    return window;
}

/* An end whose beginning is lost says nothing. */
static bool is_loose_end(const struct gmt_ring_record *record)
{
    if (record->verdict != GMT_RING_HOLDS) {
        return false;
    }
    return record->type == GMT_REC_FREE ||
           (record->type == GMT_REC_RANGE &&
            ((const struct gmt_user_range *)record->data)->end_ticks != 0) ||
           (record->type == GMT_REC_GRAPH && ((const struct gmt_graph *)record->data)->id == 0);
}

/* A call before the window is there to be joined with device work, and then forgotten (GMT_CALL_OUTSIDE). */
static int ingest_outside(struct gmt_recording *recording, const struct gmt_ring_record *record)
{
    union {
        struct gmt_call call;
        uint8_t bytes[GMT_MAX_SLOTS * GMT_SLOT_BYTES];
    } copy;
    memcpy(copy.bytes, record->data, (size_t)record->slots * GMT_SLOT_BYTES);
    copy.call.flags |= GMT_CALL_OUTSIDE;
    copy.call.stack = 0;
    return gmt_ingest_record(recording->ingest, &(struct gmt_spool_record){.data = copy.bytes,
                                                                           .type = record->type,
                                                                           .slots = record->slots});
}

static int ingest_all(struct gmt_recording *recording, const struct gmt_ring_content *content,
                      const struct window *window)
{
    bool has_device_work = false;
    for (size_t i = 0; i < content->count && !has_device_work; i++) {
        has_device_work = content->records[i].type == GMT_REC_DEVICE_OP;
    }
    int error = 0;
    for (size_t i = 0; i < content->count && error == 0; i++) {
        const struct gmt_ring_record *record = &content->records[i];
        if (record->verdict == GMT_RING_OUTSIDE && has_device_work) {
            uint64_t ns = gmt_timebase_ns(&recording->time,
                                          ((const struct gmt_call *)record->data)->begin_ticks);
            error = ns + GMT_RING_MARGIN_NS >= window->begin_ns ? ingest_outside(recording, record)
                                                                : 0;
        } else if (record->verdict == GMT_RING_IN ||
                   (record->verdict == GMT_RING_HOLDS && !is_loose_end(record))) {
            error = gmt_ingest_record(recording->ingest,
                                      &(struct gmt_spool_record){.data = record->data,
                                                                 .type = record->type,
                                                                 .slots = record->slots});
        }
    }
    return error;
}

static void write_time(char text[static 32])
{
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) == NULL || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) {
        text[0] = '\0';
    }
}

/* The process of the trace begins with its window, and the trace says of what it is the end. */
static int describe(struct gmt_recording *recording, const struct window *window, const char *cause)
{
    const struct gmt_control *control = recording->control;
    char now[32];
    write_time(now);
    char *sql = sqlite3_mprintf(
        "UPDATE process SET realtime_ns = realtime_ns + (%lld - start_ns), start_ns = %lld, "
        "end_ns = max(coalesce(end_ns, 0), %lld);"
        "INSERT OR REPLACE INTO meta VALUES('ring_cause','%q'),('ring_begin_ns','%lld');"
        "INSERT OR REPLACE INTO capability(name,state,detail,remedy) VALUES('" GMT_RING_SCOPE
        "','ok',"
        "'the last %.3f s before %s (kept are %.1f s, %.0f MiB); written because of: %q','');",
        (long long)window->begin_ns, (long long)window->begin_ns, (long long)window->end_ns, cause,
        (long long)window->begin_ns, (double)(window->end_ns - window->begin_ns) / 1e9, now,
        (double)control->ring_ns / 1e9, (double)control->ring_bytes / 0x1p20, cause);
    if (sql == NULL) {
        return -ENOMEM;
    }
    int error = gmt_database_exec(recording->db, sql);
    sqlite3_free(sql);
    return error;
}

static int fill(struct gmt_recording *recording, const struct gmt_ring_content *content,
                const struct window *window, const char *cause)
{
    int error = gmt_database_exec(recording->db, "BEGIN IMMEDIATE");
    if (error == 0) {
        error = ingest_all(recording, content, window);
    }
    if (error == 0 && content->corrupt != 0) {
        error = gmt_ingest_loss(recording->ingest, "corrupt record", "rest of a chunk",
                                content->corrupt);
    }
    if (error == 0) {
        error = gmt_ingest_flush(recording->ingest);
    }
    if (error == 0) {
        error = describe(recording, window, cause);
    }
    return error == 0 ? gmt_database_exec(recording->db, "COMMIT") : error;
}

/* What is out of order is left out by gmt_timebase_add: anybody may have written the file. */
static void read_clock(struct gmt_recording *recording)
{
    struct gmt_clock_pair pairs[GMT_TIMEBASE_PAIRS];
    int fd = gmt_spool_file_open(recording->folder, GMT_RING_CLOCK_FILE, O_RDONLY);
    ssize_t got = fd >= 0 ? pread(fd, pairs, sizeof(pairs), 0) : 0;
    if (fd >= 0) {
        close(fd);
    }
    gmt_timebase_init(&recording->time, recording->control->ticks_are_ns != 0);
    gmt_timebase_add(&recording->time, recording->control->first_pair);
    for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(pairs[0]); i++) {
        gmt_timebase_add(&recording->time, pairs[i]);
    }
    gmt_timebase_add_control(&recording->time, recording->control);
    gmt_timebase_add_now(&recording->time);
}

int gmt_ring_fill(struct gmt_recording *recording, const char *cause)
{
    struct gmt_ring_content content = {0};
    read_clock(recording);
    int error = load(recording, &content);
    if (error == 0) {
        struct window window = find_window(recording, &content);
        error = gmt_ring_sift(&content, &recording->time, window.begin_ns);
        error = error == 0 ? fill(recording, &content, &window, cause) : error;
    }
    gmt_ring_content_free(&content);
    return error;
}

int gmt_ring_settle(struct gmt_recording *recording)
{
    int error = gmt_database_exec(recording->db,
                                  "DELETE FROM device_op WHERE call_id IS NULL AND start_ns < "
                                  "(SELECT start_ns FROM process)");
    /* Once more: what was lost is counted of the window alone. */
    return error == 0 ? gmt_join_run(recording->db) : error;
}
