-- SPDX-License-Identifier: Apache-2.0
-- Indexes of trace.db, made when all rows are in.

CREATE INDEX transfer_begin ON transfer(begin_ns);
CREATE INDEX memset_begin ON memset(begin_ns);
CREATE INDEX launch_begin ON launch(begin_ns);
CREATE INDEX launch_class ON launch(class_id);
CREATE INDEX launch_seq ON launch(seq);
CREATE INDEX graph_handle ON graph(handle, begin_ns);
CREATE INDEX graph_node_graph ON graph_node(graph_id, node, since_ns);
CREATE INDEX graph_switch_graph ON graph_switch(graph_id, node, since_ns);
CREATE INDEX sync_begin ON sync(begin_ns);
CREATE INDEX range_begin ON range(begin_ns);
CREATE INDEX device_gap_begin ON device_gap(begin_ns);
CREATE INDEX managed_op_start ON managed_op(start_ns);
CREATE INDEX device_op_call ON device_op(call_id);
CREATE INDEX kernel_counters_class ON kernel_counters(class_id);
CREATE INDEX launch_argument_set ON launch_argument(set_id);
CREATE INDEX launch_tensor_map_set ON launch_tensor_map(set_id);
CREATE INDEX instruction_class ON instruction(class_id, source);
CREATE INDEX kernel_footprint_class ON kernel_footprint(class_id);
CREATE INDEX step_call_step ON step_call(step_id);
CREATE INDEX step_work_step ON step_work(step_id);
CREATE INDEX step_kernel_step ON step_kernel(step_id);
CREATE INDEX step_slowest_step ON step_slowest(step_id);
CREATE INDEX step_time_step ON step_time(step_id);
CREATE INDEX step_memory_step ON step_memory(step_id);
CREATE INDEX step_collective_step ON step_collective(step_id);
