/* SPDX-License-Identifier: Apache-2.0 */
/* Call records -> rows of transfer, memset, sync, api_call, allocation and host_allocation. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/record/traits.h"
#include "libtrace/store/db/names.h"
#include "libtrace/store/ingest/ingest_internal.h"
#include "libtrace/store/ingest/join.h"

/* A call with its times converted. */
struct timed_call {
    const struct gmt_call *call;
    uint64_t begin_ns, end_ns;
    int64_t stream_row; /* 0: the call has no stream */
};

/* `has_stream`: handle 0 means the default stream, not "none". */
static int time_call(struct gmt_ingest *ingest, const struct gmt_spool_record *record,
                     bool has_stream, struct timed_call *timed)
{
    const struct gmt_call *call = record->data;
    timed->call = call;
    timed->begin_ns = gmt_ingest_ns(ingest, call->begin_ticks);
    timed->end_ns = timed->begin_ns;
    if (call->end_ticks > call->begin_ticks) {
        timed->end_ns = gmt_ingest_ns(ingest, call->end_ticks);
    }
    timed->stream_row = 0;
    if (has_stream || call->stream != 0) {
        return gmt_ingest_stream_row(ingest, call, timed->begin_ns, &timed->stream_row);
    }
    return 0;
}

static void put_call(struct gmt_binder *row, const struct timed_call *timed)
{
    const struct gmt_call *call = timed->call;
    gmt_put_integer(row, row->ingest->next_call_id++);
    gmt_put_unsigned(row, call->api);
    gmt_put_id_or_null(row, call->thread);
    gmt_put_or_null(row, call->context);
    gmt_put_or_null(row, (uint64_t)timed->stream_row);
    gmt_put_unsigned(row, timed->begin_ns);
    gmt_put_unsigned(row, timed->end_ns);
    gmt_put_integer(row, call->result);
    gmt_put_bits_or_null(row, call->caller);
    gmt_put_id_or_null(row, call->stack);
    gmt_put_or_null(row, call->stack_one_in);
    gmt_put_unsigned(row, (call->flags & GMT_CALL_OUTSIDE) != 0 ? GMT_CAPTURING_OUTSIDE
                          : (call->flags & GMT_CALL_STEP) != 0
                              ? GMT_CAPTURING_STEP
                              : (call->flags & GMT_CALL_CAPTURING) != 0);
    row->failed = call->result != 0;
}

/* Payload slot of a call record. */
static const void *payload(const struct gmt_spool_record *record)
{
    return (const uint8_t *)record->data + sizeof(struct gmt_call);
}

int gmt_ingest_call(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    struct timed_call timed;
    const struct gmt_call *call = record->data;
    bool destroys = (ingest->api_traits[call->api] & GMT_TRAIT_DESTROYS_STREAM) != 0;
    int error = time_call(ingest, record, false, &timed);
    if (error == 0 && destroys && call->result == 0) {
        error = gmt_ingest_stream_destroyed(ingest, call, timed.begin_ns);
    }
    if (error != 0) {
        return error;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_API_CALL);
    put_call(&row, &timed);
    gmt_put_bytes_or_null(&row, call->bytes);
    return gmt_ingest_step(&row);
}

int gmt_ingest_sync(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    struct timed_call timed;
    const struct gmt_call *call = record->data;
    int error = time_call(ingest, record, call->detail == GMT_SYNC_STREAM, &timed);
    if (error != 0) {
        return error;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_SYNC);
    put_call(&row, &timed);
    gmt_put_name(&row, gmt_name_sync_kind(call->detail));
    return gmt_ingest_step(&row);
}

static void put_address(struct gmt_binder *row, uint64_t address, unsigned mem_class)
{
    if (mem_class == GMT_MEM_ARRAY) {
        gmt_put_null(row);
    } else {
        gmt_put_bits(row, address);
    }
}

/* gmtrace's own time for it, 0: not known. */
static uint64_t hash_ns(struct gmt_ingest *ingest, const struct gmt_fingerprint *print,
                        uint64_t call_end_ns)
{
    uint64_t end_ns = print->end_ticks != 0 ? gmt_ingest_ns(ingest, print->end_ticks) : 0;
    return end_ns > call_end_ns ? end_ns - call_end_ns : 0;
}

/* The row of a transfer that was to have a fingerprint; `id` is that of the transfer, `end_ns` when its call
 * returned. */
static int ingest_fingerprint(struct gmt_ingest *ingest, const struct gmt_spool_record *record,
                              int64_t id, uint64_t end_ns)
{
    const struct gmt_transfer *transfer = payload(record);
    const struct gmt_fingerprint *print = (const void *)(transfer + 1);
    unsigned state = transfer->fingerprint;
    bool taken = state == GMT_PRINT_WHOLE || state == GMT_PRINT_SAMPLED;
    char hash[40];
    if (taken && record->slots < 3) {
        return gmt_ingest_loss(ingest, "corrupt record", "fingerprint", 1);
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_FINGERPRINT);
    gmt_put_integer(&row, id);
    if (taken) {
        (void)snprintf(hash, sizeof(hash), "%016" PRIx64 "%016" PRIx64, print->high, print->low);
        gmt_put_name(&row, hash);
        gmt_put_bytes(&row, print->bytes_hashed);
        gmt_put_unsigned(&row, state == GMT_PRINT_WHOLE);
        gmt_put_null(&row);
        gmt_put_or_null(&row, hash_ns(ingest, print, end_ns));
    } else {
        gmt_put_null(&row);
        gmt_put_null(&row);
        gmt_put_null(&row);
        gmt_put_name(&row, gmt_name_fingerprint_skip(state));
        gmt_put_null(&row);
    }
    return gmt_ingest_step(&row);
}

int gmt_ingest_transfer(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    struct timed_call timed;
    const struct gmt_transfer *transfer = payload(record);
    int error = time_call(ingest, record, true, &timed);
    if (error != 0) {
        return error;
    }
    bool flat = transfer->width == 0;
    bool batch = (ingest->api_traits[timed.call->api] & GMT_TRAIT_BATCH) != 0;
    int64_t id = ingest->next_call_id;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_TRANSFER);
    put_call(&row, &timed);
    gmt_put_name(&row, gmt_name_direction(transfer->direction));
    gmt_put_unsigned(&row, (timed.call->flags & GMT_CALL_BLOCKING) != 0);
    gmt_put_bytes(&row, timed.call->bytes);
    put_address(&row, transfer->dst, transfer->dst_class);
    put_address(&row, transfer->src, transfer->src_class);
    gmt_put_name(&row, gmt_name_mem_class(transfer->dst_class));
    gmt_put_name(&row, gmt_name_mem_class(transfer->src_class));
    gmt_put_id_or_null(&row, transfer->dst_alloc);
    gmt_put_id_or_null(&row, transfer->src_alloc);
    gmt_put_bytes_or_null(&row, transfer->dst_pitch);
    gmt_put_bytes_or_null(&row, transfer->src_pitch);
    gmt_put_bytes_or_null(&row, transfer->width);
    gmt_put_or_null(&row, flat ? 0 : transfer->height);
    gmt_put_or_null(&row, flat ? 0 : transfer->depth);
    if (batch) {
        gmt_put_unsigned(&row, transfer->batch);
    } else {
        gmt_put_or_null(&row, transfer->batch);
    }
    error = gmt_ingest_step(&row);
    return error == 0 && transfer->fingerprint != GMT_PRINT_NONE
               ? ingest_fingerprint(ingest, record, id, timed.end_ns)
               : error;
}

int gmt_ingest_memset(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    struct timed_call timed;
    const struct gmt_memset *set = payload(record);
    int error = time_call(ingest, record, true, &timed);
    if (error != 0) {
        return error;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_MEMSET);
    put_call(&row, &timed);
    gmt_put_bytes(&row, timed.call->bytes);
    gmt_put_bits(&row, set->dst);
    gmt_put_id_or_null(&row, set->dst_alloc);
    gmt_put_name(&row, gmt_name_mem_class(set->dst_class));
    gmt_put_unsigned(&row, set->value);
    gmt_put_unsigned(&row, set->element_bytes);
    gmt_put_bytes_or_null(&row, set->pitch);
    gmt_put_bytes_or_null(&row, set->width);
    gmt_put_bytes_or_null(&row, set->width != 0 ? set->height : 0);
    return gmt_ingest_step(&row);
}

/* ---- launches --------------------------------------------------------------------------------- */

static int store_argument(struct gmt_ingest *ingest, uint64_t set, const struct gmt_launch_arg *arg)
{
    bool is_map = arg->offset == GMT_ARG_TENSOR_MAP;
    struct gmt_binder row = gmt_ingest_bind(ingest, is_map ? GMT_STATEMENT_LAUNCH_TENSOR_MAP
                                                           : GMT_STATEMENT_LAUNCH_ARGUMENT);
    gmt_put_unsigned(&row, set);
    gmt_put_known(&row, arg->parameter == UINT16_MAX ? -1 : arg->parameter);
    gmt_put_unsigned(&row, arg->word_offset);
    gmt_put_id(&row, arg->alloc);
    if (!is_map) {
        gmt_put_bytes(&row, arg->offset);
    }
    return gmt_ingest_step(&row);
}

/* launch_argument.set_id of what a launch was given; equal sets are stored once. */
static int intern_arguments(struct gmt_ingest *ingest, const struct gmt_launch_arg *args,
                            size_t count, uint64_t *set)
{
    int known = gmt_intern_id(&ingest->arguments, args, count * sizeof(*args),
                              ingest->arguments.count + 1, set);
    if (known != 0) {
        return known < 0 ? known : 0;
    }
    int error = 0;
    for (size_t i = 0; i < count && error == 0; i++) {
        error = store_argument(ingest, *set, &args[i]);
    }
    return error;
}

static void put_grid(struct gmt_binder *row, const uint32_t size[3], bool known)
{
    for (int i = 0; i < 3; i++) {
        gmt_put_known(row, known ? (int64_t)size[i] : -1);
    }
}

int gmt_ingest_launch(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    struct timed_call timed;
    const struct gmt_launch *launch = payload(record);
    uint64_t set = 0;
    int error = time_call(ingest, record, true, &timed);
    size_t fixed = sizeof(struct gmt_call) + sizeof(*launch);
    size_t room = ((size_t)record->slots * GMT_SLOT_BYTES - fixed) / sizeof(struct gmt_launch_arg);
    if (error == 0 && launch->argument_count > room) {
        error = gmt_ingest_loss(ingest, "corrupt record", "launch arguments", 1);
    } else if (error == 0 && launch->argument_count > 0) {
        error = intern_arguments(ingest, (const void *)(launch + 1), launch->argument_count, &set);
    }
    if (error != 0) {
        return error;
    }
    bool graph = launch->kind == GMT_LAUNCH_GRAPH;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_LAUNCH);
    put_call(&row, &timed);
    gmt_put_name(&row, gmt_name_launch_kind(launch->kind));
    gmt_put_unsigned(&row, launch->launch_seq);
    gmt_put_id_or_null(&row, launch->kernel);
    gmt_put_id_or_null(&row, launch->kernel_class);
    put_grid(&row, launch->grid, !graph);
    put_grid(&row, launch->block, !graph);
    for (int i = 0; i < 3; i++) {
        gmt_put_or_null(&row, launch->cluster[0] != 0 ? launch->cluster[i] : 0);
    }
    gmt_put_known(&row, graph ? -1 : (int64_t)launch->dynamic_shared_bytes);
    gmt_put_bits_or_null(&row, graph ? launch->graph : 0);
    gmt_put_name(&row, gmt_name_group(launch->group));
    gmt_put_unsigned(&row, (timed.call->flags & GMT_CALL_NO_ACTIVITY) != 0);
    gmt_put_name(&row, gmt_name_args_state(launch->arguments));
    gmt_put_or_null(&row, set);
    return gmt_ingest_step(&row);
}

/* ---- allocations ------------------------------------------------------------------------------ */

int gmt_ingest_note_host_allocation(struct gmt_ingest *ingest, uint32_t id)
{
    uint64_t same;
    int known = gmt_intern_id(&ingest->host_allocations, &id, sizeof(id), id, &same);
    return known < 0 ? known : 0;
}

static bool is_host_kind(unsigned kind)
{
    return kind == GMT_ALLOC_HOST || kind == GMT_ALLOC_REGISTERED;
}

/* What an array takes is not known for every format. */
static bool is_opaque(unsigned kind)
{
    return kind == GMT_ALLOC_ARRAY || kind == GMT_ALLOC_MIPMAP;
}

/* Which table a free belongs to. What the record and its entry point leave open is put right by
 * gmt_ingest_settle. */
static bool frees_host_memory(const struct gmt_ingest *ingest, const struct gmt_call *call,
                              const struct gmt_alloc *alloc)
{
    unsigned traits = ingest->api_traits[call->api];
    uint64_t same;
    if (alloc->kind != 0 || (traits & (GMT_TRAIT_FREES_HOST | GMT_TRAIT_FREES_DEVICE)) != 0) {
        return is_host_kind(alloc->kind) || (traits & GMT_TRAIT_FREES_HOST) != 0;
    }
    return gmt_intern_find(&ingest->host_allocations, &alloc->id, sizeof(alloc->id), &same);
}

int gmt_ingest_alloc(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    struct timed_call timed;
    const struct gmt_call *call = record->data;
    const struct gmt_alloc *alloc = payload(record);
    if (call->result != 0 || alloc->id == 0) {
        return gmt_ingest_call(ingest, record);
    }
    bool ordered = alloc->kind == GMT_ALLOC_ASYNC || alloc->kind == GMT_ALLOC_POOL;
    bool host = is_host_kind(alloc->kind);
    int error = time_call(ingest, record, ordered, &timed);
    if (error == 0 && host) {
        error = gmt_ingest_note_host_allocation(ingest, alloc->id);
    }
    if (error != 0) {
        return error;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, host ? GMT_STATEMENT_HOST_ALLOCATION
                                                         : GMT_STATEMENT_ALLOCATION);
    gmt_put_id(&row, alloc->id);
    gmt_put_name(&row, gmt_name_alloc_kind(alloc->kind));
    gmt_put_bits(&row, alloc->address);
    if (is_opaque(alloc->kind) && call->bytes == 0) {
        gmt_put_null(&row);
    } else {
        gmt_put_bytes(&row, call->bytes);
    }
    if (!host) {
        gmt_put_bytes_or_null(&row, alloc->pitch);
        gmt_put_bytes_or_null(&row, alloc->width);
        gmt_put_bytes_or_null(&row, alloc->height);
        gmt_put_bits_or_null(&row, alloc->pool);
    }
    gmt_put_unsigned(&row, alloc->flags);
    gmt_put_or_null(&row, call->context);
    if (!host) {
        gmt_put_or_null(&row, (uint64_t)timed.stream_row);
    }
    gmt_put_id_or_null(&row, call->thread);
    gmt_put_unsigned(&row, call->api);
    gmt_put_id_or_null(&row, call->stack);
    gmt_put_bits_or_null(&row, call->caller);
    gmt_put_unsigned(&row, timed.begin_ns);
    gmt_put_unsigned(&row, timed.end_ns);
    error = gmt_ingest_step(&row);
    return error == 0 ? gmt_ingest_import(ingest, alloc, call->bytes, timed.end_ns) : error;
}

int gmt_ingest_free(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    struct timed_call timed;
    const struct gmt_call *call = record->data;
    const struct gmt_alloc *alloc = payload(record);
    if (call->result != 0 || alloc->id == 0) {
        return gmt_ingest_call(ingest, record);
    }
    int error = time_call(ingest, record, false, &timed);
    if (error != 0) {
        return error;
    }
    bool host = frees_host_memory(ingest, call, alloc);
    struct gmt_binder row = gmt_ingest_bind(ingest,
                                            host ? GMT_STATEMENT_HOST_FREE : GMT_STATEMENT_FREE);
    gmt_put_id(&row, alloc->id);
    gmt_put_bits(&row, alloc->address);
    gmt_put_unsigned(&row, call->api);
    gmt_put_id_or_null(&row, call->thread);
    gmt_put_id_or_null(&row, call->stack);
    gmt_put_unsigned(&row, timed.begin_ns);
    gmt_put_unsigned(&row, timed.end_ns);
    return gmt_ingest_step(&row);
}
