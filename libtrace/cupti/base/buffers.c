/* SPDX-License-Identifier: Apache-2.0 */
/* Hands CUPTI's buffer callbacks to the side that a buffer belongs to (buffers.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/base/buffers.h"

#include <stdatomic.h>
#include <stdlib.h>

#define BUFFER_BYTES ((size_t)64 * 1024) /* small: what a SIGKILL loses is the unfilled buffer */
#define BUFFER_ALIGN 64u
#define POOL_BUFFERS 32u
#define OURS_SLOTS 4096u /* of ours that CUPTI may have at a time: 256 MiB */
#define PROBES 64u

static uint8_t *_Atomic pool[POOL_BUFFERS];
static uint8_t *_Atomic ours[OURS_SLOTS]; /* a set, by address */
static _Atomic unsigned ours_out, program_out;
static _Atomic bool we_give, abandoned;
static gmt_buffers_reader *_Atomic reader;
static CUpti_BuffersCallbackRequestFunc _Atomic program_request;
static CUpti_BuffersCallbackCompleteFunc _Atomic program_complete;

static uint32_t slot_of(const uint8_t *buffer)
{
    return (uint32_t)(((uintptr_t)buffer * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % OURS_SLOTS;
}

static bool replace(uint8_t *buffer, uint8_t *from, uint8_t *to)
{
    for (uint32_t i = 0, at = slot_of(buffer); i < PROBES; i++) {
        uint8_t *expected = from;
        if (atomic_compare_exchange_strong(&ours[(at + i) % OURS_SLOTS], &expected, to)) {
            return true;
        }
    }
    return false;
}

static void keep(uint8_t *buffer)
{
    for (unsigned i = 0; i < POOL_BUFFERS; i++) {
        uint8_t *empty = NULL;
        if (atomic_compare_exchange_strong(&pool[i], &empty, buffer)) {
            return;
        }
    }
    free(buffer);
}

static uint8_t *one_of_ours(void)
{
    uint8_t *found = NULL;
    for (unsigned i = 0; i < POOL_BUFFERS && found == NULL; i++) {
        if (atomic_load_explicit(&pool[i], memory_order_relaxed) != NULL) {
            found = atomic_exchange(&pool[i], NULL);
        }
    }
    if (found == NULL) {
        found = aligned_alloc(BUFFER_ALIGN, BUFFER_BYTES);
    }
    if (found != NULL && !replace(found, NULL, found)) {
        keep(found);
        found = NULL;
    }
    return found;
}

void CUPTIAPI gmt_buffers_give(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    *buffer = NULL; /* makes CUPTI drop records and count them */
    *bytes = 0;
    *max_records = 0;
    if (atomic_load(&we_give)) {
        *buffer = one_of_ours();
        *bytes = *buffer != NULL ? BUFFER_BYTES : 0;
        atomic_fetch_add(&ours_out, *buffer != NULL);
        return;
    }
    CUpti_BuffersCallbackRequestFunc request = atomic_load(&program_request);
    if (request != NULL) {
        request(buffer, bytes, max_records);
        atomic_fetch_add(&program_out, *buffer != NULL);
    }
}

static void count_down(_Atomic unsigned *count)
{
    unsigned before = atomic_load(count);
    while (before != 0 && !atomic_compare_exchange_weak(count, &before, before - 1)) {
    }
}

void CUPTIAPI gmt_buffers_take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                               size_t valid_bytes)
{
    if (buffer != NULL && replace(buffer, buffer, NULL)) {
        gmt_buffers_reader *read = atomic_load(&reader);
        if (atomic_load(&abandoned)) {
            return; /* a forked child: the buffer belongs to the parent's heap image; let it be */
        }
        if (read != NULL) {
            read(context, stream, buffer, valid_bytes);
        }
        keep(buffer);
        count_down(&ours_out);
        return;
    }
    CUpti_BuffersCallbackCompleteFunc complete = atomic_load(&program_complete);
    if (complete != NULL) {
        complete(context, stream, buffer, bytes, valid_bytes);
    }
    count_down(&program_out);
}

void gmt_buffers_read_by(gmt_buffers_reader *given)
{
    atomic_store(&reader, given);
}

void gmt_buffers_in_charge(bool is_ours)
{
    atomic_store(&we_give, is_ours);
}

void gmt_buffers_exchange(CUpti_BuffersCallbackRequestFunc *request,
                          CUpti_BuffersCallbackCompleteFunc *complete)
{
    *complete = atomic_exchange(&program_complete, *complete);
    *request = atomic_exchange(&program_request, *request);
}

bool gmt_buffers_program_registered(void)
{
    return atomic_load(&program_complete) != NULL;
}

unsigned gmt_buffers_of_ours(void)
{
    return atomic_load(&ours_out);
}

unsigned gmt_buffers_of_program(void)
{
    return atomic_load(&program_out);
}

void gmt_buffers_forget_program(void)
{
    atomic_store(&program_out, 0);
}

void gmt_buffers_abandon(void)
{
    atomic_store(&abandoned, true);
}
