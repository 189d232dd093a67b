/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that is written call by call, for tests of what the device waits for. */
#ifndef GMT_TESTS_RULES_HOST_STEPS_H
#define GMT_TESTS_RULES_HOST_STEPS_H

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;
static int64_t now_ns, device_ns; /* of the host; when the device is done */
static int64_t next_id;
static int thread = 1; /* that makes the calls */

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

/*
 * Stacks of Python: 2: an operation in line 26 of score(); 3: another of that line, by the function of line 31; 4: one of line 28
 * of score(). The first call comes at 5 ms.
 */
static inline void begin(void)
{
    gmt_fixture_load(&fixture, "common_only");
    put("DELETE FROM launch; INSERT INTO api(id, name, family, traits) VALUES "
        "(20, 'cuStreamSynchronize', 'sync', 128), (21, 'cuModuleLoadData', 'module', 0)");
    put("INSERT INTO string VALUES (20, 'score'), (21, 'encode_all'), (22, '/home/me/train.py'), "
        "(23, '_PyEval_EvalFrameDefault'), (24, 'at::add()'), (25, 'at::to()')");
    put("INSERT INTO module (id, path, load_bias, start_address, end_address) VALUES "
        "(20, '/usr/lib/libpython3.12.so', 0, 5000000, 6000000), "
        "(21, '/venv/site-packages/torch/lib/libtorch_cuda.so', 0, 7000000, 8000000)");
    put("INSERT INTO frame(id, address, module_id, offset, function_id, file_id, line, runtime) "
        "VALUES (20, 9000000, NULL, NULL, 20, 22, 26, 0), (21, 9000100, NULL, NULL, 21, 22, 31, "
        "0), "
        "(22, 9000200, NULL, NULL, 20, 22, 28, 0), (23, 5000100, 20, 100, 23, NULL, NULL, 2), "
        "(24, 7000100, 21, 100, 24, NULL, NULL, 0), (25, 7000200, 21, 200, 25, NULL, NULL, 0)");
    put("INSERT INTO stack VALUES (2, 3), (3, 4), (4, 3); INSERT INTO stack_frame VALUES "
        "(2, 0, 24), (2, 1, 23), (2, 2, 20), (3, 0, 25), (3, 1, 23), (3, 2, 21), (3, 3, 20), "
        "(4, 0, 24), (4, 1, 23), (4, 2, 22)");
    now_ns = device_ns = 5000000;
    next_id = 1;
}

static inline void host(int64_t ns)
{
    now_ns += ns;
}

static inline void call(const char *table, const char *extra, const char *values, int api,
                        int stack, int64_t ns)
{
    put("INSERT INTO %s (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, "
        "stack_id, capturing%s) VALUES (%" PRId64 ", %d, %d, 1, 1, %" PRId64 ", %" PRId64
        ", 0, %d, 0%s)",
        table, extra, next_id++, api, thread, now_ns, now_ns + ns, stack, values);
    now_ns += ns;
}

/* A kernel that starts 1 us after its call of 5 us, or when the device is done. */
static inline void launch(int stack, int64_t kernel_ns)
{
    char values[256];
    int64_t start_ns = now_ns + 6000 > device_ns ? now_ns + 6000 : device_ns;

    (void)snprintf(values, sizeof(values),
                   ", 'kernel', %" PRId64 ", 1, 1, 0, 'complete', %" PRId64 ", %" PRId64, next_id,
                   start_ns, start_ns + kernel_ns);
    device_ns = start_ns + kernel_ns;
    call("launch",
         ", kind, seq, kernel_id, class_id, no_activity, arguments, device_start_ns, device_end_ns",
         values, 3, stack, 5000);
}

#endif
