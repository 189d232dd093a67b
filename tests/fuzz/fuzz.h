/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the fuzzer of the software device: what is run, how inputs change, what is new. */
#ifndef GMT_TESTS_FUZZ_H
#define GMT_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GMT_FUZZ_MAX_BYTES (64u * 1024)

struct gmt_fuzz_input {
    uint8_t *data;
    size_t bytes;
};

/* Inputs; data is malloc'ed. */
struct gmt_fuzz_corpus {
    struct gmt_fuzz_input *inputs;
    size_t count, capacity;
    struct gmt_fuzz_input *words; /* words of the texts among them, point into `inputs` */
    size_t word_count, word_capacity;
};

/* Copies `data`. Out of memory ends the program, here and below: it is a test. */
void gmt_fuzz_corpus_add(struct gmt_fuzz_corpus *corpus, const uint8_t *data, size_t bytes);
/* Every file in `path` and the folders in it. Returns how many, or -1 if it cannot be read. */
long gmt_fuzz_corpus_load(struct gmt_fuzz_corpus *corpus, const char *path);
void gmt_fuzz_corpus_free(struct gmt_fuzz_corpus *corpus);

/* splitmix64; source: S. Vigna, public domain reference code at prng.di.unimi.it. */
uint64_t gmt_fuzz_random(uint64_t *state);

/* A changed copy of one of the inputs in `out` (GMT_FUZZ_MAX_BYTES bytes); returns its size. */
size_t gmt_fuzz_mutate(const struct gmt_fuzz_corpus *corpus, uint64_t *state, uint8_t *out);

/*
 * One execution: unpack the image, parse the PTX, check what the parser promises, find the meeting
 * points, and run every kernel with a small grid, little memory and a bound on instructions.
 */
void gmt_fuzz_execute(const uint8_t *data, size_t bytes);

/* What executions came to, for the summary. */
struct gmt_fuzz_totals {
    uint64_t executions, parsed, modules, launches, completed;
};
extern struct gmt_fuzz_totals gmt_fuzz_totals;

/*
 * True if the executions since the last call reached code in a way that none had before; false in a
 * program built without -fsanitize-coverage=trace-pc.
 */
bool gmt_fuzz_is_new(void);
uint32_t gmt_fuzz_coverage(void); /* ways seen so far */

#endif
