/* SPDX-License-Identifier: Apache-2.0 */
/* The loud list and the quiet list: what is said of each reference kernel as a program of its own. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"

static const char *heard_word(const struct gmt_score *score)
{
    switch (score->heard) {
    case GMT_HEARD_TOP: return "top finding";
    case GMT_HEARD_BELOW: return "finding, not the first";
    case GMT_HEARD_NOTE: return "note";
    case GMT_HEARD_NOT: return "nothing";
    case GMT_HEARD_UNTRACED: break;
    }
    return "no trace";
}

static void print_loud_row(FILE *out, const struct gmt_score *s)
{
    const char *reason = gmt_miss_reason("loud", s->family, s->variant);
    const char *unnamed = gmt_miss_reason("name", s->family, s->variant);
    bool below = s->heard == GMT_HEARD_BELOW;

    fprintf(out, "| %s:%s | %s | %s | %s%s%s | %s%s | %s", s->family, s->variant, s->rule,
            gmt_percent(s->truth), heard_word(s), below ? " after " : "", below ? s->top_rule : "",
            s->name != NULL ? s->name : "?", s->named ? "" : ": **no**",
            s->headline != NULL ? s->headline : "-");
    if (!gmt_score_is_heard(s)) {
        fprintf(out, "; **missed**: %s",
                reason != NULL        ? reason
                : s->why != NULL      ? s->why
                : s->top_rule != NULL ? s->top_rule
                                      : "not explained");
    }
    if (!s->named && unnamed != NULL) {
        fprintf(out, "; **not named**: %s", unnamed);
    }
    fputs(" |\n", out);
}

void gmt_page_loud(FILE *out, const struct gmt_scores *scores)
{
    size_t heard = 0, named = 0;

    for (size_t i = 0; i < scores->n; i++) {
        heard += gmt_score_is_heard(&scores->rows[i]);
        named += scores->rows[i].named;
    }
    fprintf(out,
            "%zu of %zu bad variants have their rule as the first finding, or as a note where the "
            "measured gain is below %.0f %%. %zu are named: the kernel, and what `named.def` asks "
            "for, as far as counters can show it.\n\n",
            heard, scores->n, 100 * GMT_WORTH_A_FINDING, named);
    fputs("| variant | rule | gain, % | said as | must name | what it says "
          "|\n|---|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < scores->n; i++) {
        print_loud_row(out, &scores->rows[i]);
    }
}

/* What a row may say: "GM404 may", or nothing. */
static void print_quiet_row(FILE *out, const json_t *row, const struct gmt_trial *trial)
{
    const char *family = gmt_text_of(row, "family"), *name = gmt_text_of(row, "variant");
    const char *rule = gmt_text_of(row, "rule"), *reason = gmt_miss_reason("quiet", family, name);
    const struct gmt_report *report = &trial->report;
    const struct gmt_finding *said = gmt_trial_unexpected(trial, row);

    if (said == NULL && report->finding_count > 0) {
        said = &report->findings[0];
    }
    fprintf(out, "| %s:%s | %s | %s | %zu | %zu | ", family, name, gmt_text_of(row, "quality"),
            rule != NULL ? rule : "-", report->finding_count, report->note_count);
    if (said != NULL) {
        fprintf(out, "%s %s", said->rule, said->headline);
    }
    if (said != NULL && gmt_trial_unexpected(trial, row) != NULL) {
        fprintf(out, "; **missed**: %s", reason != NULL ? reason : "not explained");
    }
    fputs(" |\n", out);
}

/* Good ones, of which no rule may say anything, and none does. */
static bool is_healthy(const json_t *row, const struct gmt_trial *trial)
{
    return strcmp(gmt_text_of(row, "quality"), "good") == 0 && gmt_text_of(row, "rule") == NULL &&
           trial->report.finding_count == 0;
}

int gmt_page_quiet(FILE *out, struct gmt_evidence_set *set, char *message, size_t bytes)
{
    size_t quiet = 0, all = 0, healthy = 0, length = 0, i;
    char *names = NULL;
    FILE *list = open_memstream(&names, &length);
    int rc = list != NULL ? 0 : -ENOMEM;
    json_t *row;

    fputs("| variant | is | may be said | findings | notes | first finding |\n"
          "|---|---|---|---|---|---|\n",
          out);
    json_array_foreach(set->variants, i, row)
    {
        const char *family = gmt_text_of(row, "family"), *name = gmt_text_of(row, "variant");
        const json_t *traced = gmt_evidence_find(set->traced, family, name);
        struct gmt_trial trial;

        if (rc != 0 || strcmp(gmt_text_of(row, "quality"), "bad") == 0 || traced == NULL) {
            continue;
        }
        rc = gmt_trial_variant(&trial, set, traced, NULL, message, bytes);
        if (rc == 0) {
            print_quiet_row(out, row, &trial);
            all++;
            quiet += gmt_trial_unexpected(&trial, row) == NULL;
            if (is_healthy(row, &trial)) {
                fprintf(list, "%s%s:%s", healthy++ > 0 ? ", " : "", family, name);
            }
        }
        gmt_trial_free(&trial);
    }
    if (list != NULL) {
        fclose(list);
    }
    fprintf(out,
            "\n%zu of %zu good and neutral variants have no finding above a note but of the rule "
            "that may speak.\n\nHealthy kernels without any finding above a note, %zu: %s.\n",
            quiet, all, healthy, names != NULL ? names : "");
    free(names);
    return rc;
}
