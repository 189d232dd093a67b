/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that is written piece by piece is byte for byte what jansson writes of the whole. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/json/json_stream.h"

static json_t *square(const void *context, size_t i)
{
    (void)context;
    return json_pack("{sI, s[], s{}}", "square", (json_int_t)i * (json_int_t)i, "none", "nothing");
}

static json_t *missing(const void *context, size_t i)
{
    (void)context;
    return i == 1 ? NULL : json_integer((json_int_t)i);
}

static void write_all(struct gmt_json_stream *stream)
{
    gmt_json_open_object(stream, NULL);
    gmt_json_give(stream, "text", json_string("two\nlines, \"quoted\", \xc3\xa9"));
    gmt_json_give(stream, "a \"key\"\n", json_real(0.1));
    gmt_json_open_object(stream, "empty");
    gmt_json_close_object(stream);
    gmt_json_give_each(stream, "no items", 0, square, NULL);
    gmt_json_give_each(stream, "squares", 3, square, NULL);
    gmt_json_open_array(stream, "nested");
    gmt_json_open_object(stream, NULL);
    gmt_json_give_each(stream, "squares", 2, square, NULL);
    gmt_json_give(stream, "last", json_true());
    gmt_json_close_object(stream);
    gmt_json_give(stream, NULL, json_null());
    gmt_json_close_array(stream);
    gmt_json_close_object(stream);
}

static char *streamed(size_t flags, void (*write)(struct gmt_json_stream *), int *rc)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    struct gmt_json_stream stream = {.write = gmt_json_to_file, .context = out, .flags = flags};

    write(&stream);
    cr_assert_eq(stream.depth, 0);
    *rc = stream.rc;
    fclose(out);
    return text;
}

static void looks_as_of_jansson(size_t flags)
{
    int rc;
    char *text = streamed(flags, write_all, &rc);
    json_t *whole = json_loads(text, 0, NULL);
    char *wanted = json_dumps(whole, flags);

    cr_assert_eq(rc, 0);
    cr_assert_str_eq(text, wanted);
    cr_assert_eq(json_array_size(json_object_get(whole, "squares")), 3);
    cr_assert_str_eq(json_string_value(json_object_get(whole, "text")),
                     "two\nlines, \"quoted\", \xc3\xa9");
    cr_assert_eq(json_object_size(whole), 6);
    free(text);
    free(wanted);
    json_decref(whole);
}

Test(json_stream, indented_json_is_that_of_jansson)
{
    looks_as_of_jansson(GMT_JSON_INDENTED);
}

Test(json_stream, compact_json_is_that_of_jansson)
{
    looks_as_of_jansson(GMT_JSON_COMPACT);
}

static void write_with_a_gap(struct gmt_json_stream *stream)
{
    gmt_json_give_each(stream, NULL, 3, missing, NULL);
}

Test(json_stream, a_value_that_could_not_be_made_leaves_no_trace)
{
    int rc;
    char *text = streamed(GMT_JSON_COMPACT, write_with_a_gap, &rc);

    cr_assert_str_eq(text, "[0,2]");
    free(text);
}

static int refuse_second(const char *text, size_t bytes, void *calls)
{
    (void)text;
    (void)bytes;
    return ++*(int *)calls > 1 ? -1 : 0;
}

Test(json_stream, nothing_is_written_after_a_failure)
{
    int calls = 0;
    struct gmt_json_stream stream = {
        .write = refuse_second, .context = &calls, .flags = GMT_JSON_COMPACT};

    write_all(&stream);
    cr_assert_eq(stream.rc, -EIO);
    cr_assert_eq(calls, 2);
}
