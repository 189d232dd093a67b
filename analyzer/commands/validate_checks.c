/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a trace: queries whose rows are what is wrong. */
#include "analyzer/commands/validate_checks.h"

#include "libtrace/store/db/traits.h"

/* clang-format off */
/* Every call, whatever its kind. */
#define CALLS \
    "(SELECT 'transfer' AS kind, id, api_id, thread_id, context_id, stream_id, stack_id, begin_ns, end_ns FROM transfer " \
    "UNION ALL SELECT 'memset', id, api_id, thread_id, context_id, stream_id, stack_id, begin_ns, end_ns FROM memset " \
    "UNION ALL SELECT 'launch', id, api_id, thread_id, context_id, stream_id, stack_id, begin_ns, end_ns FROM launch " \
    "UNION ALL SELECT 'sync', id, api_id, thread_id, context_id, stream_id, stack_id, begin_ns, end_ns FROM sync " \
    "UNION ALL SELECT 'api_call', id, api_id, thread_id, context_id, stream_id, stack_id, begin_ns, end_ns FROM api_call)"
#define WORK \
    "(SELECT 'transfer' AS kind, id, begin_ns, device_start_ns, device_end_ns FROM transfer UNION ALL " \
    "SELECT 'memset', id, begin_ns, device_start_ns, device_end_ns FROM memset UNION ALL " \
    "SELECT 'launch', id, begin_ns, device_start_ns, device_end_ns FROM launch)"
#define MEMORY \
    "(SELECT 'allocation' AS kind, id, bytes, thread_id, context_id, stack_id, free_stack_id, begin_ns, end_ns, " \
    "free_begin_ns, free_end_ns FROM allocation UNION ALL SELECT 'host_allocation', id, bytes, thread_id, context_id, " \
    "stack_id, free_stack_id, begin_ns, end_ns, free_begin_ns, free_end_ns FROM host_allocation)"

/* Rows of `from` (kind, id, ...) whose column names no row of `to`. */
#define DANGLING(from, column, to) \
    "SELECT kind || ' ' || id || ': " column " ' || " column " FROM " from " WHERE " column " IS NOT NULL AND " \
    column " NOT IN (SELECT id FROM " to ")"
/* The same of one table. */
#define OF(table) "(SELECT '" table "' AS kind, * FROM " table ")"

const struct gmt_check gmt_checks[] = {
    {"integrity", "the file is a sound SQLite database",
     "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'", GMT_CHECK_FAILED, 0},
    {"types", "values are of the types that the schema declares", NULL, GMT_CHECK_FAILED, GMT_CHECK_TYPES},
    /* Ours: what constraints the file has is not executed. */
    {"values", "values are among those that the schema allows", NULL, GMT_CHECK_FAILED, GMT_CHECK_CONSTRAINTS},
    {"foreign_keys", "references that the schema declares name rows",
     "SELECT \"table\" || ' ' || coalesce(rowid, '?') || ': no such ' || parent FROM pragma_foreign_key_check",
     GMT_CHECK_FAILED, 0},
    {"process", "there is one process",
     "SELECT count(*) || ' processes' FROM process HAVING count(*) <> 1", GMT_CHECK_FAILED, 0},
    {"call_ids", "calls of all kinds share one sequence of ids",
     "SELECT group_concat(kind, ' and ') || ' ' || id FROM " CALLS " GROUP BY id HAVING count(*) > 1",
     GMT_CHECK_FAILED, 0},
    {"memory_ids", "allocations of device and host share one sequence of ids",
     "SELECT group_concat(kind, ' and ') || ' ' || id FROM " MEMORY " GROUP BY id HAVING count(*) > 1",
     GMT_CHECK_FAILED, 0},
    /* The life of a process begins when cuInit has returned. */
    {"call_times", "calls end after they begin, within the life of the process",
     "SELECT kind || ' ' || c.id FROM " CALLS " c JOIN process p LEFT JOIN api a ON a.id = c.api_id WHERE "
     "c.end_ns < c.begin_ns OR c.end_ns > p.end_ns OR (c.begin_ns < p.start_ns AND NOT "
     GMT_SQL_HAS("coalesce(a.traits, 0)", GMT_TRAIT_STARTS_DRIVER) ")",
     GMT_CHECK_FAILED, 0},
    {"device_times", "device work has both times or none, and ends after it starts",
     "SELECT kind || ' ' || id FROM " WORK " WHERE device_end_ns < device_start_ns OR "
     "(device_start_ns IS NULL) <> (device_end_ns IS NULL)", GMT_CHECK_FAILED, 0},
    {"device_order", "device work starts after its call begins",
     "SELECT kind || ' ' || id || ': ' || (begin_ns - device_start_ns) || ' ns early' FROM " WORK
     " WHERE device_start_ns < begin_ns", GMT_CHECK_FAILED, 0},
    {"device_joined", "kernels have the times that the device reported for them",
     "SELECT 'launch ' || l.id FROM launch l JOIN device_op d ON d.call_id = l.id WHERE l.kind <> 'graph' "
     "AND d.graph IS NULL AND (l.device_start_ns <> d.start_ns OR l.device_end_ns <> d.end_ns)", GMT_CHECK_FAILED, 0},
    {"memory_times", "memory is released after it is allocated, by calls that end after they begin",
     "SELECT kind || ' ' || id FROM " MEMORY " WHERE end_ns < begin_ns OR free_end_ns < free_begin_ns "
     "OR free_begin_ns < begin_ns", GMT_CHECK_FAILED, 0},
    {"sizes", "no size is negative",
     "SELECT kind || ' ' || id FROM " MEMORY " WHERE bytes < 0 UNION ALL SELECT 'transfer ' || id FROM transfer "
     "WHERE bytes < 0 OR width < 0 OR height < 0 OR depth < 0 UNION ALL SELECT 'memset ' || id FROM memset "
     "WHERE bytes < 0 UNION ALL SELECT 'device_op ' || id FROM device_op WHERE bytes < 0", GMT_CHECK_FAILED, 0},
    {"launch_numbers", "every launch has a number of its own, from 1",
     "SELECT 'launch ' || min(id) || ': number ' || seq FROM launch GROUP BY seq HAVING count(*) > 1 OR seq < 1",
     GMT_CHECK_FAILED, 0},
    {"classes", "launches belong to the class of their kernel and shape",
     "SELECT 'launch ' || l.id FROM launch l JOIN kernel_class c ON c.id = l.class_id WHERE l.kernel_id <> c.kernel_id OR "
     "l.grid_x <> c.grid_x OR l.grid_y <> c.grid_y OR l.grid_z <> c.grid_z OR l.block_x <> c.block_x OR "
     "l.block_y <> c.block_y OR l.block_z <> c.block_z OR l.dynamic_shared_bytes <> c.dynamic_shared_bytes",
     GMT_CHECK_FAILED, 0},
    {"stacks", "stacks have as many frames as their rows state, numbered from 0",
     "SELECT 'stack ' || s.id FROM stack s LEFT JOIN stack_frame f ON f.stack_id = s.id GROUP BY s.id "
     "HAVING count(f.position) <> s.depth OR (s.depth > 0 AND (min(f.position) <> 0 OR max(f.position) <> s.depth - 1))",
     GMT_CHECK_FAILED, 0},
    {"counters", "counters are not negative and belong to a launch of their class",
     "SELECT 'kernel_counters ' || k.id FROM kernel_counters k LEFT JOIN launch l ON l.seq = k.launch_seq "
     "WHERE k.value < 0 OR k.samples < 1 OR l.id IS NULL OR l.class_id IS NOT k.class_id", GMT_CHECK_FAILED, 0},
    {"instructions", "counts of instructions are no less than their ideals and belong to a launch",
     "SELECT 'instruction ' || i.id FROM instruction i LEFT JOIN launch l ON l.seq = i.launch_seq WHERE l.id IS NULL "
     "OR l.class_id IS NOT i.class_id OR i.executed < 0 OR i.lanes < 0 OR i.sectors < i.ideal_sectors "
     "OR i.wavefronts < i.ideal_wavefronts", GMT_CHECK_FAILED, 0},
    {"instruction_sums", "instructions of a launch sum to its counters",
     "SELECT 'launch number ' || k.launch_seq || ': ' || m.name FROM kernel_counters k JOIN metric m ON m.id = k.metric_id "
     "JOIN (SELECT launch_seq, kind, sum(bytes) AS bytes, sum(sectors) AS sectors FROM instruction GROUP BY 1, 2) i "
     "ON i.launch_seq = k.launch_seq AND m.name IN (i.kind || '_bytes', i.kind || '_sectors') WHERE k.source = 'simulated' "
     "AND i.kind IN ('global_load', 'global_store') AND k.value <> CASE WHEN m.name LIKE '%_bytes' THEN i.bytes "
     "ELSE i.sectors END", GMT_CHECK_FAILED, 0},
    {"inlining", "instructions that were inlined have a chain with their own line in it, and its calls",
     "SELECT 'instruction ' || i.id || ': chain ' || i.chain_id FROM instruction i LEFT JOIN inline_level l "
     "ON l.chain_id = i.chain_id AND l.level = 0 WHERE i.chain_id IS NOT NULL AND (l.line IS NOT i.line OR "
     "(i.caller_line IS NOT NULL AND NOT EXISTS (SELECT 1 FROM inline_level o WHERE o.chain_id = i.chain_id "
     "AND o.level > 0 AND o.line = i.caller_line)))", GMT_CHECK_FAILED, 0},
    {"apis", "calls name their function", DANGLING(CALLS, "api_id", "api"), GMT_CHECK_FAILED, 0},
    {"threads", "calls and allocations name their thread",
     DANGLING(CALLS, "thread_id", "thread") " UNION ALL " DANGLING(MEMORY, "thread_id", "thread"), GMT_CHECK_FAILED, 0},
    {"contexts", "calls and allocations name their context",
     DANGLING(CALLS, "context_id", "context") " UNION ALL " DANGLING(MEMORY, "context_id", "context"), GMT_CHECK_FAILED, 0},
    {"streams", "calls name their stream", DANGLING(CALLS, "stream_id", "stream"), GMT_CHECK_FAILED, 0},
    {"call_stacks", "calls and allocations name their stack",
     DANGLING(CALLS, "stack_id", "stack") " UNION ALL " DANGLING(MEMORY, "stack_id", "stack") " UNION ALL "
     DANGLING(MEMORY, "free_stack_id", "stack"), GMT_CHECK_FAILED, 0},
    {"copied_memory", "copies name the memory that they touch",
     DANGLING(OF("transfer"), "dst_allocation_id", MEMORY) " UNION ALL "
     DANGLING(OF("transfer"), "src_allocation_id", MEMORY) " UNION ALL "
     DANGLING(OF("memset"), "dst_allocation_id", MEMORY), GMT_CHECK_FAILED, 0},
    {"memory_handles", "handles of shared memory name their allocation",
     "SELECT 'memory_handle ' || id FROM memory_handle WHERE (allocation_id IS NULL AND kind = 'imported') OR "
     "allocation_id NOT IN (SELECT id FROM allocation)", GMT_CHECK_FAILED, 0},
    {"arguments", "launches name the memory that they were given",
     "SELECT 'launch_argument of set ' || set_id FROM launch_argument WHERE allocation_id NOT IN (SELECT id FROM " MEMORY ") "
     "UNION ALL SELECT 'launch ' || id FROM launch WHERE argument_set_id IS NOT NULL AND "
     "argument_set_id NOT IN (SELECT set_id FROM launch_argument) AND NOT EXISTS (SELECT 1 FROM "
     "pragma_table_info('launch_tensor_map'))", GMT_CHECK_FAILED, 0},
    {"argument_sets", "launches name arguments that are there",
     "SELECT 'launch ' || id FROM launch WHERE argument_set_id IS NOT NULL AND argument_set_id NOT IN "
     "(SELECT set_id FROM launch_argument UNION ALL SELECT set_id FROM launch_tensor_map)", GMT_CHECK_FAILED, 0},
    {"tensor_maps", "calls that encode a tensor map, and launches that are given one, name one that is there",
     "SELECT 'tensor_map_encoding by call ' || call_id FROM tensor_map_encoding WHERE call_id NOT IN (SELECT id FROM "
     "api_call) OR tensor_map_id NOT IN (SELECT id FROM tensor_map) UNION ALL SELECT 'launch_tensor_map of set ' || set_id "
     "FROM launch_tensor_map WHERE tensor_map_id NOT IN (SELECT id FROM tensor_map) UNION ALL SELECT 'tensor_map ' || id FROM tensor_map "
     "WHERE rank NOT BETWEEN 1 AND 5 OR (allocation_id IS NOT NULL AND allocation_id NOT IN (SELECT id FROM " MEMORY "))",
     GMT_CHECK_FAILED, 0},
    {"device_calls", "device work names its call", DANGLING(OF("device_op"), "call_id", CALLS), GMT_CHECK_FAILED, 0},
    {"finished", "the recording was finished",
     "SELECT 'what came last is missing' WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'complete' AND value = '1')",
     GMT_CHECK_WARNING, 0},
    {"unjoined", "the call of all device work is known",
     "SELECT 'device_op ' || id FROM device_op WHERE call_id IS NULL", GMT_CHECK_WARNING, 0},
    {"coverage", "what the hooks recorded agrees with the records of the device",
     "SELECT what || ': ' || seen || ' of ' || expected || ' have a record, ' || extra || ' records have no call' "
     "FROM coverage WHERE kind = 'records' AND (seen <> expected OR extra <> 0)", GMT_CHECK_WARNING, 0},
    {"coverage_numbers", "the numbers of that agreement add up",
     "SELECT kind || ' ' || what FROM coverage WHERE (kind = 'records' AND (seen IS NULL OR expected IS NULL OR "
     "extra IS NULL OR seen > expected OR extra < 0)) OR requests < 0 OR seen < 0 OR expected < 0 UNION ALL "
     "SELECT 'example of ' || what FROM coverage_example WHERE what NOT IN (SELECT what FROM coverage WHERE "
     "kind = 'records')", GMT_CHECK_FAILED, 0},
    {"losses", "nothing was lost", "SELECT count || ' x ' || kind || CASE detail WHEN '' THEN '' ELSE ' (' || detail || ')' END "
     "FROM loss WHERE count > 0", GMT_CHECK_WARNING, 0},
    {"capabilities", "what was asked for could be recorded",
     "SELECT name || ' ' || state || coalesce(': ' || detail, '') FROM capability WHERE state IN ('missing', 'partial')",
     GMT_CHECK_WARNING, 0},
};
/* clang-format on */

const size_t gmt_check_count = sizeof(gmt_checks) / sizeof(gmt_checks[0]);
