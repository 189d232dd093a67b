#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What launches of a graph do: its nodes at each launch, through updates and a handle used again.
# shellcheck source=tests/e2e/lib.sh
source "${GMT_SOURCE:?}/tests/e2e/lib.sh"

db=graphs.db
q() { sql $db "$1"; }

traced_like_plain graphs graphs 4
equal status 0 "$(cat graphs.status)"
finished graphs.db
all_calls_recorded graphs
nothing_lost graphs.db
equal "graphs: made, updated, made again" 3 "$(q 'SELECT count(*) FROM graph')"
equal "graphs that never end" 0 "$(q 'SELECT count(*) FROM graph WHERE end_ns IS NULL')"
equal "nodes of a graph" "0 copy 1024 h2d|1 memset 1024|2 kernel vector_add" "$(q "SELECT position || ' ' || kind
    || coalesce(' ' || bytes, '') || coalesce(' ' || direction, '') || coalesce(' ' || k.name, '')
    FROM graph_node n LEFT JOIN kernel k ON k.id = n.kernel_id WHERE graph_id = 1 AND position IS NOT NULL
    ORDER BY position" | paste -sd'|')"
equal "launches" 10 "$(q "SELECT count(*) FROM launch WHERE kind = 'graph'")"
equal "operations of all launches" "copy 10 10240|kernel 10 -|memset 10 $((4 * 1024 + 256 + 5 * 512))" \
    "$(q "SELECT kind || ' ' || count(*) || ' ' || coalesce(sum(bytes), '-') FROM v_graph_launch
          GROUP BY kind ORDER BY kind" | paste -sd'|')"
equal "bytes set, launch by launch" "1024 1024 1024 1024 256 512 512 512 512 512" \
    "$(q "SELECT bytes FROM v_graph_launch WHERE kind = 'memset' ORDER BY launch_id" | paste -sd' ')"
equal "the copy's memory" "pageable device 1" "$(q "SELECT DISTINCT src_class || ' ' || dst_class || ' '
    || (dst = a.address) FROM graph_node n JOIN allocation a ON a.id = n.dst_allocation_id WHERE n.kind = 'copy'")"
grep -q "10 launches of graphs make 10 copies (10.0 KiB)" <("$GMT_BUILD/bin/gmanalyze" --calibrate never --top 10 graphs.db) ||
    fail "the report does not mention the copies in graphs"
equal "kernels of graphs without a class" 0 "$(q "SELECT count(*) FROM graph_node n WHERE n.kind = 'kernel' AND NOT EXISTS
    (SELECT 1 FROM kernel_class c WHERE c.kernel_id = n.kernel_id AND c.grid_x = n.grid_x AND c.block_x = n.block_x)")"
equal "geometry" 256 "$(q "SELECT DISTINCT grid_x * block_x FROM v_graph_launch WHERE kind = 'kernel'")"

# Nodes that are switched off, and set anew by the names of the graph that was made executable.
traced_like_plain switches graph_switches
finished switches.db
db=switches.db
all_calls_recorded switches
nothing_lost switches.db
by_launch() {
    q "SELECT group_concat(coalesce(bytes, '-'), ' ') FROM (SELECT v.bytes FROM launch l LEFT JOIN v_graph_launch v
       ON v.launch_id = l.id AND v.kind = '$1' WHERE l.kind = 'graph' ORDER BY l.id)"
}
equal "bytes set, launch by launch" "1024 - - - 256 256 1024" "$(by_launch memset)"
equal "bytes copied, launch by launch" "1024 1024 1024 1024 1024 - 1024" "$(by_launch copy)"
grep -q "6 launches of graphs make 6 copies (6.00 KiB)" <("$GMT_BUILD/bin/gmanalyze" --calibrate never --top 10 switches.db) ||
    fail "the report counts copies that were switched off"
