/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory snapshot: read, its histories replayed, and, where it is one, given to gmanalyze beside a good trace. Nothing that
 * is no plain data is ever read as a value.
 */
#include <string.h>

#include "analyzer/commands/commands.h"
#include "analyzer/snapshot/replay.h"
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

static void check_segments(const struct gmt_torch_snapshot *snapshot)
{
    uint64_t end = 0;

    for (size_t i = 0; i < snapshot->segment_count; i++) {
        const struct gmt_snapshot_segment *segment = &snapshot->segments[i];
        uint64_t bytes = 0;

        GMT_FUZZ_REQUIRE(segment->address >= end);
        end = segment->address + segment->size;
        for (size_t k = 0; k < segment->block_count; k++) {
            const struct gmt_snapshot_block *block = &snapshot->blocks[segment->first_block + k];

            bytes += block->size;
            GMT_FUZZ_REQUIRE(block->requested <= block->size);
            GMT_FUZZ_REQUIRE(block->place == GMT_SNAPSHOT_NO_PLACE ||
                             block->place < snapshot->place_count);
        }
        GMT_FUZZ_REQUIRE(bytes == segment->size);
    }
}

static void check_history(const struct gmt_torch_snapshot *snapshot, size_t device)
{
    struct gmt_history history;
    struct gmt_allocator_settings settings = snapshot->settings;

    GMT_FUZZ_REQUIRE(gmt_history_load(&history, snapshot, device) == 0);
    for (int other = 0; other < 2; other++) {
        struct gmt_replay replay;

        if (gmt_replay_run(&history, &settings, &replay) == 0) {
            GMT_FUZZ_REQUIRE(replay.reserved_end <= replay.reserved_peak);
        }
        settings.expandable = !settings.expandable;
    }
    gmt_history_free(&history);
}

void gmt_fuzz_run(const uint8_t *data, size_t bytes)
{
    static const char *const words[] = {"--calibrate", "never",   "--memory-snapshot",
                                        "s.pickle",    "--model", GMT_FUZZ_MODEL,
                                        "--top",       "0",       "-o",
                                        "r.json",      "-o",      "r.md",
                                        "t.db",        NULL};
    struct gmt_torch_snapshot snapshot;
    char message[256] = "";
    int rc = gmt_snapshot_read(&snapshot, data, bytes, message, sizeof(message));

    GMT_FUZZ_REQUIRE((rc == 0) == (message[0] == '\0'));
    GMT_FUZZ_REQUIRE(strchr(message, '\n') == NULL);
    if (rc == 0) {
        check_segments(&snapshot);
        for (size_t i = 0; i < snapshot.device_count; i++) {
            check_history(&snapshot, i);
        }
    }
    gmt_snapshot_free(&snapshot);
    if (rc == 0) {
        gmt_fuzz_sweep();
        gmt_fuzz_write("t.db", good, good_bytes);
        gmt_fuzz_write("s.pickle", data, bytes);
        GMT_FUZZ_REQUIRE(gmt_fuzz_command(words, GMT_FUZZ_TEXT) == GMT_EXIT_OK);
    }
}
