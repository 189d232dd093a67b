/* SPDX-License-Identifier: Apache-2.0 */
/* The device model: made from raw timings, written, read back and compared. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/fit/model.h"
#include "kernels/fit/model_files.h"
#include "kernels/fit/rawfile.h"
#include "kernels/model_commands.h"
#include "kernels/variants/variants.h"

static char message[256];

static json_t *raw_document(void)
{
    return json_pack("{s:s, s:i, s:s, s:{s:s, s:s, s:s}}", "format", GMT_RAW_FORMAT, "version",
                     GMT_MODEL_VERSION, "tool_version", "0.1.0", "device", "name", "Test GPU",
                     "uuid", "GPU-0", "driver_version", "1.2");
}

/* wobble = relative distance of the outer samples from the median. */
static void add_row(json_t *raw, const char *family, const char *variant, json_t *work,
                    double median_ns, double wobble)
{
    json_t *row = json_pack("{s:s, s:o}", "variant", variant, "work", work);

    for (int i = -5; i <= 5; i++) {
        gmt_raw_sample(row, "samples_ns", median_ns * (1 + wobble * i / 5));
    }
    json_array_append_new(gmt_raw_array(gmt_raw_object(raw, "families"), family), row);
}

static void add_curve(json_t *raw, const char *name, double latency_ns, double bytes_per_ns)
{
    json_t *points = gmt_raw_array(gmt_raw_object(raw, "transfers"), name);

    for (size_t bytes = 4; bytes <= (size_t)256 << 20; bytes *= 4) {
        for (int i = -1; i <= 1; i++) {
            gmt_raw_sample(gmt_raw_point(points, bytes), "samples_ns",
                           latency_ns + (double)bytes / bytes_per_ns + i);
        }
    }
}

static double number(const json_t *object, const char *key)
{
    cr_assert(json_is_number(json_object_get(object, key)), "%s is no number", key);
    return json_number_value(json_object_get(object, key));
}

Test(model, a_transfer_curve_gets_latency_bandwidth_and_half_bandwidth_size)
{
    json_t *raw = raw_document();

    add_curve(raw, "h2d_pinned_async", 5000, 50);
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
    cr_assert(model != NULL, "%s", message);
    json_t *curve = json_object_get(json_object_get(model, "transfers"), "h2d_pinned_async");
    cr_assert(fabs(number(curve, "latency_ns") - 5000) < 5);
    cr_assert(fabs(number(curve, "bandwidth_bytes_per_s") / 50e9 - 1) < 1e-3);
    cr_assert(fabs(number(curve, "half_bandwidth_bytes") / 250e3 - 1) < 2e-3);
    json_t *point = json_array_get(json_object_get(curve, "points"), 0);
    cr_assert(number(point, "n") > 2 && number(point, "spread_ns") <= 2);
    json_decref(model);
    json_decref(raw);
}

Test(model, relative_time_and_rates_come_from_the_families)
{
    json_t *raw = raw_document();

    add_row(raw, "stride", "stride_1", json_pack("{s:i}", "bytes_asked", 1000), 200e3, 0.01);
    add_row(raw, "stride", "stride_8", json_pack("{s:i}", "bytes_asked", 1000), 500e3, 0.01);
    add_row(raw, "rate", "dram_read", json_pack("{s:i}", "bytes_asked", 400000000), 100e3, 0.01);
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
    cr_assert(model != NULL, "%s", message);
    json_t *stride = json_object_get(json_object_get(model, "families"), "stride");
    cr_assert(fabs(number(json_array_get(stride, 1), "relative_time") - 2.5) < 1e-9);
    json_t *rate = json_object_get(json_object_get(model, "rates"), "dram_bytes_per_s");
    cr_assert(fabs(number(rate, "median") / 4e12 - 1) < 1e-6);
    cr_assert(json_is_false(json_object_get(model, "noisy")));
    json_decref(model);
    json_decref(raw);
}

Test(model, the_cost_of_an_access_is_a_difference_over_the_difference_of_work)
{
    json_t *raw = raw_document();

    add_row(raw, "constant", "constant_1", json_pack("{s:i}", "constant_addresses", 1000000), 40e3,
            0.01);
    add_row(raw, "constant", "constant_32", json_pack("{s:i}", "constant_addresses", 32000000),
            350e3, 0.01);
    add_row(raw, "spill", "spill_none", json_object(), 90e3, 0.01);
    add_row(raw, "spill", "spill_48", json_pack("{s:i}", "spilled_words", 500000), 80e3, 0.01);
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
    cr_assert(model != NULL, "%s", message);
    json_t *costs = json_object_get(model, "access_costs");
    json_t *word = json_object_get(costs, "constant_word_ns");
    cr_assert(fabs(number(word, "median") / 0.01 - 1) < 1e-9, "%g", number(word, "median"));
    cr_assert(number(word, "n") > 10 && number(word, "spread") > 0);
    json_t *spilled = json_object_get(costs, "spilled_word_ns");
    cr_assert(number(spilled, "median") >= 0, "a faster bad one costs nothing, not less");
    cr_assert(json_object_get(costs, "local_pair_ns") == NULL, "never measured");
    json_decref(model);
    json_decref(raw);
}

Test(model, where_full_occupancy_is_lower_the_fastest_step_is_the_reference)
{
    json_t *raw = raw_document();

    add_row(raw, "occupancy", "occupancy_stream_1",
            json_pack("{s:i, s:f}", "bytes_asked", 1000, "occupancy", 0.125), 800e3, 0);
    add_row(raw, "occupancy", "occupancy_stream_8",
            json_pack("{s:i, s:f}", "bytes_asked", 1000, "occupancy", 1.0), 200e3, 0);
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
    cr_assert(model != NULL, "%s", message);
    json_t *rows = json_object_get(json_object_get(model, "families"), "occupancy");
    cr_assert(fabs(number(json_array_get(rows, 0), "relative_time") - 4) < 1e-9);
    cr_assert(json_array_size(json_object_get(model, "occupancy_curve")) == 2);
    json_decref(model);
    json_decref(raw);
}

Test(model, a_shared_gpu_makes_a_noisy_model)
{
    json_t *raw = raw_document();

    add_row(raw, "stride", "stride_1", json_pack("{s:i}", "bytes_asked", 1000), 200e3, 0.4);
    add_row(raw, "stride", "stride_2", json_pack("{s:i}", "bytes_asked", 1000), 300e3, 0.4);
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
    cr_assert(json_is_true(json_object_get(model, "noisy")));
    json_decref(model);
    json_decref(raw);
}

/* Of all variants, `wide` spread by 8 % (from the 10th to the 90th percentile), the others by 1.6 %, which is as on an idle device. */
static bool is_noisy_with_wide(size_t wide)
{
    json_t *raw = raw_document();
    size_t added = 0;

    for (size_t i = 0; i < gmt_variant_count && added < 200; i++, added++) {
        add_row(raw, gmt_variants[i].family, gmt_variants[i].name, json_object(), 200e3,
                added < wide ? 0.05 : 0.01);
    }
    cr_assert_eq(added, 200);
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
    cr_assert(model != NULL, "%s", message);
    json_t *noise = json_object_get(model, "noise");
    cr_assert_eq(json_integer_value(json_object_get(noise, "kernels")), 200);
    bool noisy = json_is_true(json_object_get(model, "noisy"));
    json_decref(model);
    json_decref(raw);
    return noisy;
}

/* Turns of others do not touch most kernels: the typical one does not show them, nor does any fifth of them. */
Test(model, kernels_that_others_interrupted_make_a_noisy_model)
{
    cr_expect(!is_noisy_with_wide(0));
    cr_expect(!is_noisy_with_wide(5), "as on idle devices");
    cr_expect(!is_noisy_with_wide(10), "a twentieth");
    cr_expect(is_noisy_with_wide(20));
}

Test(model, a_shared_bus_makes_a_noisy_model)
{
    for (int wobble = 0; wobble <= 20; wobble += 20) {
        json_t *raw = raw_document();
        json_t *points = gmt_raw_array(gmt_raw_object(raw, "transfers"), "h2d_pinned_async");

        for (size_t bytes = 1 << 20; bytes <= 1 << 26; bytes *= 4) {
            for (int i = -5; i <= 5; i++) {
                gmt_raw_sample(gmt_raw_point(points, bytes), "samples_ns",
                               (double)bytes / 50 * (1 + wobble * i / 500.0));
            }
        }
        json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
        cr_assert(json_is_true(json_object_get(model, "noisy")) == (wobble > 0));
        json_decref(model);
        json_decref(raw);
    }
}

/* Of 21 launches of an empty kernel `late` have to wait for another process's turn of 2 ms. */
static bool noisy_with(int late)
{
    json_t *raw = raw_document();
    json_t *costs = gmt_raw_object(raw, "costs");

    for (int i = 0; i < 21; i++) {
        gmt_raw_sample(gmt_raw_object(costs, "launch_ns"), "samples_ns", 3000 + 10 * i);
        gmt_raw_sample(gmt_raw_object(costs, "launch_wait_ns"), "samples_ns",
                       i < late ? 2e6 : 8500 + 50 * i);
    }
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
    cr_assert(model != NULL, "%s", message);
    bool noisy = json_is_true(json_object_get(model, "noisy"));
    json_decref(model);
    json_decref(raw);
    return noisy;
}

Test(model, turns_of_another_process_make_a_noisy_model)
{
    cr_assert(!noisy_with(0));
    cr_assert(!noisy_with(1), "once is no turn");
    cr_assert(noisy_with(5), "now and then");
    cr_assert(noisy_with(21), "always");
}

Test(model, foreign_newer_and_broken_raw_files_are_refused_with_a_line)
{
    json_t *foreign = json_pack("{s:s}", "format", "something else");
    json_t *newer = json_pack("{s:s, s:i}", "format", GMT_RAW_FORMAT, "version", 99);
    json_t *broken = raw_document();
    json_t *unknown = raw_document();

    add_row(unknown, "stride", "stride_9000", json_object(), 1000, 0);
    json_object_set_new(
        broken, "transfers",
        json_pack("{s:[{s:i, s:[s]}]}", "h2d_pinned_sync", "bytes", 4, "samples_ns", "fast"));
    json_t *all[] = {foreign, newer, broken, unknown};
    for (size_t i = 0; i < 4; i++) {
        message[0] = '\0';
        cr_assert(gmt_model_from_raw(all[i], message, sizeof(message)) == NULL);
        cr_assert(message[0] != '\0');
        json_decref(all[i]);
    }
}

Test(model, comparing_finds_what_differs_and_only_that)
{
    json_t *raw = raw_document();

    add_curve(raw, "d2h_pageable_sync", 6000, 20);
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
    json_t *other = json_deep_copy(model);
    json_object_set_new(other, "created", json_string("later"));
    cr_assert(gmt_model_compare(model, other, 1e-4, NULL) == 0);
    json_object_set_new(json_object_get(json_object_get(other, "transfers"), "d2h_pageable_sync"),
                        "latency_ns", json_integer(1));
    json_object_set_new(other, "extra", json_true());
    cr_assert(gmt_model_compare(model, other, 1e-4, NULL) == 2);
    json_decref(other);
    json_decref(model);
    json_decref(raw);
}

Test(model, a_cached_one_is_current_unless_it_is_quick_or_foreign)
{
    char path[] = "/tmp/gmt_cached_XXXXXX";
    json_t *raw = raw_document();
    int file = mkstemp(path);

    cr_assert(file >= 0);
    close(file);
    cr_assert(!gmt_cached_is_current(path, true), "an empty file");
    cr_assert(!gmt_cached_is_current("/no/such/file", true));
    add_curve(raw, "d2h_pageable_sync", 6000, 20);
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));
    cr_assert(gmt_json_write(model, path) == 0);
    cr_assert(gmt_cached_is_current(path, false));
    json_object_set_new(model, "quick", json_true());
    cr_assert(gmt_json_write(model, path) == 0);
    cr_assert(!gmt_cached_is_current(path, false));
    cr_assert(gmt_cached_is_current(path, true));
    json_object_set_new(model, "version", json_integer(GMT_MODEL_VERSION + 1));
    cr_assert(gmt_json_write(model, path) == 0);
    cr_assert(!gmt_cached_is_current(path, true));
    unlink(path);
    json_decref(model);
    json_decref(raw);
}

/* What a terminal would obey, or show in another order, in the UTF-8 of U+001B, U+009B and U+202E. */
#define ESCAPES "\x1b]0;t\x07\x1b[2J\xc2\x9b\x7f\xe2\x80\xae"

static void expect_clean(const char *text)
{
    cr_assert_gt(strlen(text), 0);
    cr_expect_eq(strcspn(text, "\x1b\x07\x7f"), strlen(text), "'%s'", text);
    cr_expect_null(strstr(text, "\xc2\x9b"), "'%s'", text);
    cr_expect_null(strstr(text, "\xe2\x80\xae"), "'%s'", text);
}

static json_t *hostile_model(void)
{
    return json_pack("{s:s, s:i, s:s, s:{s:s, s:s, s:s}, s:{s:{}}, s:{s:{}}, s:[s, i]}", "format",
                     GMT_MODEL_FORMAT, "version", GMT_MODEL_VERSION, "created", ESCAPES, "device",
                     "name", ESCAPES, "uuid", ESCAPES, "driver_version", ESCAPES, "transfers",
                     ESCAPES, "costs", ESCAPES, "notes", ESCAPES, 1);
}

Test(model, no_text_of_a_model_reaches_a_terminal_raw)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    json_t *model = hostile_model(), *other = json_pack("{s:s}", "notes", ESCAPES);

    gmt_model_summary(model, out);
    cr_expect_gt(gmt_model_compare(model, other, 0, out), 0);
    fclose(out);
    expect_clean(text);
    free(text);
    json_decref(other);
    json_decref(model);
}

Test(model, neither_does_what_is_shown_or_complained_of)
{
    char folder[] = "/tmp/gmt_model_XXXXXX", path[128], text[4096] = "";
    json_t *model = hostile_model();

    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/a%s.json", folder, "\x1b[31m");
    cr_assert_eq(gmt_json_write(model, path), 0);
    cr_redirect_stdout();
    cr_redirect_stderr();
    cr_expect_eq(gmt_model_show(path), 0);
    unlink(path);
    cr_expect_eq(gmt_model_show(path), 1);
    fflush(stdout);
    cr_expect_gt(fread(text, 1, sizeof(text) - 1, cr_get_redirected_stdout()), 0);
    expect_clean(text);
    memset(text, 0, sizeof(text));
    fflush(stderr);
    cr_expect_gt(fread(text, 1, sizeof(text) - 1, cr_get_redirected_stderr()), 0);
    expect_clean(text);
    rmdir(folder);
    json_decref(model);
}

Test(host, driver_versions_are_read_from_both_kinds_of_module)
{
    char version[32];

    cr_assert(gmt_driver_version_parse("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04"
                                       "  Mon Jan  1",
                                       version, sizeof(version)) == 0);
    cr_assert(strcmp(version, "580.159.04") == 0);
    cr_assert(gmt_driver_version_parse("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
                                       "570.86.15  Release Build",
                                       version, sizeof(version)) == 0);
    cr_assert(strcmp(version, "570.86.15") == 0);
    cr_assert(gmt_driver_version_parse("nothing of the kind", version, sizeof(version)) == -ENOENT);
}

Test(host, the_cache_follows_the_xdg_rules)
{
    char path[512];

    setenv("HOME", "/home/a", 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    cr_assert(gmt_model_cache_path("GPU-1", "580.1", "0.1.0", path, sizeof(path)) == 0);
    cr_assert(strcmp(path, "/home/a/.cache/gmtrace/models/GPU-1-580.1-0.1.0.json") == 0);
    setenv("XDG_CACHE_HOME", "/cache", 1);
    cr_assert(gmt_model_cache_path("GPU-1", "580.1", "0.1.0", path, sizeof(path)) == 0);
    cr_assert(strcmp(path, "/cache/gmtrace/models/GPU-1-580.1-0.1.0.json") == 0);
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    cr_assert(gmt_model_cache_path("GPU-1", "580.1", "0.1.0", path, sizeof(path)) == -ENOENT);
}

Test(host, a_file_is_written_whole_through_folders_that_were_missing)
{
    char folder[] = "/tmp/gmt_model_XXXXXX";
    char path[128];
    json_t *document = json_pack("{s:i}", "answer", 42);

    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/a/b/model.json", folder);
    cr_assert(gmt_path_prepare(path) == 0);
    cr_assert(access(path, F_OK) != 0);
    cr_assert(gmt_json_write(document, path) == 0);
    json_t *read = json_load_file(path, 0, NULL);
    cr_assert(json_equal(read, document));
    cr_assert(gmt_path_prepare(folder) == -EISDIR);
    cr_assert(gmt_json_write(document, "/proc/no/such") < 0);
    json_decref(read);
    json_decref(document);
}
