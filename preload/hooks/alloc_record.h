/* SPDX-License-Identifier: Apache-2.0 */
/* Recording the beginning and the end of an allocation, and that others can open it. */
#ifndef GMT_PRELOAD_HOOKS_ALLOC_RECORD_H
#define GMT_PRELOAD_HOOKS_ALLOC_RECORD_H

#include <cuda.h>

#include "libtrace/record/layout.h"
#include "preload/state/allocmap.h"
#include "preload/state/hook_call.h"

struct gmt_alloc_shape {
    uint64_t pitch, width, height, pool;
    uint64_t handle_hash; /* gmt_alloc.handle_hash */
    uint32_t flags;
    bool is_handle;        /* the address is a handle: nothing lies behind its first byte */
    bool outlives_context; /* it does not go with the context */
};

/* The call `call` allocated, if it succeeded: its out-parameters say nothing otherwise, and the record
 * has no address then. */
void gmt_alloc_record(const struct gmt_hook_call *call, enum gmt_alloc_kind kind, uint64_t address,
                      uint64_t bytes, struct gmt_alloc_shape shape);

/* What a hook of a call that frees keeps during it. */
struct gmt_freed {
    bool known;
    struct gmt_allocation gone;
};

/* Before a call that frees: the address may belong to someone else the moment the driver has it back,
 * so it is forgotten first. False: nothing known starts there. */
bool gmt_alloc_begin_free(uint64_t address, struct gmt_allocation *gone);

/* The call `call` freed `gone` (already taken out of the map); if it failed, it is put back. With
 * `known` false the call freed nothing that is known and is recorded as a plain call. */
void gmt_alloc_record_free(const struct gmt_hook_call *call, bool known,
                           const struct gmt_allocation *gone);

/* gmt_export.hash of a handle of so many bytes, as a call that succeeded left or took it; `handle` NULL, or the call
 * `call` failed: 0. */
uint64_t gmt_alloc_handle_hash(const struct gmt_hook_call *call, const void *handle, size_t bytes);

/* The call `call`, if it succeeded, gave the program a handle by which other processes open the memory at `address`; it has been
 * recorded. */
void gmt_alloc_record_export(const struct gmt_hook_call *call, const void *handle,
                             size_t handle_bytes, uint64_t address);

/* Size of the driver's allocation that starts at `base`; 0 if the driver does not say. */
uint64_t gmt_alloc_bytes_at(uint64_t base);

/* Did the call `call` let another device than the current one use memory? */
bool gmt_access_of_others(const struct gmt_hook_call *call, const CUmemAccessDesc *access,
                          size_t count);

/* What a call stored; 0 where it failed. */
uint64_t gmt_alloc_value_at(const CUdeviceptr *address, CUresult result);

#endif
