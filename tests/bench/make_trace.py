#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a trace.db of a made-up training run with as many calls as asked for: to measure gmanalyze
and the page on large traces. What is in it looks like a recording; nothing of it was measured.

    make_trace.py --calls 1000000 large.db
    /usr/bin/time -v gmanalyze --calibrate never large.db -o large.html > /dev/null
"""

import argparse
import pathlib
import random
import re
import sqlite3

STORE = pathlib.Path(__file__).resolve().parents[2] / "libtrace" / "store" / "db"
THREADS = ("python", "pt_data_worker", "pt_autograd_0", "nccl_watchdog")
STREAMS = 6           # the first is the legacy default stream
KERNELS = 48
CLASSES_PER_KERNEL = 3
PLACES = 400          # stacks
STEP = 2000           # calls that the run repeats, with other times
DEPTH = (6, 18)       # frames of a stack
APIS = {              # id: driver, runtime, family
    1: ("cuMemcpyHtoDAsync_v2", "cudaMemcpyAsync", "transfer"),
    2: ("cuMemcpyDtoHAsync_v2", "cudaMemcpyAsync", "transfer"),
    3: ("cuMemcpyDtoDAsync_v2", "cudaMemcpyAsync", "transfer"),
    4: ("cuMemcpyDtoH_v2", "cudaMemcpy", "transfer"),
    5: ("cuLaunchKernel", "cudaLaunchKernel", "launch"),
    6: ("cuMemsetD8Async", "cudaMemsetAsync", "memset"),
    7: ("cuStreamSynchronize", "cudaStreamSynchronize", "sync"),
    8: ("cuMemAlloc_v2", "cudaMalloc", "alloc"),
    9: ("cuMemFree_v2", "cudaFree", "alloc"),
    10: ("cuMemHostAlloc", "cudaHostAlloc", "alloc"),
    11: ("cuEventRecord", "cudaEventRecord", "other"),
}
COPIES = ((1, "h2d", "pinned", "device"), (1, "h2d", "pageable", "device"),
          (2, "d2h", "device", "pinned"), (3, "d2d", "device", "device"),
          (4, "d2h", "device", "pageable"))
METRICS = {  # id: name, group, unit, share of the bytes of a launch
    1: ("global_load_bytes", "patched", "bytes", 1.0),
    2: ("global_store_bytes", "patched", "bytes", 0.5),
    3: ("global_load_sectors", "patched", "sectors", 1 / 24),
    4: ("global_store_sectors", "patched", "sectors", 1 / 56),
    5: ("global_load_requests", "patched", "instructions", 1 / 128),
    6: ("global_store_requests", "patched", "instructions", 1 / 256),
    33: ("dram_read_bytes", "hardware", "bytes", 0.8),
    34: ("dram_write_bytes", "hardware", "bytes", 0.4),
    35: ("l2_read_sectors", "hardware", "sectors", 1 / 28),
    36: ("l2_write_sectors", "hardware", "sectors", 1 / 60),
}


def constant(name: str) -> int:
    """A number of libtrace/store/db/database.h, or of what it includes."""
    text = (STORE / "database.h").read_text() + (STORE / "../../record/spool_names.h").read_text()
    return int(re.search(rf"define {name} (\w+)", text)[1], 0)


class Call:
    """What is the same each time that the run comes by: who, where from, on what."""

    def __init__(self, rng: random.Random, index: int) -> None:
        self.thread = rng.choices(range(len(THREADS)), (8, 1, 3, 1))[0]
        self.stream = (self.thread + index // 64) % STREAMS
        self.place = rng.randrange(PLACES) + 1
        self.copy = rng.choice(COPIES)
        self.bytes = 1 << rng.randrange(2, 24)
        self.kernel = min(int(rng.expovariate(0.08)), KERNELS - 1)
        self.shape = rng.randrange(CLASSES_PER_KERNEL)
        self.buffer = rng.randrange(1, 65)
        self.kind = rng.choices(("launch", "copy", "memset", "sync", "event"), (58, 30, 4, 3, 5))[0]


class Trace:
    """Rows by table, and the clocks of threads and streams."""

    def __init__(self, path: pathlib.Path, seed: int, calls: int) -> None:
        self.random = random.Random(seed)
        self.calls = calls
        path.unlink(missing_ok=True)
        self.db = sqlite3.connect(path)
        self.db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        self.db.execute(f"PRAGMA application_id = {constant('GMT_TRACE_APPLICATION_ID')}")
        self.db.execute(f"PRAGMA user_version = {constant('GMT_TRACE_USER_VERSION')}")
        self.db.executescript((STORE / "schema.sql").read_text())
        self.rows: dict[str, list[tuple]] = {}
        self.next_id = 0
        self.launches = 0
        self.host_ns = [1_000_000_000 + 1000 * thread for thread in range(len(THREADS))]
        self.device_ns = [1_000_000_000] * STREAMS

    def put(self, table: str, *values: object) -> None:
        rows = self.rows.setdefault(table, [])
        rows.append(values)
        if len(rows) == 50_000:
            self.flush(table)

    def flush(self, table: str) -> None:
        rows = self.rows.pop(table, [])
        if rows:
            marks = ",".join("?" * len(rows[0]))
            self.db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

    def id(self) -> int:
        self.next_id += 1
        return self.next_id

    def noisy(self, least: int) -> int:
        """A time that is mostly near its least, and sometimes far above."""
        return least + int(self.random.expovariate(8 / least))

    def host(self, thread: int, least: int) -> tuple[int, int]:
        """Begin and end of a call of that thread, a little after its last one."""
        begin = self.host_ns[thread] + self.noisy(600)
        end = begin + self.noisy(least)
        self.host_ns[thread] = end
        return begin, end

    def device(self, stream: int, begin: int, least: int) -> tuple[int, int]:
        """Start and end on the device: after the call, and after what the stream has to do."""
        start = max(self.device_ns[stream] + 800, begin + self.noisy(2500))
        self.device_ns[stream] = start + self.noisy(least)
        return start, self.device_ns[stream]

    def call(self, api: int, call: Call, begin: int, end: int) -> tuple:
        """Columns of every call from its id to `capturing`."""
        return (self.id(), api, call.thread + 1, 1, call.stream + 1, begin, end, 0, None,
                call.place, None, 0)

    def copy(self, c: Call) -> None:
        api, direction, source, target = c.copy
        rate = 300 if direction == "d2d" else 50 if "pinned" in (source, target) else 10
        begin, end = self.host(c.thread, 1400)
        start, stop = self.device(c.stream, begin, 900 + c.bytes // rate)
        blocking = int(api == 4)
        if blocking:
            end = self.host_ns[c.thread] = max(end, stop + 2000)
        row = self.call(api, c, begin, end)
        self.put("transfer", *row, direction, blocking, c.bytes, 1 << 40, 1 << 41, target, source,
                 c.buffer if target == "device" else None,
                 c.buffer if source == "device" else None, None, None, None, None, None, None,
                 start, stop)
        self.op("copy", c.stream, row[0], start, stop, c.bytes)

    def launch(self, c: Call) -> None:
        kind = c.kernel * CLASSES_PER_KERNEL + c.shape + 1
        begin, end = self.host(c.thread, 1900)
        start, stop = self.device(c.stream, begin, (2000 + 900 * c.kernel) * (1 + c.shape))
        row = self.call(5, c, begin, end)
        self.launches += 1
        self.put("launch", *row, "kernel", self.launches, c.kernel + 1, kind, 64 << c.shape, 1, 1,
                 256, 1, 1, None, None, None, 0, None, None, 0, "complete", 1 + kind % 50, start,
                 stop)
        self.op("kernel", c.stream, row[0], start, stop, None)

    def memset(self, c: Call) -> None:
        begin, end = self.host(c.thread, 1300)
        start, stop = self.device(c.stream, begin, 900 + c.bytes // 1500)
        row = self.call(6, c, begin, end)
        self.put("memset", *row, c.bytes, 1 << 40, c.buffer, "device", 0, 1, None, None, None,
                 start, stop)
        self.op("memset", c.stream, row[0], start, stop, c.bytes)

    def sync(self, c: Call) -> None:
        begin, end = self.host(c.thread, 500)
        end = self.host_ns[c.thread] = max(end, self.device_ns[c.stream] + 1500)
        self.put("sync", *self.call(7, c, begin, end), "stream")

    def event(self, c: Call) -> None:
        begin, end = self.host(c.thread, 400)
        self.put("api_call", *self.call(11, c, begin, end), None)

    def allocate(self, thread: int, number: int, stays: bool) -> None:
        size = 1 << self.random.randrange(9, 26)
        begin, end = self.host(thread, 30_000)
        place = 1 + number % PLACES
        freed = (None,) * 5
        if not stays:
            at = end + self.random.randrange(100_000, 50_000_000)
            freed = (9, thread + 1, place, at, at + 30_000)
        self.put("allocation", number, "device", number << 26, size, *(None,) * 5, 1, None,
                 thread + 1, 8, place, None, begin, end, *freed)

    def op(self, kind: str, stream: int, call: int, start: int, stop: int,
           size: int | None) -> None:
        self.put("device_op", call, kind, 1, 0, 1, stream + 1, call, None, start, stop, size,
                 *(None,) * 5, *(None,) * 6, call)


def describe(trace: Trace) -> None:
    """Everything but calls."""
    db, rng = trace.db, trace.random
    db.executemany("INSERT INTO meta VALUES (?, ?)",
                   [("format", "1"), ("tool_version", "0.1.0"), ("created", "2026-01-01T00:00:00Z"),
                    ("clock", "CLOCK_MONOTONIC"), ("complete", "1")])
    db.execute("INSERT INTO process (id, pid, exe, command, cwd, hostname, options, realtime_ns, "
               "start_ns, end_reason, exit_status) VALUES (1, 4242, '/usr/bin/python3', "
               "'python3 train.py --epochs 3', '/home/user/model', 'node07', "
               "'collect=standard;stacks=full', 1767225600000000000, 1000000000, 'exit', 0)")
    db.executemany("INSERT INTO thread VALUES (?, ?, ?)",
                   [(i + 1, 4242 + i, name) for i, name in enumerate(THREADS)])
    db.execute("INSERT INTO device (id, name, uuid, compute_major, compute_minor, sm_count, "
               "memory_bytes, l2_bytes, driver_version, cuda_driver_version, max_threads_per_sm, "
               "registers_per_sm, shared_bytes_per_sm, max_blocks_per_sm, warp_size, "
               "shared_bytes_per_block_optin, reserved_shared_bytes_per_block) VALUES "
               "(0, 'NVIDIA H200', 'GPU-00000000-0000-0000-0000-00000000beef', 9, 0, 132, "
               "150109880320, 62914560, '580.0', 13000, 2048, 65536, 233472, 32, 32, 232448, 1024)")
    db.execute("INSERT INTO context VALUES (1, 0, 1)")
    db.executemany("INSERT INTO stream (id, context_id, handle, priority) VALUES (?, 1, ?, ?)",
                   [(i + 1, 0 if i == 0 else 4096 + i, 0 if i else None) for i in range(STREAMS)])
    db.executemany("INSERT INTO api(id, name, runtime_name, family) VALUES (?, ?, ?, ?)", [(i, *row) for i, row in APIS.items()])
    db.executemany("INSERT INTO capability VALUES (?, 'ok', 0, NULL, NULL)",
                   [("cupti",), ("timestamps",), ("counters",)])
    describe_kernels(trace)
    modules = ["/usr/bin/python3", "/opt/torch/lib/libtorch_cuda.so", "/opt/torch/lib/libc10.so",
               "/usr/lib/libcudart.so.13", "/home/user/model/ops.so"]
    db.executemany("INSERT INTO module VALUES (?, ?, NULL, 0, ?, ?, NULL)",
                   [(i + 1, path, i << 32, (i + 1) << 32) for i, path in enumerate(modules)])
    texts = [f"at::native::operation_{i}(at::Tensor const&, long)" for i in range(900)]
    texts += [f"/home/user/model/part_{i}.cu" for i in range(40)]
    db.executemany("INSERT INTO string VALUES (?, ?)", enumerate(texts, 1))
    frames = 1200
    db.executemany("INSERT INTO frame VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)", [
        (i, i << 8, 4 if i % 12 == 0 else 1 + i % 5, i << 8, 1 + i % 900,
         None if i % 3 else 901 + i % 40, None if i % 3 else 1 + i % 700, int(i % 12 == 0))
        for i in range(1, frames + 1)])
    for stack in range(1, PLACES + 1):
        depth = rng.randrange(*DEPTH)
        chain = [12 * (1 + stack % 90)] + [1 + (stack * 7 + k * k) % frames for k in range(depth)]
        db.execute("INSERT INTO stack VALUES (?, ?)", (stack, len(chain)))
        db.executemany("INSERT INTO stack_frame VALUES (?, ?, ?)",
                       [(stack, k, frame) for k, frame in enumerate(chain)])
    db.executemany("INSERT INTO launch_argument VALUES (?, ?, 0, ?, 0)",
                   [(i, k, 1 + (i * 3 + k) % 64) for i in range(1, 51) for k in range(3)])


def describe_kernels(trace: Trace) -> None:
    db = trace.db
    for kernel in range(KERNELS):
        db.execute("INSERT INTO kernel (id, name, mangled, registers, static_shared_bytes, "
                   "local_bytes, max_threads_per_block) VALUES (?, ?, ?, ?, ?, ?, 1024)",
                   (kernel + 1, f"void at::native::kernel_{kernel}<float, {kernel % 4}>"
                    "(float const*, float*, long)", f"_Z{kernel}", 24 + 4 * (kernel % 20),
                    1024 * (kernel % 9), 64 * (kernel % 7 == 0)))
        db.executemany("INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, "
                       "block_y, block_z, dynamic_shared_bytes, max_blocks_per_sm, "
                       "theoretical_occupancy) VALUES (?, ?, ?, 1, 1, 256, 1, 1, 0, 4, 0.5)",
                       [(kernel * CLASSES_PER_KERNEL + shape + 1, kernel + 1, 64 << shape)
                        for shape in range(CLASSES_PER_KERNEL)])
    db.executemany("INSERT INTO metric VALUES (?, ?, '-', ?, ?, '-')",
                   [(i, name, group, unit) for i, (name, group, unit, _) in METRICS.items()])
    for row in range(1, KERNELS * CLASSES_PER_KERNEL + 1):
        size = 1 << (18 + row % 6)
        db.executemany("INSERT INTO kernel_counters (launch_seq, class_id, metric_id, value, "
                       "source, grp, samples) VALUES (?, ?, ?, ?, ?, ?, 1)",
                       [(row, row, i, size * share, group, group)
                        for i, (_, group, _, share) in METRICS.items()])


def fill(trace: Trace) -> None:
    """Calls by their usual shares; allocations that are freed count as two calls."""
    step = [Call(trace.random, i) for i in range(STEP)]
    temporary = trace.calls // 200
    for number in range(1, 65):
        trace.allocate(0, number, stays=True)
    rest = trace.calls - 64 - 2 * temporary
    every = max(1, rest // max(1, temporary))
    for i in range(rest):
        call = step[i % STEP]
        getattr(trace, call.kind)(call)
        if i % every == 0 and i // every < temporary:
            trace.allocate(call.thread, 65 + i // every, stays=False)
    for table in list(trace.rows):
        trace.flush(table)
    end = max(*trace.host_ns, *trace.device_ns)
    trace.db.execute("UPDATE process SET end_ns = ?", (end,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("output", type=pathlib.Path)
    options = parser.parse_args()
    trace = Trace(options.output, options.seed, options.calls)
    describe(trace)
    fill(trace)
    trace.db.commit()
    trace.db.executescript((STORE / "indexes.sql").read_text())
    trace.db.executescript("DROP TABLE ingest_chunk; DROP TABLE ingest_state; DROP TABLE ingest_cubin;")
    trace.db.close()


if __name__ == "__main__":
    main()
