/* SPDX-License-Identifier: Apache-2.0 */
/* Prints metrics, family by family, and puts them into a file. */
#include "libtrace/store/live/metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/base/file.h"
#include "libtrace/store/db/names.h"

#define NS_PER_S UINT64_C(1000000000)

/* Where the samples go, and what all of them have. */
struct exposition {
    FILE *out;
    const char *labels;
    const char *family;
};

static void begin(struct exposition *to, const char *name, const char *type, const char *help)
{
    to->family = name;
    fprintf(to->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* own: labels of the sample, or "". */
static void begin_sample(const struct exposition *to, const char *own)
{
    bool has_labels = to->labels[0] != '\0', has_own = own[0] != '\0';
    fputs(to->family, to->out);
    if (has_labels || has_own) {
        fprintf(to->out, "{%s%s%s}", own, has_labels && has_own ? "," : "", to->labels);
    }
}

static void put_number(const struct exposition *to, const char *own, uint64_t value)
{
    begin_sample(to, own);
    fprintf(to->out, " %" PRIu64 "\n", value);
}

static void put_seconds(const struct exposition *to, const char *own, uint64_t ns)
{
    begin_sample(to, own);
    fprintf(to->out, " %" PRIu64 ".%09" PRIu64 "\n", ns / NS_PER_S, ns % NS_PER_S);
}

/* ---- families that have samples by direction, kind, device ------------------------------------ */

static void put_copies(struct exposition *to, const struct gmt_live_page *page)
{
    static const struct {
        const char *name, *help;
    } families[] = {
        {"gmtrace_copies_total", "Copies that the program called for, without those of graphs."},
        {"gmtrace_copy_bytes_total", "Bytes of these copies."},
        {"gmtrace_copy_device_seconds_total",
         "Time that devices spent on copies, where device times are recorded."},
    };
    char own[64];
    for (unsigned family = 0; family < 3; family++) {
        begin(to, families[family].name, "counter", families[family].help);
        for (unsigned i = 0; i < GMT_DIR_COUNT; i++) {
            const struct gmt_live_flow *flow = &page->copies[i];
            (void)snprintf(own, sizeof(own), "direction=\"%s\"", gmt_name_direction(i));
            if (family < 2) {
                put_number(to, own, family == 0 ? flow->count : flow->bytes);
            } else {
                put_seconds(to, own, flow->device_ns);
            }
        }
    }
}

static void put_waits(struct exposition *to, const struct gmt_live_page *page)
{
    char own[64];
    begin(to, "gmtrace_waits_total", "counter", "Calls that wait for a device.");
    for (unsigned i = GMT_SYNC_STREAM; i < GMT_LIVE_SYNC_KINDS; i++) {
        (void)snprintf(own, sizeof(own), "kind=\"%s\"", gmt_name_sync_kind(i));
        put_number(to, own, page->waits[i].count);
    }
    begin(to, "gmtrace_wait_seconds_total", "counter", "Time that threads spent in these calls.");
    for (unsigned i = GMT_SYNC_STREAM; i < GMT_LIVE_SYNC_KINDS; i++) {
        (void)snprintf(own, sizeof(own), "kind=\"%s\"", gmt_name_sync_kind(i));
        put_seconds(to, own, page->waits[i].device_ns);
    }
    begin(to, "gmtrace_blocking_copy_seconds_total", "counter",
          "Time that threads spent in copies whose call returns when they are done.");
    put_seconds(to, "", page->blocking_copies_ns);
}

enum held_what { HELD_BYTES, HELD_COUNT, HELD_MADE };

static void put_held(const struct exposition *to, const char *own, enum held_what what,
                     const struct gmt_live_held *held)
{
    put_number(to, own,
               what == HELD_BYTES   ? held->bytes
               : what == HELD_COUNT ? held->count
                                    : held->made);
}

/* Has the program used the device? */
static bool is_used(const struct gmt_live_device *device)
{
    bool is_any = device->last_ns != 0;
    for (unsigned kind = 0; kind < GMT_ALLOC_KIND_COUNT; kind++) {
        is_any = is_any || device->memory[kind].made != 0;
    }
    return is_any;
}

static void put_device_memory(struct exposition *to, const struct gmt_live_page *page,
                              enum held_what what)
{
    char own[64];
    for (unsigned i = 0; i < GMT_LIVE_DEVICES; i++) {
        for (unsigned kind = 1; kind < GMT_ALLOC_KIND_COUNT && is_used(&page->device[i]); kind++) {
            if (kind != GMT_ALLOC_HOST && kind != GMT_ALLOC_REGISTERED) {
                (void)snprintf(own, sizeof(own), "device=\"%u\",kind=\"%s\"", i,
                               gmt_name_alloc_kind(kind));
                put_held(to, own, what, &page->device[i].memory[kind]);
            }
        }
    }
}

static void put_host_memory(struct exposition *to, const struct gmt_live_page *page,
                            enum held_what what)
{
    char own[64];
    static const unsigned kinds[] = {GMT_ALLOC_HOST, GMT_ALLOC_REGISTERED};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        (void)snprintf(own, sizeof(own), "kind=\"%s\"", gmt_name_alloc_kind(kinds[i]));
        put_held(to, own, what, &page->host_memory[kinds[i]]);
    }
}

static void put_memory(struct exposition *to, const struct gmt_live_page *page)
{
    begin(to, "gmtrace_device_memory_bytes", "gauge", "Memory that the program has allocated now.");
    put_device_memory(to, page, HELD_BYTES);
    begin(to, "gmtrace_device_memory_live_allocations", "gauge",
          "Allocations that are not freed now.");
    put_device_memory(to, page, HELD_COUNT);
    begin(to, "gmtrace_device_memory_allocations_total", "counter",
          "Allocations that the program has made.");
    put_device_memory(to, page, HELD_MADE);
    begin(to, "gmtrace_host_memory_bytes", "gauge", "Host memory that is page-locked now.");
    put_host_memory(to, page, HELD_BYTES);
    begin(to, "gmtrace_host_memory_live_allocations", "gauge",
          "Pieces of host memory that are page-locked now.");
    put_host_memory(to, page, HELD_COUNT);
    begin(to, "gmtrace_host_memory_allocations_total", "counter",
          "Pieces of host memory that were page-locked.");
    put_host_memory(to, page, HELD_MADE);
}

static void put_devices(struct exposition *to, const struct gmt_live_page *page)
{
    char own[96];
    begin(to, "gmtrace_device_busy_seconds_total", "counter",
          "Time in which the device did work of the program.");
    for (unsigned i = 0; i < GMT_LIVE_DEVICES; i++) {
        (void)snprintf(own, sizeof(own), "device=\"%u\"", i);
        if (page->device[i].last_ns != 0) {
            put_seconds(to, own, page->device[i].busy_ns);
        }
    }
    begin(to, "gmtrace_device_idle_seconds_total", "counter",
          "Time between operations of the device, by what the host did.");
    for (unsigned i = 0; i < GMT_LIVE_DEVICES; i++) {
        for (unsigned cause = 0; cause < GMT_LIVE_CAUSE_COUNT && page->device[i].last_ns != 0;
             cause++) {
            (void)snprintf(own, sizeof(own), "device=\"%u\",cause=\"%s\"", i,
                           gmt_live_cause_name((enum gmt_live_cause)cause));
            put_seconds(to, own, page->device[i].idle_ns[cause]);
        }
    }
    begin(to, "gmtrace_kernel_device_seconds_total", "counter",
          "Time of kernels, one after the other.");
    for (unsigned i = 0; i < GMT_LIVE_DEVICES; i++) {
        (void)snprintf(own, sizeof(own), "device=\"%u\"", i);
        if (page->device[i].last_ns != 0) {
            put_seconds(to, own, page->device[i].kernel_ns);
        }
    }
}

/* ---- families of one sample ------------------------------------------------------------------- */

static void put_one(struct exposition *to, const char *name, const char *type, uint64_t value,
                    const char *help)
{
    begin(to, name, type, help);
    put_number(to, "", value);
}

static void put_program(struct exposition *to, const struct gmt_live_page *page,
                        const struct gmt_control *control, bool is_up)
{
    put_one(to, "gmtrace_up", "gauge", is_up, "1 while the program runs, 0 when it has ended.");
    put_one(to, "gmtrace_recording", "gauge", is_up && control->switched_off == 0,
            "0 while the recording is switched off.");
    begin(to, "gmtrace_start_time_seconds", "gauge", "When the recording began, since the epoch.");
    put_seconds(to, "", page->begin_realtime_ns);
    put_one(to, "gmtrace_spool_bytes", "gauge", control->bytes_in_use,
            "Size of the records that are kept.");
    put_one(to, "gmtrace_dropped_records_total", "counter",
            control->dropped_full + control->dropped_io, "Records that found no room.");
    put_one(to, "gmtrace_partial", "gauge", page->is_partial,
            "1 where the recorder began anew after a failure: counters are since then.");
    put_one(to, "gmtrace_failed_calls_total", "counter", page->failed_calls,
            "Copies, memsets, launches, waits and allocations that failed.");
    put_one(to, "gmtrace_dumps_total", "counter", page->dumps,
            "Dumps that the recorder has begun unasked or by a signal.");
    put_one(to, "gmtrace_steps_total", "counter", page->steps.count,
            "Steps of the program, where slow steps are watched for.");
    put_one(to, "gmtrace_slow_steps_total", "counter", page->steps.slow, "Of these, slow ones.");
}

static void put_launches(struct exposition *to, const struct gmt_live_page *page)
{
    put_one(to, "gmtrace_memsets_total", "counter", page->memsets.count,
            "Memsets that the program called for, without those of graphs.");
    put_one(to, "gmtrace_memset_bytes_total", "counter", page->memsets.bytes,
            "Bytes of these memsets.");
    put_one(to, "gmtrace_kernel_launches_total", "counter", page->kernel_launches,
            "Launches of kernels, without those of graphs.");
    put_one(to, "gmtrace_graph_launches_total", "counter", page->graph_launches,
            "Launches of graphs.");
}

void gmt_metrics_print(FILE *out, const struct gmt_live_page *page,
                       const struct gmt_control *control, const char *labels, bool is_up)
{
    struct exposition to = {.out = out, .labels = labels};
    put_program(&to, page, control, is_up);
    put_copies(&to, page);
    put_launches(&to, page);
    put_waits(&to, page);
    put_memory(&to, page);
    put_devices(&to, page);
}

/* ---- the file --------------------------------------------------------------------------------- */

/* In the folder of `path`, and hidden: collectors look for names that end in .prom. */
static int name_new(const char *path, char *text, size_t bytes)
{
    const char *slash = strrchr(path, '/');
    int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
    int length = snprintf(text, bytes, "%.*s.%s.%ld", folder, path, path + folder, (long)getpid());
    return length > 0 && (size_t)length < bytes ? 0 : -ENAMETOOLONG;
}

/* To be read by the collector, which is another user. */
static FILE *create(const char *path)
{
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd >= 0 && file == NULL) {
        close(fd);
    }
    return file;
}

/* A device or a pipe, which nobody waits for. */
static FILE *open_direct(const char *path)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd >= 0 && file == NULL) {
        close(fd);
    }
    return file;
}

int gmt_metrics_write(const char *path, const struct gmt_live_page *page,
                      const struct gmt_control *control, const char *labels, bool is_up)
{
    char place[PATH_MAX], fresh[PATH_MAX + 64] = "";
    bool is_direct = false;
    int error = gmt_file_place(path, place, &is_direct);
    error = error != 0 || is_direct ? error : name_new(place, fresh, sizeof(fresh));
    FILE *file = error != 0 ? NULL : is_direct ? open_direct(place) : create(fresh);
    if (file == NULL) {
        return error != 0 ? error : -errno;
    }
    gmt_metrics_print(file, page, control, labels, is_up);
    bool is_bad = ferror(file) != 0;
    error = fclose(file) != 0 ? -errno : is_bad ? -EIO : 0;
    if (!is_direct && error == 0 && rename(fresh, place) != 0) {
        error = -errno;
    }
    if (!is_direct && error != 0) {
        (void)unlink(fresh);
    }
    return error;
}
