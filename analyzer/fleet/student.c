/* SPDX-License-Identifier: Apache-2.0 */
/* Tails and quantiles of Student's distribution, by its incomplete beta function. */
#include <math.h>

#include "analyzer/fleet/outliers.h"

/* The continued fraction of the incomplete beta function, by Lentz's method (Press et al., Numerical Recipes, 6.4). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    double sum;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    sum = d;
    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a - 1 + 2 * m) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 1 + 2 * m));

        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        sum *= d * c;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        sum *= d * c;
        if (fabs(d * c - 1) < 1e-11) {
            break;
        }
    }
    return sum;
}

static double beta_share(double a, double b, double x)
{
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double gmt_student_tail(double t, double freedom)
{
    return 0.5 * beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double gmt_student_upper(double p, double freedom)
{
    double low = 0, high = 1;

    while (high < 1e12 && gmt_student_tail(high, freedom) > p) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;

        if (gmt_student_tail(middle, freedom) > p) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}
