/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of formats of reports. A new one is a row here and a file that defines gmt_writer_NAME. */
#ifndef GMT_REPORTS_MODEL_FORMATS_H
#define GMT_REPORTS_MODEL_FORMATS_H

/*
 * X(name, ending): as in --format, and the ending of files, without the dot. The writers that are found, the words of
 * --format, and what help says of endings follow from it. The first and the last row have macros of their own, since
 * lists of words do not treat them as the rest.
 */
#define GMT_FORMATS(FIRST, NEXT, LAST) \
    FIRST(text, "txt") \
    NEXT(json, "json") \
    NEXT(markdown, "md") \
    NEXT(csv, "csv") \
    NEXT(sarif, "sarif") \
    LAST(html, "html")

/* Those of comparisons, and of several traces: functions of reports/several/several.c. */
#define GMT_SEVERAL_FORMATS(FIRST, NEXT, LAST) \
    FIRST(text, "txt") \
    NEXT(json, "json") \
    NEXT(markdown, "md") \
    LAST(html, "html")

/* "text|json|...": the metavar of an option, whose words are its choices. */
#define GMT_FORMAT_WORD(name, ending) #name
#define GMT_FORMAT_OR_WORD(name, ending) "|" #name
#define GMT_FORMAT_WORDS GMT_FORMATS(GMT_FORMAT_WORD, GMT_FORMAT_OR_WORD, GMT_FORMAT_OR_WORD)
#define GMT_SEVERAL_FORMAT_WORDS \
    GMT_SEVERAL_FORMATS(GMT_FORMAT_WORD, GMT_FORMAT_OR_WORD, GMT_FORMAT_OR_WORD)

/* "text, json, ... and html", for sentences. */
#define GMT_FORMAT_NEXT_NAME(name, ending) ", " #name
#define GMT_FORMAT_LAST_NAME(name, ending) " and " #name
#define GMT_SEVERAL_FORMAT_NAMES \
    GMT_SEVERAL_FORMATS(GMT_FORMAT_WORD, GMT_FORMAT_NEXT_NAME, GMT_FORMAT_LAST_NAME)

/* ".txt, .json, ... or .html", for sentences. */
#define GMT_FORMAT_ENDING(name, ending) "." ending
#define GMT_FORMAT_NEXT_ENDING(name, ending) ", ." ending
#define GMT_FORMAT_LAST_ENDING(name, ending) " or ." ending
#define GMT_FORMAT_ENDINGS \
    GMT_FORMATS(GMT_FORMAT_ENDING, GMT_FORMAT_NEXT_ENDING, GMT_FORMAT_LAST_ENDING)
#define GMT_SEVERAL_FORMAT_ENDINGS \
    GMT_SEVERAL_FORMATS(GMT_FORMAT_ENDING, GMT_FORMAT_NEXT_ENDING, GMT_FORMAT_LAST_ENDING)

#endif
