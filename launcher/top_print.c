/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of gmtrace top: differences of two readings, as rates. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"
#include "launcher/top.h"
#include "libtrace/base/format.h"
#include "libtrace/record/clock.h"
#include "libtrace/store/db/names.h"
#include "libtrace/store/recording/ring.h"

#define ALL_KERNELS 10u /* where the length of the table has no limit */
#define SILENT_NS UINT64_C(3000000000)
#define BYTES GMT_FORMAT_BYTES

/* The readings, and the time between them. */
struct view {
    const struct gmt_live_page *now, *before;
    double seconds; /* 0: there is no second reading */
};

static const struct gmt_live_page nothing;

static struct view view_of(const struct gmt_top_pair *pair)
{
    struct view view = {.now = &pair->now->page, .before = &nothing};
    if (pair->before != NULL && pair->now->error == 0) {
        view.before = &pair->before->page;
        view.seconds = view.now->updated_ns > view.before->updated_ns
                           ? (double)(view.now->updated_ns - view.before->updated_ns) / 1e9
                           : 0;
    }
    return view;
}

static double per_second(const struct view *view, uint64_t now, uint64_t before)
{
    return view->seconds > 0 && now >= before ? (double)(now - before) / view->seconds : 0;
}

/* A rate that is small shows its decimals. */
static const char *rate_text(char text[static BYTES], double rate)
{
    return rate > 0 && rate < 10 ? gmt_format_decimal(text, rate, rate < 1 ? 2 : 1)
                                 : gmt_format_count(text, rate);
}

static void print_flow(FILE *out, const struct view *view, const char *title,
                       const struct gmt_live_flow *now, const struct gmt_live_flow *before)
{
    char text[4][BYTES];
    fprintf(out, "%-18s %10s %14s %14s %12s\n", title,
            rate_text(text[0], per_second(view, now->count, before->count)),
            gmt_format_rate(text[1], per_second(view, now->bytes, before->bytes)),
            gmt_format_count(text[2], (double)now->count),
            gmt_format_bytes(text[3], (double)now->bytes));
}

static void print_count(FILE *out, const struct view *view, const char *title, uint64_t now,
                        uint64_t before)
{
    char text[2][BYTES];
    fprintf(out, "%-18s %10s %14s %14s\n", title, rate_text(text[0], per_second(view, now, before)),
            "", gmt_format_count(text[1], (double)now));
}

static void print_moved(FILE *out, const struct view *view)
{
    char title[32];
    fprintf(out, "%-18s %10s %14s %14s %12s\n", "", "per s", "bytes per s", "in all", "bytes");
    for (unsigned i = GMT_DIR_UNKNOWN; i < GMT_DIR_COUNT; i++) {
        if (view->now->copies[i].count != 0) {
            (void)snprintf(title, sizeof(title), "copies %s", gmt_name_direction(i));
            print_flow(out, view, title, &view->now->copies[i], &view->before->copies[i]);
        }
    }
    if (view->now->memsets.count != 0) {
        print_flow(out, view, "memsets", &view->now->memsets, &view->before->memsets);
    }
    print_count(out, view, "kernel launches", view->now->kernel_launches,
                view->before->kernel_launches);
    if (view->now->graph_launches != 0) {
        print_count(out, view, "graph launches", view->now->graph_launches,
                    view->before->graph_launches);
    }
}

/* Shares of the time of one thread: several threads may add up to more. */
static void print_waits(FILE *out, const struct view *view)
{
    const struct gmt_live_page *now = view->now, *before = view->before;
    char text[BYTES];
    bool is_any = false;
    for (unsigned i = GMT_SYNC_STREAM; i < GMT_LIVE_SYNC_KINDS; i++) {
        if (now->waits[i].count != 0) {
            double share = per_second(view, now->waits[i].device_ns, before->waits[i].device_ns);
            fprintf(out, "%s%s %s /s, %.1f %%", is_any ? "; " : "waits              ",
                    gmt_name_sync_kind(i),
                    rate_text(text, per_second(view, now->waits[i].count, before->waits[i].count)),
                    share / 1e7);
            is_any = true;
        }
    }
    if (now->blocking_copies_ns != 0) {
        fprintf(out, "%sblocking copies %.1f %%", is_any ? "; " : "waits              ",
                per_second(view, now->blocking_copies_ns, before->blocking_copies_ns) / 1e7);
        is_any = true;
    }
    fputs(is_any ? " of a thread's time\n" : "", out);
}

/* Of the name that was done last. */
static void print_steps(FILE *out, const struct view *view)
{
    const struct gmt_live_steps *steps = &view->now->steps;
    char text[6][BYTES];
    if (steps->count == 0) {
        return;
    }
    fprintf(out, "%-18s %10s %14s %14s\n", "steps",
            rate_text(text[0], per_second(view, steps->count, view->before->steps.count)), "",
            gmt_format_count(text[1], (double)steps->count));
    fprintf(out, "%-18s last %s, median %s, p99 %s; %s slow: ", "",
            gmt_format_ns(text[2], (double)steps->last_ns),
            gmt_format_ns(text[3], (double)steps->median_ns),
            gmt_format_ns(text[4], (double)steps->p99_ns),
            gmt_format_count(text[5], (double)steps->slow));
    (void)gmt_print_clean(out, steps->name, 0);
    fputc('\n', out);
}

static void print_held(FILE *out, const char *where, unsigned kind,
                       const struct gmt_live_held *held)
{
    const char *name = gmt_name_alloc_kind(kind);
    char title[48], text[3][BYTES];
    if (held->made == 0) {
        return;
    }
    (void)snprintf(title, sizeof(title), "%s %s", where, name != NULL ? name : "memory");
    fprintf(out, "%-18s %10s %14s %14s\n", title, gmt_format_bytes(text[0], (double)held->bytes),
            gmt_format_count(text[1], (double)held->count),
            gmt_format_count(text[2], (double)held->made));
}

static void print_memory(FILE *out, const struct view *view)
{
    char where[32];
    fprintf(out, "\n%-18s %10s %14s %14s\n", "memory", "now", "allocations", "ever made");
    for (unsigned i = 0; i < GMT_LIVE_DEVICES; i++) {
        (void)snprintf(where, sizeof(where), "device %u", i);
        for (unsigned kind = 0; kind < GMT_ALLOC_KIND_COUNT; kind++) {
            print_held(out, where, kind, &view->now->device[i].memory[kind]);
        }
    }
    for (unsigned kind = 0; kind < GMT_ALLOC_KIND_COUNT; kind++) {
        print_held(out, "host", kind, &view->now->host_memory[kind]);
    }
}

/* Of the time that was counted between the readings; what is idle since the last operation is not yet. */
static void print_device(FILE *out, const struct view *view, unsigned i)
{
    const struct gmt_live_device *now = &view->now->device[i], *before = &view->before->device[i];
    double busy = (double)(now->busy_ns - before->busy_ns), all = busy;
    char text[BYTES];
    for (unsigned cause = 0; cause < GMT_LIVE_CAUSE_COUNT; cause++) {
        all += (double)(now->idle_ns[cause] - before->idle_ns[cause]);
    }
    if (all <= 0) {
        uint64_t ago_ns = view->now->updated_ns > now->last_ns
                              ? view->now->updated_ns - now->last_ns
                              : 0;
        fprintf(out, "device %u           no work, the last ended %s ago\n", i,
                gmt_format_ns(text, (double)ago_ns));
        return;
    }
    fprintf(out, "device %u           busy %.1f %%", i, 100 * busy / all);
    for (unsigned cause = 0; cause < GMT_LIVE_CAUSE_COUNT; cause++) {
        double share = (double)(now->idle_ns[cause] - before->idle_ns[cause]) / all;
        if (share >= 0.0005) {
            fprintf(out, "; %s %.1f %%", gmt_live_cause_title((enum gmt_live_cause)cause),
                    100 * share);
        }
    }
    fputc('\n', out);
}

static bool print_devices(FILE *out, const struct view *view)
{
    bool is_any = false;
    fputc('\n', out);
    for (unsigned i = 0; i < GMT_LIVE_DEVICES; i++) {
        if (view->now->device[i].last_ns != 0) {
            print_device(out, view, i);
            is_any = true;
        }
    }
    fputs(is_any ? "" : "device times are not recorded: how busy devices are is not known\n", out);
    return is_any;
}

/* ---- kernels ---------------------------------------------------------------------------------- */

struct busy_kernel {
    const struct gmt_live_kernel *row;
    double launches, device_ns; /* between the readings */
};

static int by_time(const void *a, const void *b)
{
    const struct busy_kernel *left = a, *right = b;
    if (left->device_ns != right->device_ns) {
        return left->device_ns < right->device_ns ? 1 : -1;
    }
    return (left->launches < right->launches) - (left->launches > right->launches);
}

/* A row that was another's before counts from its own beginning. */
static struct busy_kernel compare_row(const struct view *view, size_t i)
{
    const struct gmt_live_kernel *now = &view->now->kernel[i], *before = &view->before->kernel[i];
    struct busy_kernel busy = {now, (double)now->launches, (double)now->device_ns};
    bool is_same = now->kernel == before->kernel && memcmp(now->grid, before->grid, 24) == 0;
    if (is_same && now->launches >= before->launches && now->device_ns >= before->device_ns) {
        busy.launches -= (double)before->launches;
        busy.device_ns -= (double)before->device_ns;
    }
    return busy;
}

static void print_kernel(FILE *out, const struct view *view, const struct busy_kernel *busy,
                         bool has_times, size_t columns)
{
    const struct gmt_live_kernel *row = busy->row;
    char rate[BYTES], share[BYTES] = "", shape[96];
    char *name = gmt_name_demangle(row->name);
    if (has_times) {
        (void)snprintf(share, sizeof(share), "%.1f %%", busy->device_ns / view->seconds / 1e7);
    }
    int used = snprintf(shape, sizeof(shape), "(%u,%u,%u) x (%u,%u,%u)", row->grid[0], row->grid[1],
                        row->grid[2], row->block[0], row->block[1], row->block[2]);
    fprintf(out, "%-18s %10s %14s ", "", rate_text(rate, busy->launches / view->seconds), share);
    size_t room = columns > 46 + (size_t)used ? columns - 46 - (size_t)used : 0;
    (void)gmt_print_clean(out, name != NULL ? name : row->name, columns == 0 ? 0 : room + 1);
    fprintf(out, " %s\n", shape);
    free(name);
}

static void print_kernels(FILE *out, const struct view *view, bool has_times, size_t most,
                          size_t columns)
{
    struct busy_kernel busy[GMT_LIVE_KERNELS];
    size_t count = 0;
    for (size_t i = 0; i < GMT_LIVE_KERNELS && view->seconds > 0; i++) {
        struct busy_kernel one = compare_row(view, i);
        if (one.row->kernel != 0 && (one.launches > 0 || one.device_ns > 0)) {
            busy[count++] = one;
        }
    }
    if (count == 0 || most == 0) {
        return;
    }
    qsort(busy, count, sizeof(*busy), by_time);
    fprintf(out, "\n%-18s %10s %14s %s\n", "kernels", "per s", has_times ? "of the time" : "",
            "name, grid x block");
    for (size_t i = 0; i < count && i < most; i++) {
        print_kernel(out, view, &busy[i], has_times, columns);
    }
}

/* ---- one process ------------------------------------------------------------------------------ */

static void print_head(FILE *out, const struct gmt_top_pair *pair, const struct view *view)
{
    const struct gmt_control *control = &pair->now->recorded.control;
    char text[3][BYTES];
    uint64_t now_ns = gmt_clock_monotonic_ns(), begin_ns = control->first_pair.monotonic_ns;
    fprintf(out, "process %ld (", (long)pair->now->recorded.pid);
    (void)gmt_print_clean(out, pair->now->program, 0);
    fprintf(out, "), recorded for %s; the last %.2f s\n",
            gmt_format_ns(text[0], now_ns > begin_ns ? (double)(now_ns - begin_ns) : 0),
            view->seconds);
    fprintf(out, "recording is %s; %s in the spool", control->switched_off != 0 ? "off" : "on",
            gmt_format_bytes(text[0], (double)control->bytes_in_use));
    if (gmt_ring_is_on(control)) {
        fprintf(out, ", of the last %.4g s, %s at most; %" PRIu64 " dumps",
                (double)control->ring_ns / 1e9,
                gmt_format_bytes(text[1], (double)control->ring_bytes), view->now->dumps);
    }
    uint64_t dropped = control->dropped_full + control->dropped_io;
    if (dropped != 0) {
        fprintf(out, "; %s records dropped", gmt_format_count(text[2], (double)dropped));
    }
    if (view->now->failed_calls != 0) {
        fprintf(out, "; %s calls failed",
                gmt_format_count(text[2], (double)view->now->failed_calls));
    }
    gmt_overhead_print(out, "\noverhead           ",
                       pair->before != NULL ? &pair->before->recorded.control : NULL, control);
    fputc('\n', out);
}

/* Why there is nothing to show, or less than usual; NULL: all is well. */
static const char *trouble(const struct gmt_top_reading *reading)
{
    const struct gmt_control *control = &reading->recorded.control;
    if (control->recorder_pid == 0) {
        return "its recorder is not up yet: there are no numbers";
    }
    if (!reading->has_recorder) {
        return "its recorder is gone: the numbers are of before";
    }
    if (reading->error != 0) {
        return "its recorder has counted nothing yet, or is of another version of gmtrace";
    }
    if (gmt_clock_monotonic_ns() > reading->page.updated_ns + SILENT_NS) {
        return "its recorder has counted nothing for some seconds";
    }
    return reading->page.is_partial != 0
               ? "the recorder began anew after a failure: the numbers are since then"
               : NULL;
}

static size_t lines_of(FILE *out, char *const *text)
{
    size_t lines = 0;
    if (fflush(out) == 0) {
        for (const char *at = *text; (at = strchr(at, '\n')) != NULL; at++) {
            lines++;
        }
    }
    return lines;
}

static void print_all(FILE *out, char *const *text, const struct gmt_top_pair *pair, size_t lines,
                      size_t columns)
{
    struct view view = view_of(pair);
    const char *why = trouble(pair->now);
    print_head(out, pair, &view);
    if (why != NULL) {
        fprintf(out, "%s\n", why);
    }
    if (pair->now->page.metrics_error != 0) {
        fprintf(out, "the metrics file cannot be written: %s\n",
                strerror(-pair->now->page.metrics_error));
    }
    fputc('\n', out);
    print_moved(out, &view);
    print_waits(out, &view);
    print_steps(out, &view);
    print_memory(out, &view);
    bool has_times = print_devices(out, &view);
    size_t used = lines_of(out, text);
    size_t most = lines == 0 ? ALL_KERNELS : lines > used + 2 ? lines - used - 2 : 0;
    print_kernels(out, &view, has_times, most, columns);
}

/* At most so many lines and columns: a terminal would scroll otherwise. */
static void put_cut(FILE *out, const char *text, size_t lines, size_t columns)
{
    for (size_t i = 0; *text != '\0' && (lines == 0 || i < lines); i++) {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        if (line != NULL) {
            (void)gmt_print_clean(out, line, columns);
        }
        free(line);
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
}

void gmt_top_print(FILE *out, const struct gmt_top_pair *pair, size_t lines, size_t columns)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *whole = open_memstream(&text, &bytes);
    if (whole != NULL) {
        print_all(whole, &text, pair, lines, columns);
        if (fclose(whole) == 0) {
            put_cut(out, text, lines, columns);
        }
        free(text);
    }
}

/* ---- several ---------------------------------------------------------------------------------- */

static uint64_t held_bytes(const struct gmt_live_page *page)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < GMT_LIVE_DEVICES; i++) {
        for (unsigned kind = 0; kind < GMT_ALLOC_KIND_COUNT; kind++) {
            bytes += page->device[i].memory[kind].bytes;
        }
    }
    return bytes;
}

static struct gmt_live_flow all_copies(const struct gmt_live_page *page)
{
    struct gmt_live_flow all = {0};
    for (unsigned i = 0; i < GMT_DIR_COUNT; i++) {
        all.count += page->copies[i].count;
        all.bytes += page->copies[i].bytes;
    }
    return all;
}

static void print_line(FILE *out, const struct gmt_top_pair *pair)
{
    struct view view = view_of(pair);
    struct gmt_live_flow now = all_copies(view.now), before = all_copies(view.before);
    char text[4][BYTES];
    fprintf(out, "%8ld %-16.16s %-3s %10s %14s %10s %12s\n", (long)pair->now->recorded.pid,
            pair->now->program, pair->now->recorded.control.switched_off != 0 ? "off" : "on",
            rate_text(text[0], per_second(&view, now.count, before.count)),
            gmt_format_rate(text[1], per_second(&view, now.bytes, before.bytes)),
            rate_text(text[2],
                      per_second(&view, view.now->kernel_launches, view.before->kernel_launches)),
            gmt_format_bytes(text[3], (double)held_bytes(view.now)));
}

void gmt_top_list(FILE *out, const struct gmt_top_pair *pairs, size_t count, size_t columns)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *whole = open_memstream(&text, &bytes);
    if (whole == NULL) {
        return;
    }
    fprintf(whole, "%8s %-16s %-3s %10s %14s %10s %12s\n", "process", "program", "", "copies/s",
            "bytes per s", "kernels/s", "memory");
    for (size_t i = 0; i < count; i++) {
        print_line(whole, &pairs[i]);
    }
    if (fclose(whole) == 0) {
        put_cut(out, text, 0, columns);
    }
    free(text);
}
