/* SPDX-License-Identifier: Apache-2.0 */
/* Shows how far a long step is, and when it will be done. */
#include "libtrace/base/progress.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Between looks at the clock, which costs as much as reading a row. */
enum { ROWS_PER_LOOK = 4096 };
#define SHOWN_AFTER_S 1.0
#define EVERY_S 0.2
/* What the first part takes is not what the next ones will. */
#define LEAST_SHARE_FOR_TIME 0.01

/* Of the thread that has begun it: others do their part of the work in silence. */
static _Thread_local struct {
    const char *what; /* NULL: no step */
    double total, done, began_s, shown_s;
    double forwarded; /* of what is done */
    void (*forward)(double done, const char *part);
    uint32_t rows;
    bool is_shown, by_rows;
} step;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool is_wanted(void)
{
    static int wanted = -1;

    if (wanted < 0) {
        const char *term = getenv("TERM");

        wanted = isatty(STDERR_FILENO) && (term == NULL || strcmp(term, "dumb") != 0);
    }
    return wanted != 0;
}

void gmt_progress_begin(const char *what, double total)
{
    gmt_progress_end();
    if (!(total > 0) || !is_wanted()) {
        return;
    }
    memset(&step, 0, sizeof(step));
    step.what = what;
    step.total = total;
    step.began_s = now_s();
}

void gmt_progress_begin_rows(const char *what, double rows)
{
    gmt_progress_begin(what, rows);
    step.by_rows = true;
}

void gmt_progress_forward(void (*forward)(double done, const char *part))
{
    gmt_progress_end();
    step.what = ""; /* begun, and never shown */
    step.forward = forward;
    step.began_s = now_s();
}

void gmt_progress_forward_rows(void (*forward)(double rows, const char *part))
{
    gmt_progress_forward(forward);
    step.by_rows = true;
}

static void show(double elapsed_s, const char *part)
{
    double share = fmin(0.99, step.done / step.total);

    fprintf(stderr, "\r\033[K%s: %s", program_invocation_short_name, step.what);
    if (part != NULL) {
        fprintf(stderr, " (%s)", part);
    }
    fprintf(stderr, ", %.0f %%", 100 * share);
    if (share >= LEAST_SHARE_FOR_TIME) {
        fprintf(stderr, ", %.0f s left", ceil(elapsed_s * (1 - share) / share));
    }
    fflush(stderr);
    step.is_shown = true;
}

static void look(const char *part)
{
    double now = now_s(), elapsed_s = now - step.began_s;

    if (now - step.shown_s < EVERY_S || (step.forward == NULL && elapsed_s < SHOWN_AFTER_S)) {
        return;
    }
    step.shown_s = now;
    if (step.forward != NULL) {
        step.forward(step.done - step.forwarded, part);
        step.forwarded = step.done;
    } else {
        show(elapsed_s, part);
    }
}

void gmt_progress_add_part(double done, const char *part)
{
    if (step.what == NULL) {
        return;
    }
    step.done += done;
    look(part);
}

void gmt_progress_add(double done)
{
    gmt_progress_add_part(done, NULL);
}

void gmt_progress_row(void)
{
    if (step.what == NULL || ++step.rows % ROWS_PER_LOOK != 0) {
        return;
    }
    if (step.by_rows) {
        step.done += ROWS_PER_LOOK;
    }
    look(NULL);
}

void gmt_progress_end(void)
{
    if (step.is_shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    memset(&step, 0, sizeof(step));
}
