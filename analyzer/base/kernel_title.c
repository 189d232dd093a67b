/* SPDX-License-Identifier: Apache-2.0 */
/* What a person would call a kernel. */
#include "analyzer/base/kernel_title.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/base/title_words.h"
#include "libtrace/store/db/names.h"

enum {
    DEPTH_MOST = 12,
    UNWRAPPED_MOST = 4,   /* wrappers around the class that gives the kernel its name */
    ARGUMENTS_MOST = 6,   /* that a title shows */
    LENGTH_MOST = 1 << 16 /* of names that are taken apart: they come from traces */
};

/* What it does with its elements, and of what type these are. */
struct title_operation {
    const struct gmt_name_part *part;
    const struct gmt_name_part *around; /* a function object that changes it; NULL: none */
    struct gmt_title_types types;
};

static bool has_end(const struct gmt_name_part *part, const char *word)
{
    size_t bytes = strlen(word);

    return part->length >= bytes && memcmp(part->text + part->length - bytes, word, bytes) == 0;
}

/* Function objects: by how such classes are called, and those of the C++ library and of CUB. */
static bool is_functor(const struct gmt_name_part *part)
{
    static const char *const ends[] = {"Functor", "functor", "Op", "Ops", "_op", "_f"};
    static const char *const names[] = {"plus",    "minus",  "multiplies", "divides", "maximum",
                                        "minimum", "less",   "greater",    "Sum",     "Max",
                                        "Min",     "ArgMax", "ArgMin"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (has_end(part, ends[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (gmt_name_is(part, names[i])) {
            return true;
        }
    }
    return part->length > 11 && memcmp(part->text, "CUDAFunctor", 11) == 0;
}

static bool find_operation(const struct gmt_name_type *type, int depth,
                           struct title_operation *found);

static bool find_in_list(const struct gmt_name_type *types, size_t n, int depth,
                         struct title_operation *found)
{
    for (size_t i = 0; i < n; i++) {
        if (find_operation(&types[i], depth, found)) {
            return true;
        }
    }
    return false;
}

/* The types that a class or function around the operation names are those of the elements. */
static void take_types(struct title_operation *found, const struct gmt_name_part *part)
{
    struct gmt_title_types types = {0};

    gmt_title_types_add(&types, part->arguments, part->argument_count);
    if (types.count > 0) {
        found->types = types;
    }
}

static bool all_elements(const struct gmt_name_part *lambda)
{
    for (size_t i = 0; i < lambda->parameter_count; i++) {
        if (lambda->parameters[i].pointer || gmt_title_type(&lambda->parameters[i]) == NULL) {
            return false;
        }
    }
    return lambda->parameter_count > 0;
}

/* One that is defined in the function itself and takes an int gets an index. */
static bool takes_index(const struct gmt_name_type *type, const struct gmt_name_part *lambda)
{
    const struct gmt_name_part *before = type->part_count > 1 ? lambda - 1 : NULL;

    return before != NULL && !gmt_name_is(before, "operator()") && lambda->parameter_count == 1 &&
           strcmp(gmt_title_type(&lambda->parameters[0]), "i32") == 0;
}

static bool find_in_lambda(const struct gmt_name_type *type, const struct gmt_name_part *owner,
                           int depth, struct title_operation *found)
{
    const struct gmt_name_part *last = gmt_name_last(type);

    if (find_in_list(owner->arguments, owner->argument_count, depth + 1, found)) {
        take_types(found, owner);
        return true;
    }
    found->part = owner;
    if (last->lambda && all_elements(last) && !takes_index(type, last)) {
        gmt_title_types_add(&found->types, last->parameters, last->parameter_count);
    } else {
        take_types(found, owner);
    }
    return true;
}

static bool find_operation(const struct gmt_name_type *type, int depth,
                           struct title_operation *found)
{
    const struct gmt_name_part *last = gmt_name_last(type), *owner = gmt_title_lambda_owner(type);

    if (depth > DEPTH_MOST || type->value || last == NULL || gmt_title_type(type) != NULL) {
        return false;
    }
    if (owner != NULL) {
        return find_in_lambda(type, owner, depth, found);
    }
    for (size_t p = 0; p < type->part_count; p++) {
        const struct gmt_name_part *part = &type->parts[p];

        if (find_in_list(part->arguments, part->argument_count, depth + 1, found)) {
            take_types(found, part);
            if (has_end(part, "Functor") && !gmt_name_is(part, "BinaryFunctor")) {
                found->around = part;
            }
            return true;
        }
    }
    if (!is_functor(last)) {
        return false;
    }
    /* "__fill::functor": what it does is the namespace's name. */
    bool unnamed = type->part_count > 1 &&
                   (gmt_name_is(last, "functor") || gmt_name_is(last, "Functor"));
    found->part = unnamed && !(last - 1)->anonymous ? last - 1 : last;
    take_types(found, last);
    return true;
}

/* ---- which class or function is it? -------------------------------------------------------------- */

/* All its words say only that it is a kernel: what is launched is its argument. */
static bool is_wrapper(const struct gmt_name_part *part)
{
    static const char *const words[] = {"kernel", "device", "global", "agent", "enable", "sm"};
    bool any = false;

    for (size_t at = 0; at < part->length;) {
        size_t i = 0;

        if (part->text[at] == '_' || isdigit((unsigned char)part->text[at])) {
            at++;
            continue;
        }
        for (; i < sizeof(words) / sizeof(words[0]); i++) {
            size_t bytes = strlen(words[i]);

            if (part->length - at >= bytes && strncasecmp(part->text + at, words[i], bytes) == 0) {
                at += bytes;
                break;
            }
        }
        if (i == sizeof(words) / sizeof(words[0])) {
            return false;
        }
        any = true;
    }
    return any;
}

static const struct gmt_name_type *first_class(const struct gmt_name_part *part)
{
    for (size_t i = 0; i < part->argument_count; i++) {
        const struct gmt_name_type *type = &part->arguments[i];

        if (!type->value && !type->pointer && type->part_count > 0 &&
            gmt_title_type(type) == NULL && gmt_title_lambda_owner(type) == NULL &&
            !gmt_name_is(gmt_name_last(type), "void")) {
            return type;
        }
    }
    return NULL;
}

static const struct gmt_name_type *subject_of(const struct gmt_name_type *name)
{
    for (int i = 0; i < UNWRAPPED_MOST; i++) {
        const struct gmt_name_part *last = gmt_name_last(name);
        const struct gmt_name_type *inner = last != NULL && is_wrapper(last) ? first_class(last)
                                                                             : NULL;
        if (inner == NULL) {
            break;
        }
        name = inner;
    }
    return name;
}

/* ---- titles -------------------------------------------------------------------------------------- */

static const char *join(struct gmt_arena *arena, const char *list, const char *word)
{
    return list[0] == '\0' ? word : gmt_arena_text(arena, "%s, %s", list, word);
}

static const char *titled(struct gmt_arena *arena, const char *name, size_t length,
                          const char *arguments)
{
    return arguments[0] == '\0' ? gmt_arena_text(arena, "%.*s", (int)length, name)
                                : gmt_arena_text(arena, "%.*s<%s>", (int)length, name, arguments);
}

/* An argument as its author would say it. */
static const char *argument(struct gmt_arena *arena, const struct gmt_name_type *type)
{
    const struct gmt_name_part *owner = gmt_title_lambda_owner(type), *last = gmt_name_last(type);
    const char *word = gmt_title_type(type), *star = type->pointer ? "*" : "";

    if (owner != NULL) {
        return gmt_arena_text(arena, "lambda in %.*s", (int)owner->length, owner->text);
    }
    if (word != NULL) {
        return gmt_arena_text(arena, "%s%s", word, star);
    }
    if (type->value || last == NULL) {
        return gmt_arena_text(arena, "%.*s", (int)type->length, type->text);
    }
    return gmt_arena_text(arena, "%.*s%s", (int)last->length, last->text, star);
}

static const char *all_arguments(struct gmt_arena *arena, const struct gmt_name_part *part)
{
    const char *list = "";

    for (size_t i = 0; i < part->argument_count && i < ARGUMENTS_MOST; i++) {
        list = join(arena, list, argument(arena, &part->arguments[i]));
    }
    return part->argument_count > ARGUMENTS_MOST ? gmt_arena_text(arena, "%s, ...", list) : list;
}

/* "triton_poi_fused_add_0", "ncclDevKernel_AllReduce_Sum_f32_RING_LL": who made it, and what it is. */
static const char *prefixed(struct gmt_arena *arena, const struct gmt_name_part *part)
{
    static const struct {
        const char *prefix, *title;
    } prefixes[] = {{"triton_", "triton: "}, {"ncclDevKernel_", ""}, {"ncclKernel_", ""}};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t bytes = strlen(prefixes[i].prefix);

        if (part->length > bytes && memcmp(part->text, prefixes[i].prefix, bytes) == 0) {
            return gmt_arena_text(arena, "%s%.*s", prefixes[i].title, (int)(part->length - bytes),
                                  part->text + bytes);
        }
    }
    return NULL;
}

static size_t without_kernel(const struct gmt_name_part *part)
{
    static const char *const ends[] = {"_kernel", "Kernel", "Agent"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (has_end(part, ends[i]) && part->length > strlen(ends[i])) {
            return part->length - strlen(ends[i]);
        }
    }
    return part->length;
}

/* "OnSelf add" of CUDAFunctorOnSelf_add, "AUnary mul" of AUnaryFunctor<..., MulFunctor<float>>. */
static const char *variant(struct gmt_arena *arena, const struct title_operation *operation,
                           const char *word)
{
    static const char on[] = "CUDAFunctorOn", functor[] = "Functor";
    const struct gmt_name_part *part = operation->part, *around = operation->around;

    if (part->length > sizeof(on) - 1 && memcmp(part->text, on, sizeof(on) - 1) == 0) {
        const char *from = part->text + sizeof(on) - 3;
        const char *end = memchr(from, '_', (size_t)(part->text + part->length - from));

        word = end != NULL ? gmt_arena_text(arena, "%.*s %s", (int)(end - from), from, word) : word;
    }
    return around != NULL
               ? gmt_arena_text(arena, "%.*s %s", (int)(around->length - (sizeof(functor) - 1)),
                                around->text, word)
               : word;
}

static const char *numbers(struct gmt_arena *arena, const struct gmt_name_part *part)
{
    const char *list = "";

    for (size_t i = 0; i < part->argument_count && i < ARGUMENTS_MOST; i++) {
        if (part->arguments[i].value) {
            list = join(arena, list, argument(arena, &part->arguments[i]));
        }
    }
    return list;
}

static const char *library_title(struct gmt_arena *arena, const struct gmt_name_type *name,
                                 enum gmt_title_detail detail)
{
    const struct gmt_name_type *subject = subject_of(name);
    const struct gmt_name_part *last = gmt_name_last(subject);
    const char *list = gmt_title_product(arena, subject, detail == GMT_TITLE_VARIANT);
    struct title_operation operation = {0};

    if (list != NULL) {
        return list;
    }
    list = prefixed(arena, last);
    if (list != NULL) {
        return list;
    }
    list = "";
    if (find_in_list(last->arguments, last->argument_count, 0, &operation)) {
        list = gmt_title_operation(arena, operation.part->text, operation.part->length);
        if (detail != GMT_TITLE_SHORT) {
            list = variant(arena, &operation, list);
        }
        if (detail == GMT_TITLE_ARGUMENTS) {
            list = join(arena, numbers(arena, last), list);
        }
    }
    bool of_operation = operation.types.count > 0;
    if (!of_operation) {
        gmt_title_types_add(&operation.types, last->arguments, last->argument_count);
    }
    /* Where the kernel's own ones may be indices: the types inside of its arguments. */
    if (operation.types.count == 0 || (!of_operation && operation.types.index_only)) {
        gmt_title_types_within(&operation.types, subject, 0);
    }
    for (size_t i = 0; i < operation.types.count; i++) {
        list = join(arena, list, operation.types.words[i]);
    }
    return titled(arena, last->text, without_kernel(last), list);
}

static const char *user_title(struct gmt_arena *arena, const struct gmt_name_type *name)
{
    const struct gmt_name_part *last = gmt_name_last(name);

    /* Templates of the toolkit: what is the user's is in their arguments. */
    if (gmt_name_is(&name->parts[0], "thrust") || gmt_name_is(&name->parts[0], "cub")) {
        return library_title(arena, name, GMT_TITLE_SHORT);
    }
    const char *product = gmt_name_is(&name->parts[0], "cutlass")
                              ? gmt_title_product(arena, subject_of(name), false)
                              : NULL;

    return product != NULL ? product
                           : titled(arena, last->text, last->length, all_arguments(arena, last));
}

static bool has_operation(const struct gmt_name_type *name)
{
    const struct gmt_name_part *last = gmt_name_last(subject_of(name));
    struct title_operation operation = {0};

    return find_in_list(last->arguments, last->argument_count, 0, &operation);
}

/* With all arguments; of the user's with its namespaces, too. */
static const char *whole_title(struct gmt_arena *arena, const struct gmt_name_type *name,
                               bool library)
{
    if (library && has_operation(name)) {
        return library_title(arena, name, GMT_TITLE_ARGUMENTS);
    }
    const struct gmt_name_part *last = gmt_name_last(name);
    const char *title = titled(arena, last->text, last->length, all_arguments(arena, last));

    for (size_t i = name->part_count - 1; !library && i-- > 0;) {
        title = gmt_arena_text(arena, "%.*s::%s", (int)name->parts[i].length, name->parts[i].text,
                               title);
    }
    return title;
}

const char *gmt_kernel_title(struct gmt_arena *arena, const char *name, bool library,
                             enum gmt_title_detail detail)
{
    struct gmt_arena scratch = {0};
    struct gmt_name_type parsed;
    char *demangled = gmt_name_demangle(name);
    const char *text = demangled != NULL ? demangled : name, *title = NULL;

    if (strlen(text) < LENGTH_MOST && gmt_name_parse(&scratch, text, &parsed) == 0 &&
        parsed.part_count > 0) {
        if (detail == GMT_TITLE_ARGUMENTS) {
            title = whole_title(&scratch, &parsed, library);
        } else {
            title = library ? library_title(&scratch, &parsed, detail)
                            : user_title(&scratch, &parsed);
        }
    }
    title = gmt_arena_copy(arena, title != NULL && title[0] != '\0' ? title : text);
    gmt_arena_free(&scratch);
    free(demangled);
    return title != NULL ? title : name;
}
