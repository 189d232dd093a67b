/* SPDX-License-Identifier: Apache-2.0 */
/* Binds the columns of a row; a row that cannot be stored becomes a loss, which is a row, too. */
#include "libtrace/store/ingest/row_binder.h"

#include <errno.h>
#include <string.h>

#include "libtrace/store/db/run_sql.h"
#include "libtrace/store/ingest/ingest_internal.h"

struct gmt_binder gmt_ingest_bind(struct gmt_ingest *ingest, enum gmt_statement which)
{
    return (struct gmt_binder){.ingest = ingest, .statement = ingest->statement[which], .next = 1};
}

static void check(struct gmt_binder *binder, int code)
{
    if (code != SQLITE_OK && binder->error == 0) {
        binder->error = code == SQLITE_NOMEM ? -ENOMEM : -EINVAL;
    }
}

void gmt_put_integer(struct gmt_binder *binder, int64_t value)
{
    check(binder, sqlite3_bind_int64(binder->statement, binder->next++, value));
}

void gmt_put_bits(struct gmt_binder *binder, uint64_t value)
{
    gmt_put_integer(binder, (int64_t)value);
}

static void put_at_most(struct gmt_binder *binder, uint64_t value, uint64_t most)
{
    binder->out_of_range |= value > most;
    gmt_put_bits(binder, value);
}

static void put_asked(struct gmt_binder *binder, uint64_t value, uint64_t most)
{
    if (binder->failed && value > INT64_MAX) {
        value = INT64_MAX;
    }
    put_at_most(binder, value, binder->failed ? INT64_MAX : most);
}

void gmt_put_unsigned(struct gmt_binder *binder, uint64_t value)
{
    put_asked(binder, value, GMT_NUMBER_MOST);
}

void gmt_put_id(struct gmt_binder *binder, uint64_t value)
{
    put_at_most(binder, value, GMT_ID_MOST);
}

void gmt_put_bytes(struct gmt_binder *binder, uint64_t value)
{
    put_asked(binder, value, GMT_BYTES_MOST);
}

static void put_unless_zero(struct gmt_binder *binder, uint64_t value,
                            void (*put)(struct gmt_binder *binder, uint64_t value))
{
    if (value == 0) {
        gmt_put_null(binder);
    } else {
        put(binder, value);
    }
}

void gmt_put_or_null(struct gmt_binder *binder, uint64_t value)
{
    put_unless_zero(binder, value, gmt_put_unsigned);
}

void gmt_put_id_or_null(struct gmt_binder *binder, uint64_t value)
{
    put_unless_zero(binder, value, gmt_put_id);
}

void gmt_put_bytes_or_null(struct gmt_binder *binder, uint64_t value)
{
    put_unless_zero(binder, value, gmt_put_bytes);
}

void gmt_put_bits_or_null(struct gmt_binder *binder, uint64_t value)
{
    put_unless_zero(binder, value, gmt_put_bits);
}

void gmt_put_known(struct gmt_binder *binder, int64_t value)
{
    if (value < 0) {
        gmt_put_null(binder);
    } else {
        gmt_put_integer(binder, value);
    }
}

void gmt_put_real(struct gmt_binder *binder, double value)
{
    check(binder, sqlite3_bind_double(binder->statement, binder->next++, value));
}

void gmt_put_null(struct gmt_binder *binder)
{
    check(binder, sqlite3_bind_null(binder->statement, binder->next++));
}

void gmt_put_name(struct gmt_binder *binder, const char *text)
{
    check(binder, sqlite3_bind_text(binder->statement, binder->next++, text, -1, SQLITE_STATIC));
}

void gmt_put_text(struct gmt_binder *binder, struct gmt_record_text text)
{
    check(binder, sqlite3_bind_text(binder->statement, binder->next++, text.data, text.bytes,
                                    SQLITE_STATIC));
}

void gmt_put_blob(struct gmt_binder *binder, const void *data, size_t bytes)
{
    check(binder,
          sqlite3_bind_blob64(binder->statement, binder->next++, data, bytes, SQLITE_STATIC));
}

void gmt_put_text_or_null(struct gmt_binder *binder, struct gmt_record_text text)
{
    if (text.bytes == 0) {
        gmt_put_null(binder);
    } else {
        gmt_put_text(binder, text);
    }
}

int gmt_ingest_step(struct gmt_binder *binder)
{
    if (binder->error != 0) {
        sqlite3_reset(binder->statement);
        return binder->error;
    }
    if (binder->out_of_range) {
        sqlite3_reset(binder->statement);
        return gmt_ingest_loss(binder->ingest, "corrupt record", "a number out of range", 1);
    }
    int code = sqlite3_step(binder->statement);
    int error = code == SQLITE_DONE ? 0 : gmt_database_error(binder->ingest->db);
    sqlite3_reset(binder->statement);
    if ((code & 0xff) == SQLITE_CONSTRAINT) {
        struct gmt_ingest *ingest = binder->ingest;
        if (binder->statement == ingest->statement[GMT_STATEMENT_LOSS]) {
            return 0;
        }
        return gmt_ingest_loss(ingest, "row refused", sqlite3_errmsg(ingest->db), 1);
    }
    return error;
}

int gmt_ingest_loss(struct gmt_ingest *ingest, const char *kind, const char *detail, uint64_t count)
{
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_LOSS);
    gmt_put_name(&row, kind);
    gmt_put_text(&row, (struct gmt_record_text){detail, (int)strlen(detail)});
    gmt_put_unsigned(&row, count < GMT_NUMBER_MOST ? count : GMT_NUMBER_MOST);
    return gmt_ingest_step(&row);
}
