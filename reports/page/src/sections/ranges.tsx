// SPDX-License-Identifier: Apache-2.0
// The ranges that the program names, as a tree: an icicle, and a table that opens node by node.
import { useMemo } from 'preact/hooks';
import type { SectionProps } from '../app';
import { bytes, count, known, ns } from '../format';
import { ShareBar } from '../parts/bars';
import { Controls, Pick, usePick } from '../parts/controls';
import { Icicle } from '../parts/icicle';
import { useRange } from '../range';
import type { RangeNode, Report } from '../report';
import { go, useChoice } from '../state';
import { boxesOf, branchesOf, labelOf, measuresOf, openAtFirst, visible, type Branch } from './ranges/model';
import './ranges.css';

const OF = [
  ['threads', 'threads'],
  ['process', 'the process'],
] as const;

interface Column {
  title: string;
  help: string;
  show: (node: RangeNode) => string;
  /** A column in which nothing is known, or nothing is anything, is left out. */
  value: (node: RangeNode) => number | null;
}

const copied = (node: RangeNode) => node.h2d_bytes + node.d2h_bytes;
const COLUMNS: Column[] = [
  { title: 'Times', help: 'Ranges of this path', value: (node) => node.count, show: (node) => count(node.count) },
  { title: 'Host', help: 'Time in these ranges, all threads added', value: (node) => node.host_ns, show: (node) => ns(node.host_ns) },
  { title: 'Itself', help: 'Of that, in no range inside', value: (node) => node.host_self_ns, show: (node) => ns(node.host_self_ns) },
  { title: 'Kernels', help: 'Time of the kernels that were launched in it', value: (node) => node.device_ns, show: (node) => ns(node.device_ns) },
  {
    title: 'Itself, kernels',
    help: 'Of those launched in no range inside',
    value: (node) => node.device_self_ns,
    show: (node) => ns(node.device_self_ns),
  },
  { title: 'GPU idle', help: 'The host was in it, and no device worked', value: (node) => node.idle_ns, show: (node) => ns(node.idle_ns) },
  { title: 'Launches', help: 'Kernels and graphs', value: (node) => node.launches, show: (node) => count(node.launches) },
  { title: 'Copies', help: 'In all directions', value: (node) => node.copies, show: (node) => count(node.copies) },
  { title: 'Copied', help: 'Between host and device', value: copied, show: (node) => bytes(copied(node)) },
  { title: 'Allocated', help: 'Device memory', value: (node) => node.allocated_bytes, show: (node) => bytes(node.allocated_bytes) },
  { title: 'Held', help: 'Of that, not freed when the range ended', value: (node) => node.held_bytes, show: (node) => bytes(node.held_bytes) },
  { title: 'Findings save', help: 'Findings more than half of whose cost lies in it', value: (node) => node.findings, show: saving },
];

function saving({ findings, best_ns }: RangeNode): string {
  if (findings === 0) return '–';
  return known(best_ns) && best_ns > 0 ? `${count(findings)}: ${ns(best_ns)}` : count(findings);
}

interface RowProps {
  branch: Branch;
  columns: Column[];
  open: boolean;
  toggle: () => void;
  /** Of the largest one; null: not known. */
  share: number | null;
  what: string;
  /** Findings name it. */
  named: boolean;
}

function Row({ branch: { node, children }, columns, open, toggle, share, what, named }: RowProps) {
  const label = labelOf(node);
  return (
    <tr>
      <th scope="row">
        <span class="tree-name" style={{ paddingLeft: `${1.2 * node.depth}rem` }}>
          {children.length > 0 ? (
            <button type="button" aria-expanded={open} aria-label={`${open ? 'Close' : 'Open'} ${label}`} onClick={toggle}>
              {open ? '▾' : '▸'}
            </button>
          ) : (
            <span class="leaf" />
          )}
          <span class="hidden">Level {node.depth + 1}: </span>
          {node.others ? <span class="dim">{label}</span> : <code title={label}>{label}</code>}
        </span>
      </th>
      <td class="tree-bar">
        <ShareBar of={share} label={`${what} of ${label}`} />
      </td>
      {columns.map((column) => (
        <td class="number">
          {named && column.show === saving ? (
            <button type="button" class="link" onClick={() => go('findings', { 'f.range': label })}>
              {column.show(node)}
            </button>
          ) : (
            column.show(node)
          )}
        </td>
      ))}
    </tr>
  );
}

interface TreeProps {
  report: Report;
  roots: Branch[];
  first: number[];
  what: string;
  shareOf: (node: RangeNode) => number | null;
}

function Tree({ report, roots, first, what, shareOf }: TreeProps) {
  const [text, setText] = useChoice('n.open', first.join('.'));
  const open = useMemo(() => new Set(text.split('.').filter(Boolean).map(Number)), [text]);
  const all = useMemo(() => visible(roots, new Set((report.range_tree ?? []).keys())), [roots, report]);
  const columns = COLUMNS.filter(({ value }) => all.some(({ node }) => (value(node) ?? 0) > 0));
  const named = useMemo(() => new Set([...report.findings, ...report.notes].map(({ range }) => range)), [report]);
  const toggle = (index: number) => {
    const next = new Set(open);
    if (!next.delete(index)) next.add(index);
    setText([...next].sort((a, b) => a - b).join('.') || '-');
  };
  const parents = all.filter(({ children }) => children.length > 0);
  return (
    <div class="table">
      {parents.length > 0 && (
        <div class="table-tools">
          <button type="button" onClick={() => setText(parents.map(({ index }) => index).join('.'))}>
            Open every range
          </button>
          <button type="button" onClick={() => setText('-')}>
            Close every range
          </button>
        </div>
      )}
      <div class="table-scroll" tabIndex={0} role="group" aria-label="Tree of ranges">
        <table class="tree">
          <caption class="hidden">Tree of ranges</caption>
          <thead>
            <tr>
              <th scope="col">Range</th>
              <th scope="col">{what[0].toUpperCase() + what.slice(1)}</th>
              {columns.map(({ title, help }) => (
                <th scope="col" class="number" title={help}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {visible(roots, open).map((branch) => (
              <Row
                key={branch.index}
                branch={branch}
                columns={columns}
                open={open.has(branch.index)}
                toggle={() => toggle(branch.index)}
                share={shareOf(branch.node)}
                what={what}
                named={branch.node.findings > 0 && named.has(branch.node.name)}
              />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

export function Ranges({ payload }: SectionProps) {
  const { report } = payload.head;
  const nodes = report.range_tree ?? [];
  const range = useRange();
  const kinds = OF.filter(([kind]) => nodes.some(({ of_process }) => of_process === (kind === 'process')));
  const [kind] = usePick('n.of', kinds);
  const roots = useMemo(() => branchesOf(nodes, kind === 'process'), [nodes, kind]);
  const measures = useMemo(() => measuresOf(nodes), [nodes]);
  const options = measures.map(({ id, title }) => [id, title] as const);
  const [by] = usePick('n.by', options);
  const measure = measures.find(({ id }) => id === by) ?? measures[0];
  const boxes = useMemo(() => boxesOf(roots, measure), [roots, measure]);
  const first = useMemo(() => openAtFirst(roots, measures[0]), [roots, measures]);
  const most = roots.reduce((largest, { node }) => Math.max(largest, measure.of(node) ?? 0), 0);
  const shareOf = (node: RangeNode) => {
    const value = measure.of(node);
    return known(value) && most > 0 ? value / most : null;
  };
  return (
    <>
      <p>
        What the program names by NVTX or <code>gmtrace.torch</code>, by path: ranges of one name inside of those of the same
        names are one node, in whatever thread. A call counts in each range that its thread is in when it begins.
        {range !== null && ' The sums are of the whole run, not of the selected time.'}
      </p>
      <Controls>
        {kinds.length > 1 && <Pick id="n.of" label="Ranges of" options={kinds} />}
        <Pick id="n.by" label="By" options={options} />
      </Controls>
      <Icicle id="n" title={`Ranges by ${measure.title}`} root={boxes} what={measure.title} counted="ranges" show={measure.show} />
      <Tree report={report} roots={roots} first={first} what={measure.title} shareOf={shareOf} />
    </>
  );
}
