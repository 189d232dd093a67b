/* SPDX-License-Identifier: Apache-2.0 */
/* Piecewise fit of transfer times: where to cut, and into how many pieces. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/fit/fit.h"

#define POINTS_LEAST 3
#define GOOD_ENOUGH 0.05 /* worst relative error from which on more pieces are pointless */
#define WORTH_A_PIECE 0.5

/* Least squares of relative errors, with a latency and a time per byte of at least 0. */
static double fit_line(const struct gmt_curve_point *points, size_t n, struct gmt_piece *piece)
{
    double sw = 0, swx = 0, swxx = 0, swt = 0, swxt = 0, squares = 0;

    for (size_t i = 0; i < n; i++) {
        double x = points[i].bytes, t = points[i].time_ns;

        sw += 1 / (t * t);
        swx += x / (t * t);
        swxx += x * x / (t * t);
        swt += 1 / t;
        swxt += x / t;
    }
    double determinant = sw * swxx - swx * swx;
    double latency = (swt * swxx - swxt * swx) / determinant;
    double per_byte = (sw * swxt - swx * swt) / determinant;
    if (!(determinant > 0) || per_byte < 0) {
        latency = swt / sw;
        per_byte = 0;
    } else if (latency < 0) {
        latency = 0;
        per_byte = swxt / swxx;
    }
    *piece = (struct gmt_piece){points[0].bytes, points[n - 1].bytes, latency, per_byte, 0};
    for (size_t i = 0; i < n; i++) {
        double error = (latency + per_byte * points[i].bytes) / points[i].time_ns - 1;

        squares += error * error;
        piece->max_relative_error = fmax(piece->max_relative_error, fabs(error));
    }
    return squares;
}

/* best[k][j]: least squares of the first j points in k + 1 pieces, the last of which begins at cut. */
struct cost_table {
    double *best;
    size_t *cut;
    size_t columns;
};

static void fill(const struct cost_table *table, const struct gmt_curve_point *points, size_t n)
{
    for (size_t k = 0; k < GMT_PIECES_MOST; k++) {
        for (size_t j = 0; j <= n; j++) {
            size_t at = k * table->columns + j;

            table->best[at] = INFINITY;
            for (size_t i = k == 0 ? 0 : POINTS_LEAST; i + POINTS_LEAST <= j; i++) {
                struct gmt_piece piece;
                double before = k == 0 ? 0 : table->best[(k - 1) * table->columns + i];
                double squares = before + fit_line(points + i, j - i, &piece);

                if (squares < table->best[at]) {
                    table->best[at] = squares;
                    table->cut[at] = i;
                }
                if (k == 0) {
                    break;
                }
            }
        }
    }
}

static void read_pieces(const struct cost_table *table, const struct gmt_curve_point *points,
                        size_t n, size_t count, struct gmt_pieces *pieces)
{
    size_t end = n;

    pieces->n = count;
    pieces->curve.max_relative_error = 0;
    for (size_t k = count; k-- > 0;) {
        size_t begin = table->cut[k * table->columns + end];

        fit_line(points + begin, end - begin, &pieces->pieces[k]);
        pieces->curve.max_relative_error = fmax(pieces->curve.max_relative_error,
                                                pieces->pieces[k].max_relative_error);
        end = begin;
    }
}

/* NAN where no size reaches it. */
static double half_bandwidth(const struct gmt_pieces *pieces)
{
    double half = 0.5 / pieces->pieces[pieces->n - 1].ns_per_byte; /* bytes per ns */

    for (size_t k = 0; k < pieces->n; k++) {
        const struct gmt_piece *piece = &pieces->pieces[k];
        double rest = 1 - half * piece->ns_per_byte;
        double from = k == 0 ? 0 : piece->from_bytes;
        double to = k + 1 < pieces->n ? pieces->pieces[k + 1].from_bytes : INFINITY;
        double bytes = rest > 0 ? fmax(from, half * piece->latency_ns / rest) : INFINITY;

        if (bytes < to) {
            return bytes;
        }
    }
    return NAN;
}

int gmt_fit_pieces(const struct gmt_curve_point *points, size_t n, struct gmt_pieces *pieces)
{
    struct gmt_curve whole;
    struct cost_table table = {calloc(GMT_PIECES_MOST * (n + 1), sizeof(*table.best)),
                               calloc(GMT_PIECES_MOST * (n + 1), sizeof(*table.cut)), n + 1};
    /* What no single line can be laid through has no pieces, either. */
    int rc = gmt_fit_hockney(points, n, &whole);
    size_t count = 1;

    if (rc == 0 && (table.best == NULL || table.cut == NULL)) {
        rc = -ENOMEM;
    }
    if (rc != 0) {
        goto out;
    }
    *pieces = (struct gmt_pieces){.n = 1, .curve = whole};
    if (n < POINTS_LEAST) {
        pieces->pieces[0] = (struct gmt_piece){points[0].bytes, points[n - 1].bytes,
                                               whole.latency_ns, 1e9 / whole.bandwidth_bytes_per_s,
                                               whole.max_relative_error};
        goto out;
    }
    fill(&table, points, n);
    read_pieces(&table, points, n, count, pieces);
    /* Two pieces more may pay where one does not: a step in the middle. */
    for (size_t more = 2; more <= GMT_PIECES_MOST; more++) {
        double worth = pow(WORTH_A_PIECE, (double)(more - count));

        if (pieces->curve.max_relative_error <= GOOD_ENOUGH) {
            break;
        }
        if (table.best[(more - 1) * table.columns + n] <
            worth * table.best[(count - 1) * table.columns + n]) {
            count = more;
            read_pieces(&table, points, n, count, pieces);
        }
    }
    /* A last piece that is flat says nothing of the bandwidth: the line through all does. */
    if (!(pieces->pieces[pieces->n - 1].ns_per_byte > 0)) {
        read_pieces(&table, points, n, 1, pieces);
    }
    pieces->curve.latency_ns = pieces->pieces[0].latency_ns;
    pieces->curve.bandwidth_bytes_per_s = 1e9 / pieces->pieces[pieces->n - 1].ns_per_byte;
    pieces->curve.half_bandwidth_bytes = half_bandwidth(pieces);
out:
    free(table.best);
    free(table.cut);
    return rc;
}
