/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams, events and graphs under SIMGPU_ORDER: work is done late (simgpu/order/order.h), by the rules of CUDA's
 * documentation. Without it none of this is called.
 *
 * What a call does itself, and what is left to do when it returns:
 *   - copies from pageable host memory to the device read it at the call, and write the device's later;
 *   - copies to pageable memory, and those between two places of the host, are done when the call returns;
 *   - copies without Async from or to page-locked or managed memory are done when the call returns; those between two
 *     places of the device are not, and neither are memsets but those of page-locked or managed memory;
 *   - all else is left: kernels, host functions, events, values, allocations and frees in stream order.
 *   - freeing, unregistering and unmapping memory, unloading code and destroying contexts and arrays wait for all.
 */
#ifndef SIMGPU_DRIVER_LATE_H
#define SIMGPU_DRIVER_LATE_H

#include "simgpu/driver/driver.h"
#include "simgpu/order/order.h"

/* ---- late_queue.c: the queues of streams ---------------------------------------------------------- */

/* Nobody else queues anything in between. */
void sim_late_queue_begin(void);
void sim_late_queue_end(void);
/* Submits the operation as the stream's next one, and drops the caller's reference. NULL: there was no memory. */
CUresult sim_late_append(struct sim_stream *stream, struct sim_operation *operation);
/* Its queue; NULL: no memory. */
struct sim_lane *sim_late_lane(struct sim_stream *stream);
void sim_late_stream_gone(struct sim_stream *stream);

void sim_late_wait_stream(struct sim_stream *stream);
bool sim_late_query_stream(struct sim_stream *stream);
void sim_late_wait_context(const struct sim_context *context);

/* ---- late.c: what is queued ------------------------------------------------------------------------ */

/* As sim_submit, of a stream that is not captured. */
CUresult sim_late_submit(struct sim_stream *stream, const struct sim_node *node, bool blocking);
/* Other work of a stream than nodes. `run` by the device's thread; `drop` frees `data`, as if the call fails, too. */
CUresult sim_late_call(struct sim_stream *stream, const char *name, void (*run)(void *data),
                       void (*drop)(void *data), void *data);
/* Memory was allocated (freed: is to be freed) in the order of a stream. */
CUresult sim_late_allocated(struct sim_stream *stream, uintptr_t start, size_t bytes);
CUresult sim_late_free(struct sim_stream *stream, const struct sim_range *range, unsigned kinds);

/* ---- late_node.c: what a node does, as an operation ----------------------------------------------- */

/* What the call itself has to do with a node. */
enum sim_late_host { SIM_HOST_GOES_ON, SIM_HOST_STAGES, SIM_HOST_WAITS };
enum sim_late_host sim_late_host_of(const struct sim_node *node, bool blocking);

/* The operation for a node, whose memory it copies. `stages`: the source of a copy is read now. NULL: no memory. */
struct sim_operation *sim_late_operation(const struct sim_stream *stream,
                                         const struct sim_node *node, bool stages, bool of_graph);
/* For reports. */
void sim_late_name(struct sim_work *work, const struct sim_stream *stream, const char *name,
                   bool of_graph);
/* late_caller.c: the program's own address in the call under way, NULL: not known. */
const void *sim_late_caller(void);

/* ---- late_record.c: what a launch leaves behind ---------------------------------------------------- */

/* The launch that this thread, the device's, is running. */
extern _Thread_local struct sim_operation *sim_late_running;
/* Which memory its kernel touches. NULL: no memory, or nothing runs late. */
struct sim_touches *sim_late_touches_begin(const struct sim_map *map);
void sim_late_touches_end(struct sim_touches *touches);

/* In the data of a launch's operation: its counts, when it has run. */
struct sim_late_counts {
    atomic_bool are_wanted;
    void *taken; /* sim_counting_take's */
};
/* The calling thread may ask for the counts of this launch, and of no earlier one. */
void sim_late_counts_expect(struct sim_operation *operation, struct sim_late_counts *counts);
/* These counts; the launch is waited for, a second at most. NULL: there are none. */
void *sim_late_record(void);
void sim_late_record_forget(void);

/* ---- late_event.c -------------------------------------------------------------------------------- */

/* When an event was reached, shared by the event and the operation that records it. */
struct sim_late_mark;
/* *mark is replaced by a new one, recorded in the stream (of `context` if the stream is NULL: after all of it). */
CUresult sim_late_mark_record(struct sim_late_mark **mark, struct sim_stream *stream,
                              const struct sim_context *context);
/* What is queued on the stream from now on comes after it. */
CUresult sim_late_mark_wait(struct sim_late_mark *const *mark, struct sim_stream *stream);
/* True: it was reached, or not recorded. */
bool sim_late_mark_query(struct sim_late_mark *const *mark);
void sim_late_mark_host_waits(struct sim_late_mark *const *mark);
uint64_t sim_late_mark_ns(const struct sim_late_mark *mark);
void sim_late_mark_free(struct sim_late_mark *mark);

/* ---- late_graph.c -------------------------------------------------------------------------------- */

/* Nodes are captured: they come after the stream's frontier, and become it. */
CUresult sim_late_capture(struct sim_stream *stream, const struct sim_node *node);
CUresult sim_late_capture_graph(struct sim_stream *stream, const struct sim_graph *exec);
bool sim_edges_copy(struct sim_graph *to, const struct sim_graph *from);
/* The first `room` nodes as cuGraphGetNodes lists them; false: no memory. */
bool sim_late_list(const struct sim_graph *graph, CUgraphNode *nodes, size_t room);

/* late_frontier.c. False: no memory; of nodes: one is not the graph's. */
bool sim_frontier_add(struct sim_frontier *frontier, uint32_t node);
bool sim_frontier_join(struct sim_frontier *frontier, const struct sim_frontier *other);
bool sim_frontier_of_nodes(struct sim_frontier *frontier, const struct sim_graph *graph,
                           const CUgraphNode *nodes, size_t count);
void sim_frontier_free(struct sim_frontier *frontier);

/* All nodes, in an order that the edges allow. */
CUresult sim_late_graph(struct sim_graph *exec, struct sim_stream *stream);

#endif
