/* SPDX-License-Identifier: Apache-2.0 */
/* How many counting jumps there are and how far apart (shared by jumps.S and coverage.c). */
#ifndef GMT_PRELOAD_DRIVER_JUMPS_H
#define GMT_PRELOAD_DRIVER_JUMPS_H

#define GMT_JUMPS 256
#define GMT_JUMP_SHIFT 6 /* each takes 64 bytes */

#endif
