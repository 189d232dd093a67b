/* SPDX-License-Identifier: Apache-2.0 */
/* How far the rates that rules use move from one calibration to the next. */
#ifndef GMT_TESTS_PREDICTION_RATES_H
#define GMT_TESTS_PREDICTION_RATES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define GMT_REPEAT_TARGET 0.05
#define GMT_CALIBRATIONS_MOST 16

enum gmt_evaluation {
    GMT_EVALUATE_EACH, /* quantities of that name, each by itself */
    GMT_EVALUATE_OVER, /* a curve over bytes, at 1 and 3 of each decade */
};

/* A row of used.def; rules: those that read it, "GM101 GM104". */
struct gmt_used_rate {
    const char *part, *curve, *value;
    enum gmt_evaluation how;
    const char *rules;
};

/* Row i of used.def; false: there is none. */
bool gmt_used_rate(size_t i, struct gmt_used_rate *rate);

/* One thing that is looked at in each of several calibrations: a rate, or a curve at one size. */
struct gmt_moved {
    char where[64];
    double middle; /* median over the calibrations */
    double share;  /* (largest - smallest) / median */
};

/* (largest - smallest) / median of some values; NAN: fewer than two, or not positive. */
double gmt_share_moved(const double *values, size_t n, double *middle);

/* The numbers of an array, at most GMT_CALIBRATIONS_MOST; how many. */
size_t gmt_values_of(const json_t *array, double *values);

/*
 * All places of a row in a recording's quantities of its part, {name: [value of each calibration]}:
 * room for `most`; how many there are.
 */
size_t gmt_rate_moves(const struct gmt_used_rate *rate, const json_t *quantities,
                      struct gmt_moved *moves, size_t most);

#endif
