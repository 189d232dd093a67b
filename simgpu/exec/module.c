/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: storage of global and constant variables, their initial values, the list of kernels. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "simgpu/exec/code.h"

enum { GLOBAL_ALIGN = 256 };
#define MAX_STORAGE (UINT64_C(1) << 38)

/* ---- global and constant variables ---------------------------------------------------------- */

static bool is_stored(const struct ptx_variable *variable)
{
    return (variable->space == PTX_GLOBAL || variable->space == PTX_CONST) &&
           !variable->is_external;
}

static uint64_t align_of(const struct ptx_variable *variable)
{
    return variable->align > GLOBAL_ALIGN ? variable->align : GLOBAL_ALIGN;
}

static int find_globals(struct sim_module *module, struct sim_error *error)
{
    const struct ptx_module *ptx = module->ptx;
    uint64_t bytes = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < ptx->variable_count; i++) {
        const struct ptx_variable *variable = ptx->variables[i];
        const struct ptx_variable *found = sim_variable_definition(module, variable);

        if (variable->space != PTX_SHARED && (found == NULL || found->is_external)) {
            snprintf(
                error->text, sizeof(error->text),
                "unresolved external variable %s (device code is not linked across files: build "
                "without -rdc=true)",
                variable->name);
            return -ENOENT;
        }
        module->global_of[i] = UINT32_MAX;
        if (is_stored(variable)) {
            module->global_of[i] = count++;
            if (variable->bytes > MAX_STORAGE || variable->align > MAX_STORAGE ||
                (bytes += variable->bytes + 2 * align_of(variable)) > MAX_STORAGE) {
                snprintf(error->text, sizeof(error->text), "variable %s: the module is too large",
                         variable->name);
                return -E2BIG;
            }
        }
    }
    module->global_count = count;
    module->storage_bytes = bytes;
    return 0;
}

static int place_globals(struct sim_module *module)
{
    const struct ptx_module *ptx = module->ptx;
    uint64_t at = 0;

    if (module->storage_bytes == 0) {
        return 0;
    }
    module->storage = mmap(NULL, module->storage_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (module->storage == MAP_FAILED) {
        module->storage = NULL;
        return -ENOMEM;
    }
    const uint64_t base = (uint64_t)(uintptr_t)module->storage;
    for (uint32_t i = 0; i < ptx->variable_count; i++) {
        const struct ptx_variable *variable = ptx->variables[i];

        if (module->global_of[i] == UINT32_MAX) {
            continue;
        }
        const uint64_t align = align_of(variable);
        at = ((base + at + align - 1) & ~(align - 1)) - base;
        struct sim_global *global = &module->globals[module->global_of[i]];
        *global = (struct sim_global){.name = variable->name,
                                      .data = (uint8_t *)module->storage + at,
                                      .bytes = variable->bytes,
                                      .is_const = variable->space == PTX_CONST,
                                      .is_managed = variable->is_managed};
        module->placed[module->global_of[i]] = global->data;
        at += variable->bytes;
        if (variable->init != NULL) {
            memcpy(global->data, variable->init, variable->bytes);
        }
    }
    return 0;
}

/* What a relocation stores when its variable lies at `data` (NULL for functions). */
static uint64_t relocated(const struct sim_module *module, const struct ptx_relocation *relocation,
                          const uint8_t *data)
{
    uint64_t address = (uint64_t)(uintptr_t)data;

    if (relocation->function != NULL) {
        const struct ptx_function *function = sim_definition(module, relocation->function);

        address = function != NULL ? sim_function_address(function) : 0;
    }
    return (address + (uint64_t)relocation->addend) >> (relocation->shift & 63);
}

static uint32_t global_named(const struct sim_module *module, const struct ptx_variable *variable)
{
    variable = sim_variable_definition(module, variable);
    return variable != NULL && variable->function == NULL &&
                   variable->index < module->ptx->variable_count
               ? module->global_of[variable->index]
               : UINT32_MAX;
}

/*
 * Stores the address of one relocation. At first all of them; later, with `moved`, those of variables
 * that the driver has given other storage since, where the old address is still there.
 */
static void relocate_one(struct sim_module *module, const struct ptx_relocation *relocation,
                         struct sim_global *global, bool moved)
{
    const uint32_t target = global_named(module, relocation->variable);
    const uint8_t *now = target != UINT32_MAX ? module->globals[target].data : NULL;
    const uint8_t *before = target != UINT32_MAX ? module->placed[target] : NULL;
    const size_t bytes = relocation->bytes <= 8 ? relocation->bytes : 8;
    const uint64_t value = relocated(module, relocation, now);
    const uint64_t old = relocated(module, relocation, before);

    if (relocation->at > global->bytes || bytes > global->bytes - relocation->at) {
        return;
    }
    if (!moved || (now != before && memcmp(global->data + relocation->at, &old, bytes) == 0)) {
        memcpy(global->data + relocation->at, &value, bytes);
    }
}

static void relocate(struct sim_module *module, bool moved)
{
    const struct ptx_module *ptx = module->ptx;

    for (uint32_t i = 0; i < ptx->variable_count; i++) {
        const struct ptx_variable *variable = ptx->variables[i];

        if (module->global_of[i] == UINT32_MAX) {
            continue;
        }
        for (size_t k = 0; k < variable->relocation_count; k++) {
            relocate_one(module, &variable->relocations[k], &module->globals[module->global_of[i]],
                         moved);
        }
    }
    for (size_t i = 0; i < module->global_count; i++) {
        module->placed[i] = module->globals[i].data;
    }
}

/* ---- functions ------------------------------------------------------------------------------ */

static void note_taken(struct sim_module *module, const struct ptx_function *function)
{
    function = sim_definition(module, function);
    if (function != NULL) {
        module->address_taken[function->index] = true;
    }
}

static void find_taken(struct sim_module *module)
{
    const struct ptx_module *ptx = module->ptx;

    for (uint32_t i = 0; i < ptx->variable_count; i++) {
        for (size_t k = 0; k < ptx->variables[i]->relocation_count; k++) {
            note_taken(module, ptx->variables[i]->relocations[k].function);
        }
    }
    for (uint32_t i = 0; i < ptx->function_count; i++) {
        const struct ptx_function *function = ptx->functions[i];

        for (uint32_t k = 0; k < function->instruction_count; k++) {
            const struct ptx_instruction *instruction = &function->instructions[k];

            for (uint32_t o = 0;
                 strcmp(instruction->opcode, "mov") == 0 && o < instruction->operand_count; o++) {
                if (instruction->operands[o].kind == PTX_OPERAND_FUNCTION) {
                    note_taken(module, instruction->operands[o].function);
                }
            }
        }
    }
}

static int lay_out_kernels(struct sim_module *module, struct sim_error *error)
{
    const struct ptx_module *ptx = module->ptx;

    for (uint32_t i = 0; i < ptx->function_count; i++) {
        if (!ptx->functions[i]->is_entry || !ptx->functions[i]->is_defined) {
            continue;
        }
        struct sim_kernel *kernel = &module->kernels[module->kernel_count++];
        kernel->module = module;
        kernel->ptx = ptx->functions[i];
        const int rc = sim_kernel_lay_out(kernel);
        if (rc != 0) {
            snprintf(error->text, sizeof(error->text), "kernel %s: %s", kernel->ptx->name,
                     rc == -E2BIG ? "its variables or parameters are too large" : "out of memory");
            return rc;
        }
    }
    return 0;
}

/* ---- the seam ------------------------------------------------------------------------------- */

static int allocate(struct sim_module *module, struct sim_error *error)
{
    const size_t variables = (size_t)module->ptx->variable_count + 1;
    const size_t functions = (size_t)module->ptx->function_count + 1;

    module->global_of = calloc(variables, sizeof(*module->global_of));
    module->globals = calloc(variables, sizeof(*module->globals));
    module->placed = calloc(variables, sizeof(*module->placed));
    module->kernels = calloc(functions, sizeof(*module->kernels));
    module->address_taken = calloc(functions, sizeof(*module->address_taken));
    if (module->global_of == NULL || module->globals == NULL || module->placed == NULL ||
        module->kernels == NULL || module->address_taken == NULL) {
        snprintf(error->text, sizeof(error->text), "out of memory");
        return -ENOMEM;
    }
    return 0;
}

static int build(struct sim_module *module, struct sim_error *error)
{
    if (module->ptx->address_bytes != 8) {
        snprintf(error->text, sizeof(error->text), "32-bit addresses (.address_size 32)");
        return -EINVAL;
    }
    int rc = allocate(module, error);
    if (rc == 0) {
        rc = find_globals(module, error);
    }
    if (rc == 0 && place_globals(module) != 0) {
        snprintf(error->text, sizeof(error->text), "out of memory for %zu bytes of variables",
                 module->storage_bytes);
        rc = -ENOMEM;
    }
    if (rc == 0) {
        relocate(module, false);
        find_taken(module);
        rc = lay_out_kernels(module, error);
    }
    return rc;
}

struct sim_module *sim_module_new(struct ptx_module *ptx, struct sim_error *error)
{
    struct sim_module *module = calloc(1, sizeof(*module));

    error->text[0] = '\0';
    if (module == NULL) {
        snprintf(error->text, sizeof(error->text), "out of memory");
        ptx_free(ptx);
        return NULL;
    }
    module->ptx = ptx;
    pthread_mutex_init(&module->lock, NULL);
    if (build(module, error) != 0) {
        sim_module_free(module);
        return NULL;
    }
    return module;
}

void sim_module_free(struct sim_module *module)
{
    if (module == NULL) {
        return;
    }
    if (module->storage != NULL) {
        munmap(module->storage, module->storage_bytes);
    }
    free(module->global_of);
    free(module->globals);
    free(module->placed);
    free(module->kernels);
    free(module->address_taken);
    gmt_arena_free(&module->arena);
    pthread_mutex_destroy(&module->lock);
    ptx_free(module->ptx);
    free(module);
}

size_t sim_module_globals(struct sim_module *module, struct sim_global **globals)
{
    *globals = module->globals;
    return module->global_count;
}

size_t sim_module_kernel_count(const struct sim_module *module)
{
    return module->kernel_count;
}

const struct sim_kernel *sim_module_kernel(const struct sim_module *module, size_t index)
{
    return index < module->kernel_count ? &module->kernels[index] : NULL;
}

const struct sim_kernel *sim_module_find_kernel(const struct sim_module *module, const char *name)
{
    for (size_t i = 0; i < module->kernel_count; i++) {
        if (strcmp(module->kernels[i].ptx->name, name) == 0) {
            return &module->kernels[i];
        }
    }
    return NULL;
}

const struct sim_inst_info *sim_kernel_insts(const struct sim_kernel *kernel, size_t *count)
{
    struct sim_kernel *own = &kernel->module->kernels[kernel - kernel->module->kernels];

    pthread_mutex_lock(&own->module->lock);
    const int rc = own->sites != NULL ? 0 : sim_kernel_make_insts(own);
    pthread_mutex_unlock(&own->module->lock);
    *count = rc == 0 ? own->site_count : 0;
    return rc == 0 ? own->sites : NULL;
}

int sim_kernel_prepare(const struct sim_kernel *kernel)
{
    struct sim_kernel *own = &kernel->module->kernels[kernel - kernel->module->kernels];
    int rc = 0;

    pthread_mutex_lock(&own->module->lock);
    if (!own->decoded) {
        relocate(own->module, true);
        rc = sim_kernel_decode(own);
        own->decoded = rc == 0;
    }
    pthread_mutex_unlock(&own->module->lock);
    return rc;
}
