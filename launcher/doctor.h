/* SPDX-License-Identifier: Apache-2.0 */
/* `gmtrace doctor`: what its checks share. */
#ifndef GMT_LAUNCHER_DOCTOR_H
#define GMT_LAUNCHER_DOCTOR_H

#include <stdbool.h>

/* GOOD: as it should be. LIMITED: recording works, and lacks something. BAD: it does not work. */
enum gmt_doctor_state { GMT_DOCTOR_GOOD, GMT_DOCTOR_LIMITED, GMT_DOCTOR_BAD };

/* json: the answers are kept, and printed as one object at the end. */
void gmt_doctor_begin(bool json);
/* state: the worst of all. 0, or -1 where the object could not be printed. */
int gmt_doctor_end(enum gmt_doctor_state *state);

/* One line of the answer. remedy: what to do, NULL where there is nothing to do. */
__attribute__((format(printf, 4, 5))) void gmt_doctor_say(enum gmt_doctor_state state,
                                                          const char *check, const char *remedy,
                                                          const char *format, ...);

/* Each says at least one line, but for gmt_doctor_preload where the library is missing. */
void gmt_doctor_gpu(void);                 /* driver, devices, MIG, calibration */
void gmt_doctor_software_device(void);     /* instead, for --device sim           */
void gmt_doctor_counters(void);            /* CUPTI and the permission to count  */
void gmt_doctor_others(void);              /* DCGM, other profilers              */
void gmt_doctor_preload(void);             /* LD_PRELOAD, and by which name      */
void gmt_doctor_program(const char *name); /* where its CUDA runtime comes from  */

/* A symbol of a library that may be NULL. */
void *gmt_doctor_symbol(void *library, const char *name);

#endif
