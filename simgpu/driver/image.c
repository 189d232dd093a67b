/* SPDX-License-Identifier: Apache-2.0 */
/* Loading: from an image to its PTX, and from PTX to a module whose variables are memory of a context. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/driver/library.h"
#include "simgpu/fatbin/fatbin.h"

#define COMPUTE_CAPABILITY (SIM_COMPUTE_MAJOR * 10 + SIM_COMPUTE_MINOR)

/* ---- messages ---- */

static void *jit_value(const struct sim_jit *jit, CUjit_option option, unsigned *index)
{
    for (unsigned i = 0; jit != NULL && i < jit->count; i++) {
        if (jit->options[i] == option) {
            *index = i;
            return jit->values[i];
        }
    }
    return NULL;
}

/* The size option holds the buffer's size on the way in, the bytes written on the way out. */
static void jit_log(const struct sim_jit *jit, CUjit_option buffer_option, CUjit_option size_option,
                    const char *text)
{
    unsigned at, size_at;
    char *buffer = jit_value(jit, buffer_option, &at);
    size_t bytes = (size_t)jit_value(jit, size_option, &size_at) & UINT32_MAX;
    if (buffer == NULL || bytes == 0) {
        return;
    }
    int written = snprintf(buffer, bytes, "%s", text);
    size_t kept = written < 0 ? 0 : (size_t)written < bytes ? (size_t)written : bytes - 1;
    jit->values[size_at] = (void *)(kept != 0 ? kept + 1 : 0);
}

static CUresult refuse(const struct sim_jit *jit, CUresult result, const char *text)
{
    jit_log(jit, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, text);
    sim_say("%s", text);
    return result;
}

/* ---- images ---- */

static CUresult no_ptx(const struct sim_jit *jit, const char *text)
{
    static atomic_bool said;
    jit_log(jit, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, text);
    if (!atomic_exchange(&said, true)) {
        sim_say("%s", text);
    }
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult sim_image_ptx(const void *image, size_t bytes, const struct sim_jit *jit, char **ptx,
                       size_t *ptx_bytes)
{
    if (image == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    switch (fatbin_ptx(image, bytes, COMPUTE_CAPABILITY, ptx, ptx_bytes)) {
    case FATBIN_OK: return CUDA_SUCCESS;
    case FATBIN_NO_PTX:
        return no_ptx(jit, "this program carries no PTX: rebuild with -gencode "
                           "arch=compute_90,code=compute_90 (or any -arch with PTX)");
    case FATBIN_LATER_PTX:
        return no_ptx(jit, "this program's PTX is for other devices than compute_90: rebuild with "
                           "-gencode arch=compute_90,code=compute_90");
    case FATBIN_DAMAGED:
        return refuse(jit, CUDA_ERROR_INVALID_IMAGE, "the fat binary of this program is damaged");
    case FATBIN_NO_MEMORY: return CUDA_ERROR_OUT_OF_MEMORY;
    case FATBIN_NOT_AN_IMAGE: break;
    }
    return CUDA_ERROR_INVALID_IMAGE;
}

char *sim_read_file(const char *path, size_t *bytes)
{
    FILE *file = path != NULL ? fopen(path, "rbe") : NULL;
    char *text = NULL;
    size_t used = 0, got = 0;
    if (file == NULL) {
        return NULL;
    }
    do {
        char *grown = realloc(text, used + 65537);
        if (grown == NULL) {
            free(text);
            text = NULL;
            break;
        }
        text = grown;
        got = fread(text + used, 1, 65536, file);
        used += got;
        text[used] = '\0';
    } while (got != 0);
    (void)fclose(file);
    *bytes = used;
    return text;
}

/* ---- kernels ---- */

static bool reads_grid_register(const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_SPECIAL && strncmp(operand->special, "envreg", 6) == 0) {
        return true;
    }
    for (uint32_t i = 0; i < operand->count && operand->items != NULL; i++) {
        if (reads_grid_register(&operand->items[i])) {
            return true;
        }
    }
    return false;
}

static bool syncs_grid(const struct ptx_function *function)
{
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        const struct ptx_instruction *instruction = &function->instructions[i];
        for (uint32_t k = 0; k < instruction->operand_count; k++) {
            if (reads_grid_register(&instruction->operands[k])) {
                return true;
            }
        }
    }
    return false;
}

static bool device_functions_sync_grid(const struct ptx_module *ptx)
{
    for (uint32_t i = 0; i < ptx->function_count; i++) {
        if (!ptx->functions[i]->is_entry && syncs_grid(ptx->functions[i])) {
            return true;
        }
    }
    return false;
}

static void fill_function(struct sim_function *function, struct sim_image *image, unsigned index,
                          const struct ptx_module *ptx)
{
    const struct sim_kernel *kernel = sim_module_kernel(image->module, index);
    const struct sim_kernel_info *info = sim_kernel_info(kernel);
    int room = SIM_DEFAULT_SHARED_BYTES - (int)info->static_shared_bytes;
    *function = (struct sim_function){.image = image,
                                      .kernel = kernel,
                                      .info = info,
                                      .ptx = ptx_find_function(ptx, info->name),
                                      .index = index,
                                      .max_dynamic_bytes = room > 0 ? room : 0,
                                      .carveout = -1,
                                      .registers = info->registers};
    if (function->registers == 0) {
        unsigned most = function->ptx != NULL ? function->ptx->max_registers : 0;
        function->registers = most != 0 && most < SIM_ASSUMED_REGISTERS ? most
                                                                        : SIM_ASSUMED_REGISTERS;
    }
    function->syncs_grid = function->ptx != NULL && syncs_grid(function->ptx);
}

static CUresult fill_functions(struct sim_image *image, const struct ptx_module *ptx)
{
    image->function_count = (unsigned)sim_module_kernel_count(image->module);
    size_t count = image->function_count != 0 ? image->function_count : 1;
    image->functions = sim_object_new(SIM_FUNCTION, count * sizeof *image->functions, NULL);
    if (image->functions == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    bool shared = device_functions_sync_grid(ptx);
    for (unsigned i = 0; i < image->function_count; i++) {
        fill_function(&image->functions[i], image, i, ptx);
        image->functions[i].syncs_grid |= shared;
    }
    return CUDA_SUCCESS;
}

/* ---- modules ---- */

static CUresult load(const char *text, size_t bytes, const struct sim_jit *jit,
                     struct ptx_module **ptx, struct sim_module **module)
{
    struct ptx_error error;
    struct sim_error reason;
    char line[1200];
    *ptx = ptx_parse(text, bytes, &error);
    if (*ptx == NULL) {
        (void)snprintf(line, sizeof line, "PTX line %u: %s", error.line, error.text);
        return refuse(jit, CUDA_ERROR_INVALID_PTX, line);
    }
    if ((*ptx)->target_sm > COMPUTE_CAPABILITY) {
        (void)snprintf(line, sizeof line,
                       "PTX for %s: this is a device of compute capability %d.%d", (*ptx)->target,
                       SIM_COMPUTE_MAJOR, SIM_COMPUTE_MINOR);
        ptx_free(*ptx);
        return refuse(jit, CUDA_ERROR_NO_BINARY_FOR_GPU, line);
    }
    *module = sim_module_new(*ptx, &reason);
    if (*module == NULL) {
        (void)snprintf(line, sizeof line, "PTX cannot run: %s", reason.text);
        return refuse(jit, CUDA_ERROR_INVALID_PTX, line);
    }
    return CUDA_SUCCESS;
}

static atomic_bool allocates; /* some code that was loaded may call malloc */

bool sim_code_allocates(void)
{
    return atomic_load(&allocates);
}

CUresult sim_image_new(const char *ptx, size_t ptx_bytes, struct sim_library *library,
                       const struct sim_jit *jit, struct sim_image **image)
{
    struct ptx_module *parsed;
    struct sim_module *module;
    CUresult result = load(ptx, ptx_bytes, jit, &parsed, &module);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct sim_image *made = sim_object_new(SIM_IMAGE, sizeof *made, NULL);
    if (made == NULL) {
        sim_module_free(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->module = module;
    made->library = library;
    made->target = parsed->target_sm;
    made->global_count = sim_module_globals(module, &made->globals);
    result = fill_functions(made, parsed);
    if (result == CUDA_SUCCESS && library != NULL) {
        result = sim_library_share(library, made);
    }
    if (result != CUDA_SUCCESS) {
        made->library = NULL;
        sim_image_free(made);
        return result;
    }
    jit_log(jit, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, "");
    jit_log(jit, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
    if (sim_module_allocates(module)) {
        atomic_store(&allocates, true);
    }
    *image = made;
    return CUDA_SUCCESS;
}

static bool is_shared(const struct sim_image *image, size_t global)
{
    return image->library != NULL && image->globals[global].is_managed;
}

CUresult sim_image_enter(struct sim_image *image, struct sim_context *context)
{
    image->context = context;
    sim_object_own(image, context);
    for (size_t i = 0; i < image->global_count; i++) {
        const struct sim_global *global = &image->globals[i];
        if (global->bytes == 0 || is_shared(image, i)) {
            continue;
        }
        struct sim_range range = {.start = (uintptr_t)global->data,
                                  .bytes = global->bytes,
                                  .kind = SIM_MEM_GLOBAL,
                                  .device = context->device,
                                  .context = context,
                                  .name = global->name,
                                  .is_const = global->is_const};
        range.kind |= global->is_managed ? SIM_MEM_MANAGED : 0;
        if (!sim_heap_adopt(&range)) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return CUDA_SUCCESS;
}

struct sim_function *sim_image_function(const struct sim_image *image, const char *name)
{
    for (unsigned i = 0; i < image->function_count; i++) {
        if (strcmp(image->functions[i].info->name, name) == 0) {
            return &image->functions[i];
        }
    }
    return NULL;
}

CUresult sim_image_global(const struct sim_image *image, const char *name, bool managed_only,
                          CUdeviceptr *dptr, size_t *bytes)
{
    for (size_t i = 0; i < image->global_count; i++) {
        const struct sim_global *global = &image->globals[i];
        if (strcmp(global->name, name) == 0 && (global->is_managed || !managed_only)) {
            if (dptr != NULL) {
                *dptr = (CUdeviceptr)global->data;
            }
            if (bytes != NULL) {
                *bytes = global->bytes;
            }
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

/* Work lock held for writing, or nobody knows the image yet. */
void sim_image_free(struct sim_image *image)
{
    if (image->library != NULL) {
        sim_library_forget(image);
    }
    for (size_t i = 0; image->context != NULL && i < image->global_count; i++) {
        if (image->globals[i].bytes != 0 && !is_shared(image, i)) {
            sim_heap_disown((uintptr_t)image->globals[i].data);
        }
    }
    sim_object_delete(image->functions, SIM_FUNCTION);
    sim_module_free(image->module);
    sim_object_delete(image, SIM_IMAGE);
}
