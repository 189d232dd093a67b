/* SPDX-License-Identifier: Apache-2.0 */
/* Finding PTX in fat binaries as nvcc makes them: tests/data/fatbin. */
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

/* The target that the PTX chosen for `sm` was made for; "" if there is none. */
static const char *target_for(const char *name, unsigned sm)
{
    static char target[16];
    size_t bytes, ptx_bytes;
    char *image = load(name, &bytes), *ptx;

    target[0] = '\0';
    if (fatbin_ptx(image, bytes, sm, &ptx, &ptx_bytes) == FATBIN_OK) {
        cr_assert_eq(strlen(ptx), ptx_bytes);
        cr_assert_not_null(strstr(ptx, "_Z7doubledPi"));
        cr_assert_eq(sscanf(strstr(ptx, ".target "), ".target %15s", target), 1);
    }
    free(ptx);
    free(image);
    return target;
}

Test(fatbin, every_compression_gives_the_same_text)
{
    static const char *const names[] = {"zstd", "lz4", "plain"};
    char *first = NULL;

    for (unsigned i = 0; i < 3; i++) {
        size_t bytes, ptx_bytes;
        char *image = load(names[i], &bytes), *ptx;

        cr_assert_eq(fatbin_ptx(image, bytes, 90, &ptx, &ptx_bytes), FATBIN_OK, "%s", names[i]);
        if (first == NULL) {
            first = strdup(ptx);
        }
        cr_expect_str_eq(ptx, first, "%s", names[i]);
        free(ptx);
        free(image);
    }
    free(first);
}

Test(fatbin, highest_target_that_fits_is_chosen)
{
    cr_expect_str_eq(target_for("lineinfo", 90), "sm_90");
    cr_expect_str_eq(target_for("several", 90), "sm_90"); /* rather than sm_90a */
    cr_expect_str_eq(target_for("several", 89), "sm_80");
    cr_expect_str_eq(target_for("several", 75), "sm_75");
    cr_expect_str_eq(target_for("several", 100), "sm_100");
    cr_expect_str_eq(target_for("several", 120), "sm_100");
    cr_expect_str_eq(target_for("several", 70), "");
    cr_expect_str_eq(target_for("specific", 90), "sm_90a");
    cr_expect_str_eq(target_for("specific", 103), "sm_80");
}

Test(fatbin, wrapper_is_followed_where_the_size_is_unknown)
{
    size_t bytes, ptx_bytes;
    struct {
        uint32_t magic, version;
        void *container, *unused;
    } wrapper = {FATBIN_WRAPPER_MAGIC, 1, load("zstd", &bytes), NULL};
    char *ptx;

    cr_expect_eq(fatbin_ptx(&wrapper, SIZE_MAX, 90, &ptx, &ptx_bytes), FATBIN_OK);
    cr_expect_gt(ptx_bytes, 100);
    free(ptx);
    cr_expect_eq(fatbin_ptx(&wrapper, sizeof(wrapper), 90, &ptx, &ptx_bytes), FATBIN_NOT_AN_IMAGE);
    free(wrapper.container);
}

Test(fatbin, text_is_taken_as_it_is)
{
    static const char text[] = "  // PTX\n.version 9.0\n";
    size_t ptx_bytes;
    char *ptx;

    cr_expect_eq(fatbin_ptx(text, SIZE_MAX, 90, &ptx, &ptx_bytes), FATBIN_OK);
    cr_expect_str_eq(ptx, text);
    free(ptx);
    cr_expect_eq(fatbin_ptx(text, sizeof(text), 90, &ptx, &ptx_bytes), FATBIN_OK);
    cr_expect_eq(ptx_bytes, sizeof(text) - 1);
    free(ptx);
    cr_expect_eq(fatbin_ptx("hello", 5, 90, &ptx, &ptx_bytes), FATBIN_NOT_AN_IMAGE);
    cr_expect_eq(fatbin_ptx("", SIZE_MAX, 90, &ptx, &ptx_bytes), FATBIN_NOT_AN_IMAGE);
    cr_expect_eq(fatbin_ptx(NULL, SIZE_MAX, 90, &ptx, &ptx_bytes), FATBIN_NOT_AN_IMAGE);
    cr_expect_eq(fatbin_ptx("\177ELF\2\1\1", 7, 90, &ptx, &ptx_bytes), FATBIN_NO_PTX);
}

Test(fatbin, machine_code_alone_is_no_ptx)
{
    size_t bytes, ptx_bytes;
    char *image = load("plain", &bytes), *ptx;

    image[16] = 2; /* the entry's kind: ELF */
    cr_expect_eq(fatbin_ptx(image, bytes, 90, &ptx, &ptx_bytes), FATBIN_NO_PTX);
    free(image);
}

Test(fatbin, ptx_for_later_devices_is_distinguished_from_none)
{
    size_t bytes, ptx_bytes;
    char *image = load("plain", &bytes), *ptx;

    cr_expect_eq(fatbin_ptx(image, bytes, 30, &ptx, &ptx_bytes), FATBIN_LATER_PTX);
    free(image);
}
