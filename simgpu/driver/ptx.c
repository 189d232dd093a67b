/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads from PTX text what the software device has to know: kernels with the layout of their
 * parameters, their static shared and local memory, and global variables. Instructions are skipped.
 */
#include "simgpu/driver/driver.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *p)
{
    for (;;) {
        while (isspace((unsigned char)*p)) {
            p++;
        }
        if (p[0] == '/' && p[1] == '/') {
            p += strcspn(p, "\n");
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p, "*/");
            p = end != NULL ? end + 2 : p + strlen(p);
        } else {
            return p;
        }
    }
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* The next token: a directive or name, a number, or one punctuation character. */
static const char *next_token(const char *p, char *token, size_t bytes)
{
    p = skip_space(p);
    size_t used = 0;
    if (*p == '.' || is_name(*p)) {
        do {
            if (used + 1 < bytes) {
                token[used++] = *p;
            }
            p++;
        } while (is_name(*p));
    } else if (*p != '\0') {
        token[used++] = *p++;
    }
    token[used] = '\0';
    return p;
}

static size_t type_bytes(const char *type)
{
    size_t digits = strcspn(type, "0123456789");
    size_t bits = strtoul(type + digits, NULL, 10);
    bool known = type[0] == '.' && strchr("busf", type[1]) != NULL && type[1] != '\0' &&
                 digits == 2;
    return known ? bits / 8 : 0;
}

/* A declaration after its state space: [.align N] .TYPE [.ptr ...] name [ "[count]" ]... */
struct declaration {
    char name[256];
    size_t bytes, align;
};

static const char *declaration_parse(const char *p, struct declaration *d)
{
    char token[256] = "";
    size_t vector = 1;
    size_t explicit_align = 0;
    *d = (struct declaration){.align = 1};
    for (;;) {
        const char *before = p;
        p = next_token(p, token, sizeof token);
        if (strcmp(token, ".align") == 0) {
            p = next_token(p, token, sizeof token);
            explicit_align = d->bytes == 0 ? strtoul(token, NULL, 10) : explicit_align;
        } else if (strcmp(token, ".v2") == 0 || strcmp(token, ".v4") == 0) {
            vector = (size_t)(token[2] - '0');
        } else if (token[0] == '.' && d->bytes == 0 && type_bytes(token) != 0) {
            d->bytes = type_bytes(token);
        } else if (is_name(token[0])) {
            memcpy(d->name, token, sizeof d->name);
        } else if (token[0] == '[') {
            p = next_token(p, token, sizeof token);
            d->bytes *= token[0] == ']' ? 0 : strtoul(token, NULL, 10);
            p += strcspn(p, "]");
            p += *p == ']';
        } else if (token[0] != '.') {
            p = before; /* ',' ')' ';' '=' or the end */
            break;
        }
    }
    d->align = explicit_align != 0 ? explicit_align : d->bytes != 0 ? d->bytes : 1;
    if (explicit_align == 0 && (d->align & (d->align - 1)) != 0) {
        d->align = 1;
    }
    d->bytes *= vector;
    return p;
}

static const char *params_parse(const char *p, struct sim_function *function)
{
    char token[256];
    while (*(p = next_token(p, token, sizeof token)) != '\0' && token[0] != ')') {
        struct declaration d;
        if (strcmp(token, ".param") != 0) {
            continue;
        }
        p = declaration_parse(p, &d);
        if (function->param_count < SIM_MAX_PARAMS) {
            size_t offset = (function->param_bytes + d.align - 1) / d.align * d.align;
            function->params[function->param_count++] = (struct sim_param){.offset = offset,
                                                                           .bytes = d.bytes};
            function->param_bytes = offset + d.bytes;
        }
    }
    return p;
}

/* The body, braces balanced: only the memory it declares is looked at. */
static const char *body_parse(const char *p, struct sim_function *function)
{
    char token[256];
    int depth = 0;
    do {
        p = next_token(p, token, sizeof token);
        struct declaration d;
        if (token[0] == '{') {
            depth++;
        } else if (token[0] == '}') {
            depth--;
        } else if (strcmp(token, ".shared") == 0) {
            p = declaration_parse(p, &d);
            function->static_shared_bytes += (int)d.bytes;
        } else if (strcmp(token, ".local") == 0) {
            p = declaration_parse(p, &d);
            function->local_bytes += (int)d.bytes;
        }
    } while (depth > 0 && *p != '\0');
    return p;
}

static const char *entry_parse(const char *p, struct sim_function *function)
{
    char token[256];
    *function = (struct sim_function){.max_threads = 1024, .max_dynamic_shared_bytes = 49152};
    p = next_token(p, function->name, sizeof function->name);
    for (;;) {
        const char *before = p;
        p = next_token(p, token, sizeof token);
        if (token[0] == '(') {
            p = params_parse(p, function);
        } else if (strcmp(token, ".maxntid") == 0) {
            function->max_threads = 1;
            do {
                p = next_token(p, token, sizeof token);
                function->max_threads *= (int)strtoul(token, NULL, 10);
                p = skip_space(p);
            } while (*p == ',' && *p++ != '\0');
        } else if (token[0] == '{') {
            return body_parse(before, function);
        } else if (token[0] == '\0' || token[0] == ';') {
            return p;
        }
    }
}

static void *grow(void *array, unsigned count, size_t bytes)
{
    void *grown = realloc(array, (count + 1) * bytes);
    if (grown == NULL) {
        abort();
    }
    return grown;
}

CUresult sim_module_parse(const char *text, struct sim_module **out)
{
    if (text == NULL || out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (strncmp(skip_space(text), ".version", 8) != 0) {
        return CUDA_ERROR_INVALID_IMAGE; /* machine code cannot run here */
    }
    struct sim_module *module = sim_object_new(SIM_MODULE, sizeof *module);
    if (module == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct sim_function *functions = NULL;
    char token[256];
    for (const char *p = text; *p != '\0';) {
        p = next_token(p, token, sizeof token);
        struct declaration d;
        if (strcmp(token, ".entry") == 0) {
            functions = grow(functions, module->function_count, sizeof *functions);
            p = entry_parse(p, &functions[module->function_count++]);
        } else if (strcmp(token, ".global") == 0 || strcmp(token, ".const") == 0) {
            p = declaration_parse(p, &d);
            struct sim_global global = {.bytes = d.bytes, .data = calloc(1, d.bytes + 1)};
            memcpy(global.name, d.name, sizeof global.name);
            sim_memory_adopt(global.data, global.bytes);
            module->globals = grow(module->globals, module->global_count, sizeof global);
            module->globals[module->global_count++] = global;
        } else if (token[0] == '{') {
            struct sim_function ignored = {0};
            p = body_parse(p - 1, &ignored);
        }
    }
    if (functions != NULL) {
        size_t bytes = module->function_count * sizeof *functions;
        module->functions = sim_object_new(SIM_FUNCTION, bytes);
        memcpy(module->functions, functions, bytes);
        free(functions);
    }
    for (unsigned i = 0; i < module->function_count; i++) {
        module->functions[i].module = module;
    }
    *out = module;
    return CUDA_SUCCESS;
}

void sim_module_free(struct sim_module *module)
{
    for (unsigned i = 0; i < module->global_count; i++) {
        sim_memory_delete((uintptr_t)module->globals[i].data, SIM_MEM_DEVICE);
    }
    free(module->globals);
    sim_object_delete(module->functions, SIM_FUNCTION);
    sim_object_delete(module, SIM_MODULE);
}
