/* SPDX-License-Identifier: Apache-2.0 */
/* Runs generated programs, each in a process of its own (harness.h). */
#include "harness.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counts.h"
#include "preload/apply/note.h"

unsigned harness_program, harness_seed;
const char *harness_word;
static char report[] = "/tmp/order_report.XXXXXX";
static struct gmt_try_note *note; /* shared with the programs */

void harness_fail(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "FAIL: program %u, seed %u: ", harness_program, harness_seed);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    _exit(1);
}

void harness_ok(CUresult result, const char *call, int line)
{
    if (result != CUDA_SUCCESS) {
        harness_fail("line %d: %s: error %d", line, call, (int)result);
    }
}

void harness_expect(CUresult found, CUresult expected, const char *what)
{
    if (found != expected) {
        harness_fail("%s returns %d, not %d", what, (int)found, (int)expected);
    }
}

CUfunction harness_failing_kernel(void)
{
    static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry fault()\n{\n .reg .b64 %rd<2>;\n"
                              " mov.u64 %rd1, 16;\n st.global.u32 [%rd1], 1;\n ret;\n}\n";
    CUmodule module;
    CUfunction kernel;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&kernel, module, "fault"));
    return kernel;
}

CUcontext harness_new_context(void)
{
    CUcontext made;
#if CUDA_VERSION >= 13000
    OK(cuCtxCreate(&made, NULL, 0, 0));
#else
    OK(cuCtxCreate(&made, 0, 0));
#endif
    return made;
}

static struct {
    _Atomic bool may_end, was_late;
} waiting;

static void CUDA_CB wait_for_host(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2000 && !waiting.may_end; i++) {
        usleep(1000);
    }
    waiting.was_late = !waiting.may_end;
}

void harness_begin_waiting_work(CUstream stream)
{
    waiting.may_end = waiting.was_late = false;
    OK(cuLaunchHostFunc(stream, wait_for_host, NULL));
}

bool harness_end_waiting_work(CUstream stream)
{
    waiting.may_end = true;
    OK(cuStreamSynchronize(stream));
    return !waiting.was_late;
}

uint64_t harness_applied(enum gmt_fix fix)
{
    return note->process[0].fixes[fix].calls;
}

unsigned harness_draw(uint64_t *random, unsigned bound)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((*random >> 33) % bound);
}

void harness_same(const uint8_t *found, const uint8_t *expected, size_t bytes, const char *what)
{
    for (size_t i = 0; i < bytes; i++) {
        if (found[i] != expected[i]) {
            harness_fail("%s: byte %zu of %zu is %u, expected %u", what, i, bytes, found[i],
                         expected[i]);
        }
    }
}

void harness_expect_no_conflict(void)
{
    if (access(report, F_OK) == 0) {
        harness_fail("a conflict is reported");
    }
}

static bool run_one(void (*run)(void))
{
    char text[16];
    int status = 0;
    unlink(report);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        (void)snprintf(text, sizeof text, "%u", harness_seed);
        setenv("SIMGPU_ORDER", text, 1);
        setenv("SIMGPU_ORDER_REPORT", report, 1);
        alarm(60);
        run();
        _exit(0);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

int harness_main(int argc, char **argv, void (*run)(void), const enum gmt_fix *fixes,
                 unsigned fix_count)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 0, failed = 0;
    unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 20,
             seeds = argc > 3 ? (unsigned)atoi(argv[3]) : 5;
    char value[64];
    struct gmt_fix_counts sum = {0};
    int file = mkstemp(report);
    if (file < 0 || gmt_try_note_make(value, sizeof value, &note) < 0) {
        return 1;
    }
    close(file);
    setenv("GMTRACE_TRY", value, 1);
    if (argc > 4) {
        setenv("GMTRACE_APPLY", argv[4], 1);
    }
    harness_word = argc > 5 ? argv[5] : NULL;
    for (harness_program = first; harness_program < first + count; harness_program++) {
        for (harness_seed = 1; harness_seed <= seeds; harness_seed++) {
            memset(&note->process[0], 0, sizeof note->process[0]);
            note->processes = 0;
            failed += !run_one(run);
            for (unsigned i = 0; i < fix_count; i++) {
                counts_add(&sum, &note->process[0].fixes[fixes[i]]);
            }
        }
    }
    unlink(report);
    if (argc > 4) {
        counts_print(&sum);
    }
    printf("%u programs, %u orders each: %u failed\n", count, seeds, failed);
    return failed == 0 && (argc <= 4 || sum.calls != 0) ? 0 : 1;
}
