/* SPDX-License-Identifier: Apache-2.0 */
/* simcounts FILE: print `name calls` of every entry point of the software device that was called. */
#include <inttypes.h>
#include <stdio.h>

#include "simgpu/driver/counts.h"

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) {
        fputs("usage: simcounts FILE (as written through SIMGPU_COUNTS)\n", stderr);
        return 2;
    }
    struct sim_count count;
    while (fread(&count, sizeof count, 1, file) == 1) {
        uint64_t calls = count.calls;
        if (calls != 0) {
            printf("%.55s %" PRIu64 "\n", count.name, calls);
        }
    }
    return fclose(file) == 0 ? 0 : 1;
}
