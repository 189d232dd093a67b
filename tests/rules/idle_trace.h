/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that is made call by call, for tests of what a device was idle for. */
#ifndef GMT_TESTS_RULES_IDLE_TRACE_H
#define GMT_TESTS_RULES_IDLE_TRACE_H

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;
static int64_t now_ns, device_ns; /* of the host; when the device is done */
static int64_t next_id;
static int thread = 1, context = 1, stack = 1;

__attribute__((format(printf, 1, 2))) static inline void put(const char *format, ...)
{
    char sql[1024];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(sql, sizeof(sql), format, args);
    va_end(args);
    cr_assert(n > 0 && (size_t)n < sizeof(sql));
    gmt_fixture_sql(&fixture, sql);
}

/* An empty trace: what common.sql has of launches goes. The first call comes at 5 ms. */
static inline void begin(void)
{
    gmt_fixture_load(&fixture, "common_only");
    put("DELETE FROM launch; INSERT INTO api(id, name, family, traits) VALUES "
        "(20, 'cuStreamSynchronize', 'sync', 128), (21, 'cuModuleLoadData', 'module', 0), "
        "(22, 'cuMemHostAlloc', 'alloc', 16)");
    put("INSERT INTO string VALUES (20, 'compute()'), (21, 'train'), (22, '/home/me/train.py'), "
        "(23, '_PyEval_EvalFrameDefault'), (24, 'at::add()'), (25, 'at::mul()'), (26, '<module>')");
    put("INSERT INTO module (id, path, load_bias, start_address, end_address) VALUES "
        "(20, '/usr/lib/libpython3.12.so', 0, 5000000, 6000000), "
        "(21, '/venv/site-packages/torch/lib/libtorch_cuda.so', 0, 7000000, 8000000)");
    put("INSERT INTO frame(id, address, module_id, offset, function_id, file_id, line, runtime) "
        "VALUES "
        "(20, 12300, 1, 12300, 1, 2, 80, 0), (21, 16384, 1, 16384, 20, 2, 50, 0), "
        "(22, 9000000, NULL, NULL, 21, 22, NULL, 0), (23, 5000100, 20, 100, 23, NULL, NULL, 2), "
        "(24, 7000100, 21, 100, 24, NULL, NULL, 0), (25, 7000200, 21, 200, 25, NULL, NULL, 0), "
        "(26, 9000100, NULL, NULL, 26, 22, NULL, 0)");
    /* 1 (common.sql): upload() of line 77 of main(). 2: compute() of line 80. 3 and 4: two operations of train(). */
    put("INSERT INTO stack VALUES (2, 3), (3, 5), (4, 5); INSERT INTO stack_frame VALUES "
        "(2, 0, 1), (2, 1, 21), (2, 2, 20), (3, 0, 24), (3, 1, 23), (3, 2, 22), (3, 3, 23), "
        "(3, 4, 26), (4, 0, 25), (4, 1, 23), (4, 2, 22), (4, 3, 23), (4, 4, 26)");
    now_ns = device_ns = 0;
    next_id = 1;
    thread = context = stack = 1;
}

static inline void host(int64_t ns)
{
    now_ns += ns;
}

static inline void call(const char *table, const char *extra, const char *values, int api,
                        int64_t ns)
{
    put("INSERT INTO %s (id, api_id, thread_id, context_id, begin_ns, end_ns, result, stack_id, "
        "capturing%s) VALUES (%" PRId64 ", %d, %d, %d, %" PRId64 ", %" PRId64 ", 0, %d, 0%s)",
        table, extra, next_id++, api, thread, context, now_ns, now_ns + ns, stack, values);
    now_ns += ns;
}

static inline void wait_for(int64_t ns)
{
    call("sync", ", kind", ", 'stream'", 20, ns);
}

static inline void load(int64_t ns)
{
    call("api_call", "", "", 21, ns);
}

static inline void allocate(const char *table, const char *kind, int api, int64_t ns)
{
    put("INSERT INTO %s (id, kind, address, bytes, thread_id, api_id, stack_id, begin_ns, end_ns) "
        "VALUES "
        "(%" PRId64 ", '%s', %" PRId64 ", 4096, %d, %d, %d, %" PRId64 ", %" PRId64 ")",
        table, next_id, kind, next_id * 65536, thread, api, stack, now_ns, now_ns + ns);
    next_id++;
    now_ns += ns;
}

/* A kernel that starts so long after the end of its call. */
static inline void launch(int64_t call_ns, int64_t latency_ns, int64_t kernel_ns)
{
    char values[256];
    int64_t start_ns = now_ns + call_ns + latency_ns;

    (void)snprintf(values, sizeof(values),
                   ", 'kernel', %" PRId64 ", 1, 1, 0, 'complete', %" PRId64 ", %" PRId64, next_id,
                   start_ns, start_ns + kernel_ns);
    device_ns = start_ns + kernel_ns;
    call("launch",
         ", kind, seq, kernel_id, class_id, no_activity, arguments, device_start_ns, device_end_ns",
         values, 3, call_ns);
}

/* A blocking copy of which the device knows the middle. */
static inline void copy(int64_t before_ns, int64_t copy_ns, int64_t after_ns)
{
    char values[256];

    (void)snprintf(values, sizeof(values),
                   ", 'h2d', 1, 4096, 65536, 8192, 'device', 'pageable', %" PRId64 ", %" PRId64,
                   now_ns + before_ns, now_ns + before_ns + copy_ns);
    device_ns = now_ns + before_ns + copy_ns;
    call("transfer",
         ", direction, blocking, bytes, dst, src, dst_class, src_class, device_start_ns, "
         "device_end_ns",
         values, 1, before_ns + copy_ns + after_ns);
}

/* The run ends here. */
static inline void analyze(void)
{
    put("UPDATE process SET end_ns = %" PRId64, now_ns > device_ns ? now_ns : device_ns);
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert(fixture.report.has_time_parts);
}

static inline double part(enum gmt_time_part index)
{
    return fixture.report.time_parts[index].ns;
}

static inline const struct gmt_call_place *place(enum gmt_time_part index)
{
    cr_assert_gt(fixture.report.time_parts[index].place_count, 0);
    return &fixture.report.time_parts[index].places[0];
}

#endif
