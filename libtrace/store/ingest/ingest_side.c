/* SPDX-License-Identifier: Apache-2.0 */
/* Side records -> rows that name and describe: process, device, api, kernel, stack, capability. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/record/range_payload.h"
#include "libtrace/settings/labels.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/names.h"
#include "libtrace/store/db/traits.h"
#include "libtrace/store/ingest/ingest_internal.h"

#define GMT_ARGUMENT_SEPARATOR '\x1f'

/* Of the options; what option --label would have refused is not kept. */
static int store_labels(struct gmt_ingest *ingest, struct gmt_record_text options)
{
    size_t length = 0;
    char *text = options.bytes > 0 ? strndup(options.data, (size_t)options.bytes) : strdup("");
    const char *value = text != NULL ? gmt_recorded_option(text, "label", &length) : NULL;
    char *labels = value != NULL && length > 0 ? strndup(value, length) : NULL;
    int error = text == NULL || (labels == NULL && length > 0) ? -ENOMEM : 0;
    if (labels != NULL && gmt_labels_check(labels) == 0) {
        struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_LABELS);
        gmt_put_text(&row, (struct gmt_record_text){labels, (int)length});
        error = gmt_ingest_step(&row);
    }
    free(labels);
    free(text);
    return error;
}

int gmt_ingest_process(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_process *process = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*process));
    struct gmt_record_text exe = gmt_texts_next(&texts);
    struct gmt_record_text cwd = gmt_texts_next(&texts);
    struct gmt_record_text hostname = gmt_texts_next(&texts);
    struct gmt_record_text joined = gmt_texts_next(&texts);
    char *command = gmt_name_shell_quote(joined.data, (size_t)joined.bytes, GMT_ARGUMENT_SEPARATOR);
    if (command == NULL) {
        return -ENOMEM;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_PROCESS);
    gmt_put_unsigned(&row, process->pid);
    gmt_put_or_null(&row, process->parent_pid);
    gmt_put_text_or_null(&row, exe);
    gmt_put_text(&row, (struct gmt_record_text){command, (int)strlen(command)});
    gmt_put_text_or_null(&row, cwd);
    gmt_put_text_or_null(&row, hostname);
    struct gmt_record_text options = gmt_texts_next(&texts);
    struct gmt_record_text version = gmt_texts_next(&texts);
    gmt_put_text_or_null(&row, gmt_texts_next(&texts));
    gmt_put_text_or_null(&row, options);
    gmt_put_text_or_null(&row, version);
    gmt_put_or_null(&row, process->realtime_ns);
    gmt_put_unsigned(&row, gmt_ingest_ns(ingest, process->head.ticks));
    int error = gmt_ingest_step(&row);
    free(command);
    ingest->process_seen = true;
    return error == 0 ? store_labels(ingest, options) : error;
}

int gmt_ingest_thread(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_thread *thread = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*thread));
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_THREAD);
    gmt_put_id(&row, thread->id);
    gmt_put_unsigned(&row, thread->tid);
    gmt_put_text_or_null(&row, gmt_texts_next(&texts));
    return gmt_ingest_step(&row);
}

int gmt_ingest_device(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_device *device = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*device));
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_DEVICE);
    gmt_put_id(&row, device->ordinal);
    gmt_put_text(&row, gmt_texts_next(&texts));
    gmt_put_text_or_null(&row, gmt_texts_next(&texts));
    gmt_put_unsigned(&row, device->compute_major);
    gmt_put_unsigned(&row, device->compute_minor);
    gmt_put_or_null(&row, device->sm_count);
    gmt_put_bytes_or_null(&row, device->memory_bytes);
    gmt_put_bytes_or_null(&row, device->l2_bytes);
    gmt_put_text_or_null(&row, gmt_texts_next(&texts));
    gmt_put_or_null(&row, device->cuda_driver_version);
    gmt_put_or_null(&row, device->max_threads_per_sm);
    gmt_put_or_null(&row, device->registers_per_sm);
    gmt_put_or_null(&row, device->shared_bytes_per_sm);
    gmt_put_or_null(&row, device->max_blocks_per_sm);
    gmt_put_or_null(&row, device->warp_size);
    gmt_put_or_null(&row, device->shared_bytes_per_block_optin);
    gmt_put_unsigned(&row, device->reserved_shared_bytes_per_block);
    gmt_put_unsigned(&row, device->pci_bus);
    gmt_put_unsigned(&row, device->integrated);
    gmt_put_text_or_null(&row, gmt_texts_next(&texts));
    return gmt_ingest_step(&row);
}

int gmt_ingest_context(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_context *context = record->data;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_CONTEXT);
    gmt_put_id(&row, context->id);
    gmt_put_id(&row, context->device);
    gmt_put_bits(&row, context->handle);
    return gmt_ingest_step(&row);
}

int gmt_ingest_api(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_api *api = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*api));
    struct gmt_record_text name = gmt_texts_next(&texts);
    static_assert(GMT_TRAIT_BITS <= 16, "api_traits has room for them");
    uint32_t traits = gmt_traits_of(name.data, (size_t)name.bytes);
    ingest->api_traits[api->id] = (uint16_t)traits;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_API);
    gmt_put_unsigned(&row, api->id);
    gmt_put_text(&row, name);
    gmt_put_text_or_null(&row, gmt_texts_next(&texts));
    gmt_put_name(&row, gmt_name_family(api->family));
    gmt_put_unsigned(&row, traits);
    return gmt_ingest_step(&row);
}

int gmt_ingest_kernel(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_kernel *kernel = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*kernel));
    char *mangled = gmt_text_copy(gmt_texts_next(&texts));
    char *name = mangled != NULL ? gmt_name_demangle(mangled) : NULL;
    int error = -ENOMEM;
    if (name != NULL) {
        struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_KERNEL);
        gmt_put_id(&row, kernel->id);
        gmt_put_name(&row, name);
        gmt_put_name(&row, mangled);
        gmt_put_known(&row, kernel->registers);
        gmt_put_known(&row, kernel->static_shared_bytes);
        gmt_put_known(&row, kernel->local_bytes);
        gmt_put_known(&row, kernel->constant_bytes);
        gmt_put_known(&row, kernel->max_threads_per_block);
        gmt_put_known(&row, kernel->max_dynamic_shared_bytes);
        gmt_put_known(&row, kernel->binary_version);
        gmt_put_known(&row, kernel->ptx_version);
        gmt_put_known(&row, kernel->parameter_count);
        error = gmt_ingest_step(&row);
    }
    free(name);
    free(mangled);
    return error;
}

int gmt_ingest_kernel_class(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_kernel_class *class = record->data;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_KERNEL_CLASS);
    gmt_put_id(&row, class->id);
    gmt_put_id(&row, class->kernel);
    for (int i = 0; i < 3; i++) {
        gmt_put_unsigned(&row, class->grid[i]);
    }
    for (int i = 0; i < 3; i++) {
        gmt_put_unsigned(&row, class->block[i]);
    }
    for (int i = 0; i < 3; i++) {
        gmt_put_or_null(&row, class->cluster[0] != 0 ? class->cluster[i] : 0);
    }
    gmt_put_unsigned(&row, class->dynamic_shared_bytes);
    gmt_put_known(&row, class->max_blocks_per_sm);
    return gmt_ingest_step(&row);
}

int gmt_ingest_note_module(struct gmt_ingest *ingest, uint64_t start, uint64_t end, uint64_t module)
{
    struct gmt_module_range *grown = realloc(ingest->ranges,
                                             (ingest->range_count + 1) * sizeof(*grown));
    if (grown == NULL) {
        return -ENOMEM;
    }
    ingest->ranges = grown;
    grown[ingest->range_count++] = (struct gmt_module_range){
        .start = start, .end = end, .module = module};
    return 0;
}

static uint64_t module_at(const struct gmt_ingest *ingest, uint64_t address)
{
    for (size_t i = ingest->range_count; i-- > 0;) {
        if (ingest->ranges[i].start <= address && address <= ingest->ranges[i].end) {
            return ingest->ranges[i].module;
        }
    }
    return 0;
}

/* frame.id of a return address, stored if it is new. A module whose record comes later, through the
 * chunk of another thread, is found at the end. */
static int intern_frame(struct gmt_ingest *ingest, uint64_t address, uint64_t *id)
{
    struct gmt_frame_key key = {.address = address, .module = module_at(ingest, address)};
    int known = gmt_intern_id(&ingest->frames, &key, sizeof(key), ingest->frames.count + 1, id);
    if (known != 0) {
        return known < 0 ? known : 0;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_FRAME);
    gmt_put_unsigned(&row, *id);
    gmt_put_bits(&row, address);
    gmt_put_unsigned(&row, key.module);
    return gmt_ingest_step(&row);
}

int gmt_ingest_stack(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_stack *stack = record->data;
    const uint64_t *addresses = (const void *)(stack + 1);
    size_t room = ((size_t)record->slots * GMT_SLOT_BYTES - sizeof(*stack)) / sizeof(*addresses);
    size_t depth = stack->depth < room ? stack->depth : room;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_STACK);
    gmt_put_id(&row, stack->id);
    gmt_put_unsigned(&row, depth);
    int error = gmt_ingest_step(&row);
    depth = stack->id <= GMT_ID_MOST ? depth : 0;
    for (size_t i = 0; i < depth && error == 0; i++) {
        uint64_t frame;
        error = intern_frame(ingest, addresses[i], &frame);
        if (error == 0) {
            row = gmt_ingest_bind(ingest, GMT_STATEMENT_STACK_FRAME);
            gmt_put_unsigned(&row, stack->id);
            gmt_put_unsigned(&row, i);
            gmt_put_unsigned(&row, frame);
            error = gmt_ingest_step(&row);
        }
    }
    return error;
}

/* Stacks refer to it by its number, which they may do before this record comes, through the chunk of another thread. */
int gmt_ingest_python_line(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_python_line *line = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*line));
    uint64_t frame;
    int64_t function = 0, file = 0;
    int error = intern_frame(ingest, GMT_STACK_PYTHON | line->id, &frame);
    if (error == 0) {
        error = gmt_ingest_string(ingest, gmt_texts_next(&texts), &function);
    }
    if (error == 0) {
        error = gmt_ingest_string(ingest, gmt_texts_next(&texts), &file);
    }
    if (error != 0) {
        return error;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_PYTHON_LINE);
    gmt_put_integer(&row, function);
    gmt_put_integer(&row, file);
    gmt_put_unsigned(&row, line->line);
    gmt_put_unsigned(&row, frame);
    return gmt_ingest_step(&row);
}

int gmt_ingest_object(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_object *object = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*object));
    struct gmt_record_text path = gmt_texts_next(&texts);
    struct gmt_module_key key = {object->load_bias, object->start, object->end};
    char *bytes = malloc(sizeof(key) + (size_t)path.bytes);
    if (bytes == NULL) {
        return -ENOMEM;
    }
    memcpy(bytes, &key, sizeof(key));
    memcpy(bytes + sizeof(key), path.data, (size_t)path.bytes);
    uint64_t id;
    int known = gmt_intern_id(&ingest->modules, bytes, sizeof(key) + (size_t)path.bytes,
                              ingest->modules.count + 1, &id);
    free(bytes);
    int error = known < 0 ? known : gmt_ingest_note_module(ingest, object->start, object->end, id);
    if (known != 0 || error != 0) {
        return error;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_MODULE);
    gmt_put_unsigned(&row, id);
    gmt_put_text(&row, path);
    gmt_put_text_or_null(&row, gmt_texts_next(&texts));
    gmt_put_bits(&row, object->load_bias);
    gmt_put_bits(&row, object->start);
    gmt_put_bits(&row, object->end);
    return gmt_ingest_step(&row);
}

int gmt_ingest_capability(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_capability *capability = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*capability));
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_CAPABILITY);
    gmt_put_text(&row, gmt_texts_next(&texts));
    gmt_put_name(&row, gmt_name_capability_state(capability->state));
    if (capability->code != 0) {
        gmt_put_integer(&row, capability->code);
    } else {
        gmt_put_null(&row);
    }
    gmt_put_text_or_null(&row, gmt_texts_next(&texts));
    gmt_put_text_or_null(&row, gmt_texts_next(&texts));
    return gmt_ingest_step(&row);
}

int gmt_ingest_loss_record(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_loss *loss = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*loss));
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_LOSS);
    gmt_put_text(&row, gmt_texts_next(&texts));
    gmt_put_text(&row, gmt_texts_next(&texts));
    gmt_put_unsigned(&row, loss->count < GMT_NUMBER_MOST ? loss->count : GMT_NUMBER_MOST);
    return gmt_ingest_step(&row);
}

static int put_string(struct gmt_ingest *ingest, struct gmt_record_text text, int64_t *id)
{
    *id = 0;
    return text.bytes != 0 ? gmt_ingest_string(ingest, text, id) : 0;
}

static void put_payload(struct gmt_binder *row, const struct gmt_range_payload *payload)
{
    if (gmt_range_payload_has(payload, GMT_RANGE_COMMUNICATOR)) {
        gmt_put_bits(row, payload->value[GMT_RANGE_COMMUNICATOR]);
    } else {
        gmt_put_null(row);
    }
    for (unsigned i = GMT_RANGE_BYTES; i <= GMT_RANGE_RANK; i++) {
        if (gmt_range_payload_has(payload, (enum gmt_range_field)i)) {
            gmt_put_unsigned(row, payload->value[i]);
        } else {
            gmt_put_null(row);
        }
    }
}

int gmt_ingest_range(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_user_range *range = record->data;
    struct gmt_text_cursor texts = gmt_texts(record, sizeof(*range));
    int64_t name, domain;
    int error = put_string(ingest, gmt_texts_next(&texts), &name);
    if (error != 0 || (error = put_string(ingest, gmt_texts_next(&texts), &domain)) != 0) {
        return error;
    }
    struct gmt_range_payload payload;
    struct gmt_record_text text = gmt_texts_next(&texts);
    gmt_range_payload_read(&payload, text.data, (size_t)text.bytes);
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_RANGE);
    gmt_put_id(&row, range->id);
    gmt_put_name(&row, gmt_name_range_kind(range->kind));
    gmt_put_id_or_null(&row, range->thread);
    gmt_put_or_null(&row, (uint64_t)domain);
    gmt_put_or_null(&row, (uint64_t)name);
    gmt_put_unsigned(&row, gmt_ingest_ns(ingest, range->begin_ticks));
    gmt_put_or_null(&row, range->end_ticks != 0 ? gmt_ingest_ns(ingest, range->end_ticks) : 0);
    gmt_put_unsigned(&row, range->depth);
    put_payload(&row, &payload);
    return gmt_ingest_step(&row);
}

int gmt_ingest_exit(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_side_head *head = record->data;
    (void)gmt_ingest_ns(ingest, head->ticks);
    return gmt_database_state_set(ingest->db, "exited", 1);
}
