/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory an execution took, as the system counts it. */
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static size_t before;

/* A row of /proc/self/status in bytes */
static size_t row(const char *name)
{
    char line[256];
    size_t bytes = 0;
    FILE *file = fopen("/proc/self/status", "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            bytes = (size_t)strtoull(line + strlen(name), NULL, 10) << 10;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return bytes;
}

void gmt_fuzz_memory_begin(void)
{
    int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

    /* What earlier executions have given back is not there to be used again unseen. */
    (void)malloc_trim(0);
    if (file >= 0) {
        (void)!write(file, "5", 1); /* the peak counts from here */
        close(file);
    }
    before = row("VmRSS:");
}

size_t gmt_fuzz_memory_end(void)
{
    size_t peak = row("VmHWM:");

    return peak > before ? peak - before : 0;
}
