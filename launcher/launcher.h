/* SPDX-License-Identifier: Apache-2.0 */
/* gmtrace, the launcher: what its files share. */
#ifndef GMT_LAUNCHER_LAUNCHER_H
#define GMT_LAUNCHER_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

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

/* Can LD_PRELOAD hold it? */
bool gmt_launcher_can_preload(const char *path);
/* Put a folder before those of LD_LIBRARY_PATH, here and in what is started. 0 or negative errno; that it cannot be there is
 * said. */
int gmt_launcher_search_first(const char *folder);
/* A library's path becomes what LD_PRELOAD can hold: itself, or its name, and its folder is searched. As
 * gmt_launcher_search_first. */
int gmt_launcher_name_library(char *path);

/* Run argv[0] preloaded with libgmtrace.so and return the status to exit with. */
int gmt_launcher_run(char *const argv[]);

/* One run of a program: what its traces, and they alone, are known by. */
struct gmt_launcher_run {
    char
        name[48]; /* when it began (ns of CLOCK_REALTIME_COARSE), and a random number             */
    char value[80]; /* of GMT_RUN_VARIABLE                                                      */
    int note;       /* run_note.h; negative: there is none                                      */
    double limit_s; /* longer it may not take; 0: there is no limit                             */
};
struct gmt_launcher_run gmt_launcher_begin_run(void);

/* Run the program with that name, with the wait status of the
 * program. run: NULL: without anything of ours in it. second_output: NULL, or where a run that counts instructions has its traces. Returns 0; -1: how
 * it ended is not known; GMT_EXECUTE_LATE: it was ended; else the status to exit with, since there was no run. */
enum { GMT_EXECUTE_LATE = -2 };
int gmt_launcher_execute(char *const argv[], const struct gmt_launcher_run *run,
                         const char *second_output, int *status);

/* Wait for a child, and end it and all that it has started after limit_s (0: none). Returns 0, -1 (how it ended is not known) or
 * GMT_EXECUTE_LATE. */
int gmt_launcher_wait(pid_t pid, double limit_s, int *status);

/* Between runs, too, signals that would end gmtrace are only noted, from the next run on, until they are given back. */
void gmt_launcher_hold_signals(bool hold);
/* The last of them that came; 0: none. */
int gmt_launcher_received(void);

/* Count instructions in a second run of the program, and take them into the traces of the first. Says so
 * before; nothing of that run is seen, and it may fail. */
void gmt_launcher_second_run(const char *pattern, const struct gmt_launcher_run *run,
                             char *const argv[]);

/* What of LD_PRELOAD, as the user has it, is the ASan runtime (or, without `asan`, is not). */
void gmt_launcher_preload_of_user(const char *list, bool asan, char *out, size_t bytes);
/* Let ASan's runtime start in programs that ours is preloaded into, before it. 0 or negative errno. */
int gmt_launcher_let_asan_start(void);

/* The status to exit with after that wait status. */
int gmt_launcher_exit_status(int status);
/* `gmtrace try`, `gmtrace apply`: what fixes gain, and a program with those that are proven. The program's own status. */
int gmt_launcher_try(char *const argv[]);
int gmt_launcher_apply(char *const argv[]);
/* Can the library be preloaded into it? If not, that is said. */
bool gmt_launcher_can_apply(const char *program);

/* `gmtrace doctor [--json] [PROGRAM]`: print what works here and what does not. Returns 0, or 1 when
 * recording itself would fail. */
int gmt_launcher_doctor(char *const argv[]);

/* `gmtrace dump PID [-o FILE]`; argv[0] is the command, whose text must not be read afterwards. */
int gmt_launcher_dump(int argc, char *argv[]);

/* `gmtrace on PID`, `gmtrace off PID`; argv[0] is the word. */
int gmt_launcher_switch(char *const argv[]);
/* `gmtrace status [PID]` */
int gmt_launcher_status(char *const argv[]);

/* `gmtrace top [OPTION...] [PID]`; argv[0] is the command, whose text must not be read afterwards. */
int gmt_launcher_top(int argc, char *argv[]);

/* Has the user asked for the software device? (Not for it, or for a GPU: false.) */
bool gmt_launcher_wants_software_device(void);
/* The folder of its libraries; -ENOENT when it is not installed. */
int gmt_launcher_software_device(char *folder, size_t bytes);
struct gmt_program;
/* Why the program cannot run there, in `text` or not; NULL: nothing is known to prevent it. */
const char *gmt_launcher_software_device_obstacle(const struct gmt_program *program, char *text,
                                                  size_t bytes);
/* Make a program that is to be executed in this process find it. `preload` gets what has to be
 * preloaded for that, or stays as it is. Refuses, and says why, what could not run on it. */
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

/* Can the trace be written, and the report that the user asked for? 0, or negative errno when that is said. */
int gmt_launcher_check_outputs(void);
/* By its name, is it a page for a browser? */
bool gmt_launcher_is_page(const char *path);
/* Does its ending name a format of reports? */
bool gmt_launcher_is_report(const char *path);
/* --open */
bool gmt_launcher_wants_page_opened(void);
/* Shows it, or says why not: never without a terminal, or in a CI job. */
void gmt_launcher_open_page(const char *path);

/* Five lines on what a trace holds. */
void gmt_launcher_summary(struct sqlite3 *db);

/* Does the user want no more than where the trace is, and what went wrong? */
bool gmt_launcher_is_quiet(void);
/* What to change first, by gmanalyze, unless it takes too long; then the report that the user asked for. Neither
 * changes the status to exit with. */
void gmt_launcher_answer(char *const *traces, size_t count);

/* Of one run, at most so many are listed. */
enum { GMT_MOST_TRACES = 256 };
/* The traces of a run, whose paths the caller frees. Returns how many. */
size_t gmt_launcher_traces(const char *pattern, const struct gmt_launcher_run *run,
                           char *paths[static GMT_MOST_TRACES]);
/* Wait for what is still being written, or finish it. -ETIMEDOUT: not within 10 s; else as
 * gmt_recording_recover. */
int gmt_launcher_await(const char *path);

/* What became of the traces of a run. */
enum gmt_launcher_outcome {
    GMT_OUTCOME_TRACE,   /* there is one, or will be            */
    GMT_OUTCOME_NO_CALL, /* no process made a call of the driver */
    GMT_OUTCOME_FAILED,  /* none could be written                */
};
/* Say so to the user. fails: without a trace gmtrace fails, since the user named an output. */
enum gmt_launcher_outcome gmt_launcher_report(const char *pattern,
                                              const struct gmt_launcher_run *run,
                                              const char *program, bool fails);

struct gmt_control;

/* Print `head`, then what recording costs a process: the share of the time between two readings of its control page (`before`
 * NULL, or nothing new since: of all the time) with its interval, its parts, and what is shed now. Nothing where it is not
 * known yet. */
void gmt_overhead_print(FILE *out, const char *head, const struct gmt_control *before,
                        const struct gmt_control *now);

#endif
