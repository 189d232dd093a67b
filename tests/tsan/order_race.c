/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that four threads queue, wait for and ask about while the device's thread does them, for ThreadSanitizer.
 *
 * Each thread has a lane and a word that its operations change without an atomic; a lane that waits for all of them reads the words. What
 * the sanitizer must not see is a word changed out of order, or the library's own data changed by two threads.
 */
#include <stdio.h>
#include <stdlib.h>

#include <pthread.h>

#include "simgpu/order/order.h"

enum { THREADS = 4, TURNS = 200 };

static unsigned words[THREADS], sum;
static struct sim_lane *legacy, *lanes[THREADS];
static int context;

static void change(void *word)
{
    ++*(unsigned *)word;
}

static void add_up(void *unused)
{
    (void)unused;
    sum = 0;
    for (int i = 0; i < THREADS; i++) {
        sum += words[i];
    }
}

static struct sim_operation *queue(struct sim_lane *lane, void (*run)(void *), unsigned *word)
{
    const struct sim_work work = {.run = run, .data = word, .name = "change"};
    struct sim_operation *operation = sim_operation_new(&work);
    if (operation == NULL) {
        abort();
    }
    sim_operation_touch(operation, (uintptr_t)words, sizeof words,
                        run == change ? 0 : SIM_TOUCH_READ);
    sim_operation_touch(operation, (uintptr_t)word, sizeof *word, SIM_TOUCH_WRITE);
    if (!sim_lane_append(lane, operation)) {
        abort();
    }
    sim_order_progress();
    return operation;
}

static void *work(void *lane)
{
    unsigned *word = &words[(struct sim_lane **)lane - lanes];
    for (int turn = 0; turn < TURNS; turn++) {
        sim_operation_release(queue(*(struct sim_lane **)lane, change, word));
        struct sim_operation *last = queue(*(struct sim_lane **)lane, change, word);
        if (turn % 10 == 0) {
            sim_operation_release(queue(legacy, add_up, &sum));
        }
        if (turn % 3 == 0) {
            (void)sim_operation_wait(last, 0);
        } else if (turn % 3 == 1) {
            while (!sim_operation_query(last)) {
            }
        } else {
            (void)sim_lane_query(*(struct sim_lane **)lane);
        }
        sim_operation_release(last);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    setenv("SIMGPU_ORDER", "3", 1);
    legacy = sim_lane_new(&context, SIM_LANE_LEGACY);
    for (int i = 0; i < THREADS; i++) {
        lanes[i] = sim_lane_new(&context, SIM_LANE_BLOCKING);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, &lanes[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    struct sim_operation *last = queue(legacy, add_up, &sum);
    (void)sim_operation_wait(last, 0);
    sim_operation_release(last);
    sim_order_drain();
    sim_order_stop();
    if (sum != 2 * THREADS * TURNS || sim_order_conflicts() != 0) {
        fprintf(stderr, "the sum is %u, %llu conflicts\n", sum,
                (unsigned long long)sim_order_conflicts());
        return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        sim_lane_free(lanes[i]);
    }
    sim_lane_free(legacy);
    return 0;
}
