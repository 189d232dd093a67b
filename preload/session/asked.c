/* SPDX-License-Identifier: Apache-2.0 */
/* Options -> the settings of the spool. */
#include "preload/session/asked.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/spool.h"
#include "libtrace/settings/dump_on.h"
#include "libtrace/settings/spool_settings.h"
#include "preload/session/options.h"
#include "preload/session/output.h"

#define NS_PER_S UINT64_C(1000000000)

/* Is the field %letter in a pattern of gmt_output_expand? */
static bool has_field(const char *pattern, char letter)
{
    for (const char *at = pattern; (at = strchr(at, '%')) != NULL && at[1] != '\0'; at += 2) {
        if (at[1] == letter) {
            return true;
        }
    }
    return false;
}

/* Two processes whose files one collector reads are not to have samples of one name and the same labels. */
static void put_labels(struct gmt_spool_settings *settings, bool has_pid)
{
    unsigned ranks;
    const char *rank = gmt_options_rank(&ranks);
    size_t used = 0;
    settings->labels[0] = '\0';
    if (has_pid || has_field(gmt_options.metrics, 'p')) {
        used = (size_t)snprintf(settings->labels, sizeof(settings->labels), "pid=\"%ld\"",
                                (long)getpid());
    }
    if (has_field(gmt_options.metrics, 'r') && rank != NULL &&
        rank[strspn(rank, "0123456789")] == '\0') {
        (void)snprintf(settings->labels + used, sizeof(settings->labels) - used, "%srank=\"%.20s\"",
                       used != 0 ? "," : "", rank);
    }
}

/* gpu.prom becomes gpu-PID.prom. */
static int put_pid(char *path)
{
    static char rest[PATH_MAX];
    char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    char *at = dot != NULL ? dot : path + strlen(path);
    (void)snprintf(rest, sizeof(rest), "%s", at);
    size_t room = PATH_MAX - (size_t)(at - path);
    int length = snprintf(at, room, "-%ld%s", (long)getpid(), rest);
    return length > 0 && (size_t)length < room ? 0 : -ENAMETOOLONG;
}

static int put_metrics(struct gmt_spool_settings *settings, bool is_one_of_several)
{
    static_assert(sizeof(settings->metrics) >= PATH_MAX, "a path fits");
    int error = gmt_output_expand(gmt_options.metrics, settings->metrics, PATH_MAX);
    if (error == 0) {
        error = gmt_output_make_absolute(settings->metrics);
    }
    if (error == 0 && is_one_of_several && !has_field(gmt_options.metrics, 'p')) {
        error = put_pid(settings->metrics);
    }
    put_labels(settings, is_one_of_several);
    settings->metrics_ns = gmt_options.metrics_seconds * NS_PER_S;
    return error;
}

void gmt_asked_write(bool is_one_of_several)
{
    static struct gmt_spool_settings settings; /* one thread starts the recording */
    int error = 0;
    settings = (struct gmt_spool_settings){0};
    if (gmt_options.dump_on[0] != '\0' && gmt_options.ring.ns != 0) {
        bool watches = gmt_dump_on_read(gmt_options.dump_on, settings.step) == 0;
        settings.flags |= watches ? GMT_SETTINGS_WATCHES_STEPS : 0;
    }
    if (gmt_options.aggregate && gmt_options.ring.ns == 0) {
        settings.flags |= GMT_SETTINGS_AGGREGATES;
        (void)snprintf(settings.step, sizeof(settings.step), "%s", gmt_options.step);
    }
    /* Of two runs, one counts instructions: the file is to keep the numbers of the other. */
    if (gmt_options.metrics[0] != '\0' && !gmt_options.second_run) {
        error = put_metrics(&settings, is_one_of_several);
        settings.metrics[error == 0 ? sizeof(settings.metrics) - 1 : 0] = '\0';
    }
    if (settings.flags != 0 || settings.metrics[0] != '\0') {
        int folder = gmt_spool_enter();
        int written = folder >= 0 ? gmt_spool_settings_write(folder, &settings) : folder;
        error = error != 0 ? error : written;
        if (folder >= 0) {
            close(folder);
        }
    }
    if (error != 0) {
        gmt_spool_capability("metrics", GMT_CAP_MISSING, -error, gmt_options.metrics,
                             "name a file that can be made with --metrics");
    }
}
