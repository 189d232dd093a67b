/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's activity buffers: ours, and those of a program that uses CUPTI itself.
 *
 * CUPTI has one pair of buffer callbacks per process and returns a buffer long after it was asked
 * for. So one pair is registered for both sides: who is in charge is asked for new buffers, and a
 * buffer goes back to the side that gave it, whoever is in charge by then. Nothing here takes a lock.
 */
#ifndef GMT_CUPTI_BASE_BUFFERS_H
#define GMT_CUPTI_BASE_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti_activity.h>

/* The pair to register with CUPTI. */
void CUPTIAPI gmt_buffers_give(uint8_t **buffer, size_t *bytes, size_t *max_records);
void CUPTIAPI gmt_buffers_take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                               size_t valid_bytes);

/* What to do with a buffer of ours that has come back; it is kept for another turn afterwards. */
typedef void gmt_buffers_reader(CUcontext context, uint32_t stream, uint8_t *buffer,
                                size_t valid_bytes);
void gmt_buffers_read_by(gmt_buffers_reader *reader);

/* Who gives buffers from now on. The program's side gives none before it has registered. */
void gmt_buffers_in_charge(bool ours);

/* The program's own pair, NULL and NULL: none. Sets *request and *complete to the one before. */
void gmt_buffers_exchange(CUpti_BuffersCallbackRequestFunc *request,
                          CUpti_BuffersCallbackCompleteFunc *complete);

bool gmt_buffers_program_registered(void);

/* Buffers that CUPTI has not given back yet. */
unsigned gmt_buffers_of_ours(void);
unsigned gmt_buffers_of_program(void);
/* CUPTI has been taken down: none of the program's will come back. */
void gmt_buffers_forget_program(void);

/* In a forked child: whatever comes back is left alone. */
void gmt_buffers_abandon(void);

#endif
