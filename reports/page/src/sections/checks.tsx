// SPDX-License-Identifier: Apache-2.0
// What was checked, what could not be and how to fix that; races that the software device saw.
import type { SectionProps } from '../app';
import { count } from '../format';
import { Table, type TableColumn } from '../parts/table';
import type { Gap, Race, RuleRow } from '../report';
import { go } from '../state';
import { category, counted, OUTCOME_MARK } from '../words';
import './checks.css';
import { CoverageReport } from './checks/coverage';
import { lineLabel } from './findings/line-label';

type Outcome = RuleRow['outcome'];

const OUTCOMES: [Outcome, string][] = [
  ['fail', 'found something'],
  ['pass', 'passed'],
  ['not applicable', 'not applicable'],
  ['could not check', 'could not be checked'],
];

function whyOf({ outcome, why }: RuleRow): string | null {
  return why ?? (outcome === 'not applicable' ? 'the program does nothing that the rule looks at' : null);
}

const titleOf = ({ title, slug }: RuleRow) => title ?? slug;

/** Leads to what the rule found. */
function Found({ id, findings, notes }: RuleRow) {
  if (findings + notes === 0) return '';
  const text = findings > 0 ? count(findings) : counted(notes, 'note');
  const show = () => go('findings', { 'f.rule': id, f: undefined });
  return (
    <button type="button" class="link" aria-label={`${text}: show what ${id} found`} onClick={show}>
      {text}
    </button>
  );
}

const RULES: TableColumn<RuleRow>[] = [
  { key: 'id', title: 'Rule', value: ({ id }) => id },
  { key: 'title', title: 'What it looks for', value: titleOf },
  { key: 'slug', title: 'Short name', value: ({ slug }) => slug, show: ({ slug }) => <code>{slug}</code> },
  { key: 'category', title: 'Category', value: ({ id }) => category(id) },
  {
    key: 'outcome',
    title: 'Outcome',
    value: ({ outcome }) => outcome,
    show: ({ outcome }) => (
      <span class={`outcome ${outcome.replaceAll(' ', '-')}`}>
        <span aria-hidden="true">{OUTCOME_MARK[outcome]}</span>{' '}
        {OUTCOMES.find(([name]) => name === outcome)?.[1] ?? outcome}
      </span>
    ),
  },
  {
    key: 'findings',
    title: 'Findings',
    numeric: true,
    value: ({ findings }) => findings,
    show: Found,
  },
  { key: 'why', title: 'Why', value: whyOf, show: (rule) => whyOf(rule) ?? '' },
];

const RACES: TableColumn<Race>[] = [
  { key: 'kernel', title: 'Kernel', value: ({ kernel }) => kernel, show: ({ kernel }) => <code>{kernel}</code> },
  { key: 'first', title: 'One access', value: ({ first }) => `${lineLabel(first)} ${first.opcode ?? ''}` },
  { key: 'second', title: 'The other', value: ({ second }) => `${lineLabel(second)} ${second.opcode ?? ''}` },
  { key: 'count', title: 'Times', numeric: true, value: (race) => race.count, show: (race) => count(race.count) },
];

function Tally({ rules }: { rules: RuleRow[] }) {
  return (
    <ul class="tally">
      {OUTCOMES.map(([outcome, words]) => {
        const number = rules.filter((rule) => rule.outcome === outcome).length;
        return (
          <li class={`outcome ${outcome.replaceAll(' ', '-')}`}>
            <span aria-hidden="true">{OUTCOME_MARK[outcome]}</span> <b>{number}</b> {words}
          </li>
        );
      })}
    </ul>
  );
}

function Gaps({ gaps }: { gaps: Gap[] }) {
  if (gaps.length === 0) return <p>Nothing was lost, and every requested check was made.</p>;
  return (
    <dl class="gaps">
      {gaps.map(({ what, why, remedy }) => (
        <div class="card">
          <dt>{what}</dt>
          <dd>{why}</dd>
          {remedy !== null && (
            <dd>
              <strong>Remedy:</strong> {remedy}
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

export function Checks({ payload }: SectionProps) {
  const { rules, could_not_check, races, device, coverage } = payload.head.report;
  return (
    <>
      <Tally rules={rules} />
      <h3>Could not check</h3>
      <Gaps gaps={could_not_check} />
      <CoverageReport coverage={coverage} />
      <h3>All rules</h3>
      <p class="dim">
        <code>gmanalyze --explain ID</code> shows what a rule looks for, how it prices it, and what it cannot see.
      </p>
      <Table id="c" caption="Rules" columns={RULES} rows={rules} rowKey={({ id }) => id} />
      {(races.length > 0 || device.software) && <h3>Races in shared memory</h3>}
      {races.length > 0 ? (
        <>
          <p>Two accesses to one word by different threads, one of them a store, with no barrier between them.</p>
          <Table id="c.races" caption="Races in shared memory" columns={RACES} rows={races} />
        </>
      ) : (
        device.software && <p>None was seen.</p>
      )}
    </>
  );
}
