/* SPDX-License-Identifier: Apache-2.0 */
/* Plans when CUPTI's records of devices are on (device_duty.h). */
#include "preload/overhead/device_duty.h"

/* The mean is known well enough: within a tenth of it, or no more than a few ns. */
#define CLOSE 0.1
#define CLOSE_NS 20.0

static const bool quarters[] = {true, false, false, true};

void gmt_duty_begin(struct gmt_device_duty *duty, uint64_t now_ns)
{
    gmt_device_cost_begin(&duty->cost);
    duty->on = true;
    duty->learning = false;
    duty->quarter = 0;
    duty->tries = 0;
    duty->since_ns = duty->learn_ns = now_ns;
    duty->cycle = 1;
}

static bool is_learnt(const struct gmt_device_duty *duty)
{
    struct gmt_device_estimate estimate = gmt_device_cost_estimate(&duty->cost);
    double close = estimate.mean_ns * CLOSE > CLOSE_NS ? estimate.mean_ns * CLOSE : CLOSE_NS;
    return duty->tries >= GMT_DUTY_TRIES ||
           (estimate.is_known && duty->tries >= GMT_DEVICE_PAIRS_LEAST &&
            estimate.error_ns <= close);
}

static void end_pair(struct gmt_device_duty *duty)
{
    (void)gmt_device_cost_end_pair(&duty->cost);
    duty->tries++;
}

/* The quarter is over, with or without enough calls. */
static bool is_over(const struct gmt_device_duty *duty, uint64_t now_ns, bool *is_good)
{
    uint64_t passed_ns = now_ns > duty->since_ns ? now_ns - duty->since_ns : 0;
    *is_good = gmt_device_cost_noted(&duty->cost, duty->on) >= GMT_DUTY_HALF_CALLS;
    return passed_ns >= GMT_DUTY_HALF_MOST_NS || (passed_ns >= GMT_DUTY_HALF_NS && *is_good);
}

static bool learn(struct gmt_device_duty *duty, uint64_t now_ns)
{
    bool is_good;
    if (duty->on != quarters[duty->quarter] && now_ns > duty->since_ns &&
        now_ns - duty->since_ns >= GMT_DUTY_HALF_MOST_NS) {
        gmt_device_cost_drop_pair(
            &duty->cost); /* it cannot be switched: its halves lie far apart */
        duty->since_ns = now_ns;
    }
    if (duty->on != quarters[duty->quarter] || !is_over(duty, now_ns, &is_good)) {
        return quarters[duty->quarter];
    }
    bool ends = duty->quarter % 2 == 1;
    if (!is_good) {
        gmt_device_cost_drop_pair(&duty->cost);
        duty->tries += ends;
    } else if (ends) {
        end_pair(duty);
    }
    duty->quarter = (uint8_t)((duty->quarter + 1) % 4);
    duty->since_ns = now_ns;
    if (ends && is_learnt(duty)) {
        duty->learning = false;
        duty->learn_ns = now_ns + GMT_DUTY_AGAIN_NS;
        return true;
    }
    return quarters[duty->quarter];
}

static bool cycle(struct gmt_device_duty *duty, uint64_t now_ns, double level, double random)
{
    double length_ns = (double)GMT_DUTY_CYCLE_NS;
    if (length_ns * level < (double)GMT_DUTY_ON_NS) {
        length_ns = (double)GMT_DUTY_ON_NS / (level > GMT_DUTY_LEAST ? level : GMT_DUTY_LEAST);
    }
    double on_ns = length_ns * level * duty->cycle;
    double half_ns = duty->on ? on_ns : length_ns * duty->cycle - on_ns;
    if (now_ns < duty->since_ns || (double)(now_ns - duty->since_ns) < half_ns) {
        return duty->on;
    }
    if (!duty->on) {
        (void)gmt_device_cost_end_pair(&duty->cost);
        duty->cycle = 0.5 + random;
    }
    return !duty->on;
}

bool gmt_duty_wants(struct gmt_device_duty *duty, uint64_t now_ns, double level, bool matters,
                    double random)
{
    if (!duty->learning && level >= 1 && matters && now_ns >= duty->learn_ns) {
        gmt_device_cost_drop_pair(&duty->cost);
        duty->learning = true;
        duty->quarter = 0;
        duty->tries = 0;
        duty->since_ns = now_ns;
    }
    if (duty->learning) {
        return learn(duty, now_ns);
    }
    return level >= 1 || cycle(duty, now_ns, level, random);
}

void gmt_duty_switched(struct gmt_device_duty *duty, bool on, bool planned, uint64_t now_ns)
{
    if (!planned) {
        gmt_device_cost_drop_pair(&duty->cost);
    }
    duty->on = on;
    duty->since_ns = now_ns;
}
