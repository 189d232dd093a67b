// SPDX-License-Identifier: Apache-2.0
// The ranges of the program as a tree: which rows of it are open, and what its boxes stand for.
import { bytes, count, known, ns } from '../../format';
import type { Node } from '../../parts/stacks';
import type { RangeNode } from '../../report';

export interface Branch {
  /** In `range_tree`. */
  index: number;
  node: RangeNode;
  children: Branch[];
}

export interface RangeMeasure {
  id: string;
  title: string;
  of: (node: RangeNode) => number | null;
  show: (value: number) => string;
}

const copied = (node: RangeNode) => node.h2d_bytes + node.d2h_bytes;

const MEASURES: RangeMeasure[] = [
  { id: 'host', title: 'host time', of: (node) => node.host_ns, show: ns },
  { id: 'device', title: 'time of kernels', of: (node) => node.device_ns, show: ns },
  { id: 'idle', title: 'idle time of the GPU', of: (node) => node.idle_ns, show: ns },
  { id: 'launches', title: 'launches', of: (node) => node.launches, show: count },
  { id: 'copied', title: 'bytes copied', of: copied, show: bytes },
  { id: 'allocated', title: 'bytes allocated', of: (node) => node.allocated_bytes, show: bytes },
];

/** Those that are not known, or nothing everywhere, are no choice; all have something in the end: the number of ranges. */
export function measuresOf(nodes: RangeNode[]): RangeMeasure[] {
  const some = MEASURES.filter(({ of }) => nodes.some((node) => (of(node) ?? 0) > 0));
  return some.length > 0 ? some : [{ id: 'count', title: 'ranges', of: (node) => node.count, show: count }];
}

export const labelOf = ({ name, others }: RangeNode) => (others ? '(others)' : (name ?? '(unnamed)'));

/** Those of threads, or those of the process: a call lies in both, so they do not add up. */
export function branchesOf(nodes: RangeNode[], ofProcess: boolean): Branch[] {
  const branches: Branch[] = nodes.map((node, index) => ({ index, node, children: [] }));
  for (const branch of branches) if (branch.node.parent !== null) branches[branch.node.parent].children.push(branch);
  return branches.filter(({ node }) => node.parent === null && node.of_process === ofProcess);
}

/** The largest one, and what holds half or more of what is around it. */
export function openAtFirst(roots: Branch[], { of }: RangeMeasure): number[] {
  const open: number[] = [];
  let at = roots[0];
  while (at !== undefined && at.children.length > 0) {
    open.push(at.index);
    const whole = of(at.node) ?? 0;
    at = at.children.filter(({ node }) => (of(node) ?? 0) >= whole / 2)[0];
  }
  return open;
}

/** The branches that are to be seen: inside of others only where these are open. */
export function visible(roots: Branch[], open: ReadonlySet<number>): Branch[] {
  return roots.flatMap((branch) => [branch, ...(open.has(branch.index) ? visible(branch.children, open) : [])]);
}

function boxOf({ index, node, children }: Branch, of: RangeMeasure['of']): Node {
  const inside = children.map((child) => boxOf(child, of)).sort((a, b) => b.value - a.value);
  const value = of(node);
  // Ranges that overlap can be more than what is around them: a box is as wide as what it holds.
  const least = inside.reduce((sum, child) => sum + child.value, 0);
  return {
    frame: index,
    label: labelOf(node),
    value: Math.max(known(value) ? value : 0, least),
    count: node.count,
    children: inside,
  };
}

/** For an icicle. */
export function boxesOf(roots: Branch[], { of }: RangeMeasure): Node {
  const children = roots.map((root) => boxOf(root, of)).sort((a, b) => b.value - a.value);
  return {
    frame: -1,
    label: 'all ranges',
    value: children.reduce((sum, child) => sum + child.value, 0),
    count: children.reduce((sum, child) => sum + child.count, 0),
    children,
  };
}
