// SPDX-License-Identifier: Apache-2.0
// The findings as cards, with filters; what is too small to act on lies folded below.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { SectionProps } from '../app';
import { known, ns, share } from '../format';
import { commonScale } from '../parts/bars';
import { Table, type TableColumn } from '../parts/table';
import type { Finding, Joint, Report } from '../report';
import { clearRange, useRange } from '../range';
import { setChoices, useChoice } from '../state';
import { isPrinting, useTheme } from '../theme';
import { compared, gained, judged } from '../tried';
import { counted } from '../words';
import './findings.css';
import { Card } from './findings/card';
import { byReason, choose, isFiltering } from './findings/select';
import { clearFilters, Toolbar, useWish } from './findings/toolbar';

function Advice({ report }: { report: Report }) {
  const { combined_saving, savings_add_up } = report.verdict;
  const { best_ns, low_ns, high_ns, share_of_wall } = combined_saving;
  const priced = known(best_ns) && best_ns > 0;
  const several = report.findings.length > 1;
  if (!priced) return <p class="advice">None has a price here: they are ranked by unnecessary work.</p>;
  return (
    <p class="advice">
      {several && savings_add_up !== true && (
        <>
          <strong>Savings overlap; do not add them.</strong>{' '}
        </>
      )}
      All findings together would save about {ns(best_ns)} (between {ns(low_ns)} and {ns(high_ns)}),{' '}
      {report.verdict.modelled === true ? 'modelled' : `${share(share_of_wall)} of the run`}. Each bar shows what the finding would bring alone, and how far that may be off.
    </p>
  );
}

/** Kernels with several problems: what repairing all of them would save, and the share of each. */
function Joints({ report }: { report: Report }) {
  const joints = report.joint_savings ?? [];
  if (joints.length === 0) return null;
  return (
    <details class="joints">
      <summary>{counted(joints.length, 'kernel')} with several findings: what all fixes together would bring</summary>
      <Table id="j" caption="Kernels with several findings" columns={JOINTS} rows={joints} />
    </details>
  );
}

/** All fixes that were tried on the program, those too that no finding is about. */
function TriedSets({ report: { tried } }: { report: Report }) {
  if (tried === undefined) return null;
  return (
    <details class="joints">
      <summary>{counted(tried.sets.length, 'set')} of fixes tried on this program</summary>
      <ul>
        {tried.sets.map((one) => (
          <li key={one.name}>
            <code>{one.name}</code>: {gained(one)}; {judged(one)}
          </li>
        ))}
      </ul>
      <p>Compared: {compared(tried)}.</p>
    </details>
  );
}

const JOINTS: TableColumn<Joint>[] = [
  { key: 'kernel', title: 'Kernel', value: ({ kernel }) => kernel, show: ({ kernel }) => <code>{kernel}</code> },
  { key: 'best_ns', title: 'Together', numeric: true, value: (row) => row.saving.best_ns, show: (row) => ns(row.saving.best_ns) },
  { key: 'low_ns', title: 'At least', numeric: true, value: (row) => row.saving.low_ns, show: (row) => ns(row.saving.low_ns) },
  { key: 'high_ns', title: 'At most', numeric: true, value: (row) => row.saving.high_ns, show: (row) => ns(row.saving.high_ns) },
  { key: 'cost_ns', title: 'Of', numeric: true, value: (row) => row.cost_ns, show: (row) => ns(row.cost_ns) },
  {
    key: 'parts',
    title: 'Findings, and the share of each',
    value: ({ parts }) => parts.map((part) => `${part.rule} ${share(part.share)}`).join(', '),
  },
];

/** Which cards are open; a finding that the URL asks for is opened and brought into sight. */
function useOpen(findings: Finding[], shown: Finding[]) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [asked] = useChoice('f', '');
  const mine = useRef(''); // opened here, by hand: already in sight
  useEffect(() => {
    if (asked === '' || asked === mine.current || !findings.some((f) => f.fingerprint === asked)) return;
    if (!shown.some((f) => f.fingerprint === asked)) {
      clearFilters();
      clearRange();
    }
    setOpen((old) => new Set(old).add(asked));
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => {
        const card = document.getElementById(`f-${asked}`);
        card?.scrollIntoView();
        card?.querySelector<HTMLElement>('h3 button')?.focus({ preventScroll: true });
      });
    });
    return () => cancelAnimationFrame(frame);
  }, [asked]);
  const toggle = (fingerprint: string) => {
    const opening = !open.has(fingerprint);
    const next = new Set(open);
    if (opening) next.add(fingerprint);
    else next.delete(fingerprint);
    setOpen(next);
    mine.current = opening ? fingerprint : '';
    setChoices({ f: opening ? fingerprint : undefined }, 'findings');
  };
  return { open, setOpen, toggle, asked };
}

export function Findings({ payload }: SectionProps) {
  const { report, claims } = payload.head;
  const wish = useWish();
  useTheme(); // renders again for paper, where all cards are open
  const all = useMemo(() => [...report.findings, ...report.notes], [report]);
  const range = useRange();
  const findings = useMemo(() => choose(report.findings, wish, claims, range), [report, wish, claims, range]);
  const notes = useMemo(() => choose(report.notes, wish, claims, range), [report, wish, claims, range]);
  const filtering = isFiltering(wish) || range !== null;
  const { open, setOpen, toggle, asked } = useOpen(all, [...findings, ...notes]);
  const [unfolded, setUnfolded] = useState(false);
  const scale_ns = useMemo(() => commonScale(report.findings.flatMap(({ saving, tried }) => (tried?.gain ? [saving, { ...tried.gain, share_of_wall: null }] : [saving]))), [report]);
  const paper = isPrinting();
  const cards = (list: Finding[]) =>
    list.map((finding) => (
      <Card
        key={finding.fingerprint}
        payload={payload}
        finding={finding}
        scale_ns={scale_ns}
        open={paper || open.has(finding.fingerprint)}
        onToggle={toggle}
      />
    ));
  const anyOpen = findings.some(({ fingerprint }) => open.has(fingerprint));
  return (
    <>
      {report.findings.length === 0 ? (
        <p>No findings: no check found anything worth a change. The section Checks lists what was checked.</p>
      ) : (
        <>
          <Advice report={report} />
          <Toolbar findings={all} wish={wish} timed={!report.device.software && Object.keys(claims).length > 0} />
          <p class="filters-said">
            <span class="dim" role="status">
              {filtering && `${findings.length} of `}
              {counted(report.findings.length, 'finding')}
              {filtering && `, ${counted(notes.length, 'note')}`}
            </span>{' '}
            <button
              type="button"
              onClick={() => setOpen(anyOpen ? new Set() : new Set(findings.map(({ fingerprint }) => fingerprint)))}
            >
              {anyOpen ? 'Close all' : 'Open all'}
            </button>
          </p>
        </>
      )}
      <div class="cards">{cards(findings)}</div>
      <TriedSets report={report} />
          <Joints report={report} />
      {notes.length > 0 && (
        <details
          class="notes"
          open={paper || unfolded || notes.some(({ fingerprint }) => fingerprint === asked)}
          onToggle={(event) => isPrinting() || setUnfolded(event.currentTarget.open)}
        >
          <summary>{counted(notes.length, 'note')}: seen, but too small to act on or not certain enough</summary>
          {byReason(notes).map(([why, list]) => (
            <section key={why}>
              <h3 class="note-why">{why}</h3>
              <div class="cards">{cards(list)}</div>
            </section>
          ))}
        </details>
      )}
    </>
  );
}
