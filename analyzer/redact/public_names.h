/* SPDX-License-Identifier: Apache-2.0 */
/* What a redacted report may show: names that are the same on every machine. All else is private. */
#ifndef GMT_ANALYZER_REDACT_PUBLIC_NAMES_H
#define GMT_ANALYZER_REDACT_PUBLIC_NAMES_H

/*
 * Each returns what may be shown of a text, which is the caller's (free), or NULL: nothing of it is
 * known to be public, or there is no memory.
 */
char *gmt_public_word(const char *text);     /* of the schema and the recorder, as a whole */
char *gmt_public_sentence(const char *text); /* that the recorder writes; numbers in it stay */
char *gmt_public_function(const char *text); /* of the driver, the runtime, CUPTI: its name alone */
char *gmt_public_file(const char *text);     /* a header of the toolkit or of the C++ library */
char *gmt_public_module(const char *text); /* a library of the system or NVIDIA's: its base name */
char *gmt_public_opcode(const char *text); /* PTX or SASS, with its modifiers */
char *gmt_public_device(const char *text); /* a product's name */
char *gmt_public_number(const char *text); /* a number, a version, a time */
char *gmt_public_hash(const char *text);   /* hexadecimal digits */
char *gmt_public_attributes(const char *text); /* of "key=number;..." the known keys */

/* Where the part of a path that names a toolkit's header begins, wherever the toolkit lies; or NULL. */
const char *gmt_public_toolkit_part(const char *path);

#endif
