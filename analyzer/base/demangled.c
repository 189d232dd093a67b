/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of demangled C++ names: namespaces, template arguments, parameters, lambdas. */
#include "analyzer/base/demangled.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* Names come from traces: deeper ones are kept as text. */
enum { DEPTH_MOST = 40 };

static const char anonymous[] = "(anonymous namespace)";

struct name_text {
    const char *begin, *end;
};

static size_t length_of(struct name_text s)
{
    return (size_t)(s.end - s.begin);
}

static bool begins(struct name_text s, const char *word)
{
    size_t length = strlen(word);

    return length_of(s) >= length && memcmp(s.begin, word, length) == 0;
}

static bool ends(struct name_text s, const char *word)
{
    size_t length = strlen(word);

    return length_of(s) >= length && memcmp(s.end - length, word, length) == 0;
}

static struct name_text trim(struct name_text s)
{
    while (s.begin < s.end && *s.begin == ' ') {
        s.begin++;
    }
    while (s.begin < s.end && s.end[-1] == ' ') {
        s.end--;
    }
    return s;
}

/* Behind "operator" its sign follows: "operator()", "operator<", "operator->". */
static const char *skip_operator(const char *at, const char *end)
{
    struct name_text rest = {at, end};

    if (!begins(rest, "operator")) {
        return at;
    }
    at += strlen("operator");
    if (begins((struct name_text){at, end}, "()")) {
        return at + 2;
    }
    while (at < end && strchr("<>=-+*/%&|^!~[],", *at) != NULL) {
        at++;
    }
    return at;
}

static int depth_step(char c)
{
    if (strchr("<([{", c) != NULL) {
        return 1;
    }
    return strchr(">)]}", c) != NULL ? -1 : 0;
}

/* The next place from `at` on, outside of brackets, that `stops` says; the end where there is none. */
static const char *find(const char *at, const char *end, bool (*stops)(const char *, const char *))
{
    int depth = 0;

    while (at < end) {
        const char *behind = skip_operator(at, end);

        if (behind != at) {
            at = behind;
            continue;
        }
        if (depth == 0 && stops(at, end)) {
            return at;
        }
        depth += depth_step(*at);
        depth = depth > 0 ? depth : 0;
        at++;
    }
    return end;
}

static bool at_comma(const char *at, const char *end)
{
    (void)end;
    return *at == ',';
}

static bool at_scope(const char *at, const char *end)
{
    return begins((struct name_text){at, end}, "::");
}

/* Of a part: where its arguments or parameters begin. */
static bool at_bracket(const char *at, const char *end)
{
    (void)end;
    return *at == '<' || *at == '(';
}

/* Between words, which " const::" does not part. */
static bool at_blank(const char *at, const char *end)
{
    return *at == ' ' && !begins((struct name_text){at, end}, " const::");
}

/* Behind the bracket that closes the one here. */
static const char *close_of(const char *at, const char *end)
{
    int depth = 0;

    while (at < end) {
        const char *behind = skip_operator(at, end);

        if (behind != at) {
            at = behind;
            continue;
        }
        depth += depth_step(*at++);
        if (depth <= 0) {
            return at;
        }
    }
    return end;
}

static int parse_type(struct gmt_arena *arena, struct name_text s, int depth,
                      struct gmt_name_type *type);

static int parse_list(struct gmt_arena *arena, struct name_text s, int depth,
                      struct gmt_name_type **types, size_t *count)
{
    for (const char *at = s.begin; at < s.end;) {
        const char *stop = find(at, s.end, at_comma);
        struct gmt_name_type *type = GMT_PUSH(arena, *types, *count);

        if (type == NULL) {
            return -ENOMEM;
        }
        int rc = parse_type(arena, (struct name_text){at, stop}, depth + 1, type);
        if (rc != 0) {
            return rc;
        }
        at = stop + 1;
    }
    return 0;
}

static int parse_part(struct gmt_arena *arena, struct name_text s, int depth,
                      struct gmt_name_part *part)
{
    int rc = 0;

    if (begins(s, anonymous)) {
        *part = (struct gmt_name_part){
            .text = s.begin, .length = sizeof(anonymous) - 1, .anonymous = true};
        return 0;
    }
    if (begins(s, "{lambda(")) {
        const char *open = s.begin + strlen("{lambda"), *close = close_of(open, s.end);

        *part = (struct gmt_name_part){
            .text = s.begin, .length = length_of(s), .lambda = true, .called = true};
        return parse_list(arena, (struct name_text){open + 1, close - 1}, depth, &part->parameters,
                          &part->parameter_count);
    }
    const char *at = find(s.begin, s.end, at_bracket);

    *part = (struct gmt_name_part){.text = s.begin, .length = (size_t)(at - s.begin)};
    while (rc == 0 && at < s.end && (*at == '<' || *at == '(')) {
        const char *close = close_of(at, s.end);
        struct name_text inside = {at + 1, close > at + 1 ? close - 1 : close};

        if (*at == '<') {
            rc = parse_list(arena, inside, depth, &part->arguments, &part->argument_count);
        } else {
            part->called = true;
            rc = parse_list(arena, inside, depth, &part->parameters, &part->parameter_count);
        }
        at = close;
    }
    return rc;
}

static struct name_text without_qualifiers(struct name_text s, bool *pointer)
{
    static const char *const words[] = {"const", "volatile", "__restrict__", "&&", "&", "*", "..."};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]);) {
        s = trim(s);
        if (length_of(s) <= strlen(words[i]) || !ends(s, words[i])) {
            i++;
            continue;
        }
        *pointer |= words[i][0] == '*' || words[i][0] == '&';
        s.end -= strlen(words[i]);
        i = 0;
    }
    return s;
}

/* "&main", "&(main)", "(int)4" */
static struct name_text without_cast(struct name_text s)
{
    if (begins(s, "&")) {
        s.begin++;
        if (begins(s, "(") && !begins(s, anonymous) && ends(s, ")")) {
            s.begin++;
            s.end--;
        }
    } else if (begins(s, "(") && !begins(s, anonymous)) {
        const char *close = close_of(s.begin, s.end);

        s.begin = close < s.end ? close : s.begin;
    }
    return s;
}

static bool is_value(struct name_text s)
{
    struct name_text digits = begins(s, "-") ? (struct name_text){s.begin + 1, s.end} : s;

    return (digits.begin < digits.end && isdigit((unsigned char)*digits.begin)) ||
           (begins(s, "true") && length_of(s) == 4) || (begins(s, "false") && length_of(s) == 5);
}

static int parse_type(struct gmt_arena *arena, struct name_text s, int depth,
                      struct gmt_name_type *type)
{
    s = without_cast(trim(s));
    *type = (struct gmt_name_type){.text = s.begin, .length = length_of(s)};
    if (is_value(s)) {
        type->value = true;
        return 0;
    }
    s = without_qualifiers(s, &type->pointer);
    type->text = s.begin;
    type->length = length_of(s);
    for (const char *at = s.begin; depth < DEPTH_MOST && at < s.end;) {
        const char *stop = find(at, s.end, at_scope);
        struct name_text text = {at, stop};

        if (ends(text, " const")) {
            text.end -= strlen(" const");
        }
        struct gmt_name_part *part = GMT_PUSH(arena, type->parts, type->part_count);
        int rc = part != NULL ? parse_part(arena, text, depth, part) : -ENOMEM;
        if (rc != 0) {
            return rc;
        }
        at = stop + 2;
    }
    return 0;
}

int gmt_name_parse(struct gmt_arena *arena, const char *name, struct gmt_name_type *parsed)
{
    struct name_text all = {name, name + strlen(name)}, found = all;

    /* "void f<int>(int) [clone .kd]": the last word with a bracket, else the last one. */
    for (const char *at = all.begin; at < all.end;) {
        const char *stop = find(at, all.end, at_blank);
        struct name_text word = {at, stop};

        if (begins(word, "[clone")) {
            break;
        }
        if (length_of(word) > 0) {
            found = word;
        }
        at = stop + 1;
    }
    *parsed = (struct gmt_name_type){.text = found.begin, .length = length_of(found)};
    return parse_type(arena, found, 0, parsed);
}

const struct gmt_name_part *gmt_name_last(const struct gmt_name_type *type)
{
    return type->part_count > 0 ? &type->parts[type->part_count - 1] : NULL;
}

bool gmt_name_is(const struct gmt_name_part *part, const char *text)
{
    return part != NULL && part->length == strlen(text) &&
           memcmp(part->text, text, part->length) == 0;
}
