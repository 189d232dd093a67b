/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the generated programs that copy to the device share (uploads.c). */
#ifndef SIMGPU_TESTS_ORDER_UPLOADS_H
#define SIMGPU_TESTS_ORDER_UPLOADS_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness.h"

/* Memory that only the legacy stream writes, and what it holds when all is done. */
struct place {
    CUdeviceptr memory;
    size_t bytes;
    uint8_t *model;
};

/* Who makes calls: the places, and what it draws. */
struct actor {
    uint64_t random;
    struct place *places;
    unsigned count;
    bool is_alone;
    uint8_t *host;       /* pageable */
    uint8_t *locked;     /* page-locked */
    uint8_t *registered; /* page-locked by the program */
    size_t host_bytes;
};

static inline unsigned draw(struct actor *a, unsigned bound)
{
    return harness_draw(&a->random, bound);
}

/* A copy without Async of bytes that are drawn; `from` holds others when it returns. */
void upload_bytes(struct actor *a, struct place *place, size_t to, uint8_t *from, size_t bytes);
/* The place holds what its model does. */
void upload_download(struct actor *a, const struct place *place);
/* Are copies held back, or not, as streams come, work and go? upload_streams.c */
void upload_beside_streams(struct actor *a);

#endif
