/* SPDX-License-Identifier: Apache-2.0 */
/* Ends what SQLite would not end by itself. */
#include "analyzer/base/time_limit.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "analyzer/base/exit_codes.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/guard.h"

/* What goes on after its statements were interrupted does not ask SQLite: a loop of ours. */
#define GRACE_S 30

static sqlite3 *volatile watched;
static volatile sig_atomic_t is_whole; /* the process has a limit, whatever is open      */
static volatile sig_atomic_t left_s;   /* of processor time, from the first signal on    */
static char last_words[PATH_MAX + 256];

/* sqlite3_interrupt sets a flag, and may come at any time while the connection is open. */
static void time_is_over(int number)
{
    sqlite3 *db = watched;

    (void)number;
    if (db != NULL) {
        sqlite3_interrupt(db);
    }
    if (db == NULL && !is_whole) {
        return;
    }
    left_s = left_s - 1;
    if (left_s < 0) {
        ssize_t written = write(STDERR_FILENO, last_words, strlen(last_words));
        (void)written;
        _exit(GMT_EXIT_UNREADABLE);
    }
}

static void forget(void *db)
{
    if (watched == db) {
        watched = NULL;
    }
}

static void no_value(sqlite3_context *context, int n, sqlite3_value **values)
{
    (void)n;
    (void)values;
    sqlite3_result_null(context);
}

static void remember(const char *path, const char *reason)
{
    FILE *words = fmemopen(last_words, sizeof(last_words), "w");

    if (words == NULL) {
        return;
    }
    gmt_say(words, "gmanalyze: %s: %s\n", path, reason);
    fclose(words);
}

static void set_timer(int64_t ns)
{
    struct sigaction action = {.sa_handler = time_is_over, .sa_flags = SA_RESTART};
    /* Again every second: an interrupt ends the statements that run, and later ones may begin. */
    struct itimerval timer = {.it_interval = {.tv_sec = 1}};

    timer.it_value.tv_sec = (time_t)(ns / 1000000000);
    timer.it_value.tv_usec = (suseconds_t)(ns % 1000000000 / 1000);
    if (sigaction(SIGPROF, &action, NULL) == 0) {
        (void)setitimer(ITIMER_PROF, &timer, NULL);
    }
}

void gmt_time_limit(sqlite3 *db)
{
    int64_t left_ns = gmt_guard_left_ns();
    const char *path = sqlite3_db_filename(db, "main");

    /* A function that nobody calls: its destructor is how a connection says that it closes. */
    if (sqlite3_create_function_v2(db, "gmt_watched", 0, SQLITE_UTF8, db, no_value, NULL, NULL,
                                   forget) != SQLITE_OK) {
        return;
    }
    watched = db;
    left_ns = left_ns > 0 ? left_ns : 0;
    left_s = GRACE_S + (sig_atomic_t)(left_ns / 1000000000);
    remember(path != NULL ? path : "", gmt_guard_time_reason());
    set_timer(left_ns + 1000000000);
}

void gmt_time_limit_process(const char *path, int64_t ns)
{
    remember(path, "is damaged, or made to be slow: it took more processor time than any of its "
                   "size needs");
    is_whole = 1;
    left_s = 0;
    set_timer(ns > 0 ? ns : 1);
}

void gmt_time_limit_process_end(void)
{
    is_whole = 0;
}
