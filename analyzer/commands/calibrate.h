/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the quick calibration when it is asked for, or when it would help and may be done. */
#ifndef GMT_ANALYZER_COMMANDS_CALIBRATE_H
#define GMT_ANALYZER_COMMANDS_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

enum gmt_calibrate { GMT_CALIBRATE_AUTO, GMT_CALIBRATE_NOW, GMT_CALIBRATE_NEVER };

/* Whether the GPU with that UUID is in this machine, as /proc/driver/nvidia says. */
bool gmt_calibrate_possible(const char *device_uuid);

/* Runs `gmcalibrate --quick --force` for that device (NULL: the first one), which fills the cache; its
 * output goes to stderr. 0; -ENOENT: there is no such program; -ECHILD: it failed. The reason is in
 * message. */
int gmt_calibrate_run(const char *device_uuid, char *message, size_t bytes);

#endif
