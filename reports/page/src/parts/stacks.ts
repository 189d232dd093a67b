// SPDX-License-Identifier: Apache-2.0
// Call stacks of the payload, and trees of them: who called, and how much that made.
import { base } from '../format';
import type { Payload } from '../payload';

/** A place in a tree of stacks. */
export interface Node {
  /** Row of `frame`; -1: the root or what has no stack. */
  frame: number;
  label: string;
  /** Own and below. */
  value: number;
  /** Calls or allocations behind the value. */
  count: number;
  /** Largest first. */
  children: Node[];
}

export interface PathOptions {
  /** With the frames of the CUDA runtime and of the start of the process. */
  runtime?: boolean;
  /** Innermost frame first. */
  inverted?: boolean;
}

/** What a stack id adds to a tree. */
export interface Weight {
  stack: number;
  value: number;
  count: number;
}

// What stands above main() in every stack, and is of no interest.
const START = /^(_start|__libc_start_main.*|__libc_start_call_main|start_thread|__clone3?|clone3?)$/;
export const NO_STACK = 'no stack recorded';

export class Stacks {
  readonly functions: (string | null)[];
  readonly files: (string | null)[];
  readonly lines: ArrayLike<number>;
  private readonly modules: (string | null)[];
  private readonly offsets: ArrayLike<number>;
  private readonly runtimes: ArrayLike<number>;
  private readonly frames: ArrayLike<number>;
  /** [first row, row after the last] of `stack_frame` by stack id. */
  private readonly groups = new Map<number, [number, number]>();
  private readonly paths = new Map<number, number[]>();

  constructor(payload: Payload) {
    const frame = payload.table('frame');
    const rows = payload.table('stack_frame');
    this.functions = frame.strings('function');
    this.files = frame.strings('file');
    this.modules = frame.strings('module');
    this.lines = frame.numbers('line');
    this.offsets = frame.numbers('offset');
    this.runtimes = frame.numbers('runtime');
    this.frames = rows.numbers('frame');
    const stacks = rows.numbers('stack');
    for (let row = 0; row < rows.rows; row++) {
      const group = this.groups.get(stacks[row]);
      if (group === undefined) this.groups.set(stacks[row], [row, row + 1]);
      else group[1] = row + 1;
    }
  }
  /** All frames, innermost first; none where the id is not known. */
  all(stack: number): number[] {
    const [from, to] = this.groups.get(stack) ?? [0, 0];
    return Array.from({ length: to - from }, (_, i) => this.frames[from + i]);
  }
  /** The user's frames, innermost first: outside the runtime that was called, and from main() on. */
  user(stack: number): number[] {
    let path = this.paths.get(stack);
    if (path === undefined) {
      const all = this.all(stack);
      // Below the outermost frame of the runtime everything serves the runtime, libc included.
      const last = all.reduce((found, frame, at) => (this.runtimes[frame] === 1 ? at : found), -1);
      // An interpreter's functions stand between those of the program that it runs.
      path = all
        .slice(last + 1)
        .filter((frame) => this.runtimes[frame] !== 2 && !START.test(this.functions[frame] ?? ''));
      if (path.length === 0) path = all;
      this.paths.set(stack, path);
    }
    return path;
  }
  /** "main.cu:182", else the function, else "app+0x12f3". */
  place(frame: number): string {
    const file = this.files[frame];
    if (file !== null && file !== undefined) {
      const line = this.lines[frame];
      return line > 0 ? `${base(file)}:${line}` : base(file);
    }
    return this.functions[frame] ?? `${base(this.modules[frame] ?? '?')}+0x${(this.offsets[frame] || 0).toString(16)}`;
  }
  /** "function (main.cu:182)" as far as it is known. */
  label(frame: number): string {
    const name = this.functions[frame];
    const place = this.place(frame);
    return name === null || name === undefined || name === place ? place : `${name} (${place})`;
  }
  /** "main.cu:182 function": for narrow places, where the line is more useful. */
  placeFirst(frame: number): string {
    const name = this.functions[frame];
    const place = this.place(frame);
    return name === null || name === undefined || name === place ? place : `${place} ${name}`;
  }
  /** The user's line that made the call. */
  site(stack: number): string {
    const path = this.user(stack);
    return path.length > 0 ? this.place(path[0]) : NO_STACK;
  }
  /** Equal for calls from the same place. */
  siteKey(stack: number): number {
    const path = this.user(stack);
    return path.length > 0 ? path[0] : -1;
  }

  tree(weights: Iterable<Weight>, options: PathOptions = {}): Node {
    const root = makeNode(-1, 'all');
    const index = new Map<Node, Map<number, Node>>();
    for (const { stack, value, count } of weights) {
      const path = options.runtime ? this.all(stack) : [...this.user(stack)];
      if (!options.inverted) path.reverse();
      let at = root;
      at.value += value;
      at.count += count;
      for (const frame of path.length > 0 ? path : [-1]) {
        let below = index.get(at);
        if (below === undefined) index.set(at, (below = new Map()));
        let next = below.get(frame);
        if (next === undefined) {
          next = makeNode(frame, frame < 0 ? NO_STACK : this.label(frame));
          below.set(frame, next);
          at.children.push(next);
        }
        next.value += value;
        next.count += count;
        at = next;
      }
    }
    sortTree(root);
    return root;
  }
}

function makeNode(frame: number, label: string): Node {
  return { frame, label, value: 0, count: 0, children: [] };
}

function sortTree(root: Node) {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    node.children.sort((a, b) => b.value - a.value || a.frame - b.frame);
    open.push(...node.children);
  }
}

const known = new WeakMap<Payload, Stacks>();

export function stacksOf(payload: Payload): Stacks {
  let stacks = known.get(payload);
  if (stacks === undefined) known.set(payload, (stacks = new Stacks(payload)));
  return stacks;
}

/** Values summed by stack id; stacks that are not known count as one. */
export class Weights {
  private readonly sums = new Map<number, Weight>();

  add(stack: number, value: number, count = 1) {
    const key = Number.isNaN(stack) ? -1 : stack;
    const sum = this.sums.get(key);
    if (sum === undefined) this.sums.set(key, { stack: key, value, count });
    else {
      sum.value += value;
      sum.count += count;
    }
  }
  all(): Iterable<Weight> {
    return this.sums.values();
  }
}
