// SPDX-License-Identifier: Apache-2.0
// A table that sorts, filters and copies as CSV; what the reader chose stands in the URL.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { useChoice } from '../state';
import { copyText, toCsv, type Cell } from './csv';
import { say } from './say';

export interface TableColumn<Row> {
  /** Stable: in links and as the head of the CSV column. */
  key: string;
  title: string;
  /** What is sorted by, filtered and copied; in base units (ns, bytes, 0..1). */
  value: (row: Row) => Cell;
  /** What is shown; the value itself where absent. */
  show?: (row: Row) => ComponentChildren;
  /** Right-aligned, and sorted downwards first. */
  numeric?: boolean;
  help?: string;
}

interface Props<Row> {
  /** Prefix of its keys in the URL. */
  id: string;
  caption: string;
  columns: TableColumn<Row>[];
  rows: Row[];
  /** "key" or "-key" (downwards); the order of the rows where absent. */
  sort?: string;
  rowKey?: (row: Row) => string;
  rowClass?: (row: Row) => string | undefined;
  onRow?: (row: Row) => void;
  /** Rows shown before "show all". */
  limit?: number;
}

function compare(a: Cell, b: Cell): number {
  const noA = a === null || a === undefined || (typeof a === 'number' && Number.isNaN(a));
  const noB = b === null || b === undefined || (typeof b === 'number' && Number.isNaN(b));
  if (noA || noB) return noA === noB ? 0 : noA ? 2 : -2; // unknown ones last, whichever the direction
  if (typeof a === 'number' && typeof b === 'number') return Math.sign(a - b);
  return Math.sign(String(a).localeCompare(String(b)));
}

export function sortRows<Row>(rows: Row[], column: TableColumn<Row> | undefined, down: boolean): Row[] {
  if (column === undefined) return rows;
  return rows
    .map((row) => ({ row, value: column.value(row) }))
    .sort((a, b) => {
      const order = compare(a.value, b.value);
      return Math.abs(order) === 2 ? order : down ? -order : order;
    })
    .map(({ row }) => row);
}

/** Meant for the row, and not for a control in it; then nothing else shall come of it. */
function isPlain(event: Event): boolean {
  if (event.target instanceof Element && event.target.closest('a, button, input, select') !== null) return false;
  event.preventDefault();
  return true;
}

export function Table<Row>({
  id,
  caption,
  columns,
  rows,
  sort = '',
  rowKey,
  rowClass,
  onRow,
  limit = 100,
}: Props<Row>) {
  const [order, setOrder] = useChoice(`${id}.sort`, sort);
  const [filter, setFilter] = useChoice(`${id}.filter`, '');
  const [all, setAll] = useState(false);
  const down = order.startsWith('-');
  const column = columns.find(({ key }) => key === order.replace(/^-/, ''));
  const shown = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const kept =
      words.length === 0
        ? rows
        : rows.filter((row) => {
            const text = columns
              .map((c) => c.value(row) ?? '')
              .join(' ')
              .toLowerCase();
            return words.every((word) => text.includes(word));
          });
    return sortRows(kept, column, down);
  }, [rows, columns, filter, column, down]);
  const cut = all ? shown : shown.slice(0, limit);
  const csv = async () => {
    const text = toCsv(
      columns.map(({ key }) => key),
      shown.map((row) => columns.map((c) => c.value(row))),
    );
    say((await copyText(text)) ? `Copied ${shown.length} rows` : 'The browser does not let this page copy');
  };
  const press = ({ key, numeric }: TableColumn<Row>) => {
    const first = numeric ? `-${key}` : key;
    const second = numeric ? key : `-${key}`;
    setOrder(order === first ? second : first);
  };
  return (
    <div class="table">
      <div class="table-tools">
        <input
          type="search"
          placeholder="Filter"
          aria-label={`Filter ${caption}`}
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <button type="button" onClick={csv} aria-label={`Copy CSV: ${caption}`}>
          Copy CSV
        </button>
        <span class="dim" role="status">
          {shown.length < rows.length
            ? `${shown.length} of ${rows.length}`
            : rows.length === 1
              ? '1 row'
              : `${rows.length} rows`}
        </span>
      </div>
      <div class="table-scroll" tabIndex={0} role="group" aria-label={caption}>
        <table>
          <caption class="hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map((c) => (
                <th
                  scope="col"
                  class={c.numeric ? 'number' : undefined}
                  aria-sort={c !== column ? undefined : down ? 'descending' : 'ascending'}
                >
                  <button type="button" title={c.help} onClick={() => press(c)}>
                    {c.title}
                    <span aria-hidden="true">{c !== column ? '' : down ? ' ↓' : ' ↑'}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {cut.map((row, index) => (
              <tr
                key={rowKey?.(row) ?? index}
                class={rowClass?.(row)}
                tabIndex={onRow ? 0 : undefined}
                onClick={onRow && ((event) => isPlain(event) && onRow(row))}
                onKeyDown={
                  onRow && ((event) => (event.key === 'Enter' || event.key === ' ') && isPlain(event) && onRow(row))
                }
                data-press={onRow ? 'yes' : undefined}
              >
                {columns.map((c) => (
                  <td class={c.numeric ? 'number' : undefined}>{c.show ? c.show(row) : (c.value(row) ?? '–')}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {cut.length < shown.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          Show all {shown.length} rows
        </button>
      )}
    </div>
  );
}
