/* SPDX-License-Identifier: Apache-2.0 */
/* What gmanalyze ends with. */
#ifndef GMT_ANALYZER_BASE_EXIT_CODES_H
#define GMT_ANALYZER_BASE_EXIT_CODES_H

enum gmt_exit_code {
    GMT_EXIT_OK = 0,
    GMT_EXIT_GATE = 1,
    GMT_EXIT_USAGE = 2,
    GMT_EXIT_UNREADABLE = 3,
    GMT_EXIT_INCOMPLETE = 4,
};

#endif
