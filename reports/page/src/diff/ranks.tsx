// SPDX-License-Identifier: Apache-2.0
// Several traces of one program: least, median and most of each figure, the outlier, merged findings.
import { known, ns } from '../format';
import { Table, type TableColumn } from '../parts/table';
import { SeveralPage } from './page';
import { formatUnit, shortNames, type RankFigure, type RankFinding, type Ranks, type TraceHead } from './several';

const WIDTH = 160;

/** One dot per trace between the least and the most; odd ones are filled squares. */
function Strip({ row, names }: { row: RankFigure; names: string[] }) {
  const { min, max } = row;
  if (!known(min) || !known(max)) return null;
  const at = (value: number) => (max > min ? ((value - min) / (max - min)) * (WIDTH - 12) + 6 : WIDTH / 2);
  return (
    <svg class="strip" width={WIDTH} height="16" aria-hidden="true">
      <line x1="6" x2={WIDTH - 6} y1="8" y2="8" />
      {row.values.map((value, index) => {
        if (!known(value)) return null;
        const title = <title>{`${names[index]}: ${formatUnit(value, row.unit)}`}</title>;
        return row.odd.includes(index) ? (
          <rect class="odd" x={at(value) - 4.5} y="3.5" width="9" height="9">
            {title}
          </rect>
        ) : (
          <circle cx={at(value)} cy="8" r="4">
            {title}
          </circle>
        );
      })}
    </svg>
  );
}

function figureColumns(names: string[]): TableColumn<RankFigure>[] {
  const number = (key: 'min' | 'median' | 'max', title: string): TableColumn<RankFigure> => ({
    key,
    title,
    value: (row) => row[key],
    show: (row) => formatUnit(row[key], row.unit),
    numeric: true,
  });
  return [
    { key: 'figure', title: 'Figure', value: (row) => row.label },
    number('min', 'Min'),
    number('median', 'Median'),
    number('max', 'Max'),
    {
      key: 'strip',
      title: 'Each trace',
      help: 'From the least to the most; squares are outliers',
      value: () => null,
      show: (row) => <Strip row={row} names={names} />,
    },
    {
      key: 'odd',
      title: 'Outlier',
      value: (row) => row.odd.map((index) => names[index]).join(', '),
      show: (row) => row.odd.map((index) => `${names[index]}: ${formatUnit(row.values[index], row.unit)}`).join(', '),
    },
  ];
}

interface TraceRow extends TraceHead {
  name: string;
  values: Record<string, number | null>;
}

/** The figures of each trace, of which the table above is the sum. */
function traceColumns(ranks: Ranks): TableColumn<TraceRow>[] {
  return [
    { key: 'trace', title: 'Trace', value: (row) => row.name },
    { key: 'rank', title: 'Rank', value: (row) => row.rank },
    { key: 'host', title: 'Host', value: (row) => row.hostname },
    { key: 'gpu', title: 'GPU', value: (row) => (row.software ? 'software device' : row.device) },
    ...ranks.figures
      .filter(({ gated }) => gated)
      .map(({ name, label, unit }) => ({
        key: name,
        title: label,
        value: (row: TraceRow) => row.values[name],
        show: (row: TraceRow) => formatUnit(row.values[name], unit),
        numeric: true,
      })),
  ];
}

function findingColumns(ranks: Ranks, names: string[]): TableColumn<RankFinding>[] {
  return [
    {
      key: 'severity',
      title: 'Severity',
      value: (row) => row.largest.severity,
      show: (row) => <b class={`severity ${row.largest.severity}`}>{row.largest.severity}</b>,
    },
    { key: 'rule', title: 'Rule', value: (row) => `${row.rule} ${row.slug}` },
    { key: 'where', title: 'Where', value: (row) => row.largest.where.label },
    {
      key: 'traces',
      title: 'Traces',
      value: (row) => row.traces.length,
      show: (row) => (
        <span title={row.traces.map((index) => names[index]).join(', ')}>
          {row.traces.length} of {ranks.traces.length}
        </span>
      ),
      numeric: true,
    },
    { key: 'min', title: 'Saves, least', value: (row) => row.min_ns, show: (row) => ns(row.min_ns), numeric: true },
    { key: 'median', title: 'median', value: (row) => row.median_ns, show: (row) => ns(row.median_ns), numeric: true },
    { key: 'max', title: 'most', value: (row) => row.max_ns, show: (row) => ns(row.max_ns), numeric: true },
    { key: 'what', title: 'What, where it costs most', value: (row) => row.largest.headline },
  ];
}

const ODD =
  'An outlier lies more than 5 % from the median, and more than 3.5 robust deviations (0.6745 × distance / ' +
  'median distance) where the others do not agree exactly.';

export function RanksApp({ ranks, reproduce }: { ranks: Ranks; reproduce: string | undefined }) {
  const names = shortNames(ranks.traces.map(({ trace }) => trace));
  const rows = ranks.traces.map((head, index) => ({
    ...head,
    name: names[index],
    values: Object.fromEntries(ranks.figures.map((figure) => [figure.name, figure.values[index]])),
  }));
  return (
    <SeveralPage
      title={`${ranks.traces.length} traces`}
      facts={ranks.odd === null ? 'None is the outlier' : `The outlier: ${names[ranks.odd]}`}
      toolVersion={ranks.tool_version}
      reproduce={reproduce}
      parts={[
        {
          id: 'figures',
          title: 'Figures',
          body: (
            <>
              <p class="dim">{ranks.traces.length < 3 ? 'Of two traces, neither is the outlier.' : ODD}</p>
              <Table
                id="r"
                caption="Figures"
                columns={figureColumns(names)}
                rows={ranks.figures}
                rowKey={({ name }) => name}
                rowClass={({ odd }) => (odd.length > 0 ? 'odd' : undefined)}
              />
            </>
          ),
        },
        {
          id: 'findings',
          title: 'Findings',
          body:
            ranks.findings.length === 0 ? (
              <p>No trace has a finding.</p>
            ) : (
              <Table
                id="rf"
                caption="Findings"
                columns={findingColumns(ranks, names)}
                rows={ranks.findings}
                rowKey={({ largest }) => largest.fingerprint}
              />
            ),
        },
        {
          id: 'traces',
          title: 'Traces',
          body: (
            <Table
              id="rt"
              caption="Traces"
              columns={traceColumns(ranks)}
              rows={rows}
              rowClass={({ name }) => (ranks.odd !== null && name === names[ranks.odd] ? 'odd' : undefined)}
            />
          ),
        },
      ]}
    />
  );
}
