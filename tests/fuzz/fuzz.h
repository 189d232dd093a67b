/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fuzz targets are made of. A target is one file that defines gmt_fuzz_run and, where it knows the form of its
 * inputs, LLVMFuzzerCustomMutator. It is linked with libFuzzer where the compiler has it, else with replay.c, which
 * runs inputs and changes none.
 */
#ifndef GMT_TESTS_FUZZ_H
#define GMT_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The target: runs the code under test on an input. */
void gmt_fuzz_run(const uint8_t *data, size_t bytes);

/* libFuzzer's interface; source: llvm.org/docs/LibFuzzer.html. The first is the target within its bounds (bounds.c). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
/* Changes the `bytes` bytes at `data`, of at most `limit`; returns the new size. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t limit, unsigned int seed);

/* A promise of the code under test, which holds for every input. */
#define GMT_FUZZ_REQUIRE(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

/* splitmix64; source: S. Vigna, public domain reference code at prng.di.unimi.it. */
uint64_t gmt_fuzz_random(uint64_t *state);
/* 0 to limit - 1; 0 if limit is 0. */
size_t gmt_fuzz_below(uint64_t *state, size_t limit);

/* Changes of bytes and fields, one round of a few; and of words, numbers and lines of a text. */
size_t gmt_fuzz_mutate_bytes(uint64_t *state, uint8_t *data, size_t bytes, size_t limit);
size_t gmt_fuzz_mutate_text(uint64_t *state, uint8_t *data, size_t bytes, size_t limit);
/* Edits of the values, rows, tables and schema of an SQLite database. Returns 0 if it is none. */
size_t gmt_fuzz_mutate_database(uint64_t *state, uint8_t *data, size_t bytes, size_t limit);

/*
 * A folder for the files of an execution, absolute, made at the first call. What holds models and caches
 * of the user is set to it.
 */
const char *gmt_fuzz_folder(void);
/* The absolute path of a file there; static buffer, four of them in turn. */
const char *gmt_fuzz_path(const char *name);
void gmt_fuzz_write(const char *name, const void *data, size_t bytes);
/* The whole file, malloc'ed, and its size; NULL: there is none. */
uint8_t *gmt_fuzz_read(const char *path, size_t *bytes);
/* Removes what is in the folder. */
void gmt_fuzz_sweep(void);

/* The most memory that this process has had between the two calls, beyond what it had at the first: resident
 * bytes, 0 where the system does not report it. */
void gmt_fuzz_memory_begin(void);
size_t gmt_fuzz_memory_end(void);

/* What of a command's output must be fit for a terminal. */
enum gmt_fuzz_shown {
    GMT_FUZZ_NOTHING,  /* the line itself is foreign text, and comes back in messages */
    GMT_FUZZ_MESSAGES, /* standard error */
    GMT_FUZZ_TEXT,     /* standard output too: it is made for people */
};

/*
 * Runs a command line of gmanalyze in this process and in the folder. Returns its exit status, 2 for a line
 * that was refused. `words` ends with NULL; without the program's name.
 */
int gmt_fuzz_command(const char *const *words, enum gmt_fuzz_shown shown);

#endif
