/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer's entry point: the target, within the time and memory that the size of an input allows. */
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

#if defined(__SANITIZE_ADDRESS__) /* gcc */
#define SANITIZED 1
#elif defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/*
 * What an input may take: a start, and a share for each byte. Time is the processor's: the machine may be
 * busy. A sanitizer costs time, and memory of its own.
 */
enum {
#if defined(GMT_FUZZ_CPU_S)
    CPU_S_PER_MIB = GMT_FUZZ_CPU_S,
#else
    CPU_S_PER_MIB = SANITIZED ? 10 : 3, /* of its size, rounded up, and one more */
#endif
    MEMORY_MIB = SANITIZED ? 512 : 64,
    MEMORY_PER_BYTE = SANITIZED ? 80 : 20,
};
#define MIB ((size_t)1 << 20)

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:abort_on_error=1:quarantine_size_mb=16:"
           "max_allocation_size_mb=4096:malloc_context_size=5:detect_leaks=0";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "print_stacktrace=1:abort_on_error=1";
}

/* By abort, which libFuzzer saves the input at. */
static void end_late(int signal)
{
    static const char text[] = "more time than the size of the input allows\n";

    (void)signal;
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct itimerval limit = {.it_value.tv_sec = (time_t)(CPU_S_PER_MIB * (bytes / MIB + 2))},
                           none = {.it_value.tv_sec = 0};

    (void)signal(SIGPROF, end_late);
    gmt_fuzz_memory_begin();
    (void)setitimer(ITIMER_PROF, &limit, NULL);
    gmt_fuzz_run(data, bytes);
    (void)setitimer(ITIMER_PROF, &none, NULL);
    size_t memory = gmt_fuzz_memory_end();
    if (memory > MEMORY_MIB * MIB + bytes * MEMORY_PER_BYTE) {
        fprintf(stderr, "input of %zu bytes: %zu KiB of memory\n", bytes, memory >> 10);
        abort();
    }
    return 0;
}
