/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of `gmtrace doctor`: lines, or one JSON object. */
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "launcher/doctor.h"
#include "libtrace/base/printable.h"

static const char *const states[] = {
    [GMT_DOCTOR_GOOD] = "ok", [GMT_DOCTOR_LIMITED] = "limited", [GMT_DOCTOR_BAD] = "missing"};

static bool is_json;
static enum gmt_doctor_state worst;
static json_t *answers; /* NULL: lines are printed as they come */

void gmt_doctor_begin(bool json)
{
    is_json = json;
    answers = json ? json_array() : NULL;
}

void gmt_doctor_say(enum gmt_doctor_state state, const char *check, const char *remedy,
                    const char *format, ...)
{
    char text[PATH_MAX + 512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list); // NOLINT: clang 14 misses va_start
    va_end(list);
    worst = state > worst ? state : worst;
    if (answers != NULL) {
        /* A path may hold any bytes: what is not UTF-8 is no JSON. */
        json_t *said = json_string(text), *advice = json_string(remedy);
        json_array_append_new(answers,
                              json_pack("{ss, ss, so, so}", "check", check, "state", states[state],
                                        "text", said != NULL ? said : json_null(), "remedy",
                                        advice != NULL ? advice : json_null()));
        return;
    }
    gmt_say(stdout, "%-7s  %-12s %s%s%s\n", states[state], check, text, remedy != NULL ? "; " : "",
            remedy != NULL ? remedy : "");
}

static int print_answers(void)
{
    json_t *root = json_pack("{ss, si, ss, ss, sO}", "format", "gmtrace-doctor", "version", 1,
                             "tool_version", GMT_VERSION, "state", states[worst], "checks",
                             answers);
    int failed = root == NULL || json_dumpf(root, stdout, JSON_INDENT(2)) != 0 || puts("") < 0;
    json_decref(root);
    return failed;
}

int gmt_doctor_end(enum gmt_doctor_state *state)
{
    if (is_json && print_answers() != 0) {
        return -1;
    }
    json_decref(answers);
    *state = worst;
    return 0;
}
