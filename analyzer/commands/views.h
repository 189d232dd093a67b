/* SPDX-License-Identifier: Apache-2.0 */
/* The views of a trace: its public interface. */
#ifndef GMT_ANALYZER_COMMANDS_VIEWS_H
#define GMT_ANALYZER_COMMANDS_VIEWS_H

/* The names of all views in order, one row each: gmt_trace_open makes them for its connection. */
#define GMT_VIEWS_SQL \
    "SELECT name FROM sqlite_temp_master WHERE type = 'view' AND name GLOB 'v_*' ORDER BY name"

#endif
