/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the running program: counted, published, and written as metrics. */
#include "libtrace/store/recording/recording_live.h"

#include <stdlib.h>

#include "libtrace/record/clock.h"
#include "libtrace/settings/spool_settings.h"
#include "libtrace/store/live/live.h"
#include "libtrace/store/live/metrics_file.h"
#include "libtrace/store/live/step_watch.h"

struct gmt_recording_live {
    struct gmt_live *live;
    struct gmt_step_watch *steps; /* NULL: nobody asked for slow steps */
    struct gmt_spool_settings settings;
    uint64_t metrics_ns; /* when the metrics file was last written */
};

void gmt_recording_live_open(struct gmt_recording *recording)
{
    gmt_recording_live_close(recording);
    struct gmt_recording_live *own = calloc(1, sizeof(*own));
    if (own == NULL) {
        return;
    }
    (void)gmt_spool_settings_read(recording->folder, &own->settings);
    own->live = gmt_live_open(recording->folder, recording->control);
    own->steps = (own->settings.flags & GMT_SETTINGS_WATCHES_STEPS) != 0
                     ? gmt_step_watch_open(own->settings.step)
                     : NULL;
    recording->live = own;
}

void gmt_recording_live_close(struct gmt_recording *recording)
{
    struct gmt_recording_live *own = recording->live;
    if (own != NULL) {
        gmt_live_close(own->live);
        gmt_step_watch_close(own->steps);
        free(own);
    }
    recording->live = NULL;
}

bool gmt_recording_live_record(struct gmt_recording *recording,
                               const struct gmt_spool_record *record, char cause[static 128])
{
    struct gmt_recording_live *own = recording->live;
    if (own != NULL && own->live != NULL) {
        gmt_live_record(own->live, &recording->time, record);
    }
    return own != NULL && own->steps != NULL &&
           gmt_step_watch_record(own->steps, &recording->time, record, cause);
}

static void write_metrics(struct gmt_recording *recording, uint64_t now_ns, bool is_last)
{
    struct gmt_recording_live *own = recording->live;
    if (own->settings.metrics[0] == '\0' ||
        (!is_last && own->metrics_ns != 0 && now_ns - own->metrics_ns < own->settings.metrics_ns)) {
        return;
    }
    own->metrics_ns = now_ns;
    struct gmt_live_page *page = gmt_live_page(own->live);
    page->metrics_error = gmt_metrics_write(own->settings.metrics, page, recording->control,
                                            own->settings.labels, !is_last);
}

void gmt_recording_live_pass(struct gmt_recording *recording, bool is_last)
{
    struct gmt_recording_live *own = recording->live;
    if (own == NULL || own->live == NULL) {
        return;
    }
    uint64_t now_ns = gmt_clock_monotonic_ns();
    if (own->steps != NULL) {
        gmt_live_page(own->live)->steps = *gmt_step_watch_steps(own->steps);
    }
    gmt_live_pass(own->live, now_ns, is_last);
    write_metrics(recording, now_ns, is_last);
}

void gmt_recording_live_dumped(struct gmt_recording *recording)
{
    if (recording->live != NULL && recording->live->live != NULL) {
        gmt_live_page(recording->live->live)->dumps++;
    }
}
