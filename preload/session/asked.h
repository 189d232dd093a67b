/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorder of this process is asked to do: the metrics file, and watching for slow steps. */
#ifndef GMT_PRELOAD_SESSION_ASKED_H
#define GMT_PRELOAD_SESSION_ASKED_H

#include <stdbool.h>

/* Write the settings into the spool that was just opened, before its recorder is started. is_one_of_several: another process
 * of this run has the name of the output, and so that of the metrics file: the process id becomes part of ours. */
void gmt_asked_write(bool is_one_of_several);

#endif
