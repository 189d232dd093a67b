// SPDX-License-Identifier: Apache-2.0
// Where the cells of an icicle lie, and which of them a key leads to.
import type { Node } from './stacks';

export interface Cell {
  node: Node;
  /** Children's positions from the root. */
  path: number[];
  depth: number;
  /** Shares of the width. */
  left: number;
  width: number;
  parent: Cell | null;
}

/** "0.2.1": frames, not positions, so that a link still fits when other values are asked for. */
export function pathKey(root: Node, path: number[]): string {
  const frames: number[] = [];
  let node = root;
  for (const at of path) {
    node = node.children[at];
    frames.push(node.frame);
  }
  return frames.join('.');
}

/** The longest beginning of a key that the tree has. */
export function findPath(root: Node, key: string): number[] {
  const path: number[] = [];
  let node = root;
  for (const word of key === '' ? [] : key.split('.')) {
    const at = node.children.findIndex((child) => String(child.frame) === word);
    if (at < 0) break;
    path.push(at);
    node = node.children[at];
  }
  return path;
}

export function nodeAt(root: Node, path: number[]): Node {
  return path.reduce((node, at) => node.children[at], root);
}

export interface Layout {
  cells: Cell[];
  /** Nodes that would be narrower than `least`; what is below them is not counted. */
  hidden: number;
}

/** The cells below and including a node, narrow ones left out with all below them. */
export function layOut(root: Node, path: number[], least: number): Layout {
  const top = nodeAt(root, path);
  if (!(top.value > 0)) return { cells: [], hidden: 0 };
  let hidden = 0;
  const cells: Cell[] = [{ node: top, path, depth: 0, left: 0, width: 1, parent: null }];
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i];
    let left = cell.left;
    cell.node.children.forEach((node, at) => {
      const width = node.value / top.value;
      if (width < least) hidden++;
      else cells.push({ node, path: [...cell.path, at], depth: cell.depth + 1, left, width, parent: cell });
      left += width;
    });
  }
  return { cells, hidden };
}

/** The cell that an arrow key leads to from another; itself where there is none. */
export function step(cells: Cell[], from: Cell, key: string): Cell {
  if (key === 'ArrowUp') return from.parent ?? from;
  if (key === 'ArrowDown') return cells.find((cell) => cell.parent === from) ?? from;
  const row = cells.filter((cell) => cell.depth === from.depth).sort((a, b) => a.left - b.left);
  const at = row.indexOf(from) + (key === 'ArrowRight' ? 1 : -1);
  return row[at] ?? from;
}

/** The rows of the table twin: every node but the root, outermost first. */
export function flatten(root: Node): { node: Node; depth: number; parent: string; self: number }[] {
  const rows: { node: Node; depth: number; parent: string; self: number }[] = [];
  const open: { node: Node; depth: number; parent: string }[] = [{ node: root, depth: 0, parent: '' }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { node, depth, parent } = at;
    const below = node.children.reduce((sum, child) => sum + child.value, 0);
    if (depth > 0) rows.push({ node, depth, parent, self: node.value - below });
    for (const child of [...node.children].reverse())
      open.push({ node: child, depth: depth + 1, parent: depth > 0 ? node.label : '' });
  }
  return rows;
}
