/* SPDX-License-Identifier: Apache-2.0 */
/* The seed, and numbers drawn from it. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "simgpu/order/state.h"

struct sim_order sim_order = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A number stands for itself, another text for its FNV-1a hash. */
static uint64_t seed_of(const char *text)
{
    char *end;
    if (text == NULL || text[0] == '\0') {
        return 0;
    }
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*end == '\0' && errno == 0) {
        return number;
    }
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

uint64_t sim_order_seed(void)
{
    return seed_of(getenv("SIMGPU_ORDER"));
}

bool sim_order_on(void)
{
    static atomic_int on; /* 0: not asked yet, 1: no, 2: yes */
    int state = atomic_load_explicit(&on, memory_order_relaxed);
    if (state == 0) {
        state = sim_order_seed() != 0 ? 2 : 1;
        atomic_store_explicit(&on, state, memory_order_relaxed);
    }
    return state == 2;
}

/* splitmix64 (Steele, Lea, Flood 2014) */
uint64_t sim_draw(uint64_t bound)
{
    if (sim_order.random == 0) {
        sim_order.random = sim_order_seed() * UINT64_C(0x9e3779b97f4a7c15) | 1;
    }
    uint64_t z = sim_order.random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % bound;
}

uint64_t sim_order_draw(uint64_t bound)
{
    pthread_mutex_lock(&sim_order.lock);
    uint64_t drawn = sim_draw(bound);
    pthread_mutex_unlock(&sim_order.lock);
    return drawn;
}
