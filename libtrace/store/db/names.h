/* SPDX-License-Identifier: Apache-2.0 */
/* How the numbers of a record are spelled in the database, and names made readable. */
#ifndef GMT_STORE_DB_NAMES_H
#define GMT_STORE_DB_NAMES_H

#include <stddef.h>

/* Each returns static text that satisfies the schema's CHECK constraint whatever the number is;
 * gmt_name_group gives NULL for "not measured", gmt_name_fingerprint_skip for what was not skipped. */
const char *gmt_name_family(unsigned family);
const char *gmt_name_direction(unsigned direction);
const char *gmt_name_mem_class(unsigned mem_class);
const char *gmt_name_fingerprint_skip(unsigned state);
const char *gmt_name_alloc_kind(unsigned kind);
const char *gmt_name_graph_node_kind(unsigned kind);
const char *gmt_name_launch_kind(unsigned kind);
const char *gmt_name_sync_kind(unsigned kind);
const char *gmt_name_args_state(unsigned state);
const char *gmt_name_group(unsigned group);
const char *gmt_name_source(unsigned source);
/* Of tensor maps; but for the first, NULL for a number that the schema has no word for. */
const char *gmt_name_tensor_map_kind(unsigned kind);
const char *gmt_name_tensor_type(unsigned type);
const char *gmt_name_tensor_interleave(unsigned interleave);
const char *gmt_name_tensor_swizzle(unsigned swizzle);
const char *gmt_name_tensor_promotion(unsigned promotion);
const char *gmt_name_tensor_fill(unsigned fill);
/* Bits of an element of that type, 0: not known. */
unsigned gmt_tensor_type_bits(unsigned type);
const char *gmt_name_op_kind(unsigned kind);
/* CUPTI's kind of a copy (CUpti_ActivityMemcpyKind) -> enum gmt_direction. */
unsigned gmt_cupti_copy_direction(unsigned copy_kind);
const char *gmt_name_managed_kind(unsigned kind); /* NULL: none of that number */
/* CUPTI's number of a cause, which depends on the kind; NULL: none. */
const char *gmt_name_managed_cause(unsigned kind, unsigned cause);
const char *gmt_name_own_work(unsigned work);
const char *gmt_name_inst_kind(unsigned kind);
const char *gmt_name_range_kind(unsigned kind);
const char *gmt_name_heap_usage(unsigned usage);
const char *gmt_name_capability_state(unsigned state);

/* The demangled form of `mangled` (itself where it is not a mangled name); malloc'ed, NULL: no
 * memory. */
char *gmt_name_demangle(const char *mangled);

/* Arguments joined by `separator` -> one line that a shell splits into the same arguments;
 * malloc'ed, NULL: no memory. */
char *gmt_name_shell_quote(const char *joined, size_t bytes, char separator);

#endif
