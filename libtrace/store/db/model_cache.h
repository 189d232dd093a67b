/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the device models of this user's calibration cache into a trace. */
#ifndef GMT_STORE_DB_MODEL_CACHE_H
#define GMT_STORE_DB_MODEL_CACHE_H

#include <sqlite3.h>

/* For each device of the trace: the model of this device (uuid, driver and tool version), else one of
 * a device of the same name, from ${XDG_CACHE_HOME:-$HOME/.cache}/gmtrace/models. No model is no
 * error. Returns 0 or the negative errno of the database. */
int gmt_model_cache_copy(sqlite3 *db);

#endif
