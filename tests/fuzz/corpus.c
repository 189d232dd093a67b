/* SPDX-License-Identifier: Apache-2.0 */
/* The fuzzer's inputs, and the words in them that its changes are made of. */
#include <ctype.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static void *grow(void *items, size_t count, size_t *capacity, size_t bytes)
{
    void *larger;

    if (count < *capacity)
        return items;
    *capacity = *capacity < 64 ? 64 : *capacity * 2;
    larger = reallocarray(items, *capacity, bytes);
    if (larger == NULL) {
        perror("fuzz_device");
        exit(2);
    }
    return larger;
}

static bool in_word(uint8_t c)
{
    return isalnum(c) || c == '_' || c == '$' || c == '%' || c == '.' || c == ':';
}

/* Text only: a fat binary's bytes are no words. */
static void add_words(struct gmt_fuzz_corpus *corpus, const struct gmt_fuzz_input *input)
{
    if (memchr(input->data, 0, input->bytes) != NULL || corpus->word_count > 100000)
        return;
    for (size_t i = 0, start; i < input->bytes; i++) {
        for (start = i; i < input->bytes && in_word(input->data[i]);)
            i++;
        if (i == start || i - start > 64)
            continue;
        corpus->words = grow(corpus->words, corpus->word_count, &corpus->word_capacity,
                             sizeof(*corpus->words));
        corpus->words[corpus->word_count++] = (struct gmt_fuzz_input){input->data + start,
                                                                      i - start};
    }
}

void gmt_fuzz_corpus_add(struct gmt_fuzz_corpus *corpus, const uint8_t *data, size_t bytes)
{
    struct gmt_fuzz_input *input;
    uint8_t *copy = malloc(bytes + 1);

    corpus->inputs = grow(corpus->inputs, corpus->count, &corpus->capacity,
                          sizeof(*corpus->inputs));
    if (copy == NULL) {
        perror("fuzz_device");
        exit(2);
    }
    memcpy(copy, data, bytes);
    input = &corpus->inputs[corpus->count++];
    *input = (struct gmt_fuzz_input){copy, bytes};
    add_words(corpus, input);
}

static void load_file(struct gmt_fuzz_corpus *corpus, const char *path)
{
    static uint8_t data[GMT_FUZZ_MAX_BYTES];
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        perror(path);
        exit(2);
    }
    gmt_fuzz_corpus_add(corpus, data, fread(data, 1, sizeof(data), file));
    fclose(file);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

long gmt_fuzz_corpus_load(struct gmt_fuzz_corpus *corpus, const char *path)
{
    char *copy = strdup(path);
    char *const paths[] = {copy, NULL};
    /* In the order of names: a seed then means the same everywhere. */
    FTS *folder = copy != NULL ? fts_open(paths, FTS_NOCHDIR | FTS_PHYSICAL, by_name) : NULL;
    long count = 0;
    FTSENT *entry;

    while (folder != NULL && (entry = fts_read(folder)) != NULL) {
        if (entry->fts_info == FTS_F) {
            load_file(corpus, entry->fts_path);
            count++;
        } else if (entry->fts_info == FTS_NS || entry->fts_info == FTS_ERR) {
            count = -1;
            break;
        }
    }
    if (folder != NULL)
        fts_close(folder);
    free(copy);
    return folder != NULL ? count : -1;
}

void gmt_fuzz_corpus_free(struct gmt_fuzz_corpus *corpus)
{
    for (size_t i = 0; i < corpus->count; i++)
        free(corpus->inputs[i].data);
    free(corpus->inputs);
    free(corpus->words);
    *corpus = (struct gmt_fuzz_corpus){0};
}
