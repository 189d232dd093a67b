/* SPDX-License-Identifier: Apache-2.0 */
/* The views of a trace: its public interface, with those that later versions added. */
#ifndef GMT_ANALYZER_VIEWS_H
#define GMT_ANALYZER_VIEWS_H

#include <sqlite3.h>

/* Makes every view of this version's schema that the trace does not have, for this connection only. */
void gmt_views_add(sqlite3 *db);

/* The names of all views in order, one row each. */
#define GMT_VIEWS_SQL \
    "SELECT name FROM (SELECT name, type FROM sqlite_master UNION SELECT name, type " \
    "FROM sqlite_temp_master) WHERE type = 'view' AND name GLOB 'v_*' ORDER BY name"

#endif
