/* SPDX-License-Identifier: Apache-2.0 */
/* What a redacted report may show: names that are the same on every machine. All else is private. */
#include "analyzer/redact/public_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/prefix.h"
#include "libtrace/record/entry_points.h"
#include "libtrace/record/layout_coverage.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/symbols/elf_cuda.h"

static const char *const functions[] = {
#define GMT_ENTRY_POINT(name, class) #name,
#include "libtrace/record/entry_points.def"
#undef GMT_ENTRY_POINT
#define GMT_PUBLIC_FUNCTION(name) #name,
#include "analyzer/redact/public_functions.def"
#undef GMT_PUBLIC_FUNCTION
};

static const char *const opcodes[] = {
#define GMT_PUBLIC_OPCODE(name) name,
#include "analyzer/redact/public_opcodes.def"
#undef GMT_PUBLIC_OPCODE
};

#define GMT_PUBLIC_SENTENCE(text)
static const char *const words[] = {
#define GMT_PUBLIC_WORD(text) text,
#include "analyzer/redact/public_words.def"
#undef GMT_PUBLIC_WORD
#define GMT_METRIC(id, name, group, cupti_name, unit, meaning) #name, cupti_name, unit, meaning,
#include "libtrace/metrics.def"
#undef GMT_METRIC
#define GMT_METRIC_ALTERNATIVE(id, cupti_name, chips) cupti_name,
#include "libtrace/metric_alternatives.def"
#undef GMT_METRIC_ALTERNATIVE
#define GMT_LOOKUP_PATH(id, name) name,
    GMT_LOOKUP_PATH_TABLE
#undef GMT_LOOKUP_PATH
#define GMT_ENTRY_CLASS(id, name) name,
        GMT_ENTRY_CLASSES
#undef GMT_ENTRY_CLASS
#define GMT_CUDA_RUNTIME(id, name) name,
            GMT_CUDA_RUNTIMES
#undef GMT_CUDA_RUNTIME
};
#undef GMT_PUBLIC_SENTENCE

#define GMT_PUBLIC_WORD(text)
static const char *const sentences[] = {
#define GMT_PUBLIC_SENTENCE(text) text,
#include "analyzer/redact/public_words.def"
#undef GMT_PUBLIC_SENTENCE
};
#undef GMT_PUBLIC_WORD

/* Before ".so", and before the version that a name may have there. */
static const char *const libraries[] = {
    "ld-linux-aarch64",
    "ld-linux-x86-64",
    "libOpenCL",
    "libasan",
    "libatomic",
    "libc",
    "libcublas",
    "libcublasLt",
    "libcuda",
    "libcudart",
    "libcudnn",
    "libcufft",
    "libcufile",
    "libcupti",
    "libcurand",
    "libcusolver",
    "libcusparse",
    "libdl",
    "libgcc_s",
    "libgmtrace",
    "libgomp",
    "libjansson",
    "libm",
    "libnccl",
    "libnpp",
    "libnvJitLink",
    "libnvToolsExt",
    "libnvidia-ml",
    "libnvidia-nvvm",
    "libnvidia-ptxjitcompiler",
    "libnvjpeg",
    "libnvperf_host",
    "libnvperf_target",
    "libnvrtc",
    "libnvrtc-builtins",
    "libpthread",
    "libpython",
    "librt",
    "libsqlite",
    "libstdc++",
    "libtsan",
    "libubsan",
    "libutil",
    "linux-gate",
    "linux-vdso",
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Sorted at the first question. */
struct set {
    const char *const *list;
    size_t count;
    const char **sorted;
};

static struct set function_set = {functions, COUNT(functions), NULL};
static struct set opcode_set = {opcodes, COUNT(opcodes), NULL};
static struct set word_set = {words, COUNT(words), NULL};

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has(struct set *set, const char *text)
{
    if (set->sorted == NULL) {
        set->sorted = malloc(set->count * sizeof(*set->sorted));
        if (set->sorted == NULL) {
            return false;
        }
        memcpy(set->sorted, set->list, set->count * sizeof(*set->sorted));
        qsort(set->sorted, set->count, sizeof(*set->sorted), compare);
    }
    return bsearch(&text, set->sorted, set->count, sizeof(text), compare) != NULL;
}

static char *copy_of(const char *text, size_t length)
{
    return strndup(text, length);
}

/* ---- words and sentences ------------------------------------------------------------------------ */

/* Reads the schema's CHECKs: stores their quoted values, if there is a place for them, and counts them. */
static size_t read_checks(const char **values)
{
    size_t count = 0;

    for (const char *at = gmt_schema_sql; (at = strstr(at, "CHECK (")) != NULL;) {
        const char *end = strstr(at, "))");

        while ((at = strchr(at, '\'')) != NULL && end != NULL && at < end) {
            size_t length = strcspn(++at, "'");

            if (values != NULL && (values[count] = strndup(at, length)) == NULL) {
                return count;
            }
            count++;
            at += length + 1;
        }
        if (end == NULL || at == NULL) {
            break;
        }
        at = end;
    }
    return count;
}

/* Is it one of the values that a CHECK of the schema lists? */
static bool in_schema(const char *text)
{
    static struct set values;

    if (values.list == NULL) {
        const char **list = calloc(read_checks(NULL), sizeof(*list));

        if (list == NULL) {
            return false;
        }
        values.count = read_checks(list);
        values.list = list;
    }
    return has(&values, text);
}

char *gmt_public_word(const char *text)
{
    return has(&word_set, text) || in_schema(text) ? strdup(text) : NULL;
}

static bool is_number(const char *text, size_t length)
{
    if (length == 0 || length > 40) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (strchr("0123456789.:+-TZ?", text[i]) == NULL) {
            return false;
        }
    }
    return true;
}

/* Appends to shown what a text may show that is like the pattern; '#' is a number, '@' is left out. */
static bool is_like(const char *pattern, const char *text, char *shown)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '#') {
            size_t length = strspn(text, "0123456789.?");

            if (length == 0) {
                return false;
            }
            memcpy(shown, text, length);
            shown += length;
            text += length;
        } else if (*pattern == '@') {
            /* The end of a sentence is its last one of the kind. */
            const char *rest = pattern + 1, *end = text + strlen(text);
            size_t length = strlen(rest);

            if ((size_t)(end - text) < length || strcmp(end - length, rest) != 0) {
                return false;
            }
            memcpy(shown, "…", strlen("…"));
            shown += strlen("…");
            text = end - length;
        } else {
            if (*text != *pattern) {
                return false;
            }
            *shown++ = *text++;
        }
    }
    *shown = '\0';
    return *text == '\0';
}

static bool one_sentence(const char *text, char *shown)
{
    for (size_t i = 0; i < COUNT(sentences); i++) {
        if (is_like(sentences[i], text, shown)) {
            return true;
        }
    }
    if (!has(&word_set, text) && !has(&function_set, text)) {
        return false;
    }
    strcpy(shown, text);
    return true;
}

/* "3 records, 1 of zero bytes": each part is a sentence. */
static bool all_sentences(char *text, char *shown)
{
    for (char *next; text != NULL; text = next) {
        next = strstr(text, ", ");
        if (next != NULL) {
            *next = '\0';
            next += 2;
        }
        if (!one_sentence(text, shown)) {
            return false;
        }
        shown += strlen(shown);
        if (next != NULL) {
            memcpy(shown, ", ", 3);
            shown += 2;
        }
    }
    return true;
}

char *gmt_public_sentence(const char *text)
{
    /* What is shown for something left out can be longer than that. */
    char *copy = strdup(text), *shown = malloc(4 * strlen(text) + 64);
    bool known = copy != NULL && shown != NULL &&
                 (one_sentence(text, shown) || all_sentences(copy, shown));

    free(copy);
    if (known) {
        return shown;
    }
    free(shown);
    return NULL;
}

/* ---- names -------------------------------------------------------------------------------------- */

/* Functions of the static runtime have no names but these. */
static bool is_static_runtime(const char *name)
{
    static const char prefix[] = "libcudart_static_";

    return gmt_starts_with(name, prefix) && strlen(name) == sizeof(prefix) - 1 + 40 &&
           strspn(name + sizeof(prefix) - 1, "0123456789abcdef") == 40;
}

char *gmt_public_function(const char *text)
{
    /* "cudaError cudaMalloc<float>(float**, unsigned long)": types may be the user's. */
    size_t end = strcspn(text, "<("), begin = end;

    while (begin > 0 && strchr(" *&", text[begin - 1]) == NULL) {
        begin--;
    }
    char *name = copy_of(text + begin, end - begin);
    if (name == NULL || has(&function_set, name) || is_static_runtime(name)) {
        return name;
    }
    /* The variants for a default stream of each thread. */
    char *shorter = copy_of(name, strlen(name));
    char *mark = shorter != NULL ? strrchr(shorter, '_') : NULL;
    bool known = mark != NULL && (strcmp(mark, "_ptsz") == 0 || strcmp(mark, "_ptds") == 0);
    if (known) {
        *mark = '\0';
        known = has(&function_set, shorter);
    }
    free(shorter);
    if (known) {
        return name;
    }
    free(name);
    return NULL;
}

char *gmt_public_module(const char *text)
{
    const char *slash = strrchr(text, '/'), *base = slash != NULL ? slash + 1 : text;
    const char *end = strstr(base, ".so");

    if (strcmp(base, "[vdso]") == 0) {
        return strdup(base);
    }
    if (end == NULL || end[3 + strspn(end + 3, "0123456789.")] != '\0') {
        return NULL;
    }
    for (size_t i = 0; i < COUNT(libraries); i++) {
        size_t length = strlen(libraries[i]);
        bool same = gmt_starts_with(base, libraries[i]);

        if (same && base + length + strspn(base + length, "0123456789.") >= end &&
            base + length <= end) {
            return strdup(base);
        }
    }
    return NULL;
}

char *gmt_public_opcode(const char *text)
{
    size_t length = strcspn(text, ".");
    char *name = copy_of(text, length);
    bool known = name != NULL && has(&opcode_set, name);

    free(name);
    for (const char *at = text + length; known && *at != '\0'; at += length) {
        length = 1 + strcspn(at + 1, ".");
        known = length <= 16;
        for (size_t i = 1; known && i < length; i++) {
            known = isalnum((unsigned char)at[i]) || strchr("_:", at[i]) != NULL;
        }
    }
    return known ? strdup(text) : NULL;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

char *gmt_public_number(const char *text)
{
    return is_number(text, strlen(text)) ? strdup(text) : NULL;
}

char *gmt_public_hash(const char *text)
{
    return strspn(text, "0123456789abcdef") == strlen(text) ? strdup(text) : NULL;
}

char *gmt_public_attributes(const char *text)
{
    char *shown = malloc(strlen(text) + 2), *to = shown;

    while (shown != NULL && *text != '\0') {
        size_t length = strcspn(text, ";"), key = strcspn(text, "=;");
        char *name = copy_of(text, key);

        if (name != NULL && key < length && has(&word_set, name) &&
            is_number(text + key + 1, length - key - 1)) {
            if (to > shown) {
                *to++ = ';';
            }
            memcpy(to, text, length);
            to += length;
        }
        free(name);
        text += length + (text[length] == ';');
    }
    if (shown != NULL) {
        *to = '\0';
    }
    return shown;
}
