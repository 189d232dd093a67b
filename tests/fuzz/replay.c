/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the inputs that are named, as libFuzzer does with files, where the compiler has no libFuzzer: each in a child. */
#include <fts.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

enum { WAITING_S = 120 }; /* by the clock: it waits for something that does not come */

static unsigned runs, failures;

static void run_child(const char *path, FILE *log)
{
    size_t bytes;
    uint8_t *data = gmt_fuzz_read(path, &bytes);
    /* A copy of its own size: a byte too far is seen. */
    uint8_t *exact = malloc(bytes != 0 ? bytes : 1);

    if (data == NULL || exact == NULL || dup2(fileno(log), STDOUT_FILENO) < 0 ||
        dup2(fileno(log), STDERR_FILENO) < 0) {
        _exit(2);
    }
    memcpy(exact, data, bytes);
    alarm(WAITING_S);
    (void)LLVMFuzzerTestOneInput(exact, bytes);
    fflush(NULL);
    _exit(0); /* the folder is the parent's */
}

static void print_start(FILE *file)
{
    char text[6000];

    if (file != NULL) {
        rewind(file);
        fwrite(text, 1, fread(text, 1, sizeof(text), file), stderr);
    }
}

/* What a command printed goes to a file of the folder (commands.c). */
static void report(const char *path, int status, FILE *log)
{
    FILE *printed = fopen(gmt_fuzz_path("stderr"), "re");

    failures++;
    fprintf(stderr, "%s failed (%s %d)\n", path, WIFSIGNALED(status) ? "signal" : "exit status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    print_start(log);
    print_start(printed);
    if (printed != NULL) {
        fclose(printed);
    }
}

static void run(const char *path)
{
    FILE *log = tmpfile();
    int status;
    pid_t child = log != NULL ? fork() : -1;

    if (child == 0) {
        run_child(path, log);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("replay");
        exit(2);
    }
    runs++;
    if (status != 0) {
        report(path, status, log);
    }
    fclose(log);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

int main(int argc, char **argv)
{
    FTS *files = argc > 1 ? fts_open(argv + 1, FTS_NOCHDIR | FTS_PHYSICAL, by_name) : NULL;

    if (files == NULL) {
        fprintf(stderr, "usage: %s FILE|FOLDER...\n", argv[0]);
        return 2;
    }
    (void)gmt_fuzz_folder();
    if (LLVMFuzzerInitialize != NULL) {
        (void)LLVMFuzzerInitialize(&argc, &argv);
    }
    for (FTSENT *entry; (entry = fts_read(files)) != NULL;) {
        if (entry->fts_info == FTS_F) {
            run(entry->fts_path);
        }
    }
    fts_close(files);
    fprintf(stderr, "%u inputs, %u failed\n", runs, failures);
    return failures != 0 || runs == 0;
}
