/* SPDX-License-Identifier: Apache-2.0 */
/* Of a memory snapshot, folders or all names are taken out. */
#include "analyzer/redact/redact.h"
#include "analyzer/snapshot/snapshot.h"

void gmt_redact_snapshot(struct gmt_torch_snapshot *snapshot, enum gmt_redact what)
{
    for (size_t i = 0; what != GMT_REDACT_NOTHING && i < snapshot->place_count; i++) {
        struct gmt_snapshot_place *place = &snapshot->places[i];

        if (what == GMT_REDACT_NAMES) {
            *place = (struct gmt_snapshot_place){
                .function = gmt_arena_text(&snapshot->arena, "place %zu", i + 1)};
        } else if (place->file != NULL) {
            place->file = gmt_redact_path(place->file);
        }
    }
    if (what == GMT_REDACT_NAMES) {
        snapshot->path = "a file";
        snapshot->conf = NULL;
    }
}
