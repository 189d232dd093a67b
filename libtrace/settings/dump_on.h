/* SPDX-License-Identifier: Apache-2.0 */
/* What else than errors and bad ends makes a recorder write a dump: option --dump-on. */
#ifndef GMT_SETTINGS_DUMP_ON_H
#define GMT_SETTINGS_DUMP_ON_H

#include "libtrace/settings/spool_settings.h"

/* Read "slow-step" or "slow-step=NAME": the range that is a step goes into `step`, "" without a name. 0; -EINVAL: it is
 * neither; -ENAMETOOLONG. */
int gmt_dump_on_read(const char *text, char step[static GMT_SETTINGS_STEP_BYTES]);

#endif
