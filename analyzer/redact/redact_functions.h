/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL functions that redact_columns.def uses. */
#ifndef GMT_ANALYZER_REDACT_REDACT_FUNCTIONS_H
#define GMT_ANALYZER_REDACT_REDACT_FUNCTIONS_H

#include <sqlite3.h>

/*
 * Adds them to a connection to a trace: gmt_text, gmt_path, gmt_base, gmt_settings, gmt_package take
 * out folders, and the hosts and users that the trace names now; gmt_word, gmt_sentence, gmt_function,
 * gmt_file, gmt_module, gmt_opcode, gmt_device, gmt_number, gmt_hash, gmt_attributes are NULL for what
 * is not known to be public. 0 or -EIO.
 */
int gmt_redact_functions_add(sqlite3 *db);

#endif
