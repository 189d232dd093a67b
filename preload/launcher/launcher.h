/* SPDX-License-Identifier: Apache-2.0 */
/* gmtrace, the launcher: what its files share. */
#ifndef GMT_PRELOAD_LAUNCHER_H
#define GMT_PRELOAD_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses of the launcher itself; otherwise it returns the program's own. */
enum {
    GMT_EXIT_FAILED = 125,     /* gmtrace itself could not do its part */
    GMT_EXIT_CANNOT_RUN = 126, /* the program is there but cannot be executed */
    GMT_EXIT_NOT_FOUND = 127,
    GMT_EXIT_SIGNAL = 128, /* + signal number */
};

/* Path of a part of gmtrace relative to the launcher's own folder ("../lib/libgmtrace.so"). Returns
 * 0, or -ENOENT when there is no such file. */
int gmt_launcher_part(const char *relative, char *path, size_t bytes);

/* Run argv[0] preloaded with libgmtrace.so and return the status to exit with. */
int gmt_launcher_run(char *const argv[]);

/* `gmtrace doctor [--json] [PROGRAM]`: print what works here and what does not. Returns 0, or 1 when
 * recording itself would fail. */
int gmt_launcher_doctor(char *const argv[]);

/* Has the user asked for the software device? (Not for it, or for a GPU: false.) */
bool gmt_launcher_wants_software_device(void);
/* The folder of its libraries; -ENOENT when it is not installed. */
int gmt_launcher_software_device(char *folder, size_t bytes);
/* Make a program that is to be executed in this process find it. `preload` gets what has to be
 * preloaded for that, or stays as it is. Refuses, and says why, what could not run on it. */
struct gmt_program;
int gmt_launcher_use_software_device(const char *name, const struct gmt_program *program,
                                     char *preload, size_t bytes);

/* Numbers for people: "1.20 GiB"; "1,234 copies", "1 copy". */
struct gmt_words {
    char text[32];
};
struct gmt_words gmt_words_of_bytes(int64_t bytes);
struct gmt_words gmt_words_of_count(int64_t n, const char *one, const char *many);

/* Who held memory when the program got none: nothing where that did not happen. */
struct sqlite3;
void gmt_launcher_out_of_memory(struct sqlite3 *db);

/* Five lines on what a trace holds. */
void gmt_launcher_summary(struct sqlite3 *db);

/* Tell the user what became of the trace of a program that ran from `since_ns` (CLOCK_REALTIME_COARSE). */
void gmt_launcher_report(const char *pattern, int64_t pid, uint64_t since_ns, const char *program);

#endif
