/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines out of a cubin that nvcc made: every instruction, inlined calls, and damaged files. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/sass/cubin_lines.h"

enum { INSTRUCTION = 16, MAX_BYTES = 1 << 20, LEVELS = 8 };

struct image {
    unsigned char *bytes;
    size_t size;
};

static struct image read_image(const char *name)
{
    char path[512];
    struct image image = {.bytes = malloc(MAX_BYTES)};
    (void)snprintf(path, sizeof(path), GMT_SOURCE_DIR "/tests/data/cubin/%s", name);
    FILE *in = fopen(path, "re");
    cr_assert_not_null(in, "%s", path);
    cr_assert_not_null(image.bytes);
    image.size = fread(image.bytes, 1, MAX_BYTES, in);
    (void)fclose(in);
    return image;
}

/* "inlined.cu:5 < inlined.cu:9 < inlined.cu:17", and the inlined functions in brackets. */
static const char *place_of(const struct gmt_cubin *cubin, const char *function, uint64_t offset)
{
    static char text[512];
    struct gmt_cubin_frame places[LEVELS];
    size_t count = gmt_cubin_frame(cubin, function, offset, places, LEVELS), used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && i < LEVELS && used < sizeof(text); i++) {
        const char *slash = strrchr(places[i].file, '/');
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s:%u%s%s%s",
                                 i > 0 ? " < " : "", slash != NULL ? slash + 1 : places[i].file,
                                 places[i].line, places[i].function != NULL ? "(" : "",
                                 places[i].function != NULL ? places[i].function : "",
                                 places[i].function != NULL ? ")" : "");
    }
    return text;
}

static bool has_place(const struct gmt_cubin *cubin, const char *function, const char *place)
{
    for (uint64_t offset = 0; offset < 0x400; offset += INSTRUCTION) {
        if (strcmp(place_of(cubin, function, offset), place) == 0) {
            return true;
        }
    }
    return false;
}

static void expect_every_level(const char *file)
{
    static const struct {
        const char *function, *place;
    } expected[] = {
        {"_Z1aPKfPf", "inlined.h:4(_Z5twicePKfi) < inlined.cu:14"},
        {"_Z1aPKfPf", "inlined.cu:14"},
        {"_Z1bPKfPf", "inlined.cu:5(_Z3onePKfi) < inlined.cu:9(_Z3twoPKfi) < inlined.cu:17"},
        {"_Z1bPKfPf", "inlined.cu:5(_Z3onePKfi) < inlined.cu:11(_Z3twoPKfi) < inlined.cu:17"},
        {"_Z1bPKfPf", "inlined.h:4(_Z5twicePKfi) < inlined.cu:18"},
        {"_Z1bPKfPf", "inlined.cu:11(_Z3twoPKfi) < inlined.cu:17"},
        {"_Z1cPKfPf", "inlined.cu:5(_Z3onePKfi) < inlined.cu:20"},
        {"_Z6filledIdEvPT_", "inlined.cu:21"},
    };
    struct image image = read_image(file);
    struct gmt_cubin *cubin = NULL;
    cr_assert_eq(gmt_cubin_open(image.bytes, image.size, &cubin), 0, "%s", file);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        cr_expect(has_place(cubin, expected[i].function, expected[i].place),
                  "%s: no instruction is at %s", expected[i].function, expected[i].place);
    }
    /* Only kernel b calls two(): no other has one of its lines. */
    for (uint64_t offset = 0; offset < 0x400; offset += INSTRUCTION) {
        cr_expect_null(strstr(place_of(cubin, "_Z1cPKfPf", offset), "two"));
        cr_expect_null(strstr(place_of(cubin, "_Z1aPKfPf", offset), "one"));
    }
    struct gmt_cubin_frame one;
    cr_expect_gt(gmt_cubin_frame(cubin, "_Z1bPKfPf", 0x20, &one, 1), 0u, "the first level fits");
    gmt_cubin_close(cubin);
    free(image.bytes);
}

Test(cubin_lines, every_level_of_what_was_inlined, .timeout = 60)
{
    expect_every_level("lines.cubin");
}

/* Before Hopper the addends of relocations lie in what is relocated. */
Test(cubin_lines, every_level_on_ampere, .timeout = 60)
{
    expect_every_level("lines_80.cubin");
}

Test(cubin_lines, what_is_not_known, .timeout = 60)
{
    struct image image = read_image("lines.cubin"), bare = read_image("bare.cubin");
    struct gmt_cubin *cubin = NULL;
    struct gmt_cubin_frame places[LEVELS];
    cr_assert_eq(gmt_cubin_open(image.bytes, image.size, &cubin), 0);
    cr_expect_eq(gmt_cubin_frame(cubin, "_Z4nonev", 0, places, LEVELS), 0u);
    cr_expect_eq(gmt_cubin_frame(cubin, "_Z1cPKfPf", 1 << 20, places, LEVELS), 0u,
                 "behind its end");
    cr_expect_eq(gmt_cubin_frame(cubin, "_Z1cPKfPf", UINT64_MAX, places, LEVELS), 0u);
    gmt_cubin_close(cubin);
    cr_expect_eq(gmt_cubin_open(bare.bytes, bare.size, &cubin), -ENODATA);
    cr_expect_null(cubin);
    cr_expect_eq(gmt_cubin_open("#!/bin/sh\n", 10, &cubin), -EBADMSG);
    cr_expect_eq(gmt_cubin_open("", 0, &cubin), -EBADMSG);
    free(image.bytes);
    free(bare.bytes);
}

/* Asks everything of a file that may be damaged: whatever it answers, nothing may be read beyond it. */
static void ask(const unsigned char *bytes, size_t size)
{
    struct gmt_cubin *cubin = NULL;
    if (gmt_cubin_open(bytes, size, &cubin) != 0) {
        cr_expect_null(cubin);
        return;
    }
    for (uint64_t offset = 0; offset < 0x200; offset += INSTRUCTION) {
        (void)place_of(cubin, "_Z1bPKfPf", offset);
    }
    gmt_cubin_close(cubin);
}

Test(cubin_lines, damaged_files, .timeout = 300)
{
    struct image image = read_image("lines.cubin");
    unsigned char *bytes = malloc(image.size);
    cr_assert_not_null(bytes);
    for (size_t size = 0; size < image.size; size += 61) {
        ask(image.bytes, size);
    }
    uint32_t random = 1;
    for (int i = 0; i < 3000; i++) {
        memcpy(bytes, image.bytes, image.size);
        for (int k = 0; k < 1 + i % 4; k++) {
            random = random * 1664525 + 1013904223;
            bytes[(random >> 8) % image.size] ^= (unsigned char)(1u << (random & 7));
        }
        ask(bytes, image.size);
    }
    free(bytes);
    free(image.bytes);
}
