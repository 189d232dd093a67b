/* SPDX-License-Identifier: Apache-2.0 */
/* Shows how far a long step is, and when it will be done. */
#include "libtrace/base/progress.h"

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

static struct {
    const char *what; /* NULL: no step */
    double total, done, began_s, shown_s;
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

static void show(double elapsed_s)
{
    double share = fmin(0.99, step.done / step.total);

    fprintf(stderr, "\r\033[Kgmanalyze: %s, %.0f %%", step.what, 100 * share);
    if (share > 0) {
        fprintf(stderr, ", %.0f s left", ceil(elapsed_s * (1 - share) / share));
    }
    fflush(stderr);
    step.is_shown = true;
}

static void look(void)
{
    double now = now_s(), elapsed_s = now - step.began_s;

    if (elapsed_s < SHOWN_AFTER_S || now - step.shown_s < EVERY_S) {
        return;
    }
    step.shown_s = now;
    show(elapsed_s);
}

void gmt_progress_add(double done)
{
    if (step.what == NULL) {
        return;
    }
    step.done += done;
    look();
}

void gmt_progress_row(void)
{
    if (step.what == NULL || ++step.rows % ROWS_PER_LOOK != 0) {
        return;
    }
    if (step.by_rows) {
        step.done += ROWS_PER_LOOK;
    }
    look();
}

void gmt_progress_end(void)
{
    if (step.is_shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    memset(&step, 0, sizeof(step));
}
