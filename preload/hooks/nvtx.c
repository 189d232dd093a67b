/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX calls this library at the program's first NVTX call and hands it those about ranges. */
#include "preload/state/nvtx.h"

#include <stdbool.h>

#include "libtrace/record/clock.h"
#include "preload/driver/coverage.h"
#include "preload/hooks/hook.h"
#include "preload/hooks/nvtx_extension.h"
#include "preload/session/session.h"
#include "preload/state/nvtx_memory.h"
#include "preload/state/nvtx_payload.h"
#include "preload/state/user_ranges.h"

/* A domain is its name: handles are what gmt_nvtx_keep returned, registered strings likewise. */
typedef const char *handle;

/* A signal handler that interrupts a hook or one of these must not record. */
#define enter() GMT_GUARD_ENTER_ALONE()
#define leave() gmt_guard_leave()

/* ---- names ------------------------------------------------------------------------------------ */

static const char *from_wide(const wchar_t *wide, char *text)
{
    return wide != NULL ? gmt_nvtx_from_wide(wide, text, GMT_RANGE_NAME_BYTES) : "";
}

static const char *name_of(const struct gmt_nvtx_attributes *attributes, char *text)
{
    bool is_whole = attributes != NULL && attributes->size >= sizeof(*attributes);
    return is_whole
               ? gmt_nvtx_message((uint32_t)attributes->message_type, attributes->message, text)
               : "";
}

static handle keep(const char *text)
{
    handle kept = NULL;
    if (text != NULL && enter()) {
        kept = gmt_nvtx_keep(text);
        leave();
    }
    return kept;
}

static handle keep_wide(const wchar_t *wide)
{
    char text[GMT_RANGE_NAME_BYTES];
    return wide != NULL ? keep(from_wide(wide, text)) : NULL;
}

/* ---- what programs call ----------------------------------------------------------------------- */

static int push_with(handle domain, const char *name, const struct gmt_nvtx_data *data,
                     size_t count)
{
    struct gmt_range_payload payload;
    if (enter()) {
        gmt_nvtx_payload_read(&payload, domain, data, count);
        gmt_user_ranges_push(domain, name != NULL ? name : "", &payload);
        leave();
    }
    return GMT_NVTX_NO_LEVELS;
}

static int push(handle domain, const char *name)
{
    return push_with(domain, name, NULL, 0);
}

static int pop_with(handle domain, const struct gmt_nvtx_data *data, size_t count)
{
    struct gmt_range_payload payload;
    if (enter()) {
        gmt_nvtx_payload_read(&payload, domain, data, count);
        gmt_user_ranges_pop(domain, &payload);
        leave();
    }
    return GMT_NVTX_NO_LEVELS;
}

static int pop(handle domain)
{
    return pop_with(domain, NULL, 0);
}

static uint64_t start(handle domain, const char *name)
{
    uint64_t id = 0;
    if (enter()) {
        id = gmt_user_ranges_begin(GMT_RANGE_START, domain, name != NULL ? name : "");
        leave();
    }
    return id;
}

static void end(uint64_t id)
{
    if (enter()) {
        gmt_user_ranges_end(id);
        leave();
    }
}

static int domain_push(handle domain, const struct gmt_nvtx_attributes *attributes)
{
    char text[GMT_RANGE_NAME_BYTES];
    bool has_payload = attributes != NULL && attributes->size >= sizeof(*attributes) &&
                       attributes->payload_type == GMT_NVTX_PAYLOAD_EXTENSION &&
                       attributes->reserved > 0;
    return push_with(domain, name_of(attributes, text),
                     has_payload ? (const struct gmt_nvtx_data *)(uintptr_t)attributes->payload
                                 : NULL,
                     has_payload ? (size_t)attributes->reserved : 0);
}

static int push_payload(handle domain, const struct gmt_nvtx_data *data, size_t count)
{
    return push_with(domain, NULL, data, count);
}

static int pop_payload(handle domain, const struct gmt_nvtx_data *data, size_t count)
{
    return pop_with(domain, data, count);
}

static uint64_t register_schema(handle domain, const struct gmt_nvtx_schema *schema)
{
    uint64_t id = 0;
    if (enter()) {
        id = gmt_nvtx_schema_note(domain, schema);
        leave();
    }
    return id;
}

static int push_attributes(const struct gmt_nvtx_attributes *attributes)
{
    return domain_push(NULL, attributes);
}

static int push_text(const char *name)
{
    return push(NULL, name);
}

static int push_wide(const wchar_t *name)
{
    char text[GMT_RANGE_NAME_BYTES];
    return push(NULL, from_wide(name, text));
}

static int pop_default(void)
{
    return pop(NULL);
}

static uint64_t domain_start(handle domain, const struct gmt_nvtx_attributes *attributes)
{
    char text[GMT_RANGE_NAME_BYTES];
    return start(domain, name_of(attributes, text));
}

static uint64_t start_attributes(const struct gmt_nvtx_attributes *attributes)
{
    return domain_start(NULL, attributes);
}

static uint64_t start_text(const char *name)
{
    return start(NULL, name);
}

static uint64_t start_wide(const wchar_t *name)
{
    char text[GMT_RANGE_NAME_BYTES];
    return start(NULL, from_wide(name, text));
}

static void domain_end(handle domain, uint64_t id)
{
    (void)domain;
    end(id);
}

static handle register_text(handle domain, const char *text)
{
    (void)domain;
    return keep(text);
}

static handle register_wide(handle domain, const wchar_t *wide)
{
    (void)domain;
    return keep_wide(wide);
}

/* ---- the way in ------------------------------------------------------------------------------- */

#define ENTRY(MODULE, ID, FUNCTION) \
    { \
        GMT_NVTX_##MODULE, ID, (gmt_nvtx_function)(FUNCTION) \
    }
static const struct {
    int module;
    unsigned id;
    gmt_nvtx_function function;
} entries[] = {
    ENTRY(CORE, 4, start_attributes), ENTRY(CORE, 5, start_text),
    ENTRY(CORE, 6, start_wide),       ENTRY(CORE, 7, end),
    ENTRY(CORE, 8, push_attributes),  ENTRY(CORE, 9, push_text),
    ENTRY(CORE, 10, push_wide),       ENTRY(CORE, 11, pop_default),
    ENTRY(CORE2, 2, domain_start),    ENTRY(CORE2, 3, domain_end),
    ENTRY(CORE2, 4, domain_push),     ENTRY(CORE2, 5, pop),
    ENTRY(CORE2, 10, register_text),  ENTRY(CORE2, 11, register_wide),
    ENTRY(CORE2, 12, keep),           ENTRY(CORE2, 13, keep_wide),
};

static void install(const struct gmt_nvtx_callbacks *callbacks, int module)
{
    gmt_nvtx_function **table = NULL;
    unsigned size = 0;
    if (callbacks->get_module(module, &table, &size) == 0 || table == NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        if (entries[i].module == module && entries[i].id < size && table[entries[i].id] != NULL) {
            *table[entries[i].id] = entries[i].function;
        }
    }
}

GMT_EXPORT int InitializeInjectionNvtx2(gmt_nvtx_get_table get_table)
{
    const struct gmt_nvtx_callbacks *callbacks = get_table(GMT_NVTX_TABLE_CALLBACKS);
    const struct gmt_nvtx_version *version = get_table(GMT_NVTX_TABLE_VERSION);
    if (callbacks == NULL || callbacks->struct_size < sizeof(*callbacks) ||
        callbacks->get_module == NULL) {
        return 0;
    }
    if (version != NULL && version->struct_size >= sizeof(*version) &&
        version->set_tool_version != NULL) {
        version->set_tool_version(3);
    }
    if (!gmt_started) {
        gmt_clock_init();
    }
    gmt_user_ranges_init();
    install(callbacks, GMT_NVTX_CORE);
    install(callbacks, GMT_NVTX_CORE2);
    return 1;
}

/* ---- extensions ------------------------------------------------------------------------------- */

static void install_payloads(struct gmt_nvtx_segment *segment)
{
    gmt_nvtx_set_slot(segment, GMT_NVTX_SCHEMA_REGISTER, (gmt_nvtx_function)register_schema);
    gmt_nvtx_set_slot(segment, GMT_NVTX_PUSH_PAYLOAD, (gmt_nvtx_function)push_payload);
    gmt_nvtx_set_slot(segment, GMT_NVTX_POP_PAYLOAD, (gmt_nvtx_function)pop_payload);
}

/* One of another version goes on without us. */
static int install_memory(const struct gmt_nvtx_module *module)
{
    if (module->compatibility == GMT_NVTX_MEMORY_COMPATIBILITY) {
        gmt_nvtx_memory_install(module->segments);
        return 1;
    }
    if (enter()) {
        gmt_coverage_count_fault(GMT_REGION_VERSION);
        leave();
    }
    return 0;
}

/* Asked once per extension by each library that was compiled with it; InitializeInjectionNvtx2 comes first. */
GMT_EXPORT int InitializeInjectionNvtxExtension(const struct gmt_nvtx_module *module)
{
    if (module == NULL || module->struct_size < sizeof(*module) || module->segment_count < 1 ||
        module->segments == NULL || module->segments->functions == NULL) {
        return 0;
    }
    if (module->module == GMT_NVTX_MODULE_PAYLOAD) {
        install_payloads(module->segments);
        return 1;
    }
    return module->module == GMT_NVTX_MODULE_MEMORY && install_memory(module);
}
