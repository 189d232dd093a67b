/* SPDX-License-Identifier: Apache-2.0 */
/* What the software device counted of a launch -> rows of instruction, kernel_footprint and race. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/names.h"
#include "libtrace/store/ingest/ingest_internal.h"
#include "libtrace/store/ingest/inlining.h"

#define BIT(kind) (1u << GMT_INST_##kind)
#define GLOBAL (BIT(GLOBAL_LOAD) | BIT(GLOBAL_STORE) | BIT(GLOBAL_ATOMIC))
#define LOCAL (BIT(LOCAL_LOAD) | BIT(LOCAL_STORE))
#define SHARED (BIT(SHARED_LOAD) | BIT(SHARED_STORE) | BIT(SHARED_ATOMIC))
#define BOTH (BIT(ASYNC_COPY) | BIT(GENERIC))

/* Kinds of instructions for which a count has a meaning. */
enum {
    MEMORY = GLOBAL | LOCAL | SHARED | BOTH | BIT(CONSTANT_LOAD),
    SECTORS = GLOBAL | LOCAL | BOTH,
    WAVEFRONTS = SHARED | BOTH,
    ADDRESSES = BIT(CONSTANT_LOAD) | BIT(BARRIER) | BIT(BRANCH),
};

static void put_if(struct gmt_binder *row, unsigned kinds, unsigned kind, uint64_t value)
{
    if (kind < GMT_INST_KINDS && (kinds >> kind & 1u) != 0) {
        gmt_put_unsigned(row, value);
    } else {
        gmt_put_null(row);
    }
}

/* string.id of the next text; 0 for an empty one. */
static int intern_next(struct gmt_ingest *ingest, struct gmt_text_cursor *texts, int64_t *id)
{
    struct gmt_record_text text = gmt_texts_next(texts);
    *id = 0;
    return text.bytes != 0 ? gmt_ingest_string(ingest, text, id) : 0;
}

static void put_counts(struct gmt_binder *row, const struct gmt_instruction *counts)
{
    unsigned kind = counts->kind;
    gmt_put_unsigned(row, counts->executed);
    gmt_put_unsigned(row, counts->lanes);
    put_if(row, MEMORY, kind, counts->requests);
    put_if(row, MEMORY, kind, counts->bytes);
    put_if(row, SECTORS, kind, counts->sectors);
    put_if(row, SECTORS, kind, counts->ideal_sectors);
    put_if(row, SECTORS, kind, counts->lines);
    put_if(row, WAVEFRONTS, kind, counts->wavefronts);
    put_if(row, WAVEFRONTS, kind, counts->ideal_wavefronts);
    put_if(row, WAVEFRONTS, kind, counts->max_degree);
    put_if(row, ADDRESSES, kind, counts->addresses);
}

int gmt_ingest_instruction(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_instruction *counts = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*counts));
    int64_t ids[4];
    for (size_t i = 0; i < 4; i++) {
        int error = intern_next(ingest, &texts, &ids[i]);
        if (error != 0) {
            return error;
        }
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_INSTRUCTION);
    gmt_put_unsigned(&row, counts->launch_seq);
    gmt_put_id(&row, counts->kernel_class);
    gmt_put_unsigned(&row, counts->site);
    for (size_t i = 0; i < 3; i++) {
        gmt_put_or_null(&row, (uint64_t)ids[i]);
    }
    gmt_put_or_null(&row, counts->line);
    gmt_put_or_null(&row, counts->column);
    gmt_put_or_null(&row, (uint64_t)ids[3]);
    gmt_put_or_null(&row, counts->caller_line);
    gmt_put_or_null(&row, counts->ptx_line);
    gmt_put_or_null(&row, counts->width);
    gmt_put_name(&row, gmt_name_inst_kind(counts->kind));
    put_counts(&row, counts);
    return gmt_ingest_step(&row);
}

/* string.id of a function as people write it; 0 for an empty one. */
static int intern_function(struct gmt_ingest *ingest, struct gmt_record_text mangled, int64_t *id)
{
    *id = 0;
    if (mangled.bytes == 0) {
        return 0;
    }
    char *copy = gmt_text_copy(mangled), *name = copy != NULL ? gmt_name_demangle(copy) : NULL;
    int error = name != NULL ? gmt_ingest_string(
                                   ingest, (struct gmt_record_text){name, (int)strlen(name)}, id)
                             : -ENOMEM;
    free(name);
    free(copy);
    return error;
}

static int store_level(struct gmt_ingest *ingest, int64_t chain,
                       const struct gmt_inline_level_key *level)
{
    int64_t function, file = 0;
    int error = intern_function(
        ingest, (struct gmt_record_text){level->function, (int)level->function_bytes}, &function);
    if (error == 0 && level->file_bytes != 0) {
        error = gmt_ingest_string(
            ingest, (struct gmt_record_text){level->file, (int)level->file_bytes}, &file);
    }
    if (error != 0) {
        return error;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_INLINE_LEVEL);
    gmt_put_integer(&row, chain);
    gmt_put_integer(&row, level->level);
    gmt_put_or_null(&row, (uint64_t)function);
    gmt_put_or_null(&row, (uint64_t)file);
    gmt_put_or_null(&row, level->line);
    return gmt_ingest_step(&row);
}

int gmt_ingest_inlining(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_inlining *inlining = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*inlining));
    struct gmt_inline_level_key levels[GMT_INLINE_LEVELS];
    size_t count = inlining->count < GMT_INLINE_LEVELS ? inlining->count : GMT_INLINE_LEVELS;
    uint64_t chain = 0;
    int error = 0;
    for (size_t i = 0; i < count; i++) {
        struct gmt_record_text function = gmt_texts_next(&texts), file = gmt_texts_next(&texts);
        levels[i] = (struct gmt_inline_level_key){.function = function.data,
                                                  .function_bytes = (size_t)function.bytes,
                                                  .file = file.data,
                                                  .file_bytes = (size_t)file.bytes,
                                                  .line = inlining->line[i],
                                                  .level = inlining->level[i]};
        chain = gmt_chain_add(chain, &levels[i]);
    }
    for (size_t i = 0; error == 0 && i < count; i++) {
        error = store_level(ingest, gmt_chain_id(chain), &levels[i]);
    }
    if (error != 0) {
        return error;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_INLINING);
    gmt_put_id(&row, inlining->kernel_class);
    gmt_put_unsigned(&row, inlining->site);
    gmt_put_integer(&row, gmt_chain_id(chain));
    return gmt_ingest_step(&row);
}

int gmt_ingest_footprint(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_footprint *footprint = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*footprint));
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_FOOTPRINT);
    gmt_put_unsigned(&row, footprint->launch_seq);
    gmt_put_id(&row, footprint->kernel_class);
    gmt_put_id_or_null(&row, footprint->alloc);
    gmt_put_text_or_null(&row, gmt_texts_next(&texts));
    gmt_put_bits(&row, footprint->address);
    gmt_put_bytes(&row, footprint->bytes);
    gmt_put_bytes(&row, footprint->read_bytes);
    gmt_put_bytes(&row, footprint->write_bytes);
    gmt_put_unsigned(&row, footprint->read_traffic_bytes);
    gmt_put_unsigned(&row, footprint->write_traffic_bytes);
    return gmt_ingest_step(&row);
}

int gmt_ingest_race(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_race *race = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*race));
    int64_t ids[6];
    for (size_t i = 0; i < 6; i++) {
        int error = intern_next(ingest, &texts, &ids[i]);
        if (error != 0) {
            return error;
        }
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_RACE);
    gmt_put_unsigned(&row, race->launch_seq);
    gmt_put_id(&row, race->kernel_class);
    for (size_t i = 0; i < 2; i++) {
        gmt_put_or_null(&row, (uint64_t)ids[3 * i]);
        gmt_put_or_null(&row, (uint64_t)ids[3 * i + 1]);
        gmt_put_or_null(&row, race->line[i]);
        gmt_put_or_null(&row, (uint64_t)ids[3 * i + 2]);
        gmt_put_or_null(&row, race->caller_line[i]);
        gmt_put_or_null(&row, race->ptx_line[i]);
    }
    gmt_put_unsigned(&row, race->count);
    return gmt_ingest_step(&row);
}
