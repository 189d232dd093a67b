/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call of a driver function means: flags of column `traits` in preload/driver/hooks.def, and of table
 * `api` in a trace. Traces hold the numbers: that of a trait which is given up is not used again.
 */
#ifndef GMT_RECORD_TRAITS_H
#define GMT_RECORD_TRAITS_H

/* Makes memory reachable for another process, API or device on the bus, or gets some of theirs. */
#define GMT_TRAIT_SHARES_MEMORY 0x1
/* Frees page-locked host memory, or takes back the lock on its pages. */
#define GMT_TRAIT_FREES_HOST 0x2
/* Frees device or managed memory. */
#define GMT_TRAIT_FREES_DEVICE 0x4
/* Gives back reserved addresses; the memory that was mapped there is another call's. */
#define GMT_TRAIT_FREES_ADDRESSES 0x8
/* Allocates page-locked host memory, or locks pages of the program. */
#define GMT_TRAIT_LOCKS_HOST 0x10
/* Allocates from a pool that the program names. */
#define GMT_TRAIT_FROM_POOL 0x20
/* One call does several copies or other operations. */
#define GMT_TRAIT_BATCH 0x40
/* The host waits for the device, and nothing is put into a stream. */
#define GMT_TRAIT_HOST_WAITS 0x80
/* The stream runs code of the host, or waits for a value that the host may write. */
#define GMT_TRAIT_HOST_WORK 0x100
/* The stream writes a value, which nothing else in the trace shows. */
#define GMT_TRAIT_WRITES_VALUE 0x200
/* What the stream gets from here on goes into a graph. */
#define GMT_TRAIT_BEGINS_CAPTURE 0x400
/* The stream's handle may stand for another stream afterwards. */
#define GMT_TRAIT_DESTROYS_STREAM 0x800
/* Starts the driver: the life of a process in a trace begins when it returns. */
#define GMT_TRAIT_STARTS_DRIVER 0x1000
#define GMT_TRAIT_BITS 13

/* Gives something back. */
#define GMT_TRAITS_FREE (GMT_TRAIT_FREES_HOST | GMT_TRAIT_FREES_DEVICE | GMT_TRAIT_FREES_ADDRESSES)

#endif
