/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace that anyone may have made: opened, loaded, analysed by every rule and written in every format;
 * and one or two of the other commands, which the bytes of the input choose.
 */
#include <jansson.h>
#include <string.h>

#include "analyzer/commands/commands.h"
#include "tests/fuzz/fuzz.h"

#define ANALYZE "--calibrate", "never", "--model", GMT_FUZZ_MODEL
#define EVERY_FORMAT \
    "-o", "r.json", "-o", "r.sarif", "-o", "r.md", "-o", "r.csv", "-o", "r.html", "-o", "r.txt"

struct line {
    enum gmt_fuzz_shown shown;
    const char *words[24];
};

static const struct line always = {GMT_FUZZ_TEXT, {ANALYZE, EVERY_FORMAT, "--top", "0", "t.db"}};

static const struct line lines[] = {
    {GMT_FUZZ_TEXT, {ANALYZE, EVERY_FORMAT, "--redact", "names", "t.db"}},
    {GMT_FUZZ_TEXT, {ANALYZE, EVERY_FORMAT, "--redact", "paths", "t.db"}},
    {GMT_FUZZ_TEXT, {ANALYZE, "--range", "step", "--kernel", "a|b", "--strict", "t.db"}},
    {GMT_FUZZ_TEXT, {ANALYZE, "--baseline", "good.db", "--fail-on", "any", "t.db"}},
    {GMT_FUZZ_TEXT, {ANALYZE, "--baseline", "t.db", "good.db"}},
    {GMT_FUZZ_TEXT, {ANALYZE, "-o", "r.html", "-o", "r.json", "-o", "r.md", "t.db", "good.db"}},
    {GMT_FUZZ_TEXT,
     {"diff", ANALYZE, "-o", "r.html", "-o", "r.json", "-o", "r.md", "good.db", "t.db"}},
    {GMT_FUZZ_MESSAGES, {"export", "--to", "perfetto", "-o", "r.json", "t.db"}},
    {GMT_FUZZ_MESSAGES, {"export", "--to", "csv", "-o", "views", "t.db"}},
    {GMT_FUZZ_TEXT, {"sql", "t.db"}},
    {GMT_FUZZ_TEXT, {"sql", "--format", "table", "t.db", "SELECT * FROM v_copy LIMIT 50"}},
    {GMT_FUZZ_MESSAGES, {"sql", "--format", "json", "t.db", "SELECT * FROM v_kernel"}},
    {GMT_FUZZ_TEXT, {"lines", "--top", "0", "t.db"}},
    {GMT_FUZZ_MESSAGES, {"lines", "--format", "json", "t.db"}},
    {GMT_FUZZ_TEXT, {"validate", "t.db"}},
    {GMT_FUZZ_MESSAGES, {"validate", "--json", "t.db"}},
    {GMT_FUZZ_TEXT, {"symbolize", "t.db"}}};

/* A report is whole or not there. */
static void require_json(const char *name)
{
    size_t bytes;
    uint8_t *text = gmt_fuzz_read(gmt_fuzz_path(name), &bytes);
    json_error_t error;
    json_t *root = text != NULL ? json_loadb((const char *)text, bytes, JSON_ALLOW_NUL, &error)
                                : NULL;

    if (text != NULL && root == NULL) {
        fprintf(stderr, "%s:%d: %s\n", name, error.line, error.text);
    }
    GMT_FUZZ_REQUIRE(text == NULL || root != NULL);
    json_decref(root);
    free(text);
}

static void run_line(const struct line *line)
{
    int status = gmt_fuzz_command(line->words, line->shown);

    /* 2 where a line that is right asks for what the trace does not have. */
    GMT_FUZZ_REQUIRE(status >= GMT_EXIT_OK && status <= GMT_EXIT_INCOMPLETE);
    require_json("r.json");
    require_json("r.sarif");
    if (strcmp(line->words[0], "symbolize") != 0) {
        GMT_FUZZ_REQUIRE(remove(gmt_fuzz_path("t.db-journal")) != 0);
        GMT_FUZZ_REQUIRE(remove(gmt_fuzz_path("t.db-wal")) != 0);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
static uint8_t *good;
static size_t good_bytes;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *path = getenv("GMT_FUZZ_TRACE");

    (void)argc;
    (void)argv;
    good = path != NULL ? gmt_fuzz_read(path, &good_bytes) : NULL;
    if (good == NULL) {
        fprintf(stderr, "GMT_FUZZ_TRACE must name a trace to compare with\n");
        exit(2);
    }
    return 0;
}

/* Reading changes nothing, but for the command that is there to add names. */
static void require_unchanged(const uint8_t *data, size_t bytes)
{
    size_t now_bytes;
    uint8_t *now = gmt_fuzz_read(gmt_fuzz_path("t.db"), &now_bytes);

    GMT_FUZZ_REQUIRE(now != NULL && now_bytes == bytes && memcmp(now, data, bytes) == 0);
    free(now);
}

void gmt_fuzz_run(const uint8_t *data, size_t bytes)
{
    uint64_t choice = bytes;

    for (size_t i = 0; i < bytes; i += 61) {
        choice = (choice ^ data[i]) * UINT64_C(0x100000001b3);
    }
    gmt_fuzz_sweep();
    gmt_fuzz_write("t.db", data, bytes);
    gmt_fuzz_write("good.db", good, good_bytes);
    run_line(&always);
    require_unchanged(data, bytes);
    run_line(&lines[gmt_fuzz_below(&choice, sizeof(lines) / sizeof(lines[0]))]);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t limit, unsigned int seed)
{
    uint64_t state = seed;
    size_t changed = gmt_fuzz_below(&state, 8) != 0
                         ? gmt_fuzz_mutate_database(&state, data, bytes, limit)
                         : 0;

    /* Damage of the file itself: alone, or on top. */
    if (changed == 0 || gmt_fuzz_below(&state, 16) == 0) {
        changed = gmt_fuzz_mutate_bytes(&state, data, changed != 0 ? changed : bytes, limit);
    }
    return changed;
}
