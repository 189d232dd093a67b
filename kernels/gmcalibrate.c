/* SPDX-License-Identifier: Apache-2.0 */
/* gmcalibrate: measures this device with the reference kernels and writes its device model. */
#include <argp.h>
#include <cuda_runtime.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bench/bench.h"
#include "kernels/fit/model.h"
#include "kernels/fit/model_files.h"
#include "kernels/measure/calibration.h"
#include "kernels/measure/device.h"
#include "kernels/measure/processes.h"
#include "kernels/measure/run_passes.h"
#include "kernels/model_commands.h"
#include "kernels/untimed.h"
#include "kernels/variants/variants.h"
#include "libtrace/base/option_check.h"
#include "libtrace/base/printable.h"
#include "libtrace/base/progress.h"

#ifndef GMT_VERSION
#define GMT_VERSION "0.1.0"
#endif

#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define EXIT_NO_GPU 3

#define PROCESSES_MOST 64

enum {
    OPTION_QUICK = 256, /* beyond any character: long options only */
    OPTION_RAW,
    OPTION_LIST,
    OPTION_FAMILY,
    OPTION_VARIANT,
    OPTION_ONCE,
    OPTION_LAUNCHES,
    OPTION_ROUNDS,
    OPTION_CHECK,
    OPTION_FIT,
    OPTION_FORCE,
    OPTION_SHOW,
    OPTION_PROCESSES,
    OPTION_PROCESS,
};

struct options {
    const char *device;
    bool quick;
    bool list;
    bool once;
    const char *output;
    const char *raw;
    const char *family;
    struct gmt_untimed variants; /* for --once */
    unsigned processes;
    const char *process; /* this is one of them */
    const char *check;
    const char *fit;
    bool force;
    bool show;
    const char *model; /* to check against */
    char command[512];
};

/* The C library looks it up by name, past this build's hidden visibility. */
__attribute__((visibility("default")))
const char *argp_program_version = "gmcalibrate " GMT_VERSION;

static const struct argp_option option_table[] = {
    {"device", 'd', "N", 0,
     "Device to measure, as CUDA counts them, or its GPU-... UUID (default 0)", 0},
    {"quick", OPTION_QUICK, NULL, 0, "Fewer samples and no copies above 64 MiB, in 10 s", 0},
    {"force", OPTION_FORCE, NULL, 0, "Measure although there is a cached model", 0},
    {"show", OPTION_SHOW, NULL, 0, "Print the cached model, or MODEL, and measure nothing", 0},
    {"output", 'o', "FILE", 0, "Where the model goes; - is standard output (default: the cache)",
     0},
    {"raw", OPTION_RAW, "FILE", 0, "Also write every single timing", 0},
    {"list", OPTION_LIST, NULL, 0, "Print all variants with their expected counters", 0},
    {"family", OPTION_FAMILY, "NAME", 0,
     "Measure this family (or costs, batches, transfers, host: all three) only; output to - by "
     "default",
     0},
    {"processes", OPTION_PROCESSES, "N", 0,
     "Measure calls and copies in N processes (default 3, 2 with --quick; 0: in this one)", 0},
    {"process", OPTION_PROCESS, "PARENT,BEGAN", OPTION_HIDDEN, NULL, 0},
    {"variant", OPTION_VARIANT, "FAMILY:NAME[,...]", 0,
     "The variants for --once; FAMILY and NAME may be all", 0},
    {"once", OPTION_ONCE, NULL, 0, "Launch --variant untimed, print its counters", 0},
    {"launches", OPTION_LAUNCHES, "N", 0, "Launches of each variant under --once (default 2)", 0},
    {"rounds", OPTION_ROUNDS, "N", 0, "Before them, all variants in turn, N times (default 0)", 0},
    {"check", OPTION_CHECK, "RAW", 0, "Refit from RAW and compare with MODEL (default: the cache)",
     0},
    {"fit", OPTION_FIT, "RAW", 0, "Fit a model to the timings in RAW and write it to --output", 0},
    {NULL, 'h', NULL, OPTION_HIDDEN, "", 0},
    {0},
};

static unsigned parse_count(const char *argument, const char *option, unsigned long most,
                            struct argp_state *state)
{
    char *end;

    errno = 0;
    unsigned long count = strtoul(argument, &end, 10);
    if (errno != 0 || end == argument || *end != '\0' || argument[0] == '-' || count > most) {
        argp_error(state, "--%s takes a number up to %lu, not '%s'", option, most, argument);
    }
    return (unsigned)count;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'h': argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP); return 0;
    case 'd': options->device = argument; return 0;
    case 'o': options->output = argument; return 0;
    case OPTION_QUICK: options->quick = true; return 0;
    case OPTION_RAW: options->raw = argument; return 0;
    case OPTION_LIST: options->list = true; return 0;
    case OPTION_FAMILY:
        if (!gmt_family_known(argument) && !gmt_part_known(argument)) {
            argp_error(state, "no family '%s' (see --list)", argument);
        }
        options->family = argument;
        return 0;
    case OPTION_VARIANT: options->variants.wanted = argument; return 0;
    case OPTION_ONCE: options->once = true; return 0;
    case OPTION_LAUNCHES:
        options->variants.launches = parse_count(argument, "launches", 100000, state);
        return 0;
    case OPTION_ROUNDS:
        options->variants.rounds = parse_count(argument, "rounds", 100000, state);
        return 0;
    case OPTION_CHECK: options->check = argument; return 0;
    case OPTION_FIT: options->fit = argument; return 0;
    case OPTION_FORCE: options->force = true; return 0;
    case OPTION_SHOW: options->show = true; return 0;
    case OPTION_PROCESSES:
        options->processes = parse_count(argument, "processes", PROCESSES_MOST, state);
        return 0;
    case OPTION_PROCESS: options->process = argument; return 0;
    case ARGP_KEY_ARG:
        if ((options->check == NULL && !options->show) || options->model != NULL) {
            return ARGP_ERR_UNKNOWN;
        }
        options->model = argument;
        return 0;
    case ARGP_KEY_END:
        if ((options->variants.wanted != NULL) != options->once) {
            argp_error(state, "--variant and --once need each other");
        }
        if (options->fit != NULL && options->output == NULL) {
            argp_error(state, "--fit needs --output");
        }
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void print_number(double value, const char *format, int width)
{
    if (isnan(value)) {
        printf(" %*s", width, "-");
    } else {
        printf(format, value);
    }
}

static void list_variants(void)
{
    printf("%-10s %-22s %-8s %9s %6s %13s %12s %6s %-6s %s\n", "family", "variant", "quality",
           "parameter", "width", "sectors/load", "efficiency %", "n-way", "rule", "what");
    for (size_t i = 0; i < gmt_variant_count; i++) {
        const struct gmt_variant *variant = &gmt_variants[i];

        printf("%-10s %-22s %-8s %9u %6u", variant->family, variant->name,
               gmt_quality_name(variant->quality), variant->parameter, variant->width_bytes);
        print_number(variant->sectors_per_request, " %13g", 13);
        print_number(variant->efficiency_percent, " %12g", 12);
        print_number(variant->ways, " %6g", 6);
        printf(" %-6s %s\n", variant->rule != NULL ? variant->rule : "-", variant->doc);
    }
}

static int write_document(const json_t *document, const char *path)
{
    int rc = gmt_json_write(document, path);

    if (rc != 0) {
        gmt_fail(EXIT_FAILED, path, strerror(-rc));
    }
    return rc == 0 ? 0 : EXIT_FAILED;
}

/* Where results go. raw: empty when the timings are not wanted. */
struct outputs {
    char model[PATH_MAX];
    char raw[PATH_MAX];
    bool is_cache;
};

static int finish(struct gmt_bench *bench, const struct outputs *outputs)
{
    char message[256];
    json_t *model = gmt_model_from_raw(bench->raw, message, sizeof(message));
    int status = outputs->raw[0] != '\0' ? write_document(bench->raw, outputs->raw) : 0;

    if (model == NULL) {
        return gmt_fail(EXIT_FAILED, "cannot fit a model", message);
    }
    if (write_document(model, outputs->model) != 0) {
        status = EXIT_FAILED;
    }
    if (status == 0) {
        gmt_model_summary(model, stderr);
        gmt_say(stderr, "gmcalibrate: %s written after %.1f s\n", outputs->model,
                (double)(gmt_now_ns() - bench->began_ns) * 1e-9);
    }
    json_decref(model);
    return status;
}

/* By default the cache, with the timings beside the model, so that the fit can be redone. */
static int choose_outputs(const struct options *options, const json_t *raw, struct outputs *outputs)
{
    const char *wanted = options->output;

    *outputs = (struct outputs){.is_cache = false};
    if (wanted == NULL && options->family != NULL) {
        wanted = "-";
    }
    outputs->is_cache = wanted == NULL;
    if (options->raw != NULL) {
        snprintf(outputs->raw, sizeof(outputs->raw), "%s", options->raw);
    }
    if (wanted != NULL) {
        snprintf(outputs->model, sizeof(outputs->model), "%s", wanted);
        return 0;
    }
    int rc = gmt_cached_path(raw, outputs->model, sizeof(outputs->model));
    if (rc == -ENOENT) {
        return gmt_fail(EXIT_FAILED, "neither XDG_CACHE_HOME nor HOME is set: use --output FILE",
                        NULL);
    }
    if (rc != 0) {
        return gmt_fail(EXIT_FAILED, "no name for the cached model", strerror(-rc));
    }
    int stem = (int)(strlen(outputs->model) - strlen(".json"));
    if (options->raw == NULL && snprintf(outputs->raw, sizeof(outputs->raw), "%.*s.raw.json", stem,
                                         outputs->model) >= (int)sizeof(outputs->raw)) {
        return gmt_fail(EXIT_FAILED, outputs->model, strerror(ENAMETOOLONG));
    }
    return 0;
}

/* Before the seconds of measuring, not after: can the results be written? */
static int prepare_outputs(const struct outputs *outputs)
{
    const char *const paths[] = {outputs->model, outputs->raw};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        int rc = paths[i][0] != '\0' && strcmp(paths[i], "-") != 0 ? gmt_path_prepare(paths[i]) : 0;

        if (rc != 0) {
            gmt_say(stderr, "gmcalibrate: cannot write %s: %s (use --output FILE)\n", paths[i],
                    strerror(-rc));
            return EXIT_FAILED;
        }
    }
    return 0;
}

/* Whether the cached model answers the call; *status is then what to exit with. */
static bool answered_by_cache(const struct options *options, const struct outputs *outputs,
                              int *status)
{
    bool current = gmt_cached_is_current(outputs->model, options->quick || options->show);

    if (options->show && !current) {
        *status = gmt_fail(EXIT_FAILED,
                           "no model of this device, driver and version is cached; gmtrace "
                           "calibrate makes one",
                           NULL);
        return true;
    }
    if (!options->show && (!outputs->is_cache || options->force || !current)) {
        return false;
    }
    *status = gmt_model_show(outputs->model);
    if (!options->show) {
        fprintf(stderr, "gmcalibrate: nothing was measured: this model is up to date (--force "
                        "measures again)\n");
    }
    return true;
}

static int run_device(const struct options *options)
{
    struct gmt_bench bench = {
        .quick = options->quick,
        .process_count = options->processes,
        .began_ns = gmt_now_ns(),
    };
    struct outputs outputs;
    char line[256];
    int status = EXIT_FAILED;
    int rc;

    if (options->once && gmt_untimed_check(&bench, &options->variants) != 0) {
        return gmt_fail(EXIT_USAGE, bench.error, "no such variant (see --list)");
    }
    rc = gmt_device_find(options->device, &bench.device, line, sizeof(line));
    if (rc != 0) {
        return gmt_fail(rc == -EINVAL ? EXIT_USAGE : EXIT_NO_GPU, line, NULL);
    }
    bench.raw = gmt_device_raw(bench.device, GMT_VERSION, options->command);
    if (!options->once) {
        status = choose_outputs(options, bench.raw, &outputs);
        if (status != 0 || answered_by_cache(options, &outputs, &status)) {
            goto out;
        }
        status = prepare_outputs(&outputs);
        if (status != 0) {
            goto out;
        }
    }
    status = EXIT_FAILED;
    if (gmt_bench_open(&bench, bench.device) != 0) {
        gmt_fail(EXIT_FAILED, bench.error, NULL);
        goto out;
    }
    if (options->once) {
        rc = gmt_untimed_run(&bench, &options->variants);
        status = rc != 0 ? gmt_fail(EXIT_FAILED, bench.error, NULL) : 0;
        goto out;
    }
    gmt_device_settings(&bench);
    gmt_progress_begin("calibrating", gmt_bench_units(&bench, options->family));
    rc = gmt_bench_measure(&bench, options->family);
    gmt_progress_end();
    gmt_device_settings(&bench);
    status = rc != 0 ? gmt_fail(EXIT_FAILED, bench.error, NULL) : finish(&bench, &outputs);
out:
    gmt_bench_close(&bench);
    json_decref(bench.raw);
    return status;
}

/* As one of the processes that another gmcalibrate has measure. */
static int serve(const struct options *options)
{
    struct gmt_bench bench = {.quick = options->quick, .process_count = options->processes};

    return gmt_process_serve(options->process, options->device, &bench, options->family);
}

static void join_command(struct options *options, int argc, char **argv)
{
    size_t used = (size_t)snprintf(options->command, sizeof(options->command), "gmcalibrate");

    for (int i = 1; i < argc && used < sizeof(options->command); i++) {
        used += (size_t)snprintf(options->command + used, sizeof(options->command) - used, " %s",
                                 argv[i]);
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "[MODEL]",
        .doc =
            "Measures this device with reference kernels and copies, in at most 60 s, and keeps "
            "its device model where gmtrace and gmanalyze find it. A model that is there already "
            "is shown.\vExit status: 0; 1 failure, or a difference under --check; 2 "
            "usage; 3 no usable GPU.",
    };
    struct options options = {
        .device = "0", .variants = {.launches = 2}, .processes = GMT_PROCESSES_USUAL};

    argp_err_exit_status = EXIT_USAGE;
    join_command(&options, argc, argv);
    if (gmt_option_check("gmcalibrate", option_table, false, argc, argv)) {
        return EXIT_USAGE;
    }
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (options.process != NULL) {
        return serve(&options);
    }
    if (options.list) {
        list_variants();
        return 0;
    }
    if (options.check != NULL) {
        return gmt_model_check(options.check, options.model);
    }
    if (options.fit != NULL) {
        return gmt_model_fit(options.fit, options.output);
    }
    if (options.show && options.model != NULL) {
        return gmt_model_show(options.model);
    }
    return run_device(&options);
}
