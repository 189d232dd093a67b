/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user hands to gmtrace beside a trace. The first line of an input says what the rest is:
 *   model     a device model, with which a good trace is priced
 *   budget    the assertions of --budget
 *   line      a command line of gmanalyze, one word per line
 *   variables values of GMTRACE_*, one assignment per line
 */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"
#include "preload/session/options.h"
#include "preload/session/output.h"
#include "tests/fuzz/fuzz.h"

static uint8_t *good;
static size_t good_bytes;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *path = getenv("GMT_FUZZ_TRACE");

    (void)argc;
    (void)argv;
    good = path != NULL ? gmt_fuzz_read(path, &good_bytes) : NULL;
    if (good == NULL) {
        fprintf(stderr, "GMT_FUZZ_TRACE must name a trace to work on\n");
        exit(2);
    }
    return 0;
}

static void read_model(const uint8_t *data, size_t bytes)
{
    static const char *const words[] = {"--calibrate", "never",  "--model", "given.json",
                                        "--top",       "0",      "-o",      "r.json",
                                        "-o",          "r.html", "t.db",    NULL};

    gmt_fuzz_write("given.json", data, bytes);
    GMT_FUZZ_REQUIRE(gmt_fuzz_command(words, GMT_FUZZ_TEXT) <= GMT_EXIT_INCOMPLETE);
}

static void read_budget(const uint8_t *data, size_t bytes)
{
    static const char *const words[] = {"--calibrate", "never",      "--model", GMT_FUZZ_MODEL,
                                        "--budget",    "given.json", "t.db",    NULL};

    gmt_fuzz_write("given.json", data, bytes);
    GMT_FUZZ_REQUIRE(gmt_fuzz_command(words, GMT_FUZZ_TEXT) <= GMT_EXIT_INCOMPLETE);
}

/* ---- lines ----------------------------------------------------------------------------------- */

enum { MOST_LINES = 32 };

/* Cuts the text into its lines, without empty ones; returns how many. */
static size_t cut(char *text, const char *words[MOST_LINES + 1])
{
    char *rest = NULL;
    size_t count = 0;

    for (char *word = strtok_r(text, "\n", &rest); word != NULL && count < MOST_LINES;
         word = strtok_r(NULL, "\n", &rest)) {
        words[count++] = word;
    }
    words[count] = NULL;
    return count;
}

/* Files are read and written in the folder only, and nothing is measured. */
static bool is_harmless(const char *word)
{
    return strchr(word, '/') == NULL && strstr(word, "..") == NULL && strstr(word, "--c") == NULL;
}

static void run_words(const char *const *words, size_t count)
{
    for (size_t i = 0; i < count && words[i] != NULL; i++) {
        if (!is_harmless(words[i])) {
            return;
        }
    }
    (void)gmt_fuzz_command(words, GMT_FUZZ_NOTHING);
}

static void set_variables(const char *const *words, size_t count)
{
    char text[256], path[PATH_MAX], small[16];
    unsigned ranks;

    clearenv();
    for (size_t i = 0; i < count && words[i] != NULL; i++) {
        const char *equals = strchr(words[i], '=');
        char name[64];

        if (equals == NULL || equals == words[i] || equals - words[i] >= (ptrdiff_t)sizeof(name)) {
            continue;
        }
        snprintf(name, sizeof(name), "%.*s", (int)(equals - words[i]), words[i]);
        (void)setenv(name, equals + 1, 1);
    }
    gmt_options_load();
    gmt_options_describe(text, sizeof(text));
    GMT_FUZZ_REQUIRE(memchr(text, '\0', sizeof(text)) != NULL);
    GMT_FUZZ_REQUIRE(gmt_options_rank(&ranks) == NULL || ranks >= 1);
    GMT_FUZZ_REQUIRE(
        gmt_options.counter_budget >= 0 &&
        (gmt_options.counter_budget <= 1 || gmt_options.counter_budget == GMT_UNLIMITED_BUDGET));
    GMT_FUZZ_REQUIRE(gmt_options.spool_limit_bytes >= 1 << 20);
    if (gmt_output_expand(gmt_options.output, path, sizeof(path)) == 0) {
        GMT_FUZZ_REQUIRE(strlen(path) < sizeof(path));
    }
    if (gmt_output_expand(gmt_options.output, small, sizeof(small)) == 0) {
        GMT_FUZZ_REQUIRE(strlen(small) < sizeof(small));
    }
    clearenv();
}

/* Is the first line this word? Then *data is moved behind it. */
static bool is(const char *word, const uint8_t **data, size_t *bytes)
{
    size_t length = strlen(word);

    if (*bytes <= length || memcmp(*data, word, length) != 0 || (*data)[length] != '\n') {
        return false;
    }
    *data += length + 1;
    *bytes -= length + 1;
    return true;
}

void gmt_fuzz_run(const uint8_t *data, size_t bytes)
{
    const char *words[MOST_LINES + 1] = {NULL};
    char *text;

    gmt_fuzz_sweep();
    gmt_fuzz_write("t.db", good, good_bytes);
    if (is("model", &data, &bytes)) {
        read_model(data, bytes);
    } else if (is("budget", &data, &bytes)) {
        read_budget(data, bytes);
    }
    text = strndup((const char *)data, bytes);
    if (text != NULL && is("line", &data, &bytes)) {
        run_words(words + 1, cut(text, words) - 1);
    } else if (text != NULL && is("variables", &data, &bytes)) {
        set_variables(words + 1, cut(text, words) - 1);
    }
    free(text);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t limit, unsigned int seed)
{
    uint64_t state = seed;
    const uint8_t *end = memchr(data, '\n', bytes);
    size_t head = end != NULL ? (size_t)(end - data) + 1 : 0;

    /* What it is stays, mostly. */
    if (gmt_fuzz_below(&state, 32) == 0) {
        head = 0;
    }
    return head + gmt_fuzz_mutate_text(&state, data + head, bytes - head, limit - head);
}
