/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of devices that are made when the program starts the driver. */
#ifndef GMT_PRELOAD_APPLY_SETTINGS_H
#define GMT_PRELOAD_APPLY_SETTINGS_H

/* wait-policy and pool-threshold, where the plan has them. */
void gmt_settings_start(void);

#endif
