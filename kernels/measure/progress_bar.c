/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the progress bar. */
#include "kernels/measure/progress_bar.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/fit/child.h"

#define BAR_COLUMNS 30
#define REDRAW_NS 100000000ull
#define LEAST_SHARE_FOR_TIME 0.01

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void gmt_progress_bar_begin(struct gmt_progress_bar *progress, double total)
{
    *progress = (struct gmt_progress_bar){
        .shown = isatty(STDERR_FILENO) == 1,
        .total = total,
        .began_ns = now_ns(),
    };
}

void gmt_progress_bar_begin_child(struct gmt_progress_bar *progress)
{
    *progress = (struct gmt_progress_bar){.is_child = true, .began_ns = now_ns()};
}

static void tell(struct gmt_progress_bar *progress, uint64_t now, const char *what)
{
    if (now - progress->drawn_ns < REDRAW_NS) {
        return;
    }
    progress->drawn_ns = now;
    gmt_child_progress(progress->done - progress->reported, what);
    progress->reported = progress->done;
}

void gmt_progress_bar_add(struct gmt_progress_bar *progress, double units, const char *what)
{
    char bar[BAR_COLUMNS + 1];

    if (progress == NULL) {
        return;
    }
    progress->done += units;
    uint64_t now = now_ns();
    if (progress->is_child) {
        tell(progress, now, what);
    }
    if (!progress->shown || now - progress->drawn_ns < REDRAW_NS || progress->done <= 0) {
        return;
    }
    progress->drawn_ns = now;

    double share = progress->done < progress->total ? progress->done / progress->total : 1;
    double left_s = (double)(now - progress->began_ns) * 1e-9 * (1 - share) / share;
    size_t filled = (size_t)(share * BAR_COLUMNS);

    memset(bar, '-', BAR_COLUMNS);
    memset(bar, '#', filled);
    bar[BAR_COLUMNS] = '\0';
    fprintf(stderr, "\r\033[Kcalibrating [%s] %3.0f %%  ", bar, share * 100);
    /* What the first point takes is not what the next ones will. */
    if (share >= LEAST_SHARE_FOR_TIME) {
        fprintf(stderr, "about %.0f s left  ", left_s);
    }
    fputs(what, stderr);
    fflush(stderr);
}

void gmt_progress_bar_end(struct gmt_progress_bar *progress)
{
    if (progress->shown && progress->drawn_ns != 0) {
        fprintf(stderr, "\r\033[K");
    }
    progress->shown = false;
}
