/* SPDX-License-Identifier: Apache-2.0 */
/* How long a kernel runs, by the time from its launch to when the host sees that it is over. */
#ifndef GMT_PRELOAD_REPEAT_LAUNCH_TIME_H
#define GMT_PRELOAD_REPEAT_LAUNCH_TIME_H

#include <stdint.h>

/* Of `ns`, on a stream that was idle, what is the kernel's own, about, at least 1. To launch and to look takes 10 to 60 us, as the
 * machine is: what the shortest launch so far took, but 60 us at most. */
uint64_t gmt_launch_time_of_kernel_ns(uint64_t ns);

/* For tests: as if there had been no launch. */
void gmt_launch_time_forget(void);

#endif
