/* SPDX-License-Identifier: Apache-2.0 */
/* Where the files of a trace go: run, host and rank, a number of its own, and a folder until all are whole. */
#ifndef GMT_ANALYZER_PARQUET_PLACE_H
#define GMT_ANALYZER_PARQUET_PLACE_H

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmt_parquet_place {
    int64_t trace_id;          /* the same whenever this trace is exported */
    bool has_wall_clock;       /* else times stay those of CLOCK_MONOTONIC */
    int64_t clock_offset_ns;   /* wall clock - CLOCK_MONOTONIC, at the start */
    char partition[PATH_MAX];  /* run=.../host=.../rank=... */
    char folder[PATH_MAX];     /* the user's */
    char unfinished[PATH_MAX]; /* a folder in it, locked by `lock` */
    int lock;
};

/* What the trace says of itself. run NULL: the name of the folder that `trace` lies in. 0; else negative errno and why,
 * which goes on after the file's name. */
int gmt_parquet_place_find(struct gmt_parquet_place *place, sqlite3 *db, const char *trace,
                           const char *run, char *why, size_t bytes);

/* Makes place->unfinished in `folder`, which is there. 0 or negative errno. */
int gmt_parquet_place_begin(struct gmt_parquet_place *place, const char *folder);

/* File of a table in the unfinished folder. 0 or -ENAMETOOLONG. */
int gmt_parquet_place_file(const struct gmt_parquet_place *place, const char *table, char *path);

/* Moves the table's file to where readers look, or removes what an earlier export left there, where there is no new one. 0
 * or negative errno. */
int gmt_parquet_place_take(const struct gmt_parquet_place *place, const char *table);
/* Removes the table's file from where readers look. */
void gmt_parquet_place_withdraw(const struct gmt_parquet_place *place, const char *table);

/* Removes what exporters that are gone left unfinished in `folder`; of one that works nothing. */
void gmt_parquet_place_clean(const char *folder);

#endif
