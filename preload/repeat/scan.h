/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can a kernel get at memory that is not restored? Looks for addresses of such memory in all that the kernel can
 * read: its arguments, and (on the device) every aligned 8-byte word of what it can write.
 *
 * A word in a window (windows.h) may be an address, or any number. The driver is asked about each that is not equal to one before (with too many
 * the launch is refused): what it knows as memory
 * of the host, of another context, or managed leads there. Other device memory (a variable of another module) is added to what
 * is restored. What the driver does not know is no address that a kernel may use, but on devices that can read pageable
 * memory, and where code may have allocated memory of the device's heap.
 */
#ifndef GMT_PRELOAD_REPEAT_SCAN_H
#define GMT_PRELOAD_REPEAT_SCAN_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/unmeasured.h"
#include "preload/repeat/reach.h"
#include "preload/state/kernels.h"

#define GMT_SCAN_WORDS 65536 /* in windows, equal ones included; with more the launch is refused */
#define GMT_SCAN_PUT \
    240 /* windows that one launch puts into the table: parameters have 4096 bytes */

extern const char gmt_scan_ptx[];

/* Device memory that a scan needs for itself, bytes. */
size_t gmt_scan_bytes(void);

/* The arguments as the program passes them; one of both is NULL, or both. */
struct gmt_arguments {
    void **parameters;
    void **extra;
};

/* GMT_MEASURABLE, or why not. Where `reach` has grown, all has to be looked through again, with room for a copy of it.
 * `own`: device memory of ours, aligned to 256 bytes, of which the first gmt_scan_bytes()
 * are used; an address in there was left by memory that is gone. The context is current, and nothing is under way in
 * it; the scan is over when this returns. */
enum gmt_unmeasured gmt_scan(struct gmt_reach *reach, const struct gmt_kernel_info *kernel,
                             const struct gmt_arguments *arguments, const struct gmt_extent *own);

/* Load the code that looks through memory, into the current context, in which nothing is under way: the driver may
 * wait for the device, and translates it. Others are held, and may break the hold meanwhile. False: it is refused. */
bool gmt_scan_prepare(void);

/* Evict from L2 the dirty lines that copying left there: `reach` is read, up to twice the size of L2. Asynchronous; after
 * gmt_scan, with its `own`. */
void gmt_scan_clean_l2(const struct gmt_reach *reach, const struct gmt_extent *own);

/* The context is gone, with the code that was loaded there. NULL: all are, in a forked child. */
void gmt_scan_forget(CUcontext context);

#endif
