/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIMGPU_SKIP: calls that return success and do nothing, to see whether a program needs them: a wait, an event, a copy.
 *
 * A list with commas of NAME (each call) or NAME:N (the N-th of the process): a function that gives nothing back, by the
 * name without a version; `edge`, which captures put between two nodes; `cuGraphGetEdges`, which then does not list an edge.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/driver/driver.h"
#include "simgpu/driver/ids.h"

#define MOST 16
#define EDGE "edge"
#define LISTED "cuGraphGetEdges"

static const char *const functions[] = {
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuStreamQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventQuery",
    "cuCtxSynchronize",
    "cuMemcpy",
    "cuMemset",
    "cuLaunch",
    "cuStreamWriteValue",
};

static struct {
    char name[64];
    unsigned long number; /* 0: each */
    unsigned long calls;
} skips[MOST];
static size_t count;
static pthread_mutex_t skip_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

bool sim_skipping;

static bool begins_with(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool is_known(const char *name)
{
    bool known = strcmp(name, EDGE) == 0 || strcmp(name, LISTED) == 0;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        known |= begins_with(name, functions[i]);
    }
    return known;
}

static void read_list(void)
{
    const char *text = getenv("SIMGPU_SKIP");
    while (text != NULL && text[0] != '\0' && count < MOST) {
        size_t length = strcspn(text, ","), name = strcspn(text, ":,");
        if (name < sizeof skips[count].name) {
            memcpy(skips[count].name, text, name);
            skips[count].number = text[name] == ':' ? strtoul(text + name + 1, NULL, 10) : 0;
        }
        if (!is_known(skips[count].name)) {
            sim_say("SIMGPU_SKIP: %.*s is none of the calls that can be left out", (int)length,
                    text);
            skips[count].name[0] = '\0';
        } else {
            count++;
        }
        text += length + (text[length] == ',');
    }
    sim_skipping = count != 0;
}

void sim_skip_begin(void)
{
    (void)pthread_once(&once, read_list);
}

/* The name itself, or with a version or a stream's suffix behind it. */
static bool is_named(const char *symbol, const char *name)
{
    size_t length = strlen(name);
    return strncmp(symbol, name, length) == 0 && (symbol[length] == '\0' || symbol[length] == '_');
}

static bool skips_name(const char *symbol)
{
    bool skip = false;
    pthread_mutex_lock(&skip_lock);
    for (size_t i = 0; i < count; i++) {
        if (is_named(symbol, skips[i].name)) {
            skips[i].calls++;
            skip |= skips[i].number == 0 || skips[i].number == skips[i].calls;
        }
    }
    pthread_mutex_unlock(&skip_lock);
    return skip;
}

bool sim_skips(unsigned id)
{
    return strcmp(sim_names[id], LISTED "_v2") != 0 && skips_name(sim_names[id]);
}

bool sim_skips_edge(void)
{
    return sim_skipping && skips_name(EDGE);
}

/* By the edge's number in its graph. */
bool sim_skips_listed_edge(size_t index)
{
    bool skip = false;
    for (size_t i = 0; sim_skipping && i < count; i++) {
        skip |= strcmp(skips[i].name, LISTED) == 0 && skips[i].number == index + 1;
    }
    return skip;
}
