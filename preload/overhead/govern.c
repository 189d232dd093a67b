/* SPDX-License-Identifier: Apache-2.0 */
/* The governor: levels of work from what it has cost (govern.h). */
#include "preload/overhead/govern.h"

#define DECAY \
    8 /* a part that costs less than before is believed bit by bit, one that costs more at once */
#define RAISE 2.0       /* so many times more is done at most than in the step before ... */
#define LEAST_RISE 1e-3 /* ... and, of a part that rests, this much */
#define UNSEEN 1e-9     /* of a part that rested nothing is learnt */

static double least_of(int part)
{
    return part == GMT_OVERHEAD_STACKS   ? GMT_GOVERN_LEAST_STACKS
           : part == GMT_OVERHEAD_DEVICE ? GMT_GOVERN_LEAST_DEVICE
                                         : 0;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

void gmt_govern_begin(struct gmt_govern *govern, double share, unsigned apart)
{
    *govern = (struct gmt_govern){.share = share, .apart = apart};
    for (int part = 0; part < GMT_OVERHEAD_PARTS; part++) {
        govern->level[part] = govern->done[part] = 1;
    }
}

/* What the limit has to do with. */
static double charged_ns(const struct gmt_govern *govern, int part, const uint64_t *cost_ns)
{
    return gmt_govern_is_apart(govern, part) ? 0 : (double)cost_ns[part];
}

/* What each part would cost if all of it were done. */
static void learn(struct gmt_govern *govern, double elapsed_ns, const uint64_t *cost_ns)
{
    for (int part = 0; part < GMT_OVERHEAD_PARTS; part++) {
        double level = part == GMT_OVERHEAD_HOOKS ? 1 : govern->done[part];
        if (level > UNSEEN) {
            double full = charged_ns(govern, part, cost_ns) / elapsed_ns / level;
            double before = govern->full[part];
            govern->full[part] = full > before ? full : before + (full - before) / DECAY;
        } else { /* it may have become cheaper: else it would rest for ever */
            govern->full[part] -= govern->full[part] / (DECAY * 8);
        }
    }
}

static void keep_account(struct gmt_govern *govern, double elapsed_ns, const uint64_t *cost_ns)
{
    double credit_ns = govern->credit_ns + govern->share * elapsed_ns;
    for (int part = 0; part < GMT_OVERHEAD_PARTS; part++) {
        credit_ns -= charged_ns(govern, part, cost_ns);
    }
    credit_ns = smaller(credit_ns, govern->share * GMT_GOVERN_SAVED_NS);
    govern->credit_ns = larger(credit_ns, -govern->share * GMT_GOVERN_OWED_NS);
}

/* What the parts that can be shed cost where none costs more than `limit`. */
static double cost_within(const struct gmt_govern *govern, double limit)
{
    double sum = 0;
    for (int part = GMT_OVERHEAD_HOOKS + 1; part < GMT_OVERHEAD_PARTS; part++) {
        double full = govern->full[part];
        sum += larger(smaller(full, limit), least_of(part) * full);
    }
    return sum;
}

/* The limit with which they cost what there is: the sum grows with it. */
static double limit_for(const struct gmt_govern *govern, double available)
{
    double low = 0, high = available;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        if (cost_within(govern, middle) <= available) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static double level_for(const struct gmt_govern *govern, int part, double limit)
{
    double full = govern->full[part], before = govern->level[part];
    double level = full > limit ? limit / full : 1;
    level = smaller(level, larger(before * RAISE, before + LEAST_RISE));
    return smaller(larger(level, least_of(part)), 1);
}

void gmt_govern_step(struct gmt_govern *govern, uint64_t elapsed_ns,
                     const uint64_t cost_ns[GMT_OVERHEAD_PARTS])
{
    if (govern->share <= 0 || elapsed_ns == 0) {
        return;
    }
    learn(govern, (double)elapsed_ns, cost_ns);
    keep_account(govern, (double)elapsed_ns, cost_ns);
    double available = govern->share + govern->credit_ns / GMT_GOVERN_HORIZON_NS -
                       govern->full[GMT_OVERHEAD_HOOKS];
    available = larger(available, 0);
    govern->is_beyond = govern->full[GMT_OVERHEAD_HOOKS] + cost_within(govern, 0) > govern->share;
    double limit = cost_within(govern, available) <= available ? available
                                                               : limit_for(govern, available);
    for (int part = GMT_OVERHEAD_HOOKS + 1; part < GMT_OVERHEAD_PARTS; part++) {
        govern->level[part] = govern->done[part] = level_for(govern, part, limit);
    }
}

bool gmt_govern_sheds(const struct gmt_govern *govern)
{
    bool sheds = false;
    for (int part = GMT_OVERHEAD_HOOKS + 1; part < GMT_OVERHEAD_PARTS; part++) {
        sheds = sheds || govern->level[part] < 1;
    }
    return sheds;
}
