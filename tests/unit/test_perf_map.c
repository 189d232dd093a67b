/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of code that was made at run time: what CPython 3.12.1 and Node 20 wrote, and what nobody
 * should write. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/store/recording/recording.h"
#include "libtrace/store/symbols/perf_map.h"
#include "tests/unit/spool_fixture.h"

TestSuite(perf_map, .timeout = 60);

#define MAPS GMT_SOURCE_DIR "/tests/data/perf_maps/"

static void expect_split(const char *text, const char *function, const char *file)
{
    char *name, *source;
    cr_assert_eq(gmt_perf_map_split(text, &name, &source), 0);
    cr_expect_str_eq(name, function, "%s: %s", text, name);
    cr_expect_str_eq(source != NULL ? source : "", file, "%s", text);
    free(name);
    free(source);
}

Test(perf_map, splits_what_interpreters_and_compilers_write)
{
    expect_split("py::Loader.batch:/home/me/train.py", "Loader.batch", "/home/me/train.py");
    expect_split("py::f.<locals>.<lambda>:/a:b/c.py", "f.<locals>.<lambda>", "/a:b/c.py");
    expect_split("py::_find_and_load:<frozen importlib._bootstrap>", "_find_and_load",
                 "<frozen importlib._bootstrap>");
    expect_split("JS:^upload /home/me/app.js:1:16", "upload", "/home/me/app.js");
    expect_split("JS:~ /home/me/app.js:1:29", "(anonymous:1:29)", "/home/me/app.js");
    expect_split("LazyCompile:*send file:///home/me/app.mjs:2:15", "send",
                 "file:///home/me/app.mjs");
    expect_split("julia_upload_123", "julia_upload_123", "");
    expect_split("void [app] Demo.Program::Upload(int32)[OptimizedTier1]",
                 "void [app] Demo.Program::Upload(int32)[OptimizedTier1]", "");
    expect_split("", "", "");
    expect_split("py::", "py::", "");
    expect_split("JS:", "JS:", "");
}

static void expect_named(struct gmt_made_frame *frame, const char *function, const char *file)
{
    cr_expect_str_eq(frame->function != NULL ? frame->function : "(none)", function);
    cr_expect_str_eq(frame->file != NULL ? frame->file : "(none)", file);
    free(frame->function);
    free(frame->file);
}

Test(perf_map, names_return_addresses_in_trampolines_of_python_3_12)
{
    struct gmt_made_frame frames[] = {{.address = 0x7f1393955000}, /* nothing was called before */
                                      {.address = 0x7f13939557d1}, /* in Loader.batch */
                                      {.address = 0x7f13939557d2}, /* behind its last call */
                                      {.address = 0x7f13939557dd}, /* step, whose end it is */
                                      {.address = 0x7f1400000000}};
    cr_assert_eq(gmt_perf_map_name(MAPS "python_3.12.1.map", frames, 5), 3);
    expect_named(&frames[0], "(none)", "(none)");
    expect_named(&frames[1], "Loader.batch", "/home/me/train.py");
    expect_named(&frames[2], "Loader.batch", "/home/me/train.py");
    expect_named(&frames[3], "step", "/home/me/train.py");
    expect_named(&frames[4], "(none)", "(none)");
}

Test(perf_map, takes_the_last_line_of_a_place_that_was_used_again)
{
    char path[] = "/tmp/gmtrace-map.XXXXXX";
    static const char text[] = "1000 20 old\n1010 4 inner\nnonsense\n2000\n3000 zz bad\n"
                               "ffffffffffffffff ffffffffffffffff high\n1000 10 new\n4000 8 cut";
    int fd = mkstemp(path);
    cr_assert_eq(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
    close(fd);
    struct gmt_made_frame frames[] = {{.address = 0x1008},
                                      {.address = 0x1014},
                                      {.address = 0x1020},
                                      {.address = 0x3001},
                                      {.address = 0x4004}};
    cr_expect_eq(gmt_perf_map_name(path, frames, 5), 4);
    expect_named(&frames[0], "new", "(none)");
    expect_named(&frames[1], "inner", "(none)");
    expect_named(&frames[2], "old", "(none)");
    expect_named(&frames[3], "(none)", "(none)");
    expect_named(&frames[4], "cut", "(none)");
    (void)unlink(path);
}

Test(perf_map, believes_no_link_and_no_folder)
{
    char folder[] = "/tmp/gmtrace-map.XXXXXX", link[64];
    struct gmt_made_frame frame = {.address = 0x7f13939557d1};
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(link, sizeof(link), "%s/link", folder);
    cr_assert_eq(symlink(MAPS "python_3.12.1.map", link), 0);
    cr_expect_lt(gmt_perf_map_name(link, &frame, 1), 0);
    cr_expect_lt(gmt_perf_map_name(folder, &frame, 1), 0);
    cr_expect_eq(gmt_perf_map_name("/no/such/map", &frame, 1), -2);
    cr_expect_null(frame.function);
    (void)unlink(link);
    (void)rmdir(folder);
}

/* Where the functions are in a stack by themselves, CPython's trampolines are the interpreter's; another stack has nothing else. */
Test(perf_map, leaves_functions_that_were_read_to_them)
{
    struct gmt_fixture fixture;
    struct gmt_stack stack = {.id = 1, .depth = 3};
    const uint64_t chain[] = {0x500000001004, GMT_STACK_PYTHON | 1, 0x500000002004};
    const uint64_t unread[] = {0x500000002004, 0x600000000000};
    const struct gmt_python_line line = {.id = 1, .line = 3};
    char path[64];
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 16);
    gmt_fixture_process(&fixture, 0, 4000);
    gmt_fixture_side(&fixture, 0, GMT_REC_PYTHON_LINE, &line, sizeof(line), "load", "/src/a.py",
                     NULL);
    gmt_fixture_side_data(&fixture, 0, GMT_REC_STACK, &stack, sizeof(stack), chain, sizeof(chain));
    stack = (struct gmt_stack){.id = 2, .depth = 2};
    gmt_fixture_side_data(&fixture, 0, GMT_REC_STACK, &stack, sizeof(stack), unread,
                          sizeof(unread));
    (void)snprintf(path, sizeof(path), "/tmp/perf-%u.map", fixture.control->pid);
    FILE *map = fopen(path, "wx");
    cr_assert_not_null(map, "%s is there already", path);
    (void)fputs("500000001000 10 py::load:/src/a.py\n500000002000 10 py::main:/src/a.py\n", map);
    (void)fclose(map);
    cr_expect_eq(gmt_recording_recover(fixture.output), 0);
    (void)unlink(path);
    cr_expect_str_eq(
        gmt_fixture_text(&fixture,
                         "SELECT group_concat(coalesce(function, '?') || runtime, ' ') FROM "
                         "(SELECT * FROM v_stack ORDER BY stack_id, position)"),
        "load2 load0 main0 main0 ?0");
    gmt_fixture_remove(&fixture);
}

Test(perf_map, names_the_frames_of_a_recording)
{
    struct gmt_fixture fixture;
    struct gmt_stack stack = {.id = 1, .depth = 3};
    const uint64_t chain[] = {0x500000001004, 0x500000002004, 0x600000000000};
    char path[64];
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 16);
    gmt_fixture_process(&fixture, 0, 4000);
    gmt_fixture_side_data(&fixture, 0, GMT_REC_STACK, &stack, sizeof(stack), chain, sizeof(chain));
    (void)snprintf(path, sizeof(path), "/tmp/perf-%u.map", fixture.control->pid);
    FILE *map = fopen(path, "wx");
    cr_assert_not_null(map, "%s is there already", path);
    (void)fputs("500000001000 10 py::load:/src/a.py\n500000002000 10 kernel_42\n", map);
    (void)fclose(map);
    cr_expect_eq(gmt_recording_recover(fixture.output), 0);
    (void)unlink(path);
    cr_expect_str_eq(gmt_fixture_text(&fixture,
                                      "SELECT group_concat(coalesce(function, '?') || ' ' "
                                      "|| coalesce(file, '?'), ', ') FROM v_stack"),
                     "load /src/a.py, kernel_42 ?, ? ?");
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT sum(runtime) FROM v_stack"), 0);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT count(line) FROM v_stack"), 0);
    gmt_fixture_remove(&fixture);
}
