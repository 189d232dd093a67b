/* SPDX-License-Identifier: Apache-2.0 */
/* A target with faults of every kind that must be seen (faults.sh). */
#include <signal.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static bool is(const char *word, const uint8_t *data, size_t bytes)
{
    return bytes >= strlen(word) && memcmp(data, word, strlen(word)) == 0;
}

/* More than the input's size allows, every page written. */
static void use_memory(size_t bytes)
{
    volatile uint8_t *memory = malloc(bytes);

    for (size_t i = 0; memory != NULL && i < bytes; i += 4096) {
        memory[i] = 1;
    }
    free((uint8_t *)(uintptr_t)memory);
}

void gmt_fuzz_run(const uint8_t *data, size_t bytes)
{
    volatile int64_t number = INT64_MAX;

    if (is("crash", data, bytes)) {
        (void)raise(SIGSEGV);
    }
    if (is("promise", data, bytes)) {
        GMT_FUZZ_REQUIRE(data[0] != 'p');
    }
    if (is("exit", data, bytes)) {
        exit(3);
    }
    if (is("memory", data, bytes)) {
        use_memory((size_t)640 << 20);
    }
    if (is("overflow", data, bytes)) {
        number = number + 1;
    }
    while (is("time", data, bytes)) {
        number = 0;
    }
}
