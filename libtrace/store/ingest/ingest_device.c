/* SPDX-License-Identifier: Apache-2.0 */
/* Device activity and counter records -> rows of device_op, kernel_counters and metric. */
#include <stdio.h>

#include "libtrace/store/db/names.h"
#include "libtrace/store/ingest/ingest_internal.h"

struct cupti_metric {
    uint16_t id;
    uint8_t group;
    const char *name, *source_name, *unit, *meaning;
};

static const struct cupti_metric metrics[] = {
#define GMT_METRIC(id, name, group, cupti_name, unit, meaning) \
    {id, GMT_GROUP_##group, #name, cupti_name, unit, meaning},
#include "libtrace/metrics.def"
#undef GMT_METRIC
};
#define METRIC_COUNT (sizeof(metrics) / sizeof(metrics[0]))
static_assert(METRIC_COUNT <= UINT8_MAX + 1,
              "gmt_ingest.metric_stored has a place for each metric");

int gmt_ingest_device_op(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_device_op *op = record->data;
    bool kernel = op->kind == GMT_OP_KERNEL, copy = op->kind == GMT_OP_COPY;
    int64_t name = 0;
    if (kernel) {
        struct gmt_text_cursor texts = gmt_texts(record, sizeof(*op));
        int error = gmt_ingest_string(ingest, gmt_texts_next(&texts), &name);
        if (error != 0) {
            return error;
        }
    }
    gmt_ingest_saw(ingest, op->end_ns);
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_DEVICE_OP);
    gmt_put_name(&row, gmt_name_op_kind(op->kind));
    gmt_put_id_or_null(&row, op->context);
    gmt_put_id(&row, op->device);
    gmt_put_unsigned(&row, op->cupti_context);
    gmt_put_unsigned(&row, op->cupti_stream);
    gmt_put_unsigned(&row, op->correlation);
    gmt_put_or_null(&row, op->graph);
    gmt_put_or_null(&row, op->start_ns);
    gmt_put_or_null(&row, op->end_ns);
    if (kernel) {
        gmt_put_null(&row);
    } else {
        gmt_put_bytes(&row, op->bytes);
    }
    gmt_put_known(&row, copy ? op->copy_kind : -1);
    gmt_put_known(&row, copy ? op->src_kind : -1);
    gmt_put_known(&row, kernel ? -1 : op->dst_kind);
    gmt_put_or_null(&row, copy ? (op->copy_count != 0 ? op->copy_count : 1) : 0);
    gmt_put_or_null(&row, (uint64_t)name);
    for (int i = 0; i < 3; i++) {
        gmt_put_known(&row, kernel ? (int64_t)op->grid[i] : -1);
    }
    for (int i = 0; i < 3; i++) {
        gmt_put_known(&row, kernel ? (int64_t)op->block[i] : -1);
    }
    return gmt_ingest_step(&row);
}

/* The other processor of one that is not the host. */
static void put_processor(struct gmt_binder *row, uint32_t id)
{
    gmt_put_known(row, id != GMT_MANAGED_HOST ? (int64_t)id : -1);
}

int gmt_ingest_managed_op(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_managed_op *op = record->data;
    const char *kind = gmt_name_managed_kind(op->kind);
    bool faults = op->kind == GMT_MANAGED_GPU_FAULT, host = op->kind == GMT_MANAGED_HOST_FAULT;
    if (kind == NULL) {
        return gmt_ingest_loss(ingest, "corrupt record", "managed memory", 1);
    }
    gmt_ingest_saw(ingest, op->end_ns > op->start_ns ? op->end_ns : op->start_ns);
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_MANAGED_OP);
    gmt_put_name(&row, kind);
    gmt_put_unsigned(&row, op->start_ns);
    gmt_put_or_null(&row, op->end_ns);
    gmt_put_bits(&row, op->address);
    if (faults || host || op->kind == GMT_MANAGED_THROTTLING) {
        gmt_put_null(&row);
    } else {
        gmt_put_bytes(&row, op->value);
    }
    gmt_put_or_null(&row, faults ? op->value : 0);
    put_processor(&row, op->src);
    put_processor(&row, op->dst);
    gmt_put_name(&row, gmt_name_managed_cause(op->kind, op->cause));
    if (host && op->value != 0) {
        gmt_put_bits(&row, op->value);
    } else {
        gmt_put_null(&row);
    }
    return gmt_ingest_step(&row);
}

int gmt_ingest_device_gap(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_device_gap *gap = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*gap));
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_DEVICE_GAP);
    gmt_put_id(&row, gap->id);
    gmt_put_unsigned(&row, gap->begin_ns);
    gmt_put_or_null(&row, gap->end_ns);
    gmt_put_text(&row, gmt_texts_next(&texts));
    gmt_put_text(&row, gmt_texts_next(&texts));
    gmt_put_name(&row, gap->reason == GMT_GAP_BUDGET ? "budget" : "client");
    gmt_put_unsigned(&row, gap->switch_us * UINT64_C(1000));
    return gmt_ingest_step(&row);
}

int gmt_ingest_own_time(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_own_time *own = record->data;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_OWN_TIME);
    gmt_put_name(&row, gmt_name_own_work(own->work));
    gmt_put_id_or_null(&row, own->head.thread);
    gmt_put_unsigned(&row, own->begin_ns);
    gmt_put_unsigned(&row, own->end_ns);
    gmt_put_unsigned(&row, own->is_beside != 0);
    gmt_put_or_null(&row, own->launch_seq);
    return gmt_ingest_step(&row);
}

/* Of records of devices: for how much of the time they were on, and what they cost. */
static void put_device_cost(struct gmt_binder *row, const struct gmt_overhead *overhead)
{
    if (overhead->device_known == 0) {
        for (int i = 0; i < 4; i++) {
            gmt_put_null(row);
        }
        return;
    }
    bool is_learnt = overhead->device_error_ns != UINT64_MAX;
    gmt_put_real(row, (overhead->device_known - 1) / 1e3);
    if (is_learnt) {
        gmt_put_unsigned(row, overhead->device_ns);
        gmt_put_unsigned(row, overhead->device_error_ns);
    } else {
        gmt_put_null(row);
        gmt_put_null(row);
    }
    gmt_put_unsigned(row, overhead->device_cycles);
}

int gmt_ingest_overhead(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_overhead *overhead = record->data;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_OVERHEAD);
    gmt_put_unsigned(&row, overhead->begin_ns);
    gmt_put_unsigned(&row, overhead->end_ns);
    gmt_put_unsigned(&row, overhead->calls);
    gmt_put_unsigned(&row, overhead->timed_calls);
    gmt_put_unsigned(&row, overhead->hooks_ns);
    gmt_put_or_null(&row, overhead->error_ns);
    gmt_put_unsigned(&row, overhead->stacks_ns);
    gmt_put_unsigned(&row, overhead->hashing_ns);
    gmt_put_unsigned(&row, overhead->counters_ns);
    if (overhead->budget_ppm != 0) {
        gmt_put_real(&row, overhead->budget_ppm / 1e6);
    } else {
        gmt_put_null(&row);
    }
    gmt_put_unsigned(&row, overhead->stacks_read);
    gmt_put_unsigned(&row, overhead->stacks_walked);
    gmt_put_unsigned(&row, overhead->stacks_taken);
    gmt_put_unsigned(&row, overhead->stack_one_in);
    gmt_put_real(&row, overhead->hashing_permille / 1e3);
    gmt_put_real(&row, overhead->counters_permille / 1e3);
    gmt_put_unsigned(&row, overhead->is_beyond != 0);
    put_device_cost(&row, overhead);
    return gmt_ingest_step(&row);
}

/* The metric's row is stored when its first value is. */
static int store_metric(struct gmt_ingest *ingest, size_t index)
{
    const struct cupti_metric *metric = &metrics[index];
    if (ingest->metric_stored[index]) {
        return 0;
    }
    ingest->metric_stored[index] = true;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_METRIC);
    gmt_put_unsigned(&row, metric->id);
    gmt_put_name(&row, metric->name);
    gmt_put_name(&row, metric->source_name);
    gmt_put_name(&row, gmt_name_group(metric->group));
    gmt_put_name(&row, metric->unit);
    gmt_put_name(&row, metric->meaning);
    return gmt_ingest_step(&row);
}

static int store_value(struct gmt_ingest *ingest, const struct gmt_counters *counters,
                       const struct gmt_counter_value *value)
{
    size_t index = 0;
    while (index < METRIC_COUNT && metrics[index].id != value->metric) {
        index++;
    }
    if (index == METRIC_COUNT) {
        char detail[32];
        (void)snprintf(detail, sizeof(detail), "metric %u", value->metric);
        return gmt_ingest_loss(ingest, "unknown metric", detail, 1);
    }
    int error = store_metric(ingest, index);
    if (error != 0) {
        return error;
    }
    const char *group = gmt_name_group(counters->group);
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_COUNTERS);
    gmt_put_unsigned(&row, counters->launch_seq);
    gmt_put_id(&row, counters->kernel_class);
    gmt_put_unsigned(&row, value->metric);
    gmt_put_real(&row, value->value);
    gmt_put_name(&row, gmt_name_source(counters->source));
    gmt_put_name(&row, group != NULL ? group : gmt_name_group(metrics[index].group));
    return gmt_ingest_step(&row);
}

int gmt_ingest_counters(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_counters *counters = record->data;
    const struct gmt_counter_value *values = (const void *)(counters + 1);
    size_t room = ((size_t)record->slots * GMT_SLOT_BYTES - sizeof(*counters)) / sizeof(*values);
    if (counters->count > room) {
        return gmt_ingest_loss(ingest, "corrupt record", "counters", 1);
    }
    int error = 0;
    for (size_t i = 0; i < counters->count && error == 0; i++) {
        error = store_value(ingest, counters, &values[i]);
    }
    return error;
}
