/* SPDX-License-Identifier: Apache-2.0 */
/* What is written by name: files are replaced as a whole, links followed, and nothing that is no file is replaced. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libtrace/base/file.h"

static char folder[] = "/tmp/gmt-file.XXXXXX";

static void enter(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void leave(void)
{
    char command[64];
    (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(file, .init = enter, .fini = leave);

static int write_text(void *context, FILE *out)
{
    return fputs(context, out) == EOF ? -EIO : 0;
}

static int fail(void *context, FILE *out)
{
    (void)fputs(context, out);
    return -ENOSPC;
}

static int put(const char *path, const char *text)
{
    return gmt_file_write(path, write_text, (void *)text);
}

static const char *text_of(const char *path)
{
    static char text[64];
    FILE *file = fopen(path, "re");
    cr_assert_not_null(file, "%s: %s", path, strerror(errno));
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static mode_t kind_of(const char *path)
{
    struct stat info;
    cr_assert_eq(lstat(path, &info), 0, "%s is gone", path);
    return info.st_mode & S_IFMT;
}

/* Files in the folder, so that nothing temporary is left. */
static size_t count(void)
{
    glob_t found;
    size_t files = glob("*", 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return files;
}

Test(file, a_file_is_made_and_replaced_or_stays_what_it_was)
{
    struct stat before, after;
    umask(022);
    cr_assert_eq(put("a", "one"), 0);
    cr_assert_str_eq(text_of("a"), "one");
    cr_assert_eq(stat("a", &before), 0);
    cr_assert_eq(before.st_mode & 0777, 0644);
    int open_before = open("a", O_RDONLY | O_CLOEXEC);
    cr_assert_eq(put("a", "two"), 0);
    cr_assert_eq(stat("a", &after), 0);
    cr_assert_neq(before.st_ino, after.st_ino, "who has it open keeps what it was");
    close(open_before);
    cr_assert_eq(gmt_file_write("a", fail, "three"), -ENOSPC);
    cr_assert_str_eq(text_of("a"), "two");
    cr_assert_eq(count(), 1);
    cr_assert_eq(put("none/a", "x"), -ENOENT);
}

Test(file, a_pipe_is_written_and_stays_one)
{
    char got[16] = "";
    cr_assert_eq(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDWR | O_CLOEXEC);
    cr_assert_eq(put("pipe", "text"), 0);
    cr_assert_eq(kind_of("pipe"), S_IFIFO);
    cr_assert_eq(read(reader, got, sizeof(got)), 4);
    cr_assert_str_eq(got, "text");
    cr_assert_eq(gmt_file_write("pipe", fail, "text"), -ENOSPC);
    cr_assert_eq(kind_of("pipe"), S_IFIFO);
    cr_assert_eq(count(), 1);
    close(reader);
}

Test(file, a_device_is_written_and_stays_one)
{
    if (mknod("null", S_IFCHR | 0666, makedev(1, 3)) != 0) {
        cr_skip_test("no device can be made here: %s", strerror(errno));
    }
    cr_assert_eq(put("null", "text"), 0);
    cr_assert_eq(kind_of("null"), S_IFCHR);
    cr_assert_eq(symlink("null", "link"), 0);
    cr_assert_eq(put("link", "text"), 0);
    cr_assert_eq(kind_of("link"), S_IFLNK);
    cr_assert_eq(kind_of("null"), S_IFCHR);
    cr_assert_eq(count(), 2);
}

Test(file, links_are_followed)
{
    cr_assert_eq(mkdir("there", 0777), 0);
    cr_assert_eq(put("there/a", "one"), 0);
    cr_assert_eq(symlink("there/a", "link"), 0);
    cr_assert_eq(symlink("link", "second"), 0);
    cr_assert_eq(put("second", "two"), 0);
    cr_assert_str_eq(text_of("there/a"), "two");
    cr_assert_eq(kind_of("link"), S_IFLNK);
    cr_assert_eq(kind_of("second"), S_IFLNK);

    /* What it leads to is made, beside the link that names it. */
    cr_assert_eq(symlink("new", "there/link"), 0);
    cr_assert_eq(symlink("there/link", "dangling"), 0);
    cr_assert_eq(put("dangling", "three"), 0);
    cr_assert_str_eq(text_of("there/new"), "three");
    cr_assert_eq(kind_of("there/link"), S_IFLNK);
    cr_assert_eq(kind_of("dangling"), S_IFLNK);

    cr_assert_eq(symlink("none/a", "nowhere"), 0);
    cr_assert_eq(put("nowhere", "x"), -ENOENT);
    cr_assert_eq(symlink("round", "round"), 0);
    cr_assert_eq(put("round", "x"), -ELOOP);
    cr_assert_eq(count(), 6);
}

Test(file, an_open_file_without_a_name_is_written)
{
    char path[64];
    int fd = open("a", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    cr_assert_eq(unlink("a"), 0);
    cr_assert_eq(put(path, "text"), 0);
    cr_assert_str_eq(text_of(path), "text");
    cr_assert_eq(count(), 0);
    close(fd);
}

Test(file, what_cannot_be_written_is_known_before)
{
    cr_assert_eq(mkdir("there", 0777), 0);
    cr_assert_eq(put("there/a", "one"), 0);
    cr_assert_eq(symlink("there/b", "link"), 0);
    cr_assert_eq(mkfifo("pipe", 0600), 0);
    cr_assert_eq(symlink("none/a", "nowhere"), 0);
    cr_expect_eq(gmt_file_check("there/a"), 0);
    cr_expect_eq(gmt_file_check("link"), 0);
    cr_expect_eq(gmt_file_check("pipe"), 0);
    cr_expect_eq(gmt_file_check("there"), -EISDIR);
    cr_expect_eq(gmt_file_check("none/a"), -ENOENT);
    cr_expect_eq(gmt_file_check("nowhere"), -ENOENT);
    cr_expect_eq(gmt_file_check("there/a/b"), -ENOTDIR);
    cr_expect(gmt_file_is_same("there/a", "./there/../there/a"));
    cr_expect(gmt_file_is_same("there/b", "link"), "a file that is not there yet");
    cr_expect(!gmt_file_is_same("there/a", "there/b"));
    cr_expect(!gmt_file_is_same("there/a", "a"));
    cr_expect(!gmt_file_is_same("pipe", "pipe"), "both may be written into it");
    cr_expect_eq(count(), 4);
}

static int write_beside_streams(void *context, FILE *out)
{
    return fileno(out) > STDERR_FILENO ? write_text(context, out) : -EBADF;
}

Test(file, a_stream_that_is_closed_is_no_file_of_ours)
{
    int input = dup(STDIN_FILENO);
    cr_assert_eq(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDWR | O_CLOEXEC);
    close(STDIN_FILENO);
    cr_expect_eq(gmt_file_write("a", write_beside_streams, "text"), 0);
    cr_expect_eq(gmt_file_write("pipe", write_beside_streams, "text"), 0);
    dup2(input, STDIN_FILENO);
    close(input);
    close(reader);
}

Test(file, directories_and_databases_are_refused)
{
    static const char database[] = "SQLite format 3";
    cr_assert_eq(mkdir("folder", 0777), 0);
    cr_assert_eq(put("folder", "x"), -EISDIR);
    cr_assert_eq(symlink("folder", "link"), 0);
    cr_assert_eq(put("link", "x"), -EISDIR);
    FILE *file = fopen("trace", "we");
    cr_assert_eq(fwrite(database, 1, sizeof(database), file), sizeof(database));
    fclose(file);
    cr_assert_eq(symlink("trace", "of_trace"), 0);
    cr_assert_eq(put("trace", "x"), -EEXIST);
    cr_assert_eq(put("of_trace", "x"), -EEXIST);
    cr_assert_eq(count(), 4);
}
