/* SPDX-License-Identifier: Apache-2.0 */
/* What the analysis says of one reference kernel, as if a recorded program did nothing else. */
#ifndef GMT_TESTS_PREDICTION_TRIAL_H
#define GMT_TESTS_PREDICTION_TRIAL_H

#include <jansson.h>

#include "analyzer/run/analysis.h"

/*
 * The recordings of tests/data/prediction, and the models that follow from a calibration: the shipped
 * one, which another device made. What was measured is the recordings' own calibration, of their device.
 */
struct gmt_evidence_set {
    char directory[512];
    json_t *raw;         /* raw.json.gz                                 */
    json_t *calibration; /* raw timings that models are fitted to       */
    json_t *repeat;      /* repeat.json: several calibrations in a row  */
    json_t *variants;    /* measured: calibration_1.raw.json, own rows  */
    json_t *traced;      /* of raw: what each variant's launches were   */
    char *model;         /* the model of `calibration`, complete        */
    char *left_key;      /* what `left` was fitted without              */
    char *left;
};

/* 0, or -EIO with the reason in message. gmt_evidence_free in every case. */
int gmt_evidence_load(struct gmt_evidence_set *set, const char *directory, const char *calibration,
                      char *message, size_t bytes);
void gmt_evidence_free(struct gmt_evidence_set *set);

/* The row of raw.json's list about that variant, or NULL. */
const json_t *gmt_evidence_find(const json_t *rows, const char *family, const char *variant);

struct gmt_trial {
    sqlite3 *db;
    struct gmt_arena arena;
    struct gmt_timeline timeline;
    struct gmt_model model;
    struct gmt_report report;
};

/* Timings that a fit of the device model does without. */
struct gmt_left_out {
    const char *family;    /* NULL: none                                                        */
    const char *reference; /* only the family's variants that are measured against that one;
                              NULL: all of them                                                 */
};

/*
 * Analyses one trace of the set. first_seq..last_seq: only those launches are kept, and the run begins and
 * ends with them; first_seq 0: the whole trace. without may be NULL. 0, or -EIO with the reason in message.
 * gmt_trial_free in every case.
 */
int gmt_trial_run(struct gmt_trial *trial, struct gmt_evidence_set *set, const char *trace,
                  int64_t first_seq, int64_t last_seq, const struct gmt_left_out *without,
                  char *message, size_t bytes);
/* The launches of one traced variant. */
int gmt_trial_variant(struct gmt_trial *trial, struct gmt_evidence_set *set, const json_t *traced,
                      const struct gmt_left_out *without, char *message, size_t bytes);
void gmt_trial_free(struct gmt_trial *trial);

/* The finding of that rule, else its note, else NULL. */
const struct gmt_finding *gmt_trial_finding(const struct gmt_trial *trial, const char *rule);

/* Members of JSON objects; NULL or NAN where there is none. */
const char *gmt_text_of(const json_t *object, const char *key);
double gmt_number_of(const json_t *object, const char *key);

#endif
