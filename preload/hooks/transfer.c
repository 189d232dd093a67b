/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies both ends of a copy and records it. */
#include "preload/hooks/transfer.h"

#include "preload/driver/resolve.h"
#include "preload/fingerprint/fingerprint.h"
#include "preload/hooks/waited.h"
#include "preload/state/allocmap.h"

/* An address of no known allocation, in a call that takes host and device addresses alike. */
static enum gmt_mem_class ask_driver(uint64_t address)
{
    unsigned type = 0, managed = 0;
    if (gmt_driver.cuPointerGetAttribute == NULL) {
        return GMT_MEM_UNKNOWN;
    }
    if (gmt_driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) !=
        CUDA_SUCCESS) {
        return GMT_MEM_PAGEABLE;
    }
    if (gmt_driver.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) ==
            CUDA_SUCCESS &&
        managed != 0) {
        return GMT_MEM_MANAGED;
    }
    return type == CU_MEMORYTYPE_HOST     ? GMT_MEM_PINNED
           : type == CU_MEMORYTYPE_DEVICE ? GMT_MEM_DEVICE
           : type == CU_MEMORYTYPE_ARRAY  ? GMT_MEM_ARRAY
                                          : GMT_MEM_UNKNOWN;
}

/* `expected`: what the API itself says of this side. Host sides of no known allocation are pageable:
 * every call that page-locks memory is intercepted. */
static uint8_t classify(uint64_t address, enum gmt_mem_class expected, uint32_t *id)
{
    enum gmt_mem_class seen = gmt_allocmap_class(address, expected, id);
    return (uint8_t)(seen == GMT_MEM_UNKNOWN ? ask_driver(address) : seen);
}

static bool is_on_device(uint8_t memory)
{
    return memory == GMT_MEM_DEVICE || memory == GMT_MEM_ARRAY || memory == GMT_MEM_MANAGED;
}

static bool is_on_host(uint8_t memory)
{
    return memory == GMT_MEM_PAGEABLE || memory == GMT_MEM_PINNED;
}

static enum gmt_direction direction_of(const struct gmt_transfer *transfer)
{
    bool to_device = is_on_device(transfer->dst_class), to_host = is_on_host(transfer->dst_class);
    bool from_device = is_on_device(transfer->src_class),
         from_host = is_on_host(transfer->src_class);
    return from_host && to_device     ? GMT_DIR_H2D
           : from_device && to_host   ? GMT_DIR_D2H
           : from_device && to_device ? GMT_DIR_D2D
           : from_host && to_host     ? GMT_DIR_H2H
                                      : GMT_DIR_UNKNOWN;
}

/* Page-locked memory has an address for the device as well, and functions that name the device take it: cuMemcpyDtoHAsync from
 * it is a copy within the host, also by CUPTI's records. */
static bool is_named_otherwise(const struct gmt_transfer *transfer, enum gmt_mem_class named_dst,
                               enum gmt_mem_class named_src)
{
    return (named_dst == GMT_MEM_DEVICE && transfer->dst_class == GMT_MEM_PINNED) ||
           (named_src == GMT_MEM_DEVICE && transfer->src_class == GMT_MEM_PINNED);
}

void gmt_transfer_classify(struct gmt_transfer *transfer)
{
    static const enum gmt_mem_class expected_dst[] = {
        [GMT_DIR_H2D] = GMT_MEM_DEVICE,  [GMT_DIR_D2H] = GMT_MEM_PAGEABLE,
        [GMT_DIR_D2D] = GMT_MEM_DEVICE,  [GMT_DIR_H2H] = GMT_MEM_PAGEABLE,
        [GMT_DIR_PEER] = GMT_MEM_DEVICE,
    };
    static const enum gmt_mem_class expected_src[] = {
        [GMT_DIR_H2D] = GMT_MEM_PAGEABLE, [GMT_DIR_D2H] = GMT_MEM_DEVICE,
        [GMT_DIR_D2D] = GMT_MEM_DEVICE,   [GMT_DIR_H2H] = GMT_MEM_PAGEABLE,
        [GMT_DIR_PEER] = GMT_MEM_DEVICE,
    };
    if (transfer->dst_class == GMT_MEM_ARRAY) {
        (void)gmt_allocmap_class(transfer->dst, GMT_MEM_ARRAY, &transfer->dst_alloc);
    } else {
        transfer->dst_class = classify(transfer->dst, expected_dst[transfer->direction],
                                       &transfer->dst_alloc);
    }
    if (transfer->src_class == GMT_MEM_ARRAY) {
        (void)gmt_allocmap_class(transfer->src, GMT_MEM_ARRAY, &transfer->src_alloc);
    } else {
        transfer->src_class = classify(transfer->src, expected_src[transfer->direction],
                                       &transfer->src_alloc);
    }
    enum gmt_direction named = (enum gmt_direction)transfer->direction;
    if (named == GMT_DIR_UNKNOWN ||
        (named != GMT_DIR_PEER &&
         is_named_otherwise(transfer, expected_dst[named], expected_src[named]))) {
        transfer->direction = (uint8_t)direction_of(transfer);
    }
}

static void append(const struct gmt_hook_call *call, struct gmt_transfer *transfer, uint64_t bytes)
{
    struct {
        struct gmt_transfer transfer;
        struct gmt_fingerprint print;
    } both;
    if (gmt_fingerprints_on && gmt_fingerprint_take(call, transfer, bytes, &both.print)) {
        both.transfer = *transfer;
        gmt_hook_call_record_slots(GMT_REC_TRANSFER, call, bytes, &both, 2);
    } else {
        gmt_hook_call_record_with(GMT_REC_TRANSFER, call, bytes, transfer);
    }
}

void gmt_transfer_record(struct gmt_hook_call *call, struct gmt_transfer *transfer, uint64_t bytes)
{
    gmt_transfer_classify(transfer);
    /* Synchronous forms return before a copy inside the device is done. */
    if (transfer->direction == GMT_DIR_D2D || transfer->direction == GMT_DIR_PEER) {
        call->flags &= (uint8_t)~GMT_CALL_BLOCKING;
    }
    append(call, transfer, bytes);
    if ((call->flags & GMT_CALL_BLOCKING) != 0) {
        gmt_waited(call);
    }
}
