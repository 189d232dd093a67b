/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that were counted on the GPU, and where their cubins are -> rows. */
#include "libtrace/record/checked.h"
#include "libtrace/store/ingest/ingest_internal.h"

#define SECTOR_BYTES UINT64_C(32)
#define INSTRUCTION_BITS 4 /* of its 16 bytes */
#define FUNCTION_SHIFT 28  /* instructions of one function */

/* Counts of a record; which of them were taken. */
static bool has(const struct gmt_sass_instruction *counts, enum gmt_sass_slot slot)
{
    return (counts->measured >> slot & 1u) != 0;
}

static void put(struct gmt_binder *row, bool known, uint64_t value)
{
    if (known) {
        gmt_put_unsigned(row, value);
    } else {
        gmt_put_null(row);
    }
}

/* Bytes per lane, by the one width that was counted; 0: none, or the widths were not. */
static uint64_t width_of(const struct gmt_sass_instruction *counts)
{
    for (unsigned i = 0; i <= GMT_SASS_WIDTH_128 - GMT_SASS_WIDTH_8; i++) {
        if (has(counts, GMT_SASS_WIDTH_8 + i) && counts->values[GMT_SASS_WIDTH_8 + i] != 0) {
            return UINT64_C(1) << i;
        }
    }
    return 0;
}

/* The minimum can be computed as more than there were: lanes at one address share a sector, and the ideal
 * counts them apart. Excess of that kind is none. */
static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

static void put_ideal(struct gmt_binder *row, const struct gmt_sass_instruction *counts,
                      enum gmt_sass_slot actual, enum gmt_sass_slot ideal)
{
    put(row, counts->values[actual] != 0 && has(counts, ideal),
        at_most(counts->values[ideal], counts->values[actual]));
}

static void put_sectors(struct gmt_binder *row, const struct gmt_sass_instruction *counts,
                        uint64_t bytes)
{
    uint64_t local = counts->values[GMT_SASS_LOCAL_SECTORS];
    if (local != 0 && counts->values[GMT_SASS_SECTORS] == 0) {
        gmt_put_unsigned(row, local);
        put(row, bytes != 0,
            at_most(gmt_add_clamped_u64(bytes, SECTOR_BYTES - 1) / SECTOR_BYTES, local));
    } else {
        gmt_put_or_null(row, counts->values[GMT_SASS_SECTORS]);
        put_ideal(row, counts, GMT_SASS_SECTORS, GMT_SASS_IDEAL_SECTORS);
    }
}

/* The kind is only known when the cubin is read (gmt_sass_settle): until then by what it touched. */
static const char *touched(const struct gmt_sass_instruction *counts)
{
    bool global = counts->values[GMT_SASS_SECTORS] != 0;
    bool shared = counts->values[GMT_SASS_WAVEFRONTS] != 0;
    bool local = counts->values[GMT_SASS_LOCAL_SECTORS] != 0;
    if (local && !global && !shared) {
        return "local_load"; /* or a store */
    }
    return global || shared || local ? "generic" : "other";
}

int gmt_ingest_sass_instruction(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_sass_instruction *counts = record->data;
    const uint64_t *values = counts->values;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*counts));
    int64_t function;
    int error = gmt_ingest_string(ingest, gmt_texts_next(&texts), &function);
    if (error != 0) {
        return error;
    }
    uint64_t width = width_of(counts);
    uint64_t lanes_on = values[has(counts, GMT_SASS_LANES_ON) ? GMT_SASS_LANES_ON : GMT_SASS_LANES];
    uint64_t lanes = values[has(counts, GMT_SASS_LANES) ? GMT_SASS_LANES : GMT_SASS_LANES_ON];
    uint64_t bytes = gmt_mul_clamped_u64(width, lanes_on);
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_SASS_INSTRUCTION);
    gmt_put_unsigned(&row, counts->launch_seq);
    gmt_put_id(&row, counts->kernel_class);
    gmt_put_unsigned(&row, ((uint64_t)counts->function_index << FUNCTION_SHIFT) +
                               (counts->pc_offset >> INSTRUCTION_BITS));
    gmt_put_integer(&row, function);
    gmt_put_unsigned(&row, counts->cubin_crc);
    gmt_put_unsigned(&row, counts->pc_offset);
    gmt_put_or_null(&row, width);
    gmt_put_name(&row, touched(counts));
    gmt_put_unsigned(&row, values[GMT_SASS_EXECUTED]);
    gmt_put_unsigned(&row, lanes);
    gmt_put_or_null(&row, width != 0 ? values[GMT_SASS_EXECUTED] : 0);
    gmt_put_or_null(&row, bytes);
    put_sectors(&row, counts, bytes);
    gmt_put_or_null(&row, values[GMT_SASS_TAGS]);
    gmt_put_or_null(&row, values[GMT_SASS_WAVEFRONTS]);
    put_ideal(&row, counts, GMT_SASS_WAVEFRONTS, GMT_SASS_IDEAL_WAVEFRONTS);
    return gmt_ingest_step(&row);
}

int gmt_ingest_cubin_piece(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_cubin_piece *piece = record->data;
    size_t room = (size_t)record->slots * GMT_SLOT_BYTES - sizeof(*piece);
    if (piece->bytes == 0 || piece->bytes > room) {
        return gmt_ingest_loss(ingest, "corrupt record", "piece of a cubin", 1);
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_CUBIN_PIECE);
    gmt_put_unsigned(&row, piece->crc);
    gmt_put_bytes(&row, piece->offset);
    gmt_put_bytes(&row, piece->total);
    gmt_put_blob(&row, piece + 1, piece->bytes);
    return gmt_ingest_step(&row);
}

/* A row without bytes of the image: taken from the file when the recording is finished, by cubin_images.c. */
int gmt_ingest_cubin_place(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_cubin_place *place = record->data;
    if (place->bytes == 0) {
        return gmt_ingest_loss(ingest, "corrupt record", "place of a cubin", 1);
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_CUBIN_PIECE);
    gmt_put_unsigned(&row, place->crc);
    gmt_put_bytes(&row, place->offset);
    gmt_put_bytes(&row, place->bytes);
    gmt_put_blob(&row, "", 0);
    return gmt_ingest_step(&row);
}
