/* SPDX-License-Identifier: Apache-2.0 */
/* Names of traces: pattern fields, and what may not be written over. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "libtrace/record/spool.h"
#include "preload/output.h"

static char folder[64];

static void enter_folder(void)
{
    (void)strcpy(folder, "/tmp/gmtrace-output-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    unsetenv("GMTRACE_RUN");
}

static void expect(const char *pattern, const char *path)
{
    char got[PATH_MAX];
    cr_assert_eq(gmt_output_expand(pattern, got, sizeof(got)), 0, "%s", pattern);
    cr_assert_str_eq(got, path);
}

static void make_file(const char *name, const char *text, long age_s)
{
    FILE *file = fopen(name, "w");
    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
    struct utimbuf times = {.actime = time(NULL) - age_s, .modtime = time(NULL) - age_s};
    cr_assert_eq(utime(name, &times), 0);
}

Test(output, expands_every_field)
{
    char text[64];
    setenv("SHARD", "seven", 1);
    (void)snprintf(text, sizeof(text), "a-%ld.db", (long)getpid());
    expect("a-%p.db", text);
    expect("%q{SHARD}/%%.db", "seven/%.db");
    expect("%q{NOT_SET_ANYWHERE}x", "x");
    setenv("OMPI_COMM_WORLD_RANK", "3", 1);
    expect("r%r.db", "r3.db");
    unsetenv("OMPI_COMM_WORLD_RANK");
    (void)snprintf(text, sizeof(text), "r%ld.db", (long)getpid());
    expect("r%r.db", text);
}

Test(output, refuses_what_it_does_not_know)
{
    char got[PATH_MAX], small[4];
    cr_assert_eq(gmt_output_expand("a%z", got, sizeof(got)), -EINVAL);
    cr_assert_eq(gmt_output_expand("a%", got, sizeof(got)), -EINVAL);
    cr_assert_eq(gmt_output_expand("a%q{OPEN", got, sizeof(got)), -EINVAL);
    cr_assert_eq(gmt_output_expand("", got, sizeof(got)), -EINVAL);
    cr_assert_eq(gmt_output_expand("long.db", small, sizeof(small)), -ENAMETOOLONG);
}

/* Two runs that were killed together with their recorders, the first of which had kept chunks. */
Test(output, moves_killed_runs_aside_whatever_their_spools_hold, .init = enter_folder)
{
    static const char *const files[] = {"control", "chunk-7", "free-2",
                                        "free-13", "cubins",  "lock"};
    static const char *const spools[] = {"trace.db.old.spool", "trace.db.spool"};
    char path[PATH_MAX];
    for (size_t s = 0; s < 2; s++) {
        cr_assert_eq(mkdir(spools[s], 0700), 0);
        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
            (void)snprintf(path, sizeof(path), "%s/%s", spools[s], files[i]);
            make_file(path, "", 3600);
        }
        struct utimbuf times = {.actime = time(NULL) - 3600, .modtime = time(NULL) - 3600};
        cr_assert_eq(utime(spools[s], &times), 0);
    }
    cr_assert_eq(gmt_output_open("trace.db", 1 << 20, path), 0);
    cr_expect_str_eq(strrchr(path, '/'), "/trace.db", "%s", path);
    cr_expect_eq(access("trace.db.old.spool/free-13", F_OK), 0, "the last run's");
}

Test(output, keeps_an_earlier_trace_as_old, .init = enter_folder)
{
    char path[PATH_MAX];
    make_file("trace.db", "earlier", 3600);
    make_file("trace.db.old", "earliest", 7200);
    cr_assert_eq(gmt_output_open("trace.db", 1 << 20, path), 0);
    cr_assert_str_eq(strrchr(path, '/'), "/trace.db");
    char text[16] = "";
    FILE *old = fopen("trace.db.old", "r");
    cr_assert_not_null(old);
    cr_assert_not_null(fgets(text, sizeof(text), old));
    (void)fclose(old);
    cr_assert_str_eq(text, "earlier");
    cr_assert_eq(access("trace.db.spool/control", F_OK), 0);
}

Test(output, leaves_a_trace_of_this_run_alone, .init = enter_folder)
{
    char path[PATH_MAX];
    make_file("trace.db", "a sibling's", 0);
    setenv("GMTRACE_RUN", "1", 1); /* the run began long ago: whatever is there belongs to it */
    cr_assert_eq(gmt_output_open("trace.db", 1 << 20, path), 0);
    char expected[64];
    (void)snprintf(expected, sizeof(expected), "/trace.db.%ld", (long)getpid());
    cr_assert_str_eq(strrchr(path, '/'), expected);
    cr_assert_eq(access("trace.db.old", F_OK), -1);
}

Test(output, keeps_a_leftover_spool_with_its_trace, .init = enter_folder)
{
    char path[PATH_MAX];
    cr_assert_eq(mkdir("trace.db.spool", 0777), 0);
    make_file("trace.db.spool/control", "left by a killed recorder", 3600);
    struct utimbuf times = {.actime = time(NULL) - 3600, .modtime = time(NULL) - 3600};
    cr_assert_eq(utime("trace.db.spool", &times), 0);
    cr_assert_eq(gmt_output_open("trace.db", 1 << 20, path), 0);
    cr_assert_eq(access("trace.db.old.spool/control", F_OK), 0);
}

Test(output, says_why_a_folder_cannot_be_written, .init = enter_folder)
{
    char path[PATH_MAX];
    cr_assert_eq(gmt_output_open("missing/trace.db", 1 << 20, path), -ENOENT);
    cr_assert_not(gmt_spool_is_open());
}
