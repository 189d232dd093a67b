/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the slow and the fast pipeline share: options, frames, per-pixel arithmetic, checksum.
 *
 * A line-scan camera delivers square 12-bit frames. Each one is shaded (gain and bias per tile),
 * rid of scratches (median of nine rows), blurred in both directions, and joined with a fading
 * trail of the frames before it and with a small animated overlay.
 *
 * Pixels are floats that hold whole numbers 0..4095, and every intermediate result is exact in
 * 24 bits. So the order of operations and fused multiply-adds change nothing: the CPU, the slow
 * and the fast pipeline agree bit for bit.
 */

#ifndef PIPELINE_COMMON_H
#define PIPELINE_COMMON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define PIPELINE_FN static __host__ __device__ inline
#else
#define PIPELINE_FN static inline
#endif

enum {
    PIPELINE_TILES_PER_SIDE = 16,
    PIPELINE_TILES = PIPELINE_TILES_PER_SIDE * PIPELINE_TILES_PER_SIDE,
    PIPELINE_TAPS = 9, /* rows in the median */
    PIPELINE_MAX_PIXEL = 4095,
    PIPELINE_TRAIL_DECAY = 8,
};

struct pipeline_options {
    int size;   /* pixels per side, a multiple of 512 */
    int frames; /* frames to process */
    int check;  /* also compute everything on the CPU and compare */
    int time;   /* print the elapsed time on stderr */
};

struct pipeline_tile {
    float gain; /* a multiple of 1/256 */
    float bias; /* a whole number */
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The whole program, so that a loader (see run_ctypes.py) can call it as well as main().
 * Returns the exit status: 0, 1 (no device, CUDA error, wrong result) or 2 (bad options).
 */
int pipeline_main(int argc, char **argv);

/* Returns -1 to go on, else the exit status (help was asked for, or an option is bad). */
int pipeline_parse(int argc, char **argv, const char *name, struct pipeline_options *options);

/* Fills a frame of size x size pixels; frames with different seeds differ everywhere. */
void pipeline_fill_frame(float *frame, int size, uint32_t seed);

/* What the camera does between two uses of a buffer: some rows change, so all frames differ. */
void pipeline_stamp_frame(float *frame, int size, int number);

/* Shading parameters of one frame: PIPELINE_TILES entries. */
void pipeline_fill_tiles(struct pipeline_tile *tiles, int number);

/* The overlay is a window of size/8 x size/16 pixels, at the left of an atlas twice as wide. */
void pipeline_fill_atlas(float *atlas, int size, int number);

/* Folds a finished frame into a running checksum. All pixels with `all`, else one in 251. */
uint64_t pipeline_checksum(uint64_t sum, const float *frame, int size, int number, int all);

/* The same work on the CPU. Returns 0 and the checksum, or -1 when memory is short. */
int pipeline_reference(const struct pipeline_options *options, uint64_t *sum);

/* Prints the result line (and the check's) on stdout. Returns the exit status. */
int pipeline_report(const struct pipeline_options *options, const char *name, uint64_t sum);

double pipeline_now_s(void);

#ifdef __cplusplus
}
#endif

PIPELINE_FN int pipeline_overlay_width(int size)
{
    return size / 8;
}

PIPELINE_FN int pipeline_overlay_height(int size)
{
    return size / 16;
}

PIPELINE_FN int pipeline_atlas_width(int size)
{
    return size / 4;
}

PIPELINE_FN int pipeline_clamp(int value, int last)
{
    return value < 0 ? 0 : value > last ? last : value;
}

PIPELINE_FN int pipeline_tile_of(int x, int y, int size)
{
    const int side = size / PIPELINE_TILES_PER_SIDE; /* sizes are multiples of 512 */
    return side == 0 ? 0 : y / side * PIPELINE_TILES_PER_SIDE + x / side;
}

PIPELINE_FN float pipeline_floor(float value) /* of a number in 0..2^23 */
{
    return (float)(int)value;
}

PIPELINE_FN float pipeline_shade(float pixel, float gain, float bias)
{
    const float value = pixel * gain + bias;
    const float positive = value > 0.0f ? value : 0.0f;
    const float limited = positive < (float)PIPELINE_MAX_PIXEL ? positive
                                                               : (float)PIPELINE_MAX_PIXEL;
    return pipeline_floor(limited);
}

PIPELINE_FN float pipeline_blur5(float a, float b, float c, float d, float e)
{
    return pipeline_floor((a + e + 4.0f * (b + d) + 6.0f * c) * 0.0625f);
}

PIPELINE_FN float pipeline_trail(float pixel, float trail)
{
    const float faded = trail - (float)PIPELINE_TRAIL_DECAY;
    return pixel > faded ? pixel : faded;
}

PIPELINE_FN float pipeline_join(float pixel, float trail)
{
    return pipeline_floor((3.0f * pixel + trail) * 0.25f);
}

PIPELINE_FN float pipeline_overlay(float pixel, float overlay)
{
    return pipeline_floor((pixel + overlay) * 0.5f);
}

#endif
