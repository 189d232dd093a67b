/* SPDX-License-Identifier: Apache-2.0 */
/* --redact=paths: texts without folders, hosts and users. */
#include "analyzer/redact/redact_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/redact/public_names.h"
#include "analyzer/redact/redact.h"
#include "libtrace/base/prefix.h"

enum { SHORTEST_WORD = 3 }; /* a host called "vm" would take out parts of sentences */

static const char hidden[] = "…";

/* ---- names of hosts and users -------------------------------------------------------------------- */

static void add_word(struct gmt_private_words *words, const char *text, size_t length)
{
    if (length < SHORTEST_WORD) {
        return;
    }
    for (size_t i = 0; i < words->count; i++) {
        if (strlen(words->words[i]) == length && strncmp(words->words[i], text, length) == 0) {
            return;
        }
    }
    char *word = words->count < GMT_PRIVATE_WORDS ? strndup(text, length) : NULL;
    if (word != NULL) {
        words->words[words->count++] = word;
    } else {
        words->error = words->count < GMT_PRIVATE_WORDS ? -ENOMEM : -E2BIG;
    }
}

static const char *const homes[] = {"/home/", "/Users/"};
enum { HOMES = sizeof(homes) / sizeof(homes[0]) };

void gmt_private_users(struct gmt_private_words *words, const char *text)
{
    for (size_t i = 0; i < HOMES; i++) {
        for (const char *at = text; (at = strstr(at, homes[i])) != NULL;) {
            at += strlen(homes[i]);
            add_word(words, at, strcspn(at, "/ '\";:,"));
        }
    }
}

void gmt_private_host(struct gmt_private_words *words, const char *name)
{
    if (strcmp(name, "localhost") == 0) {
        return;
    }
    add_word(words, name, strlen(name));
    add_word(words, name, strcspn(name, "."));
}

void gmt_private_free(struct gmt_private_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->words[i]);
    }
    words->count = 0;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Length of the host's or user's name that begins here as a word of its own; 0: none does. */
static size_t private_at(const struct gmt_private_words *words, const char *text, const char *at)
{
    size_t longest = 0;

    if (words == NULL || (at > text && in_word(at[-1]))) {
        return 0;
    }
    for (size_t i = 0; i < words->count; i++) {
        size_t length = strlen(words->words[i]);

        if (length > longest && strncmp(at, words->words[i], length) == 0 && !in_word(at[length])) {
            longest = length;
        }
    }
    return longest;
}

static char *without_words(const struct gmt_private_words *words, const char *text)
{
    char *copy = malloc(strlen(text) + strlen(text) / SHORTEST_WORD * sizeof(hidden) + 1);
    char *to = copy;

    for (const char *at = text; copy != NULL && *at != '\0';) {
        size_t length = private_at(words, text, at);

        if (length == 0) {
            *to++ = *at++;
            continue;
        }
        memcpy(to, hidden, sizeof(hidden) - 1);
        to += sizeof(hidden) - 1;
        at += length;
    }
    if (copy != NULL) {
        *to = '\0';
    }
    return copy;
}

/* ---- paths --------------------------------------------------------------------------------------- */

const char *gmt_package_mark(const char *path)
{
    static const char *const marks[] = {"/site-packages/", "/dist-packages/", "/lib/python3"};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (strstr(path, marks[i]) != NULL) {
            return i < 2 ? marks[i] : "/lib/python3/";
        }
    }
    return strstr(path, "<frozen ") != NULL ? "<frozen " : "";
}

const char *gmt_redact_path(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Is it the home folder itself, whose base name is the user's? */
static bool is_home(const char *path)
{
    for (size_t i = 0; i < HOMES; i++) {
        const char *home = strstr(path, homes[i]);

        if (home != NULL &&
            home[strlen(homes[i]) + strcspn(home + strlen(homes[i]), "/")] == '\0') {
            return true;
        }
    }
    return false;
}

/* The part of a path that names nobody: of the system's and the toolkit's files all of it. */
static const char *shown(const char *path)
{
    static const char *const system[] = {"/usr/", "/lib/", "/lib64/", "/lib32/", "/opt/cuda"};
    const char *toolkit = gmt_public_toolkit_part(path);
    bool home = strstr(path, "/home/") != NULL || strstr(path, "/Users/") != NULL;

    for (size_t i = 0; i < sizeof(system) / sizeof(system[0]); i++) {
        if (gmt_starts_with(path, system[i]) && !home) {
            return path;
        }
    }
    /* A toolkit in a folder of the user's is known by what follows. */
    if (toolkit != NULL) {
        return toolkit;
    }
    return is_home(path) ? hidden : gmt_redact_path(path);
}

char *gmt_shown_path(const struct gmt_private_words *words, const char *path)
{
    const char *mark = gmt_package_mark(path), *rest = shown(path);
    char *text = NULL, *result;

    /* What is shown whole has its mark in it. */
    if (asprintf(&text, "%s%s", strstr(rest, mark) == NULL ? mark : "", rest) < 0) {
        return NULL;
    }
    result = without_words(words, text);
    free(text);
    return result;
}

char *gmt_shown_base(const struct gmt_private_words *words, const char *path)
{
    return without_words(words, is_home(path) ? hidden : gmt_redact_path(path));
}

static bool in_path(char c)
{
    return c != '\0' && strchr(" \t\n\"'()<>[]{},;:|&", c) == NULL;
}

/* A path begins at slashes that follow no word, and goes on with a name: neither "a / b" nor "a/b", but
 * "-L/b", "~/b" and "file:///b". */
static bool path_begins(const char *text, const char *at)
{
    const char *word = at;

    if (*at != '/' || !in_path(at[strspn(at, "/")])) {
        return false;
    }
    while (word > text && in_path(word[-1]) && word[-1] != '=' && word[-1] != '/') {
        word--;
    }
    if (word > text && word[-1] == '/') {
        return false;
    }
    return word == at || !(isalnum((unsigned char)*word) || *word == '_');
}

/* Folders may have blanks and marks in their names: up to the next path, whatever a slash follows is of this
 * one. */
static size_t path_length(const char *text, const char *at)
{
    const char *end = at;

    while (in_path(*end)) {
        end++;
    }
    for (const char *next = end; *next != '\0' && !path_begins(text, next); next++) {
        if (*next != '/' || !in_path(next[-1])) {
            continue;
        }
        while (in_path(*next)) {
            next++;
        }
        end = next--;
    }
    return (size_t)(end - at);
}

char *gmt_shown_text(const struct gmt_private_words *words, const char *text)
{
    /* What stands for a home folder can be longer than "/a". */
    char *copy = malloc(2 * strlen(text) + 1), *to = copy;

    for (const char *at = text; copy != NULL && *at != '\0';) {
        if (!path_begins(text, at)) {
            *to++ = *at++;
            continue;
        }
        char path[4096];
        size_t length = path_length(text, at);

        snprintf(path, sizeof(path), "%.*s", (int)length, at);
        const char *rest = length < sizeof(path) ? shown(path) : hidden;
        size_t bytes = strlen(rest);
        memcpy(to, rest, bytes);
        to += bytes;
        at += length;
    }
    if (copy == NULL) {
        return NULL;
    }
    *to = '\0';
    char *result = without_words(words, copy);
    free(copy);
    return result;
}

char *gmt_shown_settings(const struct gmt_private_words *words, const char *text)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;

    while (copy != NULL && *text != '\0') {
        size_t length = strcspn(text, ";"), value = strcspn(text, "=;"), from = value;

        for (size_t i = value; i < length; i++) {
            if (text[i] == '/') {
                from = i;
            }
        }
        memcpy(to, text, value);
        to += value;
        if (value < length) {
            *to++ = '=';
        }
        if (from + 1 < length) {
            memcpy(to, text + from + 1, length - from - 1);
            to += length - from - 1;
        }
        text += length;
        if (*text == ';') {
            *to++ = *text++;
        }
    }
    if (copy == NULL) {
        return NULL;
    }
    *to = '\0';
    char *result = without_words(words, copy);
    free(copy);
    return result;
}
