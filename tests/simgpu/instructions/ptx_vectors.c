/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies every form of forms.def to its vectors on the CUDA device that libcuda.so.1 gives.
 *
 *     ptx_vectors                      a line "form <tab> hash" each; approximations: their values
 *     ptx_vectors --list               the forms
 *     ptx_vectors --values FORM...     inputs and results
 *     ptx_vectors --compare < RECORD   0 if this device gives what the recorded one gave
 *     ptx_vectors --kernel FORM...     the PTX that is run
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vectors.h"

#define GUARD_FAULT "\tguard ignored by thread "

static struct results results;

static void print_values(const struct form *form)
{
    for (unsigned thread = 0; thread < VECTOR_THREADS; thread++) {
        printf("%u:", thread);
        for (unsigned i = 0; i < form_sources(form); i++) {
            printf(" %" PRIx64, input_value(form->sources[i], i, thread));
        }
        printf(" ->");
        for (unsigned i = 0; i < form_targets(form); i++) {
            printf(" %" PRIx64, results.value[0][i][thread]);
        }
        printf("\n");
    }
}

static void print_record(const struct form *form)
{
    int fault = results_guard_fault(form, &results);
    printf("%s\t%016" PRIx64, form->text, results_hash(form, &results));
    if (fault >= 0) {
        printf(GUARD_FAULT "%d", fault);
    }
    for (unsigned i = 0; form_is_approximate(form) && i < VECTOR_APPROXIMATE_THREADS; i++) {
        printf("%c%" PRIx64, i ? ' ' : '\t', results.value[0][0][i]);
    }
    printf("\n");
}

/* Does the guarded run give what the plain one and the guard say? A device that ignores a guard just as
 * the recorded one did, since ptxas drops it, gives what was recorded. *text is moved past what says so. */
static bool compare_guard(const struct form *form, char **text)
{
    int fault = results_guard_fault(form, &results), recorded = -1;
    if (strncmp(*text, GUARD_FAULT, strlen(GUARD_FAULT)) == 0) {
        recorded = (int)strtol(*text + strlen(GUARD_FAULT), text, 10);
    }
    if (fault < 0 || fault == recorded) {
        return true;
    }
    printf("%s: guard ignored by thread %d\n", form->text, fault);
    return false;
}

/* Is this device's value the recorded one, or within the error that PTX states? The recorded device itself
 * exceeds that in two forms. */
static bool compare_value(const struct form *form, unsigned thread, uint64_t recorded)
{
    uint64_t actual = results.value[0][0][thread];
    if (actual == recorded || judge(form, thread, actual, recorded)) {
        return true;
    }
    printf("%s: thread %u, input %" PRIx64 ": %" PRIx64 ", recorded %" PRIx64 "\n", form->text,
           thread, input_value(form->sources[0], 0, thread), actual, recorded);
    return false;
}

/* The recorded line of a form, in the order of the table; false when it is not the next one. */
static bool compare(const struct form *form, const char *error, char *line)
{
    size_t length = strlen(form->text);
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, form->text, length) != 0 || line[length] != '\t') {
        printf("%s: not in the record, record it again\n", form->text);
        return false;
    }
    char *text = line + length + 1;
    if (text[0] == '!') {
        return true; /* the recorded device refused it: nothing to compare with */
    }
    if (error) {
        printf("%s: %s\n", form->text, error);
        return false;
    }
    uint64_t hash = strtoull(text, &text, 16);
    bool same = compare_guard(form, &text);
    if (!form_is_approximate(form)) {
        if (hash != results_hash(form, &results)) {
            printf("%s: results differ (--values shows them)\n", form->text);
            same = false;
        }
        return same;
    }
    for (unsigned i = 0; same && i < VECTOR_APPROXIMATE_THREADS; i++) {
        same = compare_value(form, i, strtoull(text, &text, 16));
    }
    return same;
}

static int compare_all(const struct form *forms, size_t count)
{
    size_t bytes = 0, wrong = 0;
    char *line = NULL;
    if (getline(&line, &bytes, stdin) < 0 || line[0] != '#') {
        fprintf(stderr, "ptx_vectors: no record on stdin\n");
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        const char *error = device_run(&forms[i], &results);
        if (getline(&line, &bytes, stdin) < 0) {
            printf("%s: the record ends before it\n", forms[i].text);
            wrong++;
            break;
        }
        wrong += !compare(&forms[i], error, line);
    }
    free(line);
    printf("%zu forms, %zu differ\n", count, wrong);
    return wrong != 0;
}

static void record_all(const struct form *forms, size_t count)
{
    char name[128] = "";
    int driver = 0;
    device_name(name, sizeof(name), &driver);
    printf("# ptx_vectors on %s, driver for CUDA %d.%d\n", name, driver / 1000, driver % 1000 / 10);
    for (size_t i = 0; i < count; i++) {
        const char *error = device_run(&forms[i], &results);
        if (error) {
            printf("%s\t! %s\n", forms[i].text, error);
        } else {
            print_record(&forms[i]);
        }
    }
}

static int show(const struct form *form, bool kernel)
{
    char text[16384];
    if (kernel) {
        if (!kernel_text(form, text, sizeof(text))) {
            return 1;
        }
        fputs(text, stdout);
        return 0;
    }
    const char *error = device_run(form, &results);
    if (error) {
        printf("%s\t! %s\n", form->text, error);
    } else {
        print_values(form);
    }
    return error != NULL;
}

static int show_named(const struct form *forms, size_t count, char **names, bool kernel)
{
    int status = 0;
    for (; *names; names++) {
        size_t i = 0;
        while (i < count && strcmp(forms[i].text, *names) != 0) {
            i++;
        }
        if (i == count) {
            fprintf(stderr, "ptx_vectors: no form \"%s\" (--list)\n", *names);
        }
        status |= i == count || show(&forms[i], kernel);
    }
    return status;
}

int main(int argc, char **argv)
{
    size_t count;
    const char *option = argc > 1 ? argv[1] : "";
    struct form *forms = forms_all(&count);
    if (!forms) {
        return 1;
    }
    int status = 0;
    bool needs_device = strcmp(option, "--list") != 0 && strcmp(option, "--kernel") != 0;
    const char *error = needs_device ? device_open() : NULL;
    if (error) {
        fprintf(stderr, "ptx_vectors: %s\n", error);
        status = 77;
    } else if (strcmp(option, "--list") == 0) {
        for (size_t i = 0; i < count; i++) {
            printf("%s\n", forms[i].text);
        }
    } else if (strcmp(option, "--values") == 0 || strcmp(option, "--kernel") == 0) {
        status = show_named(forms, count, argv + 2, option[2] == 'k');
    } else if (strcmp(option, "--compare") == 0) {
        status = compare_all(forms, count);
    } else if (argc > 1) {
        fprintf(stderr,
                "usage: ptx_vectors [--list | --compare | --values FORM... | --kernel FORM...]\n");
        status = 2;
    } else {
        record_all(forms, count);
    }
    free(forms);
    return status;
}
