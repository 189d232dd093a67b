/* SPDX-License-Identifier: Apache-2.0 */
/* Fat binaries that were cut short, changed, or lie about their size. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/fatbin/fatbin.h"
#include "tests/unit/ptx_fixture.h"

static char *load(const char *name, size_t *bytes)
{
    char path[64];

    snprintf(path, sizeof(path), "fatbin/%s.fatbin", name);
    return gmt_data_file(path, bytes);
}

/* Every beginning of an image, and every byte changed: an answer, and no byte read out of bounds. */
Test(fatbin_damage, damage_is_found_or_harmless)
{
    static const char *const names[] = {"zstd", "lz4", "plain", "several"};

    for (unsigned i = 0; i < 4; i++) {
        size_t bytes, ptx_bytes, damaged = 0;
        char *image = load(names[i], &bytes), *ptx;

        for (size_t at = 0; at < bytes; at++) {
            char *copy = malloc(bytes);

            memcpy(copy, image, bytes);
            copy[at] = (char)(copy[at] ^ (1 << at % 8));
            damaged += fatbin_ptx(copy, bytes, 90, &ptx, &ptx_bytes) == FATBIN_DAMAGED;
            free(ptx);
            copy = realloc(copy, at + 1);
            memcpy(copy, image, at + 1);
            if (at > 4 && at + 1 < bytes) {
                cr_assert_eq(fatbin_ptx(copy, at + 1, 90, &ptx, &ptx_bytes), FATBIN_DAMAGED);
            }
            free(copy);
        }
        cr_expect_gt(damaged, 10, "%s", names[i]);
        free(image);
    }
}

Test(fatbin_damage, claimed_size_is_not_believed)
{
    static const char *const names[] = {"zstd", "lz4"};

    for (unsigned i = 0; i < 2; i++) {
        size_t bytes, ptx_bytes;
        char *image = load(names[i], &bytes), *ptx;
        static const uint64_t sizes[] = {0, 1, 366, UINT64_C(1) << 40, UINT64_MAX};

        for (unsigned j = 0; j < 5; j++) {
            memcpy(image + 16 + 56, &sizes[j], 8);
            cr_expect_eq(fatbin_ptx(image, bytes, 90, &ptx, &ptx_bytes), FATBIN_DAMAGED);
            free(ptx);
        }
        free(image);
    }
}
