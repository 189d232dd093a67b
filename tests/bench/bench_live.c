/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_live [records]: what the live numbers of a recorder cost per record, and its watch for slow steps beside them. Of each seven
 * records: an allocation, a copy, a launch with a device row, a wait, a release, and a range of the program.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/store/live/live.h"
#include "libtrace/store/live/step_watch.h"

enum { KINDS = 7 };

static uint8_t records[KINDS][4 * GMT_SLOT_BYTES];
static const enum gmt_rec_type types[KINDS] = {GMT_REC_ALLOC,     GMT_REC_TRANSFER, GMT_REC_LAUNCH,
                                               GMT_REC_DEVICE_OP, GMT_REC_SYNC,     GMT_REC_FREE,
                                               GMT_REC_RANGE};

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fill(unsigned kind, uint64_t i)
{
    struct gmt_call *call = (void *)records[kind];
    struct gmt_device_op *op = (void *)records[kind];
    struct gmt_user_range *range = (void *)records[kind];
    const uint64_t ns = 1000 + i * 1000;
    if (types[kind] == GMT_REC_DEVICE_OP) {
        *op = (struct gmt_device_op){.kind = GMT_OP_KERNEL, .start_ns = ns, .end_ns = ns + 500};
        memcpy(op + 1, "_Z4stepv", sizeof("_Z4stepv"));
    } else if (types[kind] == GMT_REC_RANGE) {
        *range = (struct gmt_user_range){
            .begin_ticks = ns, .end_ticks = ns + 500, .id = (uint32_t)i, .kind = GMT_RANGE_PUSH};
        memcpy(range + 1, "step", sizeof("step"));
    } else {
        *call = (struct gmt_call){
            .thread = 1, .begin_ticks = ns, .end_ticks = ns + 400, .bytes = 4096, .api = 1};
        if (types[kind] == GMT_REC_ALLOC || types[kind] == GMT_REC_FREE) {
            ((struct gmt_alloc *)(void *)(call + 1))->id = (uint32_t)(i / KINDS) + 1;
            ((struct gmt_alloc *)(void *)(call + 1))->kind = GMT_ALLOC_DEVICE;
        } else if (types[kind] == GMT_REC_LAUNCH) {
            ((struct gmt_launch *)(void *)(call + 1))->kernel = 1 + (uint32_t)(i / KINDS % 20);
        }
    }
}

int main(int argc, char **argv)
{
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    const struct gmt_control control = {.first_pair = {1, 1}};
    char place[] = "/tmp/bench-live-XXXXXX", cause[128];
    int folder = mkdtemp(place) != NULL ? open(place, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    struct gmt_live *live = folder >= 0 ? gmt_live_open(folder, &control) : NULL;
    struct gmt_step_watch *watch = gmt_step_watch_open("");
    static struct gmt_timebase timebase;
    if (live == NULL || watch == NULL) {
        return 1;
    }
    gmt_timebase_init(&timebase, true);
    double took[3] = {0};
    for (int pass = 0; pass < 3; pass++) { /* making the records, with numbers, with steps too */
        double began = seconds();
        for (uint64_t i = 0; i < count; i++) {
            unsigned kind = (unsigned)(i % KINDS);
            fill(kind, i + (uint64_t)pass * count);
            const struct gmt_spool_record record = {
                .data = records[kind], .type = types[kind], .slots = 4};
            if (pass > 0) {
                gmt_live_record(live, &timebase, &record);
            }
            if (pass > 1) {
                (void)gmt_step_watch_record(watch, &timebase, &record, cause);
            }
            if (pass > 0 && i % 1000 == 0) {
                gmt_live_pass(live, 1000 + (i + (uint64_t)pass * count) * 1000, false);
            }
        }
        took[pass] = seconds() - began;
    }
    printf("%.0f ns per record, %.0f ns with slow steps\n",
           1e9 * (took[1] - took[0]) / (double)count, 1e9 * (took[2] - took[0]) / (double)count);
    gmt_live_close(live);
    gmt_step_watch_close(watch);
    (void)unlinkat(folder, GMT_LIVE_FILE, 0);
    (void)rmdir(place);
    return 0;
}
