/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spools made by hand, for tests of the store: every byte is under the test's control, torn tails
 * included. Link gmt_store.
 *
 * A fixture lies in a directory of its own under TMPDIR, that gmt_fixture_remove deletes. Its ticks
 * are nanoseconds, its writer is a process that has just died, unless the test says otherwise.
 */
#ifndef GMT_TESTS_SPOOL_FIXTURE_H
#define GMT_TESTS_SPOOL_FIXTURE_H

#include <limits.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/layout.h"

#define GMT_FIXTURE_CHUNKS 64u

struct gmt_fixture {
    char root[128];
    char output[160]; /* <root>/trace.db                                                */
    char spool[176];  /* <output>.spool                                                 */
    struct gmt_control *control;
    struct {
        uint8_t *map;
        size_t bytes, used;
    } chunk[GMT_FIXTURE_CHUNKS];
};

void gmt_fixture_make(struct gmt_fixture *fixture);
void gmt_fixture_remove(struct gmt_fixture *fixture);

/* Path of `<spool>/<name>`; static buffer. */
const char *gmt_fixture_path(const struct gmt_fixture *fixture, const char *name);

/* Make chunk-<index> of `bytes`. */
void gmt_fixture_chunk(struct gmt_fixture *fixture, uint32_t index, size_t bytes);
void gmt_fixture_close_chunk(struct gmt_fixture *fixture, uint32_t index);

/* Zeroed slots at the end of a chunk, not committed; then the commit. */
void *gmt_fixture_reserve(struct gmt_fixture *fixture, uint32_t chunk, unsigned slots);
void gmt_fixture_commit(void *record, unsigned type, unsigned slots);

/* A call record: `call` with its payload (NULL for none). */
void gmt_fixture_call(struct gmt_fixture *fixture, uint32_t chunk, enum gmt_rec_type type,
                      const struct gmt_call *call, const void *payload, size_t payload_bytes);

/* A side record: the fixed part (its head apart from `ticks` is filled in) and strings, NULL at the
 * end. */
void gmt_fixture_side(struct gmt_fixture *fixture, uint32_t chunk, enum gmt_rec_type type,
                      const void *fixed, size_t fixed_bytes, ...) __attribute__((sentinel));
void gmt_fixture_side_data(struct gmt_fixture *fixture, uint32_t chunk, enum gmt_rec_type type,
                           const void *fixed, size_t fixed_bytes, const void *tail,
                           size_t tail_bytes);

/* Frequent ones. */
void gmt_fixture_api(struct gmt_fixture *fixture, uint32_t chunk, uint16_t id,
                     enum gmt_call_family family, const char *name);
void gmt_fixture_process(struct gmt_fixture *fixture, uint32_t chunk, uint64_t ticks);
void gmt_fixture_context(struct gmt_fixture *fixture, uint32_t chunk, uint32_t id, uint32_t device);
void gmt_fixture_stream(struct gmt_fixture *fixture, uint32_t chunk, uint64_t handle,
                        uint32_t cupti_id, uint64_t ticks);

/* First column of the first row as a number; -1 for no row, INT64_MIN for NULL. Asserts that the
 * statement is right. */
int64_t gmt_fixture_number(const struct gmt_fixture *fixture, const char *sql);
/* The same as text; static buffer; "" for no row or NULL. */
const char *gmt_fixture_text(const struct gmt_fixture *fixture, const char *sql);
/* Expects that it is this. */
void gmt_fixture_expect(const struct gmt_fixture *fixture, const char *sql, int64_t value);
void gmt_fixture_expect_text(const struct gmt_fixture *fixture, const char *sql, const char *value);

#endif
