/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict DIRECTORY RAW SHA256: writes docs/prediction.md to standard output, from recordings alone
 * (what tests/bench/prediction/record collected on a GPU) and the raw timings of the model that is
 * judged, whose hash it states. The same recordings give the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "pages.h"

static int score_all(struct gmt_evidence_set *set, struct gmt_arena *arena,
                     struct gmt_scores *scores, char *message, size_t bytes)
{
    size_t i;
    json_t *row;
    int rc = 0;

    scores->rows = calloc(json_array_size(set->variants) + 1, sizeof(*scores->rows));
    if (scores->rows == NULL) {
        return -1;
    }
    json_array_foreach(set->variants, i, row)
    {
        if (rc == 0 && gmt_is_loud(row)) {
            rc = gmt_score_variant(set, row, arena, &scores->rows[scores->n++], message, bytes);
        }
    }
    return rc;
}

static void print_head(FILE *out, const struct gmt_evidence_set *set, const char *sha256)
{
    const json_t *machine = json_object_get(set->raw, "machine");
    const char *gpu = gmt_text_of(machine, "gpu"), *driver = gmt_text_of(machine, "driver");
    const char *date = gmt_text_of(machine, "date"), *ncu = gmt_text_of(machine, "ncu");
    const json_t *device = json_object_get(set->calibration, "device");
    const char *uuid = gmt_text_of(device, "uuid"), *other = gmt_text_of(machine, "uuid");
    const char *created = gmt_text_of(set->calibration, "created");

    fputs("<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
          "<!-- Generated: `ninja prediction_page` after tests/bench/prediction/record. -->\n"
          "# Predictions against measurements\n\n",
          out);
    fprintf(
        out,
        "%s, driver %s, Nsight Compute %s, %s. Everything below follows from the recordings in\n"
        "`tests/data/prediction`; `ctest -R docs.prediction` checks that it does.\n\n",
        gpu != NULL ? gpu : "unknown GPU", driver != NULL ? driver : "unknown",
        ncu != NULL ? ncu : "unknown", date != NULL ? date : "undated");
    fprintf(
        out,
        "The model is the one that is shipped: `kernels/models/nvidia-h200.json`, fitted to the "
        "timings of\n`nvidia-h200.raw.json` beside it (SHA-256 `%s`,\nof %s, device %s). %s\n\n",
        sha256, created != NULL ? created : "an unknown time", uuid != NULL ? uuid : "unknown",
        uuid != NULL && other != NULL && strcmp(uuid, other) != 0
            ? "What is\npredicted and measured ran on another device of that name, as at most "
              "users of the shipped model."
            : "What is\npredicted and measured ran on the same device.");
    fputs("* **Measured**: times of `gmcalibrate`, good and bad variants in turn, medians of 21.\n"
          "  The gain is (bad - good) / bad, in per cent of the bad one's run time.\n"
          "* **Predicted**: by `gmanalyze` from a trace of the bad variant alone, with the "
          "model\n"
          "  fitted without the timings of the variant's whole family; †: only without "
          "those of the\n"
          "  same body, where the family is what the rule needs to be calibrated at all.\n"
          "* **Error**: predicted minus measured, in points of run time. **Interval**: as stated.\n"
          "* **ncu**: the largest estimated speedup that `ncu --set full` prints for the same "
          "kernel;\n"
          "  \"local\" where it has none for the whole kernel.\n\n",
          out);
}

static int write_page(FILE *out, struct gmt_evidence_set *set, const struct gmt_scores *scores,
                      const char *sha256, char *message, size_t bytes)
{
    print_head(out, set, sha256);
    fputs("## Summary\n\n", out);
    gmt_page_summary(out, scores);
    fputs("\n## Every pair\n\n", out);
    gmt_page_pairs(out, scores);
    fputs("\n## Loud list\n\nEach variant as a program of its own, with the complete model. ", out);
    gmt_page_loud(out, scores);
    fputs("\n## Quiet list\n\n", out);
    int rc = gmt_page_quiet(out, set, message, bytes);
    fputs("\n## Transfers and allocations\n\nPrograms of `transfer_pairs`: measured without a "
          "tracer, predicted from the trace of the bad\none. Gains are shares of the run that they "
          "come from: the measured one of the bad program's\ntime, the predicted one of its time "
          "under the tracer, which is longer, or without it where\nthe finding leaves what "
          "tracing added out. Page-locking is part of what the good one costs.\n\n",
          out);
    if (rc == 0) {
        rc = gmt_page_transfers(out, set, message, bytes);
    }
    fputs("\n## Repeatability\n\n", out);
    gmt_page_repeat(out, set);
    return rc;
}

int main(int argc, char **argv)
{
    struct gmt_evidence_set set;
    struct gmt_arena arena = {0};
    struct gmt_scores scores = {.n = 0};
    char message[512] = "";

    if (argc != 4) {
        fputs("usage: predict DIRECTORY RAW SHA256\n", stderr);
        return 2;
    }
    int rc = gmt_evidence_load(&set, argv[1], argv[2], message, sizeof(message));
    if (rc == 0) {
        rc = score_all(&set, &arena, &scores, message, sizeof(message));
    }
    if (rc == 0) {
        rc = write_page(stdout, &set, &scores, argv[3], message, sizeof(message));
    }
    if (rc != 0) {
        fprintf(stderr, "predict: %s\n", message);
    }
    free(scores.rows);
    gmt_arena_free(&arena);
    gmt_evidence_free(&set);
    return rc != 0;
}
