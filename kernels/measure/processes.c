/* SPDX-License-Identifier: Apache-2.0 */
/* Runs gmcalibrate itself as the process that measures, and takes in what it found. */
#include "kernels/measure/processes.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernels/fit/child.h"
#include "kernels/fit/rawfile.h"
#include "kernels/measure/run_passes.h"
#include "libtrace/base/progress.h"

/* A measuring process reports progress several times a second; this is a device that hangs. */
#define TIMEOUT_S 60

/* Whatever a process leaves out is added at its end. */
static void heard(void *context, double units, const char *what)
{
    double *units_left = context;

    *units_left -= units;
    gmt_progress_add_part(units, what);
}

static int take_in(struct gmt_bench *bench, const json_t *result, unsigned process)
{
    json_int_t largest = json_integer_value(json_object_get(result, "largest_copy_bytes"));
    int rc = gmt_raw_merge(bench->raw, json_object_get(result, "raw"), process);

    if (rc == 0 && largest > 0) {
        bench->host_bytes = (size_t)largest;
    }
    return rc;
}

static void note_missing(struct gmt_bench *bench, unsigned process, const char *why)
{
    char note[384];

    snprintf(note, sizeof(note), "measuring process %u of %u %s: its measurements are missing",
             process + 1, bench->process_count, why);
    gmt_bench_note(bench, note);
}

int gmt_bench_process(struct gmt_bench *bench, const char *only, unsigned process)
{
    char name[] = "gmcalibrate", quick[] = "--quick", origin[64], device[32], family[64];
    char processes[32];
    char *arguments[] = {name, origin, device, processes, NULL, NULL, NULL};
    double units_left = gmt_process_units(bench, only);
    const struct gmt_child child = {
        .program = "/proc/self/exe",
        .arguments = arguments,
        .timeout_s = TIMEOUT_S,
        .heard = heard,
        .context = &units_left,
    };
    char message[320] = "";
    json_t *result = NULL;
    size_t count = 4;

    snprintf(origin, sizeof(origin), "--process=%ld,%" PRIu64, (long)getpid(), bench->began_ns);
    snprintf(device, sizeof(device), "--device=%d", bench->device);
    snprintf(processes, sizeof(processes), "--processes=%u", bench->process_count);
    if (bench->quick) {
        arguments[count++] = quick;
    }
    if (only != NULL) {
        snprintf(family, sizeof(family), "--family=%s", only);
        arguments[count++] = family;
    }
    int rc = gmt_child_run(&child, &result, message, sizeof(message));
    if (rc == 0) {
        rc = take_in(bench, result, process);
        if (rc != 0) {
            snprintf(message, sizeof(message), "sent no measurements");
        }
    }
    if (rc != 0) {
        note_missing(bench, process, message);
    }
    json_decref(result);
    gmt_progress_add_part(units_left, "processes");
    return rc;
}

static int measure(struct gmt_bench *bench, int device, const char *only)
{
    int rc = gmt_bench_open(bench, device);

    if (rc == 0) {
        rc = gmt_bench_run_passes(bench, only);
    }
    if (rc == 0) {
        gmt_child_result(json_pack("{s:O, s:I}", "raw", bench->raw, "largest_copy_bytes",
                                   (json_int_t)bench->host_bytes));
    } else {
        gmt_child_error(bench->error);
    }
    gmt_bench_close(bench);
    return rc;
}

int gmt_process_serve(const char *origin, const char *device, struct gmt_bench *bench,
                      const char *only)
{
    long parent;

    if (sscanf(origin, "%ld,%" SCNu64, &parent, &bench->began_ns) != 2 ||
        gmt_child_begin((pid_t)parent) != 0) {
        return 1;
    }
    gmt_progress_forward(gmt_child_progress);
    bench->raw = json_object();
    int rc = measure(bench, (int)strtol(device, NULL, 10), only);
    json_decref(bench->raw);
    return rc == 0 ? 0 : 1;
}
