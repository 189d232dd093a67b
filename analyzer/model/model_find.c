/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the device model that fits a trace best: given, in the trace, cached, shipped. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/device_model.h"
#include "analyzer/model/paths.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/timeline.h"
#include "libtrace/base/memory_short.h"
#include "libtrace/store/db/guard.h"

enum { GMT_MODEL_MAX_BYTES = 64 * 1024 * 1024 };

int gmt_model_read(struct gmt_model *model, const char *path, char *message, size_t message_bytes)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t used = 0, capacity = 0;
    int rc = 0;

    *model = (struct gmt_model){.provenance = GMT_MODEL_NONE};
    if (file == NULL) {
        rc = -errno;
        goto out;
    }
    for (;;) {
        if (used == capacity) {
            capacity = capacity > 0 ? 2 * capacity : (size_t)65536;
            char *grown = capacity <= GMT_MODEL_MAX_BYTES ? realloc(text, capacity) : NULL;

            if (grown == NULL) {
                rc = -ENOMEM;
                goto out;
            }
            text = grown;
        }
        size_t n = fread(text + used, 1, capacity - used, file);
        if (n == 0) {
            break;
        }
        used += n;
    }
    if (ferror(file)) {
        rc = errno != 0 ? -errno : -EIO;
    }
out:
    /* Also of what the C library could not make: the report would be one without prices. */
    if (rc == -ENOMEM) {
        gmt_memory_note_short();
    }
    if (rc != 0) {
        snprintf(message, message_bytes, "%s", strerror(-rc));
    } else {
        rc = gmt_model_parse(model, text, used, path, message, message_bytes);
    }
    if (file != NULL) {
        fclose(file);
    }
    free(text);
    return rc;
}

/* Keeps the better of the two, frees the other. */
static void keep_better(struct gmt_model *best, struct gmt_model *candidate,
                        const struct gmt_timeline *timeline, bool shipped)
{
    candidate->provenance = gmt_model_judge(candidate, timeline->device.name,
                                            timeline->device.uuid);
    /* Copies depend on the host as much as on the GPU, and that one is nobody's. */
    if (shipped && candidate->provenance == GMT_MODEL_SAME_NAME) {
        candidate->provenance = GMT_MODEL_SHIPPED;
    }
    if (candidate->provenance > best->provenance) {
        struct gmt_model old = *best;

        *best = *candidate;
        *candidate = old;
    }
    gmt_model_free(candidate);
}

static void try_trace(struct gmt_model *best, const struct gmt_timeline *timeline)
{
    struct gmt_query query;
    char message[256];
    int rc = gmt_query_open(&query, timeline->db, "SELECT json FROM main.device_model");

    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_model candidate;
        const char *json = gmt_query_text_here(&query, 0);

        if (json == NULL) {
            continue;
        }
        if (gmt_model_parse(&candidate, json, strlen(json), GMT_MODEL_OF_TRACE, message,
                            sizeof(message)) == 0) {
            keep_better(best, &candidate, timeline, false);
            continue;
        }
        /* One of another version is passed over, a damaged one is damage of the trace. */
        if (candidate.wrong[0] != '\0') {
            gmt_guard_note_value(query.statement, 0, message);
        }
        gmt_model_free(&candidate);
    }
    gmt_query_close(&query, rc);
}

static int is_json(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0 &&
           strstr(entry->d_name, ".raw.") == NULL;
}

static void try_directory(struct gmt_model *best, const struct gmt_timeline *timeline,
                          const char *directory, bool shipped)
{
    struct dirent **entries = NULL;
    /* Sorted, so that the choice does not depend on the file system. */
    int n = directory != NULL ? scandir(directory, &entries, is_json, alphasort) : -1;
    if (n < 0 && directory != NULL && errno == ENOMEM) {
        gmt_memory_note_short();
    }

    for (int i = 0; i < n; i++) {
        char path[4096], message[256];
        struct gmt_model candidate;

        snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
        /* An unusable file is somebody else's business here: the next one may do. */
        if (gmt_model_read(&candidate, path, message, sizeof(message)) == 0) {
            keep_better(best, &candidate, timeline, shipped);
        } else {
            gmt_model_free(&candidate);
        }
        free(entries[i]);
    }
    free(entries);
}

/* How like the model's device is to the one that the software device presents. */
static int likeness(const struct gmt_model *model, const struct gmt_tl_device *device)
{
    char compute[32];

    snprintf(compute, sizeof(compute), "%d.%d", (int)device->compute_major,
             (int)device->compute_minor);
    return 2 * (model->compute_capability != NULL &&
                strcmp(model->compute_capability, compute) == 0) +
           (model->limits.sm_count == (double)device->sm_count);
}

int gmt_model_find_shipped(struct gmt_model *model, const struct gmt_timeline *timeline,
                           const char *file, char *message, size_t message_bytes)
{
    char directory[4096], path[8192];
    struct dirent **entries = NULL;
    int most = -1, n;

    *model = (struct gmt_model){.provenance = GMT_MODEL_NONE};
    if (file != NULL) {
        return gmt_model_read(model, file, message, message_bytes);
    }
    if (gmt_path_shipped(directory, sizeof(directory)) == NULL) {
        return 0;
    }
    n = scandir(directory, &entries, is_json, alphasort);
    if (n < 0 && errno == ENOMEM) {
        gmt_memory_note_short();
    }
    for (int i = 0; i < n; i++) {
        struct gmt_model candidate;

        snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
        free(entries[i]);
        if (gmt_model_read(&candidate, path, message, message_bytes) == 0 &&
            likeness(&candidate, &timeline->device) > most) {
            struct gmt_model old = *model;

            most = likeness(&candidate, &timeline->device);
            *model = candidate;
            candidate = old;
        }
        gmt_model_free(&candidate);
    }
    free(entries);
    return 0;
}

int gmt_model_find(struct gmt_model *model, const struct gmt_timeline *timeline, const char *file,
                   bool fresh, char *message, size_t message_bytes)
{
    char path[4096];

    *model = (struct gmt_model){.provenance = GMT_MODEL_NONE};
    if (file != NULL) {
        int rc = gmt_model_read(model, file, message, message_bytes);

        if (rc == 0) {
            model->provenance = gmt_model_judge(model, timeline->device.name,
                                                timeline->device.uuid);
        }
        return rc;
    }
    if (!fresh) {
        try_trace(model, timeline);
    }
    if (model->provenance < GMT_MODEL_CALIBRATED) {
        try_directory(model, timeline, gmt_path_cache(path, sizeof(path)), false);
    }
    if (fresh && model->provenance < GMT_MODEL_CALIBRATED) {
        try_trace(model, timeline);
    }
    if (model->provenance < GMT_MODEL_SAME_NAME) {
        try_directory(model, timeline, gmt_path_shipped(path, sizeof(path)), true);
    }
    return 0;
}
