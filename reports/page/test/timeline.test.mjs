// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { build } from 'esbuild';
import { pack } from './pack.mjs';
import { head, report, synthetic } from './synthetic.mjs';

// One bundle of what is tested, so that its parts share their modules.
async function load(...names) {
  const folder = fileURLToPath(new URL('../src/', import.meta.url));
  const contents = names.map((name) => `export * from './${name}';`).join('\n');
  const bundled = await build({ stdin: { contents, resolveDir: folder }, bundle: true, write: false, format: 'esm' });
  return import(`data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].contents).toString('base64')}`);
}
// What the page's modules ask of a browser while they load.
globalThis.addEventListener ??= () => undefined;
const at = (name) => `sections/timeline/${name}`;
const page = await load(
  'payload',
  ...[
    'address',
    'axis',
    'events',
    'find',
    'idle',
    'layout',
    'looks',
    'memory',
    'model',
    'sort',
    'strip',
    'sums',
    'tracks',
    'view',
    'walk',
  ].map(at),
);

const read = ({ head: top, tables }) => page.decodePayload(new Uint8Array(pack(top, tables)));
const modelOf = (made) => page.buildModel(read(made));

/** A payload of calls given as objects, all columns that any of them names. */
function calls(rows, changes = {}, tables = {}) {
  const encodings = { kind: 'u8', direction: 'u8', host_class: 'u8', blocking: 'u8', begin: 'delta' };
  const names = [...new Set(rows.flatMap(Object.keys))];
  const call = Object.fromEntries(
    names.map((name) => [
      name,
      [encodings[name] ?? 'varint', rows.map((row) => row[name] ?? (encodings[name] === 'u8' ? 0 : null))],
    ]),
  );
  const top = head({
    threads: [{ tid: 1, name: 'main' }],
    streams: [{ label: 'default', device: 0 }],
    devices: [{ name: 'GPU' }],
    ...changes,
  });
  return { head: top, tables: { call, ...tables } };
}
const LAUNCH = { kind: 2, api: 2, thread: 0, stream: 0 };

test('as many ascending runs as events are sorted as well, equal ones in their order', () => {
  // The same number for the same index each time.
  const scrambled = (i) => (Math.imul(i + 1, 0x9e3779b1) ^ (Math.imul(i + 7, 0x85ebca6b) >>> 13)) >>> 0;
  const keys = {
    times: (i) => 1e12 + (scrambled(i) % 1000003) * 97,
    'few values': (i) => (scrambled(i) % 9) - 4,
    'a week in ns': (i) => scrambled(i) * 140,
    'more than digits take': (i) => scrambled(i) * 1e6,
    fractions: (i) => scrambled(i) / 16,
  };
  for (const [name, of] of Object.entries(keys)) {
    const key = Float64Array.from({ length: 20000 }, (_, i) => of(i));
    const rows = Uint32Array.from({ length: 15000 }, (_, i) => i + 2500);
    const expected = [...rows].sort((a, b) => key[a] - key[b] || a - b);
    assert.deepEqual([...page.sortByKey(rows, key)], expected, name);
  }
});

test('rows that are nearly sorted are sorted, and equal ones keep their order', () => {
  const key = Float64Array.from([5, 7, 7, 1, 2, 9, 0, 7]);
  const sorted = [...page.sortByKey(Uint32Array.from(key.keys()), key)];
  assert.deepEqual(sorted, [6, 3, 4, 0, 1, 2, 7, 5]);
  const many = Float64Array.from({ length: 5000 }, (_, i) => (i * 7919) % 5003);
  const values = [...page.sortByKey(Uint32Array.from(many.keys()), many)].map((row) => many[row]);
  assert.deepEqual(
    values,
    [...many].sort((a, b) => a - b),
  );
});

test('every level of detail holds all events and all their time', () => {
  const model = modelOf(synthetic(20000));
  let coarser = 0;
  for (const lane of model.lanes.filter(({ kind }) => kind !== 'memory')) {
    for (const track of lane.tracks) {
      const [finest, ...others] = track.levels;
      const time = (level) => {
        let sum = 0;
        for (let i = 0; i < level.length; i++)
          sum += level.covered === null ? level.end[i] - level.begin[i] : level.covered[i];
        return sum;
      };
      for (const level of others) {
        coarser++;
        assert.equal(
          level.count.reduce((a, b) => a + b, 0),
          finest.length,
        );
        assert.ok(Math.abs(time(level) - time(finest)) <= 1e-9 * time(finest));
        for (let i = 0; i < level.length; i++)
          assert.ok(level.count[i] === 1 || level.end[i] - level.begin[i] <= level.resolution);
      }
    }
  }
  assert.ok(coarser > 10, `${coarser} levels`);
});

test('a view looks at few blocks, however many events it holds', () => {
  const model = modelOf(synthetic(60000, { threads: 1, streams: 1 }));
  const width = 1000;
  for (const share of [1, 0.3, 0.1, 0.01]) {
    for (const lane of model.lanes.filter(({ tracks }) => tracks.length > 0)) {
      const to = model.from + (model.to - model.from) * share;
      const level = page.levelFor(lane.tracks[0], (to - model.from) / width);
      const [first, end] = page.visible(level, model.from, to);
      assert.ok(end - first <= 10 * width, `${lane.title} at ${share}: ${end - first} blocks`);
    }
  }
});

test('calls that overlap are stacked, and the deepest row takes what does not fit', () => {
  const rows = [0, 10, 20, 25, 30, 31, 40].map((begin, i) => ({
    ...LAUNCH,
    begin,
    host_ns: [100, 5, 30, 50, 60, 60, 70][i],
  }));
  const model = modelOf(calls(rows));
  assert.deepEqual([...model.hostDepth], [0, 1, 1, 2, 3, 3, 3]);
  const deepest = model.lanes[0].tracks[3].levels[0];
  // 31..91 lies in 30..90 and 40..110: a view from 105 must still find the last.
  assert.deepEqual(page.visible(deepest, 105, 106), [2, 3]);
});

test('what gmtrace did itself has a lane below the threads, and none where there are no times', () => {
  const own = [
    [10, 30],
    [50, 90],
  ];
  const rows = [{ ...LAUNCH, begin: 0, host_ns: 100 }];
  const lanes = modelOf(calls(rows, { own })).lanes;
  assert.deepEqual(
    lanes.slice(0, 2).map(({ kind, title }) => [kind, title]),
    [
      ['thread', 'main (1)'],
      ['own', 'gmtrace itself'],
    ],
  );
  const [finest] = lanes[1].tracks[0].levels;
  assert.deepEqual([[...finest.begin], [...finest.end]], [[10, 50], [30, 90]]);
  assert.ok(modelOf(calls(rows, { own: [] })).lanes.every(({ kind }) => kind !== 'own'));
  assert.ok(modelOf(calls(rows)).lanes.every(({ kind }) => kind !== 'own'));
});

test('kernels of a graph lie below the launch of the graph on its stream, and on no thread', () => {
  const node = { kind: 7, thread: 0, stream: 0, device_start: 0 };
  const rows = [
    { ...LAUNCH, begin: 0, host_ns: 10, device_start: 20, device_ns: 80 },
    { ...node, begin: 20, device_ns: 30 },
    { ...node, begin: 60, device_ns: 40 },
  ];
  const model = modelOf(calls(rows));
  const [thread, ...others] = model.lanes;
  assert.equal(thread.events, 1);
  const stream = others.find(({ kind }) => kind === 'stream');
  assert.equal(stream.events, 3);
  assert.deepEqual([...stream.tracks[1].levels[0].begin], [20, 60]);
  assert.equal(page.callsBegun(model.events, 0, 200), 1);
  const sums = page.sumRange(model.events, 0, 200);
  const of = (what) => sums.find((sum) => sum.what === what);
  assert.deepEqual([of('launch').calls, of('launch').works], [1, 1]);
  assert.deepEqual([of('kernel of a graph').calls, of('kernel of a graph').works], [0, 2]);
  assert.equal(of('kernel of a graph').deviceNs, 70);
});

test('pixels show how much of them is covered, and by what most', () => {
  const track = page.buildTrack(
    {
      length: 3,
      begin: Float64Array.from([0, 20, 35]),
      end: Float64Array.from([10, 25, 35]),
      look: Uint8Array.from([1, 2, 3]),
      row: Uint32Array.from([0, 1, 2]),
    },
    100,
  );
  const pixels = new Uint32Array(5);
  const colors = Uint32Array.from({ length: 256 }, (_, look) => look);
  const wide = new page.Strip().draw(track, 0, 50, pixels, 0, 5, colors, 1);
  const alpha = [...pixels].map((pixel) => pixel >>> 24);
  assert.equal(alpha[0], 255);
  assert.equal(alpha[1], 0);
  assert.equal(alpha[2], Math.round(80 + 175 / 2));
  assert.equal(alpha[3], 80, 'an event without length is seen');
  assert.deepEqual(
    [...pixels].map((pixel) => pixel & 0xff),
    [1, 0, 2, 3, 0],
  );
  assert.deepEqual(
    wide.map(({ row }) => row),
    [0],
  );
});

test('a stretch sums calls, device work and bytes, cut to the stretch', () => {
  const rows = [
    { ...LAUNCH, begin: 0, host_ns: 10, device_start: 50, device_ns: 100 },
    {
      kind: 0,
      api: 0,
      thread: 0,
      stream: 0,
      direction: 1,
      begin: 100,
      host_ns: 20,
      device_start: 60,
      device_ns: 40,
      bytes: 4096,
    },
    { kind: 3, api: 3, thread: 0, begin: 120, host_ns: 90 },
    { kind: 4, api: 4, thread: 0, begin: 500, host_ns: 10, bytes: 99 },
  ];
  const model = modelOf(calls(rows));
  const sums = Object.fromEntries(page.sumRange(model.events, 100, 180).map((sum) => [sum.what, sum]));
  assert.deepEqual(Object.keys(sums).sort(), ['D2H copy', 'launch', 'waiting']);
  assert.deepEqual([sums.launch.calls, sums.launch.works, sums.launch.deviceNs, sums.launch.bytes], [0, 1, 50, NaN]);
  assert.deepEqual(
    [sums['D2H copy'].calls, sums['D2H copy'].hostNs, sums['D2H copy'].deviceNs, sums['D2H copy'].bytes],
    [1, 20, 20, 4096],
  );
  assert.equal(sums.waiting.hostNs, 60);
  // 50..150 and 160..200 are busy.
  assert.equal(model.busyAtLeast, false);
  assert.equal(page.busyWithin(model.busy.get(0), 100, 180), 70);
  assert.equal(page.busyWithin(model.busy.get(0), 0, 1000), 140);
});

test('merged rows count for all their calls', () => {
  const model = modelOf(
    calls([
      { ...LAUNCH, begin: 0, host_ns: 10, count: 40 },
      { ...LAUNCH, begin: 20, host_ns: 10 },
    ]),
  );
  assert.equal(page.sumRange(model.events, 0, 100)[0].calls, 41);
});

test('memory follows allocations and frees, and never that of the host', () => {
  const allocation = {
    kind: ['u8', [0, 0, 2]],
    bytes: ['varint', [100, 50, 999]],
    begin: ['delta', [10, 20, 25]],
    freed: ['varint', [30, null, null]],
    device: ['varint', [0, 0, null]],
  };
  const curve = page.readMemory(read({ head: head(), tables: { allocation } }), (time) => time).get(0);
  assert.deepEqual(
    [5, 10, 20, 39, 40, 99].map((time) => page.usedAt(curve, time)),
    [0, 100, 150, 150, 50, 50],
  );
  assert.deepEqual([curve.peak, curve.peakAt], [150, 20]);
  assert.equal(page.mostWithin(curve, 0, 15), 100);
  assert.equal(page.mostWithin(curve, 15, 90), 150);
});

test('the most of any stretch is what a walk finds', () => {
  const { time, bytes, peak } = page.readMemory(read(synthetic(8000)), (at) => at).get(0);
  const curve = page.readMemory(read(synthetic(8000)), (at) => at).get(0);
  for (let from = 0; from < time.length - 300; from += 37) {
    const to = from + 290;
    let most = 0;
    for (let i = from; i < to; i++) most = Math.max(most, bytes[i]);
    assert.equal(page.mostWithin(curve, time[from], time[to]), most);
  }
  assert.equal(page.mostWithin(curve, -1, Infinity), peak);
});

test('search takes words from different names, and walks round the end', () => {
  const { events } = modelOf(synthetic(3000));
  const gemm = page.find(events, 'GEMM');
  assert.ok(gemm.length > 10 && [...gemm].every((row) => /gemm/.test(page.kernelName(events, row))));
  const up = page.find(events, 'h2d pinned loader');
  assert.ok(up.length > 10);
  for (const row of up) assert.deepEqual([events.direction[row], events.hostClass[row], events.thread[row]], [0, 2, 1]);
  assert.equal(page.find(events, 'no such thing').length, 0);
  const hits = Uint32Array.from([3, 8, 20]);
  assert.deepEqual(
    [-1, 3, 5, 20, 99].map((row) => page.nextHit(hits, row, 1)),
    [3, 8, 8, 3, 3],
  );
  assert.deepEqual(
    [-1, 3, 5, 20, 99].map((row) => page.nextHit(hits, row, -1)),
    [20, 20, 3, 8, 20],
  );
});

test('without times the number of the call is the axis', () => {
  const model = modelOf(synthetic(500, { software: true }));
  assert.ok(model.events.byOrder);
  assert.deepEqual([model.from, model.to], [0, 500]);
  assert.equal(model.busy.size, 0);
  assert.equal(
    model.lanes.some(({ kind }) => kind === 'stream'),
    true,
  );
  assert.ok(
    page.sumRange(model.events, 0, 500).every(({ hostNs, deviceNs }) => Number.isNaN(hostNs) && Number.isNaN(deviceNs)),
  );
});

test('calls of the host alone still have a timeline', () => {
  const model = modelOf(calls([{ ...LAUNCH, begin: 5, host_ns: 3 }], { report: report() }));
  assert.equal(model.events.byOrder, false);
  assert.deepEqual(
    model.lanes.map(({ kind }) => kind),
    ['thread'],
  );
});

test('strange clocks and unknown values do no harm', () => {
  const rows = [
    { ...LAUNCH, begin: 100, host_ns: -50, device_start: -400, device_ns: 10, kernel: 7 },
    { kind: 9, api: 77, begin: -20, host_ns: 5 },
    { kind: 0, thread: 5, stream: 9, begin: null, bytes: null, direction: 99, device_start: 0 },
  ];
  const { events, lanes, from, to } = modelOf(calls(rows));
  assert.deepEqual([from, to], [-300, 100]);
  assert.ok(lanes.every(({ tracks }) => tracks.every(({ levels }) => levels[0].length > 0)));
  for (let row = 0; row < 3; row++) assert.equal(typeof page.nameOf(events, row), 'string');
  assert.equal(page.longestWithin(events, from, to, 10).all, 3);
});

test('the longest events come first, and no more than asked for', () => {
  const { events, from, to } = modelOf(synthetic(4000));
  const { rows, all } = page.longestWithin(events, from, to, 100);
  assert.deepEqual([rows.length, all], [100, 4000]);
  const lengths = rows.map((row) => page.lengthOf(events, row));
  assert.deepEqual(
    lengths,
    [...lengths].sort((a, b) => b - a),
  );
  const kept = new Set(rows);
  for (let row = 0; row < 4000; row++) if (!kept.has(row)) assert.ok(page.lengthOf(events, row) <= lengths[99]);
});

test('names of kernels are cut to what fits a block', () => {
  const short = page.shortKernel;
  assert.equal(short('void gemm_tiled<float, 128>(float const*, int)'), 'gemm_tiled');
  assert.equal(short('void at::native::vectorized<4, at::Add<float> >(int)'), 'vectorized');
  assert.equal(short('(anonymous namespace)::reduce<(int)512>(double*)'), 'reduce');
  assert.equal(short('_Z3fooPf'), '_Z3fooPf');
  assert.equal(short('<img src=x>'), '<img src=x>');
});

test('causes of idle time differ in their colours, from kernels and copies too', () => {
  const causes = readFileSync(new URL('../../model/answer.c', import.meta.url), 'utf8');
  const names = [...causes.matchAll(/"(idle_[a-z_]+)"/g)].map(([, name]) => name);
  const colors = [...new Set(names)].map((name) => page.colorName(page.colorOf(page.causeLook(name))));
  assert.ok(colors.length > 5);
  assert.equal(new Set([...colors, '--c1', '--c3']).size, colors.length + 2, colors.join(' '));
});

test('kernels look like no call and like no other kernel, and the same in every run', () => {
  const names = Array.from({ length: 24 }, (_, i) => `kernel_${i}(float*)`);
  const looks = page.kernelLooks(names);
  assert.equal(new Set(looks.values()).size, names.length);
  assert.equal(new Set(names.slice(0, 6).map((name) => page.colorOf(looks.get(name)))).size, 6);
  const kinds = ['transfer', 'memset', 'launch', 'sync', 'allocate', 'free', 'other', 'node'].map(page.kindLook);
  const colors = new Set(kinds.map(page.colorOf));
  for (const look of looks.values()) {
    assert.ok(!colors.has(page.colorOf(look)), page.colorName(page.colorOf(look)));
    assert.ok(look < 256);
  }
  assert.deepEqual(page.kernelLooks(names), looks);
  // One alone has the look of its name, whatever others there are.
  assert.equal(page.kernelLooks([names[0]]).get(names[0]), looks.get(names[0]));
  // More kernels than looks: they repeat, and nothing hangs.
  assert.equal(page.kernelLooks(Array.from({ length: 100 }, (_, i) => `k${i}`)).size, 100);
});

test('ticks are round, in sensible units, and short far from the origin', () => {
  const labels = (...range) => page.ruler(...range).ticks.map(({ label }) => label);
  assert.deepEqual(labels(0, 1.8e9, 6, false), ['0.0 s', '0.5 s', '1.0 s', '1.5 s']);
  assert.deepEqual(labels(0, 9, 5, true), ['#0', '#2', '#4', '#6', '#8']);
  const far = page.ruler(1.234567e9, 1.234567e9 + 500, 5, false);
  assert.equal(far.base, '1.2345 s');
  assert.equal(far.ticks[0].label, '+67.0 µs');
  assert.equal(page.placeText(1234567891, 400, false), '1.234567891 s');
});

test('an event that cannot be seen is brought near, one that can stays', () => {
  const model = modelOf(synthetic(5000));
  const [from, to] = page.revealed(model, { from: model.from, to: model.to }, 2500);
  const [begin, end] = page.stretchOf(model, 2500);
  assert.ok(from < begin && end < to && (end - begin) / (to - from) > 1 / 400);
  assert.deepEqual(page.revealed(model, { from, to }, 2500), [from, to]);
});

test('zooming keeps the point, and nothing leaves the extent', () => {
  globalThis.cancelAnimationFrame = () => undefined;
  const view = new page.View(0, 1000, 20);
  let changes = 0;
  view.onChange(() => changes++);
  view.zoom(0.5, 200);
  assert.deepEqual([view.from, view.to], [100, 600]);
  view.pan(-1);
  assert.deepEqual([view.from, view.to], [0, 500]);
  view.set(400, 401);
  assert.deepEqual([view.from, view.to], [390.5, 410.5]);
  view.set(NaN, 5);
  assert.equal(changes, 3);
  view.zoom(1e9);
  assert.ok(view.isAll());
});

test('the other end of an arrow is gone to, and back', () => {
  const model = modelOf(calls([{ ...LAUNCH, begin: 0, host_ns: 10, device_start: 5000, device_ns: 100 }]));
  const there = page.otherEnd(model, { from: -50, to: 50 }, 0);
  assert.deepEqual(there, [5000, 5100]);
  assert.deepEqual(page.otherEnd(model, { from: there[0], to: there[1] }, 0), [-45, 55]);
});

test('of many lanes those with the most events are drawn, and those of the selected event', () => {
  const model = modelOf(synthetic(4000, { threads: 12, streams: 24 }));
  const drawn = (row) => page.chooseLanes(model.lanes, false, (lane) => page.holds(model, lane, row));
  assert.deepEqual(
    ['thread', 'stream'].map((kind) => drawn(-1).filter((lane) => lane.kind === kind).length),
    [8, 12],
  );
  const hidden = model.lanes.find((lane) => lane.kind === 'thread' && !drawn(-1).includes(lane));
  const row = model.events.thread.indexOf(hidden.of);
  assert.ok(drawn(row).includes(hidden));
  assert.equal(
    page.chooseLanes(model.lanes, true, () => false),
    model.lanes,
  );
});

test('claims lie on the axis by begin, and a fingerprint is never a property of objects', () => {
  const made = synthetic(500);
  made.head.claims = {
    abc: [
      [900, 950],
      [100, 300],
    ],
  };
  const { events } = modelOf(made);
  assert.deepEqual(page.placeClaims(events, 'abc'), [
    [100, 300],
    [900, 950],
  ]);
  assert.deepEqual(page.hull(page.placeClaims(events, 'abc')), [100, 950]);
  assert.deepEqual(page.placeClaims(events, 'constructor'), []);
  assert.equal(page.hull([]), null);
});

test('a range comes back from the address, and what is none is refused', () => {
  assert.deepEqual(page.parseRange(page.formatRange([12.34, 1e12])), [12.3, 1e12]);
  for (const text of ['', ',', '5', '9,3', 'a,b', '1,2,3', '0,Infinity'])
    assert.equal(page.parseRange(text), null, text);
});

test('a lane of a device says why it was idle, piece by piece', () => {
  const time = { parts: [{ name: 'kernels', title: 'kernels' }, { name: 'idle_host_code', title: 'idle: host code' }] };
  const idle = {
    begin: ['delta', [0, 40, 100]],
    ns: ['varint', [30, 10, 20]],
    part: ['u8', [1, 1, 1]],
    place: ['varint', [0, 0, 0]],
    device: ['varint', [0, 1, 0]],
  };
  const rows = [{ ...LAUNCH, begin: 30, host_ns: 5, device_start: 0, device_ns: 70 }];
  const model = modelOf(calls(rows, { report: { ...report(), time } }, { idle }));
  const lane = model.lanes.find(({ kind }) => kind === 'idle');
  assert.deepEqual([lane.device, lane.events, lane.title], [0, 2, 'idle, by cause']);
  assert.deepEqual([5, 45, 105, 125].map((at) => page.idleAt(model, 0, at)), [0, -1, 2, -1]);
  assert.equal(page.idleAt(model, 1, 45), 1);
  assert.equal(page.causeOf(model, 2), 'host code');
});
