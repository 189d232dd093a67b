/* SPDX-License-Identifier: Apache-2.0 */
/* Options, frame generation, checksum and CPU reference of the example pipeline. */

#define _POSIX_C_SOURCE 200809L

#include "pipeline_common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint32_t mix32(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ h >> 16;
}

static int usage(FILE *to, const char *name)
{
    return fprintf(to,
                   "usage: %s [--size N] [--frames N] [--check] [--time]\n"
                   "  --size N    frames of N x N pixels, a multiple of 512 up to 16384 "
                   "(default 4096)\n"
                   "  --frames N  number of frames, 1 to 100000 (default 32)\n"
                   "  --check     compute everything on the CPU as well and compare "
                   "(seconds per frame)\n"
                   "  --time      print the elapsed time on stderr\n",
                   name);
}

static int parse_number(const char *text, int low, int high, int *number)
{
    char *end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < low || value > high) {
        return -1;
    }
    *number = (int)value;
    return 0;
}

int pipeline_parse(int argc, char **argv, const char *name, struct pipeline_options *options)
{
    *options = (struct pipeline_options){.size = 4096, .frames = 32};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--help") == 0) {
            return usage(stdout, name) < 0;
        }
        if (strcmp(argv[i], "--check") == 0) {
            options->check = 1;
        } else if (strcmp(argv[i], "--time") == 0) {
            options->time = 1;
        } else if (strcmp(argv[i], "--size") == 0) {
            if (parse_number(value, 512, 16384, &options->size) != 0 || options->size % 512 != 0) {
                fprintf(stderr, "%s: --size needs a multiple of 512 from 512 to 16384\n", name);
                return 2;
            }
            i++;
        } else if (strcmp(argv[i], "--frames") == 0) {
            if (parse_number(value, 1, 100000, &options->frames) != 0) {
                fprintf(stderr, "%s: --frames needs a number from 1 to 100000\n", name);
                return 2;
            }
            i++;
        } else {
            fprintf(stderr, "%s: unknown option '%s' (--help lists them)\n", name, argv[i]);
            return 2;
        }
    }
    return -1;
}

void pipeline_fill_frame(float *frame, int size, uint32_t seed)
{
    for (int y = 0; y < size; y++) {
        float *row = frame + (size_t)y * (size_t)size;
        for (int x = 0; x < size; x++) {
            const uint32_t noise = mix32((uint32_t)(y * size + x) + seed) & 511;
            const uint32_t slope = ((uint32_t)x * 3 + (uint32_t)y * 5 + seed * 97) & 4095;
            const uint32_t value = slope * 7 / 8 + noise;
            row[x] = (float)(int)value;
        }
    }
}

void pipeline_stamp_frame(float *frame, int size, int number)
{
    for (int y = 0; y < 8; y++) {
        for (int x = 0; x < size; x++) {
            frame[(size_t)y * (size_t)size + (size_t)x] = (float)((x * 7 + number * 131 + y * 17) &
                                                                  PIPELINE_MAX_PIXEL);
        }
    }
}

void pipeline_fill_tiles(struct pipeline_tile *tiles, int number)
{
    for (int i = 0; i < PIPELINE_TILES; i++) {
        const uint32_t h = mix32((uint32_t)(number * PIPELINE_TILES + i));
        tiles[i].gain = (float)(192 + (int)(h & 127)) / 256.0f;
        tiles[i].bias = (float)((int)(h >> 8 & 127) - 64);
    }
}

void pipeline_fill_atlas(float *atlas, int size, int number)
{
    const int width = pipeline_atlas_width(size);
    const int height = pipeline_overlay_height(size);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            atlas[(size_t)y * (size_t)width + (size_t)x] = (float)((x * 11 + y * 23 + number * 61) &
                                                                   PIPELINE_MAX_PIXEL);
        }
    }
}

uint64_t pipeline_checksum(uint64_t sum, const float *frame, int size, int number, int all)
{
    const size_t pixels = (size_t)size * (size_t)size;
    const size_t step = all ? 1 : 251;
    uint64_t part = 0;
    for (size_t i = all ? 0 : (size_t)(number % 251); i < pixels; i += step) {
        part += ((uint64_t)frame[i] + 1) * (2 * (uint64_t)i + 1);
    }
    return (sum ^ part) * 0x9e3779b97f4a7c15u + (uint64_t)number;
}

static void reference_median(const float *in, float *out, int size)
{
    for (int y = 0; y < size; y++) {
        for (int x = 0; x < size; x++) {
            float v[PIPELINE_TAPS];
            for (int k = 0; k < PIPELINE_TAPS; k++) {
                const int row = pipeline_clamp(y + k - PIPELINE_TAPS / 2, size - 1);
                const float value = in[(size_t)row * (size_t)size + (size_t)x];
                int at = k;
                for (; at > 0 && v[at - 1] > value; at--) {
                    v[at] = v[at - 1];
                }
                v[at] = value;
            }
            out[(size_t)y * (size_t)size + (size_t)x] = v[PIPELINE_TAPS / 2];
        }
    }
}

/* Blurs along the columns and writes the result transposed; twice this is a blur both ways. */
static void reference_blur(const float *in, float *out, int size)
{
    for (int y = 0; y < size; y++) {
        const float *rows[5];
        for (int k = 0; k < 5; k++) {
            rows[k] = in + (size_t)pipeline_clamp(y + k - 2, size - 1) * (size_t)size;
        }
        for (int x = 0; x < size; x++) {
            out[(size_t)x * (size_t)size + (size_t)y] = pipeline_blur5(
                rows[0][x], rows[1][x], rows[2][x], rows[3][x], rows[4][x]);
        }
    }
}

static void reference_frame(float *a, float *b, float *trail, const float *atlas,
                            const struct pipeline_tile *tiles, const float *frame, int size)
{
    for (int y = 0; y < size; y++) {
        for (int x = 0; x < size; x++) {
            const struct pipeline_tile *tile = &tiles[pipeline_tile_of(x, y, size)];
            const size_t i = (size_t)y * (size_t)size + (size_t)x;
            a[i] = pipeline_shade(frame[i], tile->gain, tile->bias);
        }
    }
    reference_median(a, b, size);
    reference_blur(b, a, size);
    reference_blur(a, b, size);
    const int width = pipeline_overlay_width(size);
    const int height = pipeline_overlay_height(size);
    for (int y = 0; y < size; y++) {
        for (int x = 0; x < size; x++) {
            const size_t i = (size_t)y * (size_t)size + (size_t)x;
            trail[i] = pipeline_trail(b[i], trail[i]);
            a[i] = pipeline_join(b[i], trail[i]);
            if (x < width && y < height) {
                a[i] = pipeline_overlay(
                    a[i], atlas[(size_t)y * (size_t)pipeline_atlas_width(size) + (size_t)x]);
            }
        }
    }
}

int pipeline_reference(const struct pipeline_options *options, uint64_t *sum)
{
    const int size = options->size;
    const size_t pixels = (size_t)size * (size_t)size;
    const size_t atlas_pixels = (size_t)pipeline_atlas_width(size) *
                                (size_t)pipeline_overlay_height(size);
    struct pipeline_tile tiles[PIPELINE_TILES];
    float *memory = calloc(5 * pixels + atlas_pixels, sizeof(float));
    if (memory == NULL) {
        return -1;
    }
    float *frames[2] = {memory, memory + pixels};
    float *a = memory + 2 * pixels;
    float *b = memory + 3 * pixels;
    float *trail = memory + 4 * pixels;
    float *atlas = memory + 5 * pixels;

    *sum = 0;
    for (int i = 0; i < 2; i++) {
        pipeline_fill_frame(frames[i], size, (uint32_t)i);
    }
    for (int f = 0; f < options->frames; f++) {
        pipeline_stamp_frame(frames[f % 2], size, f);
        pipeline_fill_tiles(tiles, f);
        pipeline_fill_atlas(atlas, size, f);
        reference_frame(a, b, trail, atlas, tiles, frames[f % 2], size);
        *sum = pipeline_checksum(*sum, a, size, f, f == options->frames - 1);
    }
    free(memory);
    return 0;
}

int pipeline_report(const struct pipeline_options *options, const char *name, uint64_t sum)
{
    printf("frames %d size %d checksum 0x%016llx\n", options->frames, options->size,
           (unsigned long long)sum);
    if (!options->check) {
        return 0;
    }

    uint64_t expected = 0;
    if (pipeline_reference(options, &expected) != 0) {
        fprintf(stderr, "%s: not enough memory for --check\n", name);
        return 1;
    }
    if (expected != sum) {
        fprintf(stderr, "%s: wrong result: the CPU computes checksum 0x%016llx\n", name,
                (unsigned long long)expected);
        return 1;
    }
    printf("check ok\n");
    return 0;
}

double pipeline_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
