/* SPDX-License-Identifier: Apache-2.0 */
/* Names of traces: pattern fields, and what may not be written over. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "libtrace/record/spool.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/record/spool_lock.h"
#include "libtrace/record/spool_names.h"
#include "preload/session/output.h"

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

static void make_older(const char *name, long age_s)
{
    struct utimbuf times = {.actime = time(NULL) - age_s, .modtime = time(NULL) - age_s};
    cr_assert_eq(utime(name, &times), 0);
}

static void make_file(const char *name, const char *text, long age_s)
{
    FILE *file = fopen(name, "w");
    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
    make_older(name, age_s);
}

/* What of a trace is looked at. text: where that of make_file is. */
static void make_trace(const char *name, const char *text, long age_s)
{
    FILE *file = fopen(name, "w");
    cr_assert_not_null(file);
    cr_assert_geq(fprintf(file, "%-*sgmtr", GMT_TRACE_APPLICATION_OFFSET, text), 0);
    cr_assert_eq(fclose(file), 0);
    make_older(name, age_s);
}

static void expect_text(const char *name, const char *text)
{
    char there[64] = "";
    FILE *file = fopen(name, "r");
    cr_assert_not_null(file, "%s", name);
    cr_expect_not_null(fgets(there, sizeof(there), file));
    (void)fclose(file);
    cr_expect_eq(strncmp(there, text, strlen(text)), 0, "%s: %s", name, there);
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
    make_trace("trace.db", "earlier", 3600);
    make_trace("trace.db.old", "earliest", 7200);
    cr_assert_eq(gmt_output_open("trace.db", 1 << 20, path), 0);
    cr_assert_str_eq(strrchr(path, '/'), "/trace.db");
    expect_text("trace.db.old", "earlier");
    cr_assert_eq(access("trace.db.spool/control", F_OK), 0);
}

/* A source, or the program itself: -o was given the wrong name. */
Test(output, neither_moves_nor_replaces_what_is_no_trace, .init = enter_folder)
{
    char path[PATH_MAX];
    make_file("app.cu", "int main;", 3600);
    cr_expect_eq(gmt_output_open("app.cu", 1 << 20, path), GMT_OUTPUT_NO_TRACE);
    cr_expect_str_eq(strrchr(path, '/'), "/app.cu");
    cr_expect_not(gmt_output_make_way("app.cu", NULL));
    make_trace("trace.db", "earlier", 3600);
    make_file("trace.db.old",
              "of somebody else, and longer than the header in which a trace's number is", 0);
    cr_expect_eq(gmt_output_open("trace.db", 1 << 20, path), GMT_OUTPUT_NO_TRACE);
    cr_expect_str_eq(strrchr(path, '/'), "/trace.db.old");
    cr_expect_not(gmt_output_make_way("trace.db", NULL));
    expect_text("app.cu", "int main;");
    expect_text("trace.db", "earlier");
    expect_text("trace.db.old", "of somebody else");
    cr_expect_not(gmt_spool_is_open());
    cr_expect_eq(system("test \"$(echo *)\" = 'app.cu trace.db trace.db.old'"), 0);
    /* Where nothing has to be moved the older one is not in the way; neither is an empty file. */
    cr_assert_eq(unlink("trace.db"), 0);
    cr_expect_eq(gmt_output_open("trace.db", 1 << 20, path), 0);
    gmt_spool_withdraw();
    make_file("empty.db", "", 3600);
    cr_expect_eq(gmt_output_open("empty.db", 1 << 20, path), 0);
}

/* Of a link to it the link is moved. */
Test(output, moves_a_link_to_what_is_no_trace, .init = enter_folder)
{
    struct stat status;
    make_file("app.cu", "int main;", 3600);
    cr_assert_eq(symlink("app.cu", "trace.db"), 0);
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    cr_assert_eq(utimensat(AT_FDCWD, "trace.db", old, AT_SYMLINK_NOFOLLOW), 0);
    cr_expect(gmt_output_make_way("trace.db", NULL));
    cr_expect_neq(lstat("trace.db", &status), 0);
    cr_expect_eq(lstat("trace.db.old", &status), 0);
    cr_expect(S_ISLNK(status.st_mode));
    cr_expect_eq(lstat("app.cu", &status), 0);
    cr_expect_eq(status.st_size, 9);
}

/* What a power cut leaves of a trace. */
Test(output, moves_zeros, .init = enter_folder)
{
    struct stat status;
    make_file("trace.db", "", 0);
    cr_assert_eq(truncate("trace.db", 8192), 0);
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    cr_assert_eq(utimensat(AT_FDCWD, "trace.db", old, 0), 0);
    cr_expect(gmt_output_make_way("trace.db", NULL));
    cr_expect_eq(lstat("trace.db.old", &status), 0);
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

/* In a folder that others may write to, too. */
Test(output, removes_nothing_where_a_link_leads, .init = enter_folder)
{
    char path[PATH_MAX];
    cr_assert_eq(mkdir("mine", 0700), 0);
    make_file("mine/control", "of another program", 3600);
    make_file("mine/chunk-1", "of another program", 3600);
    cr_assert_eq(symlink("mine", "trace.db.old.spool"), 0);
    cr_assert_eq(mkdir("trace.db.spool", 0777), 0);
    struct utimbuf times = {.actime = time(NULL) - 3600, .modtime = time(NULL) - 3600};
    cr_assert_eq(utime("trace.db.spool", &times), 0);
    cr_assert_eq(gmt_output_open("trace.db", 1 << 20, path), 0);
    cr_expect_eq(access("mine/control", F_OK), 0);
    cr_expect_eq(access("mine/chunk-1", F_OK), 0);
}

Test(output, moves_a_link_aside_like_a_file, .init = enter_folder)
{
    static const char *const targets[] = {"absent", "elsewhere"};
    char target[64] = "";
    struct stat status;
    make_trace("elsewhere", "mine", 3600);
    for (size_t i = 0; i < 2; i++) {
        (void)unlink("trace.db");
        cr_assert_eq(symlink(targets[i], "trace.db"), 0);
        const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
        cr_assert_eq(utimensat(AT_FDCWD, "trace.db", old, AT_SYMLINK_NOFOLLOW), 0);
        cr_expect(gmt_output_make_way("trace.db", NULL));
        cr_expect_neq(lstat("trace.db", &status), 0);
        cr_assert_gt(readlink("trace.db.old", target, sizeof(target) - 1), 0);
        cr_expect_str_eq(target, targets[i]);
        memset(target, 0, sizeof(target));
    }
    cr_expect_eq(access("elsewhere", F_OK), 0);
}

/* A trace that was left in the middle of a write is of use with its journal only. */
Test(output, moves_the_journal_with_its_trace, .init = enter_folder)
{
    make_trace("trace.db", "earlier", 3600);
    make_file("trace.db-journal", "its journal", 3600);
    cr_expect(gmt_output_make_way("trace.db", NULL));
    cr_expect_eq(access("trace.db.old-journal", F_OK), 0);
    cr_expect_neq(access("trace.db-journal", F_OK), 0);
}

Test(output, says_why_a_folder_cannot_be_written, .init = enter_folder)
{
    char path[PATH_MAX];
    cr_assert_eq(gmt_output_open("missing/trace.db", 1 << 20, path), -ENOENT);
    cr_assert_not(gmt_spool_is_open());
}

enum { AT_ONCE = 12, ROUNDS = 40 };

/* Of one of several processes: 0 if what it has made is its own, and stays. */
static int claim(int go)
{
    char path[PATH_MAX], control_path[PATH_MAX + 32], byte;
    struct gmt_control control;
    if (read(go, &byte, 1) != 0 || gmt_output_open("trace.db", 1 << 20, path) != 0) {
        return 1;
    }
    (void)usleep(20000); /* others are at it still */
    (void)snprintf(control_path, sizeof(control_path), "%s.spool/control", path);
    int fd = open(control_path, O_RDONLY);
    ssize_t got = read(fd, &control, sizeof(control));
    return got == (ssize_t)sizeof(control) && control.pid == (uint32_t)getpid() ? 0 : 2;
}

static void claim_together(void)
{
    pid_t children[AT_ONCE];
    int go[2], status;
    cr_assert_eq(pipe(go), 0);
    for (size_t i = 0; i < AT_ONCE; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            close(go[1]);
            _exit(claim(go[0]));
        }
    }
    close(go[1]);
    for (size_t i = 0; i < AT_ONCE; i++) {
        cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
        cr_expect_eq(status, 0, "1: no spool was made; 2: another has it: %d", status >> 8);
    }
    close(go[0]);
}

/* The times do not show any of them that the others' spools are of this run. */
Test(output, gives_a_name_to_one_of_several_processes, .init = enter_folder, .timeout = 120)
{
    setenv("GMTRACE_RUN", "9999999999999999999", 1);
    for (int round = 0; round < ROUNDS; round++) {
        cr_assert_eq(system("rm -rf ./trace.db*"), 0);
        make_trace("trace.db", "earlier", 3600);
        claim_together();
        expect_text("trace.db.old", "earlier");
    }
}

Test(output, leaves_a_spool_alone_whose_recorder_is_about_to_come, .init = enter_folder)
{
    char path[PATH_MAX];
    int status;
    pid_t child = fork();
    if (child == 0) {
        _exit(gmt_output_open("trace.db", 1 << 20, path) != 0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    setenv("GMTRACE_RUN", "9999999999999999999", 1);
    cr_assert_eq(gmt_output_open("trace.db", 1 << 20, path), 0);
    cr_expect_neq(access("trace.db.spool/control", F_OK), -1);
    cr_expect_str_neq(strrchr(path, '/'), "/trace.db");
}

/* It is moved by one process: the others have its lock, or leave it to the one that has. */
Test(output, leaves_a_spool_alone_that_somebody_reads, .init = enter_folder)
{
    char path[PATH_MAX];
    cr_assert_eq(mkdir("trace.db.spool", 0700), 0);
    make_file("trace.db.spool/control", "left by a killed recorder", 3600);
    int spool = gmt_spool_folder_open("trace.db.spool");
    int lock = gmt_spool_lock(spool);
    cr_assert_geq(lock, 0);
    setenv("GMTRACE_RUN", "9999999999999999999", 1);
    cr_expect_not(gmt_output_make_way("trace.db", "9999999999999999999"));
    close(lock);
    cr_expect(gmt_output_make_way("trace.db", "9999999999999999999"));
    cr_expect_eq(access("trace.db.old.spool/control", F_OK), 0);
    cr_assert_eq(gmt_output_open("trace.db", 1 << 20, path), 0);
    close(spool);
}

/* Somebody may be at work on it: there is no descriptor left to look. */
Test(output, leaves_a_spool_alone_that_it_cannot_open, .init = enter_folder)
{
    struct rlimit before, none;
    cr_assert_eq(mkdir("trace.db.spool", 0700), 0);
    make_file("trace.db.spool/control", "left by a killed recorder", 3600);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool is_free = gmt_output_make_way("trace.db", "9999999999999999999");
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    cr_expect_not(is_free);
    cr_expect_eq(access("trace.db.spool/control", F_OK), 0);
    cr_expect_neq(access("trace.db.old.spool", F_OK), 0);
}

/* The launcher, before the program runs. */
Test(output, makes_way_without_leaving_anything, .init = enter_folder)
{
    make_trace("trace.db", "earlier", 3600);
    cr_expect(gmt_output_make_way("trace.db", NULL));
    cr_expect_eq(system("test \"$(ls -A)\" = trace.db.old"), 0);
    cr_expect_not(gmt_spool_is_open());
}

Test(output, leaves_no_folder_where_the_name_is_taken, .init = enter_folder)
{
    cr_assert_eq(mkdir("trace.db.spool", 0700), 0);
    make_file("trace.db.spool/control", "", 0);
    cr_assert_eq(gmt_spool_open(&(struct gmt_spool_config){.output = "trace.db"}), -EEXIST);
    cr_expect_not(gmt_spool_is_open());
    cr_expect_eq(system("test \"$(ls -A)\" = trace.db.spool"), 0);
}
