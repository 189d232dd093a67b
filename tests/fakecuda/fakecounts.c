/* SPDX-License-Identifier: Apache-2.0 */
/* fakecounts FILE: print `name calls` of every entry point of the stand-in driver that was called. */
#include <inttypes.h>
#include <stdio.h>

#include "counts.h"

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) {
        fputs("usage: fakecounts FILE (as written through FAKECUDA_COUNTS)\n", stderr);
        return 2;
    }
    struct fake_count count;
    while (fread(&count, sizeof count, 1, file) == 1) {
        uint64_t calls = count.calls;
        if (calls != 0) {
            printf("%.55s %" PRIu64 "\n", count.name, calls);
        }
    }
    return fclose(file) == 0 ? 0 : 1;
}
