/* SPDX-License-Identifier: Apache-2.0 */
/* A row of the trace while its columns are bound, one by one; private to the ingest. */
#ifndef GMT_STORE_INGEST_ROW_BINDER_H
#define GMT_STORE_INGEST_ROW_BINDER_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/store/ingest/ingest.h"
#include "libtrace/store/ingest/record_values.h"

/* A record that says more was damaged, and is counted as lost. */
#define GMT_ID_MOST ((uint64_t)INT32_MAX)   /* of what is numbered one by one              */
#define GMT_NUMBER_MOST (UINT64_C(1) << 61) /* of any count; as ns, a clock of 73 years    */
#define GMT_BYTES_MOST (UINT64_C(1) << 57)  /* of memory: what addresses of 57 bits reach  */

enum gmt_statement {
#define GMT_STATEMENT(name, sql) GMT_STATEMENT_##name,
#include "libtrace/store/ingest/ingest_statements.def"
#undef GMT_STATEMENT
    GMT_STATEMENT_COUNT
};

/* A prepared statement being bound, column by column. */
struct gmt_binder {
    struct gmt_ingest *ingest;
    sqlite3_stmt *statement;
    int next;
    int error;
    bool out_of_range; /* a number that no recorder writes: the row is not stored            */
    bool failed;       /* a call that failed: what it asked for may be any number            */
};

struct gmt_binder gmt_ingest_bind(struct gmt_ingest *ingest, enum gmt_statement which);
void gmt_put_integer(struct gmt_binder *binder, int64_t value);
/* Counts and times to GMT_NUMBER_MOST; ids; bytes of memory. */
void gmt_put_unsigned(struct gmt_binder *binder, uint64_t value);
void gmt_put_or_null(struct gmt_binder *binder, uint64_t value); /* NULL for 0               */
void gmt_put_id(struct gmt_binder *binder, uint64_t value);
void gmt_put_id_or_null(struct gmt_binder *binder, uint64_t value); /* NULL for 0            */
void gmt_put_bytes(struct gmt_binder *binder, uint64_t value);
void gmt_put_bytes_or_null(struct gmt_binder *binder, uint64_t value); /* NULL for 0         */
/* Addresses and handles: 64 bits that are no number. */
void gmt_put_bits(struct gmt_binder *binder, uint64_t value);
void gmt_put_bits_or_null(struct gmt_binder *binder, uint64_t value); /* NULL for 0          */
void gmt_put_known(struct gmt_binder *binder, int64_t value);         /* NULL for negative        */
void gmt_put_blob(struct gmt_binder *binder, const void *data, size_t bytes); /* as texts */
void gmt_put_real(struct gmt_binder *binder, double value);
void gmt_put_null(struct gmt_binder *binder);
void gmt_put_name(struct gmt_binder *binder, const char *text); /* static text, or NULL     */
void gmt_put_text(struct gmt_binder *binder,
                  struct gmt_record_text text); /* valid until gmt_ingest_step */
void gmt_put_text_or_null(struct gmt_binder *binder,
                          struct gmt_record_text text); /* NULL for ""       */

/* Execute. A row that the schema refuses, or that has a number out of range, is counted as a loss and is no
 * error. */
int gmt_ingest_step(struct gmt_binder *binder);

#endif
