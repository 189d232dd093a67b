/* SPDX-License-Identifier: Apache-2.0 */
/* Side records of memory that other processes can open. A part of layout.h. */
#ifndef GMT_RECORD_LAYOUT_SHARED_H
#define GMT_RECORD_LAYOUT_SHARED_H

#ifndef GMT_RECORD_LAYOUT_H
#error "include libtrace/record/layout.h"
#endif

/* cuIpcGetMemHandle, cuMemPoolExportPointer: the program got a handle that another process opens memory by. Each such call is one,
 * as two handles of one allocation need not be equal. */
struct gmt_export {
    struct gmt_side_head head; /* ticks: when the call returned */
    uint64_t
        hash; /* of all bytes of the handle, which are the same in the process that opens it: the lower half of XXH3
                      with 128 bits; never 0 */
    uint64_t address; /* as the program gave it */
    uint64_t bytes;   /* of the allocation, 0 = not known */
    uint32_t alloc;   /* gmt_alloc.id, 0 = none known */
    uint32_t reserved;
};

static_assert(sizeof(struct gmt_export) == 48, "export");

#endif
