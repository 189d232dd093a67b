/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the device's counters (SIMGPU_COUNTS) and the measured table of docs/runtime-api.md. */
#include "tally.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simgpu/driver/counts.h"

/* What gmtrace intercepts and keeps as events; the table lists nothing else. */
static const char *const intercepted[] = {
#define GMT_HOOK_UNRECORDED(symbol, family, runtime, traits, ...)
#define GMT_HOOK(symbol, family, runtime_name, traits, ...) #symbol,
#include "preload/driver/hooks.def"
};
enum { INTERCEPTED = sizeof intercepted / sizeof intercepted[0], TEXT = 8192 };

static const char *const no_events[] = {"cuGetProcAddress", "cuGetProcAddress_v2",
                                        "cuLibraryGetKernel", "cuCtxEnablePeerAccess"};

static char path[] = "/tmp/gmtrace-tally-XXXXXX";
static uint64_t before[INTERCEPTED];

void tally_start(void)
{
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    close(file);
    cr_assert_eq(setenv("SIMGPU_COUNTS", path, 1), 0);
}

void tally_end(void)
{
    (void)unlink(path);
}

static void read_counts(uint64_t counts[INTERCEPTED])
{
    FILE *file = fopen(path, "r");
    struct sim_count record;
    cr_assert_not_null(file);
    memset(counts, 0, INTERCEPTED * sizeof counts[0]);
    while (fread(&record, sizeof record, 1, file) == 1) {
        for (size_t i = 0; i < INTERCEPTED; i++) {
            if (strcmp(record.name, intercepted[i]) == 0) {
                counts[i] = record.calls;
            }
        }
    }
    (void)fclose(file);
}

void tally_snapshot(void)
{
    read_counts(before);
}

static bool is_event(const char *name)
{
    for (size_t i = 0; i < sizeof no_events / sizeof no_events[0]; i++) {
        if (strcmp(name, no_events[i]) == 0) {
            return false;
        }
    }
    return true;
}

/* "| NAME | CALLS |" -> CALLS */
static bool find_row(const char *name, char calls[TEXT])
{
    char line[TEXT];
    char wanted[TEXT];
    bool found = false;
    FILE *file = fopen(GMT_SOURCE_DIR "/docs/runtime-api.md", "r");
    cr_assert_not_null(file);
    int bytes = snprintf(wanted, sizeof wanted, "| %s | ", name);
    while (!found && fgets(line, sizeof line, file) != NULL) {
        char *end = strstr(line, " |\n");
        if (strncmp(line, wanted, (size_t)bytes) == 0 && end != NULL) {
            *end = '\0';
            (void)snprintf(calls, TEXT, "%s", line + bytes);
            found = true;
        }
    }
    (void)fclose(file);
    return found;
}

/* The order of calls is not counted: "a, b" and "b, a" are both what the table may say. */
void tally_compare(const char *name)
{
    uint64_t after[INTERCEPTED];
    char row[TEXT], expected[TEXT + 4], made[TEXT] = "";
    cr_assert(find_row(name, row), "docs/runtime-api.md has no row '%s'", name);
    (void)snprintf(expected, sizeof expected, ", %s, ", row);
    size_t expected_calls = 1;
    for (const char *at = row; (at = strstr(at, ", ")) != NULL; at++) {
        expected_calls++;
    }
    read_counts(after);
    size_t calls = 0;
    bool same = true;
    for (size_t i = 0; i < INTERCEPTED; i++) {
        uint64_t times = after[i] - before[i];
        char word[80];
        if (times == 0 || !is_event(intercepted[i])) {
            continue;
        }
        (void)snprintf(word, sizeof word, ", %s, ", intercepted[i]);
        same = same && strstr(expected, word) != NULL;
        calls += times;
        size_t used = strlen(made);
        (void)snprintf(made + used, sizeof made - used, "%s x%llu ", intercepted[i],
                       (unsigned long long)times);
    }
    cr_assert(same && calls == expected_calls, "%s: '%s' is called, the table says '%s'", name,
              made, row);
}
