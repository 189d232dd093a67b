/* SPDX-License-Identifier: Apache-2.0 */
/* A profile in the file format of speedscope.app: frames once, and a sampled profile per value. */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/commands/profile.h"
#include "analyzer/export/trace_events.h"

static const struct {
    const char *unit, *title;
} values[] = {
#define GMT_PROFILE_ROW(NAME, name, unit, unit_of_speedscope, title) {unit_of_speedscope, title},
    GMT_PROFILE_VALUE_ROWS(GMT_PROFILE_ROW)
#undef GMT_PROFILE_ROW
};

static void put_frames(struct gmt_events *json, const struct gmt_profile *p)
{
    fputs("\"shared\":{\"frames\":[", json->out);
    for (size_t i = 0; i < p->frame_count; i++) {
        const struct gmt_profile_frame *frame = &p->frames[i];

        fputs(i > 0 ? ",\n{\"name\":" : "\n{\"name\":", json->out);
        gmt_events_text(json, frame->name);
        if (frame->file != NULL) {
            fputs(",\"file\":", json->out);
            gmt_events_text(json, frame->file);
        }
        if (frame->file != NULL && frame->line > 0) {
            fprintf(json->out, ",\"line\":%" PRId64, frame->line);
        }
        fputc('}', json->out);
    }
    fputs("\n]}", json->out);
}

/* Outermost first. */
static void put_stack(FILE *out, const struct gmt_profile_sample *sample)
{
    fputc('[', out);
    for (size_t i = sample->depth; i > 0; i--) {
        fprintf(out, "%" PRIu32 ",", sample->frames[i - 1]);
    }
    fprintf(out, "%" PRIu32 "]", sample->leaf);
}

static void put_profile(struct gmt_events *json, const struct gmt_profile *p, int value)
{
    const char *comma = "";
    int64_t total = 0;

    fputs("{\"type\":\"sampled\",\"name\":", json->out);
    gmt_events_text(json, values[value].title);
    fprintf(json->out, ",\"unit\":\"%s\",\"samples\":[", values[value].unit);
    for (size_t i = 0; i < p->sample_count; i++) {
        if (p->samples[i].values[value] > 0) {
            fputs(comma, json->out);
            put_stack(json->out, &p->samples[i]);
            comma = ",\n";
        }
    }
    fputs("],\n\"weights\":[", json->out);
    comma = "";
    for (size_t i = 0; i < p->sample_count; i++) {
        int64_t weight = p->samples[i].values[value];

        if (weight > 0) {
            fprintf(json->out, "%s%" PRId64, comma, weight);
            comma = ",";
            if (__builtin_add_overflow(total, weight, &total)) {
                total = INT64_MAX;
            }
        }
    }
    fprintf(json->out, "],\"startValue\":0,\"endValue\":%" PRId64 "}", total);
}

int gmt_profile_write_speedscope(void *profile, FILE *out)
{
    const struct gmt_profile *p = profile;
    struct gmt_events json = {.out = out};
    const char *comma = "";

    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":", out);
    gmt_events_text(&json, p->trace);
    fputs(",\"exporter\":\"gmtrace@" GMT_VERSION "\",\"activeProfileIndex\":0,\n", out);
    put_frames(&json, p);
    fputs(",\n\"profiles\":[", out);
    for (int value = 0; value < GMT_PROFILE_VALUES; value++) {
        if (p->known[value]) {
            fputs(comma, out);
            put_profile(&json, p, value);
            comma = ",\n";
        }
    }
    fputs("]}\n", out);
    return ferror(out) ? -EIO : 0;
}
