/* SPDX-License-Identifier: Apache-2.0 */
/* gmcalibrate: measures this device with the reference kernels and writes its device model. */
#include <argp.h>
#include <cuda_runtime.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "device.h"
#include "host.h"
#include "model.h"
#include "progress.h"

#ifndef GMT_VERSION
#define GMT_VERSION "0.1.0"
#endif

#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define EXIT_NO_GPU 3
#define CHECK_TOLERANCE 1e-4 /* files keep six digits of ratios, whole ns of times */

enum {
    OPTION_QUICK = 256, /* beyond any character: long options only */
    OPTION_RAW,
    OPTION_LIST,
    OPTION_FAMILY,
    OPTION_VARIANT,
    OPTION_ONCE,
    OPTION_CHECK,
};

struct options {
    int device;
    bool quick;
    bool list;
    bool once;
    const char *output;
    const char *raw;
    const char *family;
    const char *variant;
    const char *check;
    const char *model; /* to check against */
    char command[512];
};

const char *argp_program_version = "gmcalibrate " GMT_VERSION;

static const struct argp_option option_table[] = {
    {"device", 'd', "N", 0, "Device to measure, as CUDA counts them (default 0)", 0},
    {"quick", OPTION_QUICK, NULL, 0, "Half the samples and no copies above 64 MiB", 0},
    {"output", 'o', "FILE", 0, "Where the model goes; - is standard output (default: the cache)",
     0},
    {"raw", OPTION_RAW, "FILE", 0, "Also write every single timing", 0},
    {"list", OPTION_LIST, NULL, 0, "Print all variants with their expected counters", 0},
    {"family", OPTION_FAMILY, "NAME", 0, "Measure this family only; output to - by default", 0},
    {"variant", OPTION_VARIANT, "FAMILY:NAME", 0, "The variant for --once; NAME may be all", 0},
    {"once", OPTION_ONCE, NULL, 0, "Launch --variant twice, untimed, print its counters", 0},
    {"check", OPTION_CHECK, "RAW", 0, "Refit from RAW and compare with MODEL (default: the cache)",
     0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    char *end;

    switch (key) {
    case 'd':
        errno = 0;
        long device = strtol(argument, &end, 10);
        if (errno != 0 || end == argument || *end != '\0' || device < 0 || device > 1023)
            argp_error(state, "--device wants a number, not '%s'", argument);
        options->device = (int)device;
        return 0;
    case 'o': options->output = argument; return 0;
    case OPTION_QUICK: options->quick = true; return 0;
    case OPTION_RAW: options->raw = argument; return 0;
    case OPTION_LIST: options->list = true; return 0;
    case OPTION_FAMILY:
        if (!gmt_family_known(argument))
            argp_error(state, "no family '%s' (see --list)", argument);
        options->family = argument;
        return 0;
    case OPTION_VARIANT: options->variant = argument; return 0;
    case OPTION_ONCE: options->once = true; return 0;
    case OPTION_CHECK: options->check = argument; return 0;
    case ARGP_KEY_ARG:
        if (options->check == NULL || options->model != NULL)
            return ARGP_ERR_UNKNOWN;
        options->model = argument;
        return 0;
    case ARGP_KEY_END:
        if ((options->variant != NULL) != options->once)
            argp_error(state, "--variant and --once go together");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int fail(int status, const char *text, const char *detail)
{
    fprintf(stderr, "gmcalibrate: %s%s%s\n", text, detail != NULL ? ": " : "",
            detail != NULL ? detail : "");
    return status;
}

static void print_number(double value, const char *format, int width)
{
    if (value == GMT_UNKNOWN)
        printf(" %*s", width, "-");
    else
        printf(format, value);
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

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    if (document == NULL)
        fprintf(stderr, "gmcalibrate: %s: %s\n", path, error.text);
    return document;
}

static int device_cache_path(const json_t *model, char *path, size_t bytes)
{
    const json_t *device = json_object_get(model, "device");
    const char *uuid = json_string_value(json_object_get(device, "uuid"));
    const char *driver = json_string_value(json_object_get(device, "driver_version"));
    const char *tool = json_string_value(json_object_get(model, "tool_version"));

    if (uuid == NULL || driver == NULL || tool == NULL)
        return -EINVAL;
    return gmt_model_cache_path(uuid, driver, tool, path, bytes);
}

static int run_check(const struct options *options)
{
    char message[256], cached[PATH_MAX];
    const char *path = options->model;
    json_t *raw = load(options->check);
    json_t *refitted = NULL;
    json_t *model = NULL;
    int status = EXIT_FAILED;

    if (raw == NULL)
        return EXIT_FAILED;
    refitted = gmt_model_from_raw(raw, message, sizeof(message));
    if (refitted == NULL) {
        fail(EXIT_FAILED, options->check, message);
        goto out;
    }
    if (path == NULL) {
        if (device_cache_path(raw, cached, sizeof(cached)) != 0) {
            fail(EXIT_FAILED, "no model named, and none can be looked up", NULL);
            goto out;
        }
        path = cached;
    }
    model = load(path);
    if (model == NULL)
        goto out;
    size_t differences = gmt_model_compare(refitted, model, CHECK_TOLERANCE, stdout);
    if (differences == 0) {
        printf("%s agrees with %s\n", path, options->check);
        status = 0;
    } else {
        printf("%zu differences between %s and %s\n", differences, path, options->check);
    }
out:
    json_decref(model);
    json_decref(refitted);
    json_decref(raw);
    return status;
}

/* Everything, or one family. */
static int measure(struct gmt_bench *bench, const struct options *options)
{
    static const char *const order[] = {"offset", "stride", "bank", "occupancy", "extra", "rate"};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(order) / sizeof(order[0]); i++) {
        if (options->family == NULL || strcmp(options->family, order[i]) == 0)
            rc = gmt_bench_family(bench, gmt_family_find(order[i]));
    }
    if (options->family != NULL)
        return rc;
    /* The host buffers count as a part of the costs; the largest copies come last. */
    if (rc == 0)
        rc = gmt_bench_costs(bench);
    if (rc == 0)
        rc = gmt_bench_batches(bench);
    if (rc == 0)
        rc = gmt_bench_transfers(bench);
    return rc;
}

static int write_document(const json_t *document, const char *path)
{
    int rc = gmt_json_write(document, path);

    if (rc != 0)
        fail(EXIT_FAILED, path, strerror(-rc));
    return rc == 0 ? 0 : EXIT_FAILED;
}

static int finish(struct gmt_bench *bench, const struct options *options, const char *output)
{
    char message[256];
    json_t *model = gmt_model_from_raw(bench->raw, message, sizeof(message));
    int status = options->raw != NULL ? write_document(bench->raw, options->raw) : 0;

    if (model == NULL)
        return fail(EXIT_FAILED, "cannot fit a model", message);
    if (write_document(model, output) != 0)
        status = EXIT_FAILED;
    if (status == 0) {
        gmt_model_summary(model, stderr);
        fprintf(stderr, "gmcalibrate: %s written after %.1f s\n", output,
                (double)(gmt_now_ns() - bench->began_ns) * 1e-9);
    }
    json_decref(model);
    return status;
}

/* Before the seconds of measuring, not after: can the results be written? */
static int choose_output(const struct options *options, const json_t *raw, char *path, size_t bytes)
{
    const char *wanted = options->output;
    int rc = 0;

    if (wanted == NULL && options->family != NULL)
        wanted = "-";
    if (wanted != NULL)
        snprintf(path, bytes, "%s", wanted);
    else
        rc = device_cache_path(raw, path, bytes);
    if (rc == -ENOENT)
        return fail(EXIT_FAILED, "neither XDG_CACHE_HOME nor HOME is set: use --output FILE", NULL);
    if (rc == 0 && strcmp(path, "-") != 0)
        rc = gmt_path_prepare(path);
    if (rc != 0) {
        fprintf(stderr, "gmcalibrate: cannot write %s: %s (use --output FILE)\n", path,
                strerror(-rc));
        return EXIT_FAILED;
    }
    if (options->raw != NULL && strcmp(options->raw, "-") != 0 &&
        (rc = gmt_path_prepare(options->raw)) != 0)
        return fail(EXIT_FAILED, options->raw, strerror(-rc));
    return 0;
}

/*
 * Splits FAMILY:NAME. The name within text, or NULL unless both are in the table or the name is
 * "all".
 */
static const char *variant_name(const char *text, char *family, size_t bytes)
{
    const char *colon = strchr(text, ':');

    if (colon == NULL || (size_t)(colon - text) >= bytes)
        return NULL;
    snprintf(family, bytes, "%.*s", (int)(colon - text), text);
    if (!gmt_family_known(family))
        return NULL;
    if (strcmp(colon + 1, "all") != 0 && gmt_variant_find(family, colon + 1) == NULL)
        return NULL;
    return colon + 1;
}

static int run_device(const struct options *options)
{
    struct gmt_bench bench = {.quick = options->quick, .began_ns = gmt_now_ns()};
    struct gmt_progress progress;
    char output[PATH_MAX], line[256];
    char family[32];
    const char *variant = NULL;
    int status = EXIT_FAILED;
    int rc;

    if (options->once) {
        variant = variant_name(options->variant, family, sizeof(family));
        if (variant == NULL)
            return fail(EXIT_USAGE, options->variant, "no such variant (see --list)");
    }
    if (gmt_device_find(options->device, line, sizeof(line)) != 0)
        return fail(EXIT_NO_GPU, line, NULL);
    bench.raw = gmt_device_raw(options->device, GMT_VERSION, options->command);
    if (variant == NULL && choose_output(options, bench.raw, output, sizeof(output)) != 0)
        goto out;
    if (gmt_bench_open(&bench, options->device) != 0) {
        fail(EXIT_FAILED, bench.error, NULL);
        goto out;
    }
    if (variant != NULL) {
        rc = gmt_bench_once(&bench, family, variant);
        status = rc != 0 ? fail(EXIT_FAILED, bench.error, NULL) : 0;
        goto out;
    }
    gmt_device_settings(&bench);
    gmt_progress_begin(&progress, options->family != NULL ? 1 : 8 + GMT_TRANSFER_UNITS);
    bench.progress = &progress;
    rc = measure(&bench, options);
    gmt_progress_end(&progress);
    gmt_device_settings(&bench);
    status = rc != 0 ? fail(EXIT_FAILED, bench.error, NULL) : finish(&bench, options, output);
out:
    gmt_bench_close(&bench);
    json_decref(bench.raw);
    return status;
}

static void join_command(struct options *options, int argc, char **argv)
{
    size_t used = (size_t)snprintf(options->command, sizeof(options->command), "gmcalibrate");

    for (int i = 1; i < argc && used < sizeof(options->command); i++)
        used += (size_t)snprintf(options->command + used, sizeof(options->command) - used, " %s",
                                 argv[i]);
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "[MODEL]",
        .doc =
            "Measures this device with reference kernels and copies, in at most 10 s, and writes "
            "its device model.\vExit status: 0; 1 failure, or a difference under --check; 2 "
            "usage; 3 no usable GPU.",
    };
    struct options options = {.device = 0};

    argp_err_exit_status = EXIT_USAGE;
    join_command(&options, argc, argv);
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (options.list) {
        list_variants();
        return 0;
    }
    if (options.check != NULL)
        return run_check(&options);
    return run_device(&options);
}
