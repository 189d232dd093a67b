/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a row costs the recorder: makes a spool of N records (default 1 M: half transfers, a quarter
 * launches with arguments, the rest synchronizations; a device row for each transfer and launch),
 * ingests it, and prints microseconds per row of each step; with `aggregate` as sums over steps. Links gmt_store.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/proc.h"
#include "libtrace/settings/spool_settings.h"
#include "libtrace/store/recording/recording.h"

#define CHUNK_BYTES ((size_t)1 << 20)

static const char *directory;
static struct gmt_control *control;
static uint8_t *at, *end;
static uint64_t now_ns = 1000000;

static void *map_file(const char *name, size_t bytes)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    void *map = MAP_FAILED;
    if (fd >= 0 && posix_fallocate(fd, 0, (off_t)bytes) == 0) {
        map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (map == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    close(fd);
    return map;
}

static void *reserve(unsigned slots)
{
    if ((size_t)(end - at) < (size_t)slots * GMT_SLOT_BYTES) {
        char name[32];
        struct gmt_chunk_header *header;
        (void)snprintf(name, sizeof(name), "chunk-%u", control->chunk_count);
        header = map_file(name, CHUNK_BYTES);
        header->version = GMT_SPOOL_VERSION;
        header->index = control->chunk_count++;
        header->bytes = CHUNK_BYTES;
        header->closed = 1;
        header->magic = GMT_CHUNK_MAGIC;
        at = (uint8_t *)(header + 1);
        end = (uint8_t *)header + CHUNK_BYTES;
    }
    void *record = at;
    at += (size_t)slots * GMT_SLOT_BYTES;
    return record;
}

static struct gmt_call *begin_call(unsigned slots)
{
    struct gmt_call *call = reserve(slots);
    now_ns += 3000;
    *call = (struct gmt_call){.thread = 1,
                              .begin_ticks = now_ns,
                              .end_ticks = now_ns + 2000,
                              .caller = 0x401234,
                              .stream = 0x5000,
                              .stack = 1,
                              .api = 1,
                              .context = 1};
    return call;
}

static void commit(void *record, unsigned type, unsigned slots)
{
    *(uint32_t *)record = GMT_COMMIT(type, slots);
}

static void write_op(uint64_t i, bool kernel, uint64_t bytes)
{
    unsigned slots = (unsigned)(sizeof(struct gmt_device_op) + 32 + 63) / GMT_SLOT_BYTES;
    struct gmt_device_op *op = reserve(slots);
    *op = (struct gmt_device_op){.start_ns = now_ns + 1000,
                                 .end_ns = now_ns + 1800,
                                 .bytes = bytes,
                                 .correlation = (uint32_t)i + 1,
                                 .cupti_context = 1,
                                 .cupti_stream = 7,
                                 .context = 1,
                                 .copy_kind = 1,
                                 .copy_count = 1,
                                 .kind = kernel ? GMT_OP_KERNEL : GMT_OP_COPY,
                                 .grid = {80, 1, 1},
                                 .block = {256, 1, 1}};
    if (kernel) {
        memcpy(op + 1, "_Z6kernelPfi", sizeof("_Z6kernelPfi"));
    }
    commit(op, GMT_REC_DEVICE_OP, slots);
}

static void write_transfer(uint64_t i)
{
    struct gmt_call *call = begin_call(2);
    struct gmt_transfer *transfer = (void *)(call + 1);
    call->bytes = 4096 + 64 * (i % 50);
    *transfer = (struct gmt_transfer){.dst = 0x7f0000000000 + 4096 * (i % 1000),
                                      .src = 0x560000000000 + 64 * i,
                                      .dst_alloc = 3,
                                      .direction = GMT_DIR_H2D,
                                      .dst_class = GMT_MEM_DEVICE,
                                      .src_class = GMT_MEM_PAGEABLE};
    commit(call, GMT_REC_TRANSFER, 2);
    write_op(i, false, call->bytes);
}

static void write_launch(uint64_t i)
{
    struct gmt_call *call = begin_call(3);
    struct gmt_launch *launch = (void *)(call + 1);
    struct gmt_launch_arg *args = (void *)(launch + 1);
    *launch = (struct gmt_launch){.kernel = 1,
                                  .kernel_class = 1,
                                  .grid = {80, 1, 1},
                                  .block = {256, 1, 1},
                                  .kind = GMT_LAUNCH_KERNEL,
                                  .arguments = GMT_ARGS_COMPLETE,
                                  .argument_count = 2,
                                  .launch_seq = (uint32_t)i};
    args[0] = (struct gmt_launch_arg){.parameter = 0, .alloc = 3, .offset = 64 * (i % 100)};
    args[1] = (struct gmt_launch_arg){.parameter = 1, .alloc = 4};
    commit(call, GMT_REC_LAUNCH, 3);
    write_op(i, true, 0);
}

static void write_side_records(void)
{
    struct gmt_context *context = reserve(1);
    *context = (struct gmt_context){.handle = 1, .id = 1};
    commit(context, GMT_REC_CONTEXT, 1);
    struct gmt_stream *stream = reserve(1);
    *stream = (struct gmt_stream){.handle = 0x5000, .context = 1, .cupti_id = 7, .has_cupti_id = 1};
    commit(stream, GMT_REC_STREAM, 1);
    struct gmt_kernel *kernel = reserve(2);
    *kernel = (struct gmt_kernel){.id = 1, .registers = 32};
    memcpy(kernel + 1, "_Z6kernelPfi", sizeof("_Z6kernelPfi"));
    commit(kernel, GMT_REC_KERNEL, 2);
    struct gmt_capability *capability = reserve(1);
    *capability = (struct gmt_capability){.state = GMT_CAP_OK};
    memcpy(capability + 1, "timestamps", sizeof("timestamps"));
    commit(capability, GMT_REC_CAPABILITY, 1);
}

/* As gmtrace --aggregate does. */
static void ask_for_sums(void)
{
    static struct gmt_spool_settings settings;
    int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    settings.flags = GMT_SETTINGS_AGGREGATES;
    if (folder < 0 || gmt_spool_settings_write(folder, &settings) != 0) {
        perror(directory);
        exit(1);
    }
    close(folder);
}

int main(int argc, char **argv)
{
    char spool[512];
    uint64_t records = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000, written = 0;
    struct rusage usage;
    if (argc < 2) {
        (void)fprintf(stderr, "usage: %s OUTPUT.db [RECORDS [aggregate]]\n", argv[0]);
        return 2;
    }
    (void)snprintf(spool, sizeof(spool), "%s.spool", argv[1]);
    directory = spool;
    (void)unlink(argv[1]);
    (void)mkdir(spool, 0777);
    control = map_file("control", sizeof(*control));
    *control = (struct gmt_control){.version = GMT_SPOOL_VERSION,
                                    .byte_order = GMT_SPOOL_BYTE_ORDER,
                                    .pid = 1,
                                    .pid_start = 1,
                                    .ticks_are_ns = 1,
                                    .magic = GMT_SPOOL_MAGIC};
    gmt_proc_boot_id(control->boot_id, sizeof(control->boot_id));
    if (argc > 3 && strcmp(argv[3], "aggregate") == 0) {
        ask_for_sums();
    }
    write_side_records();
    for (uint64_t i = 0; written < records; i++) {
        if (i % 8 < 3) {
            write_transfer(i);
            written += 2;
        } else if (i % 8 < 5) {
            write_launch(i);
            written += 2;
        } else {
            struct gmt_call *call = begin_call(1);
            call->detail = GMT_SYNC_STREAM;
            commit(call, GMT_REC_SYNC, 1);
            written++;
        }
    }
    uint64_t began_ns = gmt_clock_monotonic_ns();
    int error = gmt_recording_recover(argv[1]);
    uint64_t took_ns = gmt_clock_monotonic_ns() - began_ns;
    struct stat info;
    if (error != 0 || stat(argv[1], &info) != 0) {
        (void)fprintf(stderr, "%s: %s\n", argv[1], gmt_recording_explain(error));
        return 1;
    }
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("%" PRIu64
           " records: %.2f us each, all steps (cpu %.2f us); %.0f bytes each; peak %ld MB\n",
           written, (double)took_ns / 1e3 / (double)written,
           ((double)usage.ru_utime.tv_sec * 1e6 + (double)usage.ru_utime.tv_usec +
            (double)usage.ru_stime.tv_sec * 1e6 + (double)usage.ru_stime.tv_usec) /
               (double)written,
           (double)info.st_size / (double)written, usage.ru_maxrss / 1024);
    return 0;
}
