// SPDX-License-Identifier: Apache-2.0
// Two traces side by side: each figure with its verdict, and each finding with what became of it.
import { bytes, count, known, ns, share } from '../format';
import { commonScale, IntervalBar } from '../parts/bars';
import { CopyButton } from '../parts/copy';
import { Table, type TableColumn } from '../parts/table';
import { useChoice } from '../state';
import { gained, judged } from '../tried';
import { SeveralPage } from './page';
import {
  changeText,
  costText,
  formatUnit,
  isSlight,
  shortNames,
  STATES,
  VERDICT_MARKS,
  type Diff,
  type FigureChange,
  type FindingChange,
  type PartChange,
  type PartSum,
  type Result,
  type Side,
  type TraceHead,
} from './several';

function TraceCard({ name, head }: { name: string; head: TraceHead }) {
  const facts: [string, string | null][] = [
    ['Trace', head.trace],
    ['Program', head.command],
    ['GPU', head.software ? 'software device: exact counts, no times' : head.device],
    ['Driver', head.driver_version],
    ['Host', head.hostname],
  ];
  return (
    <section class="card side" aria-label={`Trace ${name}`}>
      <h3>{name}</h3>
      <dl>
        {facts.map(([label, text]) => (
          <>
            <dt>{label}</dt>
            <dd>{text ?? '–'}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}

/** The sentence to share, and on one scale what was predicted and what came. */
function Outcome({ result, a, b }: { result: Result; a: number | null; b: number | null }) {
  const { predicted, got_ns, noise_ns, sentence, note } = result;
  const bound = (by: number) => (known(got_ns) && known(noise_ns) ? Math.max(0, got_ns + by * noise_ns) : null);
  const got = { low_ns: bound(-1), best_ns: known(got_ns) ? Math.max(0, got_ns) : null, high_ns: bound(1), share_of_wall: null };
  const scale_ns = commonScale([{ ...predicted, share_of_wall: null }, got]);
  const text = `${sentence[0].toUpperCase()}${sentence.slice(1)}.`;
  return (
    <>
      <p class="outcome">
        {text} <CopyButton what="this sentence" text={text} />
      </p>
      {known(got_ns) && (
        <dl class="loop">
          <div>
            <dt>Predicted for what was fixed</dt>
            <dd>
              <b>{ns(predicted.best_ns)}</b>{' '}
              {known(predicted.best_ns) && (
                <small>
                  {ns(predicted.low_ns)} to {ns(predicted.high_ns)}
                </small>
              )}
              <IntervalBar saving={{ ...predicted, share_of_wall: null }} scale_ns={scale_ns} />
            </dd>
          </div>
          <div>
            <dt>Got</dt>
            <dd>
              <b>{ns(got_ns)}</b>{' '}
              <small>
                {ns(a)} → {ns(b)}; two runs may differ by {ns(noise_ns)}
              </small>
              <IntervalBar saving={got} scale_ns={scale_ns} />
            </dd>
          </div>
        </dl>
      )}
      {note !== null && <p class="dim">{`${note[0].toUpperCase()}${note.slice(1)}.`}</p>}
    </>
  );
}

type Key = keyof PartSum;
const KEYS: { key: Key; title: string; show: (value: number | null | undefined) => string }[] = [
  { key: 'count', title: 'Number', show: count },
  { key: 'bytes', title: 'Bytes', show: bytes },
  { key: 'time_ns', title: 'Time', show: ns },
];

/** Columns of what is known of any row. */
function partColumns(what: string, rows: PartChange[]): TableColumn<PartChange>[] {
  const present = KEYS.filter(({ key }) => rows.some(({ a, b }) => known(a?.[key]) || known(b?.[key])));
  return [
    { key: 'name', title: what, value: (row) => row.name },
    ...present.flatMap(({ key, title, show }): TableColumn<PartChange>[] => [
      { key: `a_${key}`, title: `${title} in A`, numeric: true, value: (row) => row.a?.[key], show: (row) => show(row.a?.[key]) },
      { key: `b_${key}`, title: 'in B', numeric: true, value: (row) => row.b?.[key], show: (row) => show(row.b?.[key]) },
    ]),
  ];
}

function Parts({ id, what, rows }: { id: string; what: string; rows: PartChange[] }) {
  if (rows.length === 0) return <p>Neither trace has any.</p>;
  return (
    <Table
      id={id}
      caption={`${what} of both`}
      columns={partColumns(what, rows)}
      rows={rows}
      rowClass={({ a, b }) => (a === null || b === null ? 'one-sided' : undefined)}
      limit={20}
    />
  );
}

const HALF = 48;

/** From the middle to the left: less; to the right: more; the noise as a band around the middle. */
function ChangeBar({ row }: { row: FigureChange }) {
  if (!known(row.change) || row.change === 0) return null;
  const end = Math.max(-1, Math.min(1, row.change)) * HALF;
  const noise = Math.min(1, row.noise ?? 0) * HALF;
  return (
    <svg class="delta-bar" width={2 * HALF} height="12" viewBox={`${-HALF} 0 ${2 * HALF} 12`} aria-hidden="true">
      {noise > 0 && <rect class="noise" x={-noise} y="0" width={2 * noise} height="12" />}
      <rect class={`delta ${row.verdict}`} x={Math.min(0, end)} y="3" width={Math.max(1, Math.abs(end))} height="6" />
      <line x1="0" x2="0" y1="0" y2="12" />
    </svg>
  );
}

const FIGURES: TableColumn<FigureChange>[] = [
  { key: 'figure', title: 'Figure', value: (row) => row.label },
  {
    key: 'verdict',
    title: 'Verdict',
    value: (row) => row.verdict,
    show: (row) => (
      <span class={isSlight(row) ? 'verdict' : `verdict ${row.verdict}`}>
        <span aria-hidden="true">{VERDICT_MARKS[row.verdict]}</span> {row.verdict}
      </span>
    ),
  },
  { key: 'a', title: 'A', value: (row) => row.a, show: (row) => formatUnit(row.a, row.unit), numeric: true },
  { key: 'b', title: 'B', value: (row) => row.b, show: (row) => formatUnit(row.b, row.unit), numeric: true },
  { key: 'change', title: 'Change', value: (row) => row.change, show: changeText, numeric: true },
  {
    key: 'bar',
    title: 'Less | more',
    help: 'Cut at 100 %; the band is what two runs of the same program may differ by',
    value: (row) => row.change,
    show: (row) => <ChangeBar row={row} />,
  },
  {
    key: 'noise',
    title: 'Noise',
    help: 'By what two runs of the same program may differ',
    value: (row) => row.noise,
    show: (row) => (row.noise === 0 ? 'exact' : share(row.noise)),
    numeric: true,
  },
];

function Half({ name, side }: { name: string; side: Side | null }) {
  return (
    <div class={side === null ? 'half none' : 'half'}>
      <h4>{name}</h4>
      {side === null ? (
        <p>not there</p>
      ) : (
        <>
          <p>
            <b class={`severity ${side.severity}`}>{side.severity}</b> {costText(side)}
          </p>
          <p>{side.headline}</p>
          <p class="dim">{side.where.label ?? '–'}</p>
        </>
      )}
    </div>
  );
}

/** What was predicted, what a fix that was tried gained, and what the changed program did. */
function Loop({ change: { a, got_ns } }: { change: FindingChange }) {
  if (a?.tried === undefined) return null;
  return (
    <p>
      Predicted {known(a.saving.best_ns) ? ns(a.saving.best_ns) : 'nothing'}; tried: {a.tried.name} gains {gained(a.tried)};{' '}
      {judged(a.tried)}; got {known(got_ns) ? ns(got_ns) : 'not known for this alone'}
    </p>
  );
}

function FindingCard({ change }: { change: FindingChange }) {
  const { mark } = STATES.find(({ state }) => state === change.state)!;
  return (
    <article class="card fate">
      <h3>
        <span class={`state ${change.state.replace(' ', '-')}`}>
          <span aria-hidden="true">{mark}</span> {change.state}
        </span>{' '}
        {change.title} <small>{change.rule}</small>
      </h3>
      <div class="halves">
        <Half name="A" side={change.a} />
        <Half name="B" side={change.b} />
      </div>
      <Loop change={change} />
      <p class="dim">{change.why}</p>
    </article>
  );
}

function Findings({ findings }: { findings: FindingChange[] }) {
  const [chosen, choose] = useChoice('d.state', 'all');
  const shown = findings.filter(({ state }) => chosen === 'all' || state === chosen);
  const present = STATES.map((row) => ({ ...row, n: findings.filter(({ state }) => state === row.state).length }));
  if (findings.length === 0) return <p>Neither trace has a finding.</p>;
  return (
    <>
      <div class="states" role="group" aria-label="Show findings">
        <button type="button" aria-pressed={chosen === 'all'} onClick={() => choose('all')}>
          all {findings.length}
        </button>
        {present
          .filter(({ n }) => n > 0)
          .map(({ state, mark, text, n }) => (
            <button type="button" title={text} aria-pressed={chosen === state} onClick={() => choose(state)}>
              <span aria-hidden="true">{mark}</span> {state} {n}
            </button>
          ))}
      </div>
      {shown.map((change) => (
        <FindingCard change={change} key={(change.b ?? change.a)?.fingerprint} />
      ))}
    </>
  );
}

export function DiffApp({ diff, reproduce }: { diff: Diff; reproduce: string | undefined }) {
  const wall = diff.figures.find(({ name }) => name === 'wall_ns');
  const [a, b] = shortNames([diff.a.trace, diff.b.trace]);
  return (
    <SeveralPage
      title={`${a} → ${b}`}
      facts="What changed from trace A to trace B"
      toolVersion={diff.tool_version}
      reproduce={reproduce}
      parts={[
        {
          id: 'result',
          title: 'Result',
          body: (
            <>
              {diff.warning !== null && <p class="warning">{diff.warning}</p>}
              <Outcome result={diff.result} a={wall?.a ?? null} b={wall?.b ?? null} />
            </>
          ),
        },
        { id: 'findings', title: 'Findings', body: <Findings findings={diff.findings} /> },
        {
          id: 'traces',
          title: 'Traces',
          body: (
            <div class="halves">
              <TraceCard name="A" head={diff.a} />
              <TraceCard name="B" head={diff.b} />
            </div>
          ),
        },
        {
          id: 'figures',
          title: 'Figures',
          body: (
            <>
              <p class="dim">
                Counts and bytes are exact. A time that changed by less than the noise is unclear, or the same where the
                change or the noise is small.
              </p>
              <Table id="d" caption="Figures" columns={FIGURES} rows={diff.figures} rowKey={({ name }) => name} />
            </>
          ),
        },
        { id: 'kernels', title: 'Kernels', body: <Parts id="dk" what="Kernel" rows={diff.kernels} /> },
        { id: 'copies', title: 'Copies', body: <Parts id="dc" what="Copies" rows={diff.copies} /> },
        { id: 'memory', title: 'Memory at the peak', body: <Parts id="dm" what="Place" rows={diff.memory} /> },
      ]}
    />
  );
}
