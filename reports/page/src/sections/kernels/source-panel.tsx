// SPDX-License-Identifier: Apache-2.0
// The source of a kernel with what each line moved beside it.
import { useMemo } from 'preact/hooks';
import { base, bytes, count, decimal, known, share } from '../../format';
import { Table, type TableColumn } from '../../parts/table';
import type { Payload } from '../../payload';
import { listing, sourceOf, waysOf, wordOf, type LineCount, type Shown, type SourceFile } from './source';
import type { Kernel } from './model';

/** Lines of one file that a page shows; a kernel of more is read in an editor. */
const MOST = 500;
/** Ways in which a line was inlined that are shown below it. */
const FEW = 3;

const COLUMNS: TableColumn<LineCount>[] = [
  { key: 'file', title: 'File', value: ({ file }) => file, show: ({ file }) => (file === null ? 'not known' : base(file)) },
  { key: 'line', title: 'Line', value: ({ line }) => line, numeric: true },
  { key: 'kind', title: 'Access', value: ({ kind }) => kind, show: ({ kind }) => wordOf(kind) || 'other' },
  { key: 'opcodes', title: 'PTX', value: ({ opcodes }) => opcodes, show: ({ opcodes }) => <code>{opcodes}</code> },
  { key: 'executed', title: 'Executed', value: ({ executed }) => executed, show: ({ executed }) => count(executed), numeric: true, help: 'by warps, in one launch' },
  { key: 'actual', title: 'Per request', value: ({ actual }) => actual, show: ({ actual }) => decimal(actual, 1), numeric: true, help: 'sectors of 32 bytes, or passes through shared memory' },
  { key: 'ideal', title: 'Ideal', value: ({ ideal }) => ideal, show: ({ ideal }) => decimal(ideal, 1), numeric: true, help: 'the ideal number' },
  { key: 'excess', title: 'Excess', value: ({ excess }) => excess, show: ({ excess }) => bytes(excess), numeric: true, help: 'moved beyond the ideal, in one launch' },
  { key: 'share', title: 'Share', value: (row) => row.share, show: (row) => share(row.share), numeric: true },
];

const level = (of: number) => Math.min(10, Math.ceil(10 * of));

function Counts({ counts }: { counts: LineCount[] }) {
  const cells = (show: (one: LineCount) => string) => counts.map((one) => <div>{show(one)}</div>);
  return (
    <>
      <td class="number">{cells(({ executed }) => count(executed))}</td>
      <td>{cells(({ kind }) => wordOf(kind))}</td>
      <td class="number">{cells(({ actual, ideal }) => (known(actual) ? `${decimal(actual, 1)} / ${decimal(ideal, 1)}` : ''))}</td>
      <td class="number">
        {counts.map((one) => (
          <div>
            {one.excess > 0 && (
              <span class="heat" data-level={level(one.share)}>
                {bytes(one.excess)}, {share(one.share)}
              </span>
            )}
          </div>
        ))}
      </td>
    </>
  );
}

/** Of many ways the first few; all of them when it is pointed at. */
function Ways({ counts }: { counts: LineCount[] }) {
  const ways = waysOf(counts);
  if (ways.length === 0) return null;
  return (
    <div class="dim" title={ways.join('\n')}>
      {ways.slice(0, FEW).map((way) => (
        <div>{way}</div>
      ))}
      {ways.length > FEW && <div>… {count(ways.length - FEW)} more</div>}
    </div>
  );
}

function Row({ shown }: { shown: Shown }) {
  if (shown === null)
    return (
      <tr class="dim">
        <td colSpan={6}>⋯</td>
      </tr>
    );
  const { line, text, counts } = shown;
  return (
    <tr class={counts.length === 0 ? 'dim' : undefined}>
      <Counts counts={counts} />
      <th scope="row">{line}</th>
      <td>
        <code>{text ?? counts[0]?.opcodes}</code>
        <Ways counts={counts} />
      </td>
    </tr>
  );
}

function FileListing({ source }: { source: SourceFile }) {
  const rows = useMemo(() => listing(source), [source]);
  const name = source.file === null ? 'PTX' : base(source.file);
  return (
    <div class="source" tabIndex={0} role="region" aria-label={`Source: ${name}`}>
      <table>
        <caption>
          {source.file ?? 'No line information: build with nvcc -lineinfo to see the source.'}
          {source.file !== null && source.text === null && ' (its text is not in the trace)'}
        </caption>
        <thead>
          <tr>
            <th scope="col" class="number">
              Executed
            </th>
            <th scope="col">Access</th>
            <th scope="col" class="number">
              Per request, ideal
            </th>
            <th scope="col" class="number">
              Excess
            </th>
            <th scope="col">{source.file === null ? 'PTX line' : 'Line'}</th>
            <th scope="col">{source.file === null ? 'Opcode' : 'Source'}</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST).map((shown) => (
            <Row shown={shown} />
          ))}
        </tbody>
      </table>
      {rows.length > MOST && <p>{count(rows.length - MOST)} more lines: gmanalyze lines prints all of them.</p>}
    </div>
  );
}

/** Nothing where no instruction of the kernel was counted. */
export function SourcePanel({ payload, kernel }: { payload: Payload; kernel: Kernel }) {
  const source = useMemo(() => sourceOf(payload, kernel.row.name, kernel.row.class_id), [payload, kernel]);
  if (source === null) return null;
  return (
    <>
      <h4>Source</h4>
      <p>
        {bytes(source.excess)} moved beyond the ideal in one launch; the mean of {count(source.launches)} that were counted
        instruction by instruction. Per request: sectors of 32 bytes, or passes through shared memory, and the ideal number.
      </p>
      {source.files.map((file) => (
        <FileListing source={file} />
      ))}
      <Table
        id="k.lines"
        caption={`Lines of ${kernel.short}`}
        columns={COLUMNS}
        rows={source.files.flatMap(({ counts }) => counts)}
        sort="-excess"
        limit={10}
      />
    </>
  );
}
