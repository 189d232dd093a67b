/* SPDX-License-Identifier: Apache-2.0 */
/* A trace takes along the device model of its device, or of one of the same name. Links gmt_store. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture fixture;

static void setup(void)
{
    char path[256];
    struct gmt_device device = {.warp_size = 32};
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 4096);
    gmt_fixture_side(&fixture, 0, GMT_REC_DEVICE, &device, sizeof(device), "GPU X", "GPU-1",
                     "580.1", "", NULL);
    cr_assert_eq(setenv("XDG_CACHE_HOME", fixture.root, 1), 0);
    (void)snprintf(path, sizeof(path), "%s/gmtrace", fixture.root);
    cr_assert_eq(mkdir(path, 0777), 0);
    (void)snprintf(path, sizeof(path), "%s/gmtrace/models", fixture.root);
    cr_assert_eq(mkdir(path, 0777), 0);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(model_cache, .init = setup, .fini = teardown, .timeout = 60);

static void write_model(const char *file, const char *text)
{
    char path[400];
    (void)snprintf(path, sizeof(path), "%s/gmtrace/models/%s", fixture.root, file);
    FILE *model = fopen(path, "w");
    cr_assert_not_null(model);
    (void)fputs(text, model);
    (void)fclose(model);
}

static void expect(const char *match, const char *part)
{
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_expect_str_eq(gmt_fixture_text(&fixture, "SELECT match FROM device_model"), match);
    const char *json = gmt_fixture_text(&fixture, "SELECT json FROM device_model");
    cr_expect_not_null(strstr(json, part), "%s", json);
}

Test(model_cache, prefers_the_model_of_this_device)
{
    write_model("GPU-0-580.1-" GMT_VERSION ".json", "{\"device\":{\"name\":\"GPU X\"},\"n\":0}");
    write_model("GPU-1-580.1-" GMT_VERSION ".json", "{\"device\":{\"name\":\"GPU X\"},\"n\":1}");
    expect("this board", "\"n\":1");
}

Test(model_cache, takes_one_of_the_same_name_else)
{
    write_model("GPU-0-580.1-" GMT_VERSION ".json", "{\"device\":{\"name\":\"GPU Y\"},\"n\":0}");
    write_model("GPU-2-570.9-0.0.9.json", "{\"device\":{\"name\":\"GPU X\"},\"n\":2}");
    expect("same name", "\"n\":2");
}

Test(model_cache, does_not_take_raw_timings_for_a_model)
{
    write_model("GPU-2-570.9-0.0.9.raw.json", "{\"device\":{\"name\":\"GPU X\"},\"n\":1}");
    write_model("GPU-3-570.9-0.0.9.json", "{\"device\":{\"name\":\"GPU X\"},\"n\":3}");
    expect("same name", "\"n\":3");
}

Test(model_cache, does_without_models_that_are_damaged_or_of_other_devices)
{
    write_model("GPU-1-580.1-" GMT_VERSION ".json", "{\"device\":{\"name\":");
    write_model("GPU-2-580.1-" GMT_VERSION ".json", "{\"device\":{\"name\":\"GPU Y\"}}");
    write_model("notes.txt", "{\"device\":{\"name\":\"GPU X\"}}");
    expect("", "");
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT count(*) FROM device_model"), 0);
}
