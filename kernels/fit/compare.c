/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two device models number by number, and prints the gist of one. */
#include "kernels/fit/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/printable.h"

struct comparison {
    double tolerance;
    FILE *out; /* or NULL */
    size_t differences;
};

/* What depends on the run, not on the device. */
static int is_about_the_run(const char *key)
{
    return strcmp(key, "created") == 0 || strcmp(key, "command") == 0 ||
           strcmp(key, "tool_version") == 0;
}

static void report(struct comparison *comparison, const char *path, const json_t *refitted,
                   const json_t *model)
{
    char *left = refitted != NULL ? json_dumps(refitted, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    char *right = model != NULL ? json_dumps(model, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

    comparison->differences++;
    if (comparison->out != NULL) {
        gmt_say(comparison->out, "%s: refitted %.60s, model %.60s\n", path,
                left != NULL ? left : "absent", right != NULL ? right : "absent");
    }
    free(left);
    free(right);
}

static void compare(struct comparison *comparison, const char *path, const json_t *refitted,
                    const json_t *model);

static void compare_objects(struct comparison *comparison, const char *path, json_t *refitted,
                            json_t *model)
{
    const char *key;
    json_t *value;
    char below[256];

    json_object_foreach(refitted, key, value)
    {
        if (path[0] == '\0' && is_about_the_run(key)) {
            continue;
        }
        snprintf(below, sizeof(below), "%s%s%s", path, path[0] != '\0' ? "." : "", key);
        compare(comparison, below, value, json_object_get(model, key));
    }
    json_object_foreach(model, key, value)
    {
        if (json_object_get(refitted, key) != NULL || (path[0] == '\0' && is_about_the_run(key))) {
            continue;
        }
        snprintf(below, sizeof(below), "%s%s%s", path, path[0] != '\0' ? "." : "", key);
        report(comparison, below, NULL, value);
    }
}

static void compare(struct comparison *comparison, const char *path, const json_t *refitted,
                    const json_t *model)
{
    if (json_is_object(refitted) && json_is_object(model)) {
        compare_objects(comparison, path, (json_t *)refitted, (json_t *)model);
    } else if (json_is_array(refitted) && json_is_array(model) &&
               json_array_size(refitted) == json_array_size(model)) {
        for (size_t i = 0; i < json_array_size(refitted); i++) {
            char below[256];

            snprintf(below, sizeof(below), "%s[%zu]", path, i);
            compare(comparison, below, json_array_get(refitted, i), json_array_get(model, i));
        }
    } else if (json_is_number(refitted) && json_is_number(model)) {
        double a = json_number_value(refitted);
        double b = json_number_value(model);

        if (fabs(a - b) > comparison->tolerance * fmax(fabs(a), fabs(b))) {
            report(comparison, path, refitted, model);
        }
    } else if (!json_equal(refitted, model)) {
        report(comparison, path, refitted, model);
    }
}

size_t gmt_model_compare(const json_t *refitted, const json_t *model, double tolerance, FILE *out)
{
    struct comparison comparison = {.tolerance = tolerance, .out = out};

    compare(&comparison, "", refitted, model);
    return comparison.differences;
}

static double number_at(const json_t *model, const char *part, const char *name, const char *key)
{
    const json_t *entry = json_object_get(json_object_get(model, part), name);

    return json_number_value(json_object_get(entry, key));
}

static const char *text_at(const json_t *model, const char *part, const char *key)
{
    const char *text = json_string_value(json_object_get(json_object_get(model, part), key));

    return text != NULL ? text : "?";
}

/* "  knees at 256 B, 64 KiB": where the pieces of a curve begin, but for the first. */
static void print_knees(const json_t *curve, FILE *out)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    size_t i;
    json_t *piece;

    json_array_foreach(json_object_get(curve, "pieces"), i, piece)
    {
        double size = json_number_value(json_object_get(piece, "from_bytes"));
        size_t unit = 0;

        for (; size >= 1024 && unit < 3; unit++) {
            size /= 1024;
        }
        if (i > 0) {
            fprintf(out, "%s%.3g %s", i == 1 ? "  knees at " : ", ", size, units[unit]);
        }
    }
    fputc('\n', out);
}

/* Costs of calls at the largest size that was measured: what grows with it is dear there. */
static void print_costs(const json_t *costs, FILE *out)
{
    const char *name;
    json_t *cost;

    json_object_foreach((json_t *)costs, name, cost)
    {
        const json_t *points = json_object_get(cost, "points");
        const json_t *last = json_array_get(points, json_array_size(points) - 1);

        if (last != NULL) {
            gmt_say(out, "  %-23s %10.1f us for %.0f MiB\n", name,
                    json_number_value(json_object_get(last, "median_ns")) / 1e3,
                    json_number_value(json_object_get(last, "bytes")) / 1048576);
        } else if (points == NULL) {
            gmt_say(out, "  %-23s %10.1f us\n", name,
                    json_number_value(json_object_get(cost, "median")) / 1e3);
        }
    }
}

void gmt_model_summary(const json_t *model, FILE *out)
{
    static const struct {
        const char *key;
        const char *label;
    } rates[] = {
        {"dram_bytes_per_s", "device memory, reading, GB/s"},
        {"dram_copy_bytes_per_s", "device memory, copying, GB/s"},
        {"l2_sectors_per_s", "L2, G sectors/s"},
        {"l1_sectors_per_s", "L1, coalesced, G sectors/s"},
        {"l1_strided_sectors_per_s", "L1, strided, G sectors/s"},
        {"shared_wavefronts_per_s", "shared memory, G wavefronts/s"},
        {"dram_scattered_sectors_per_s", "DRAM, scattered, G sectors/s"},
        {"l2_scattered_sectors_per_s", "L2, scattered, G sectors/s"},
        {"partial_sectors_per_s", "partly written, G sectors/s"},
        {"partial_pairs_per_s", "... every second one, G sectors/s"},
        {"partial_lines_per_s", "... one of a line, G sectors/s"},
        {"constant_words_per_s", "different constants, G words/s"},
    };
    const char *name;
    json_t *value;
    size_t note;

    gmt_say(out, "%s  %s  driver %s\n", text_at(model, "device", "name"),
            text_at(model, "device", "uuid"), text_at(model, "device", "driver_version"));
    json_object_foreach(json_object_get(model, "transfers"), name, value)
    {
        gmt_say(out, "  %-20s %8.2f us + bytes / %7.2f GB/s", name,
                number_at(model, "transfers", name, "latency_ns") / 1e3,
                number_at(model, "transfers", name, "bandwidth_bytes_per_s") / 1e9);
        print_knees(value, out);
    }
    print_costs(json_object_get(model, "costs"), out);
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        double median = number_at(model, "rates", rates[i].key, "median");

        if (median > 0) {
            fprintf(out, "  %-32s %9.1f\n", rates[i].label, median / 1e9);
        }
    }
    json_array_foreach(json_object_get(model, "notes"), note, value) gmt_say(
        out, "  note: %s\n", json_string_value(value) != NULL ? json_string_value(value) : "?");
    if (json_is_true(json_object_get(model, "noisy"))) {
        fprintf(out, "  noisy: timings of one kernel spread widely, or kernels waited for others: "
                     "the GPU was "
                     "busy, shared or throttled; calibrate again when it is idle\n");
    }
}
