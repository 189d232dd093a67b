/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_device: throws changed PTX and fat binaries at the software device.
 *
 * Build it with sanitizers. The input at hand lies in a file (--input) that stays behind when an
 * execution ends the program, whatever the way; an execution of more than 30 s counts as a hang.
 * Built with -fsanitize-coverage=trace-pc, inputs that reach new code become seeds for others.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

enum { HANG_S = 30 };

struct options {
    const char *corpus, *replay, *keep, *input;
    uint64_t seconds, seed;
};

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:abort_on_error=1:max_allocation_size_mb=4096";
}

static const char usage[] =
    "usage: fuzz_device [--corpus DIR] [--seconds N] [--seed S] [--keep DIR] [--input FILE]\n"
    "       fuzz_device --replay DIR_OR_FILE [--keep DIR]\n"
    "  --corpus DIR    inputs to start from (tests/fuzz/corpus)\n"
    "  --seconds N     how long (10)\n"
    "  --seed S        of the random numbers (1)\n"
    "  --keep DIR      write inputs there that reach new code\n"
    "  --input FILE    where the input at hand lies (fuzz_device.input)\n"
    "  --replay PATH   execute each input there once\n";

static int open_input(const char *path)
{
    int file = path != NULL ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;

    if (file < 0) {
        perror(path);
        exit(2);
    }
    return file;
}

/* The input is in its file before it is executed: nothing need be done when that ends the program. */
static void execute(int file, const uint8_t *data, size_t bytes)
{
    if (pwrite(file, data, bytes, 0) != (ssize_t)bytes || ftruncate(file, (off_t)bytes) != 0) {
        perror("fuzz_device: --input");
        exit(2);
    }
    alarm(HANG_S); /* SIGALRM ends the program */
    gmt_fuzz_execute(data, bytes);
}

static uint64_t now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec;
}

static void keep(const struct options *options, const uint8_t *data, size_t bytes)
{
    char path[4096];
    FILE *file;

    if (options->keep == NULL)
        return;
    snprintf(path, sizeof(path), "%s/%llu-%llu", options->keep, (unsigned long long)options->seed,
             (unsigned long long)gmt_fuzz_totals.executions);
    file = fopen(path, "we");
    if (file != NULL) {
        fwrite(data, 1, bytes, file);
        fclose(file);
    }
}

static void fuzz(const struct options *options, struct gmt_fuzz_corpus *corpus, int file)
{
    static uint8_t data[GMT_FUZZ_MAX_BYTES];
    uint64_t state = options->seed, end = now_s() + options->seconds;

    for (size_t i = 0; i < corpus->count; i++)
        execute(file, corpus->inputs[i].data, corpus->inputs[i].bytes);
    gmt_fuzz_is_new();
    while (now_s() < end) {
        size_t bytes = gmt_fuzz_mutate(corpus, &state, data);

        execute(file, data, bytes);
        if (gmt_fuzz_is_new()) {
            gmt_fuzz_corpus_add(corpus, data, bytes);
            keep(options, data, bytes);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const struct gmt_fuzz_input *x = a, *y = b;

    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* With --keep and coverage, the short ones first: what is kept reaches all code that the inputs do. */
static void replay(const struct options *options, const struct gmt_fuzz_corpus *corpus, int file)
{
    if (options->keep != NULL)
        qsort(corpus->inputs, corpus->count, sizeof(*corpus->inputs), by_size);
    for (size_t i = 0; i < corpus->count; i++) {
        const uint32_t before = gmt_fuzz_coverage();

        execute(file, corpus->inputs[i].data, corpus->inputs[i].bytes);
        if (gmt_fuzz_is_new() && gmt_fuzz_coverage() > before)
            keep(options, corpus->inputs[i].data, corpus->inputs[i].bytes);
    }
}

static struct options parse_options(int argc, char **argv)
{
    static const struct option names[] = {
        {"corpus", required_argument, NULL, 'c'},  {"replay", required_argument, NULL, 'r'},
        {"seconds", required_argument, NULL, 's'}, {"seed", required_argument, NULL, 'S'},
        {"keep", required_argument, NULL, 'k'},    {"input", required_argument, NULL, 'i'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    struct options options = {.corpus = GMT_SOURCE_DIR "/tests/fuzz/corpus",
                              .input = "fuzz_device.input",
                              .seconds = 10,
                              .seed = 1};

    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (option) {
        case 'c': options.corpus = optarg; break;
        case 'r': options.replay = optarg; break;
        case 's': options.seconds = strtoull(optarg, NULL, 10); break;
        case 'S': options.seed = strtoull(optarg, NULL, 10); break;
        case 'k': options.keep = optarg; break;
        case 'i': options.input = optarg; break;
        default: fputs(usage, stderr); exit(option == 'h' ? 0 : 2);
        }
    }
    return options;
}

int main(int argc, char **argv)
{
    struct options options = parse_options(argc, argv);
    const char *source = options.replay != NULL ? options.replay : options.corpus;
    struct gmt_fuzz_corpus corpus = {0};
    int file = open_input(options.input);
    size_t seeds;

    if (gmt_fuzz_corpus_load(&corpus, source) <= 0) {
        fprintf(stderr, "fuzz_device: no inputs in %s\n", source);
        return 2;
    }
    seeds = corpus.count;
    if (freopen("/dev/null", "we", stdout) == NULL) /* what kernels print */
        return 2;
    if (options.replay != NULL)
        replay(&options, &corpus, file);
    else
        fuzz(&options, &corpus, file);
    alarm(0);
    unlink(options.input);
    fprintf(
        stderr,
        "%llu executions from %zu seeds: %llu were PTX, %llu modules, %llu launches, %llu ran to "
        "their end; %zu inputs reached new code (%u ways)\n",
        (unsigned long long)gmt_fuzz_totals.executions, seeds,
        (unsigned long long)gmt_fuzz_totals.parsed, (unsigned long long)gmt_fuzz_totals.modules,
        (unsigned long long)gmt_fuzz_totals.launches, (unsigned long long)gmt_fuzz_totals.completed,
        corpus.count - seeds, gmt_fuzz_coverage());
    close(file);
    gmt_fuzz_corpus_free(&corpus);
    return 0;
}
