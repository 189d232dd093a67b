/* SPDX-License-Identifier: Apache-2.0 */
/* What gmanalyze predicts of a trace that the fix brings: the savings of the findings that it repairs. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/try/try.h"
#include "libtrace/base/printable.h"

/* What gmanalyze prints of the trace as JSON; NULL: nothing. */
static json_t *ask(const char *trace)
{
    char path[PATH_MAX];
    const char *const arguments[] = {"gmanalyze", "--format=json", "--top=0", "--", trace, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2], status = 0;
    pid_t child;
    if (gmt_launcher_part("gmanalyze", path, sizeof(path)) != 0 || pipe2(ends, O_CLOEXEC) != 0) {
        return NULL;
    }
    FILE *answer = fdopen(ends[0], "r");
    bool ready = answer != NULL && posix_spawn_file_actions_init(&actions) == 0;
    bool started = ready &&
                   posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
                   posix_spawn(&child, path, &actions, NULL, (char *const *)arguments, environ) ==
                       0;
    close(ends[1]);
    json_t *report = started ? json_loadf(answer, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    if (answer != NULL) {
        (void)fclose(answer);
    } else {
        close(ends[0]);
    }
    if (ready) {
        posix_spawn_file_actions_destroy(&actions);
    }
    while (started && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return report;
}

static double seconds(const json_t *saving, const char *name)
{
    return json_number_value(json_object_get(saving, name)) / 1e9;
}

static void keep_text(char *text, size_t bytes, const json_t *value)
{
    const char *found = json_string_value(value);
    (void)snprintf(text, bytes, "%s", found != NULL ? found : "");
}

static void keep_finding(const json_t *finding, struct gmt_try_outcome *outcome)
{
    const json_t *best = json_object_get(json_object_get(finding, "saving"), "best_ns");
    if (outcome->finding_count == GMT_TRY_FINDINGS) {
        return;
    }
    struct gmt_try_finding *kept = &outcome->findings[outcome->finding_count++];
    keep_text(kept->rule, sizeof(kept->rule), json_object_get(finding, "rule"));
    keep_text(kept->fingerprint, sizeof(kept->fingerprint),
              json_object_get(finding, "fingerprint"));
    keep_text(kept->place, sizeof(kept->place),
              json_object_get(json_object_get(finding, "where"), "label"));
    kept->best_s = json_is_number(best) ? json_number_value(best) / 1e9 : NAN;
}

/* Adds up those of the list; false: there was none with a price. */
static bool add_savings(const json_t *list, enum gmt_fix fix, struct gmt_try_outcome *outcome)
{
    bool any = false;
    size_t i;
    json_t *finding;
    json_array_foreach(list, i, finding)
    {
        const char *rule = json_string_value(json_object_get(finding, "rule"));
        const json_t *saving = json_object_get(finding, "saving");
        if (rule == NULL || strstr(gmt_fixes[fix].rules, rule) == NULL) {
            continue;
        }
        keep_finding(finding, outcome);
        if (json_is_number(json_object_get(saving, "best_ns"))) {
            any = true;
            outcome->predicted_low_s += seconds(saving, "low_ns");
            outcome->predicted_s += seconds(saving, "best_ns");
            outcome->predicted_high_s += seconds(saving, "high_ns");
        }
    }
    return any;
}

static json_t *analysis; /* of the trace */

bool gmt_try_read_trace(const char *trace)
{
    analysis = ask(trace);
    if (!json_is_array(json_object_get(analysis, "findings"))) {
        gmt_say(stderr,
                "gmtrace: gmanalyze cannot analyze '%s': there is nothing to compare with\n",
                trace);
        gmt_try_forget_trace();
        return false;
    }
    return true;
}

void gmt_try_forget_trace(void)
{
    json_decref(analysis);
    analysis = NULL;
}

bool gmt_try_predict(enum gmt_fix fix, struct gmt_try_outcome *outcome)
{
    bool found = add_savings(json_object_get(analysis, "findings"), fix, outcome);
    bool notes = add_savings(json_object_get(analysis, "notes"), fix, outcome);
    return found || notes;
}

double gmt_try_points(const struct gmt_try_report *report, const struct gmt_try_outcome *outcome)
{
    return outcome->has_prediction && outcome->gain.pairs != 0 && report->untouched_s > 0
               ? 100 * (outcome->predicted_s - outcome->gain.median_s) / report->untouched_s
               : NAN;
}
