// SPDX-License-Identifier: Apache-2.0
// The table of whose bytes something is: of a memory snapshot, and of heaps and regions.
import { useMemo } from 'preact/hooks';
import { bytes, count, share } from '../../format';
import { PlaceLink } from '../../parts/place-link';
import { Table, type TableColumn } from '../../parts/table';
import type { HeldRow } from './held';

const NAME: TableColumn<HeldRow> = { key: 'name', title: 'Name', value: ({ place }) => place?.name ?? null };

const columns = (total: number, rows: HeldRow[]): TableColumn<HeldRow>[] => [
  { key: 'what', title: 'What', value: ({ what }) => what },
  {
    key: 'place',
    title: 'Place',
    value: ({ place }) => place?.label ?? null,
    show: ({ place }) =>
      place && (
        <PlaceLink file={place.file} line={place.line}>
          <code>{place.label}</code>
        </PlaceLink>
      ),
  },
  { key: 'function', title: 'Function', value: ({ place }) => place?.function ?? null },
  ...(rows.some(({ place }) => place?.name) ? [NAME] : []),
  { key: 'bytes', title: 'Size', numeric: true, value: (row) => row.bytes, show: (row) => bytes(row.bytes) },
  { key: 'share', title: 'Share', numeric: true, value: (row) => row.bytes / total, show: (row) => share(row.bytes / total) },
  { key: 'count', title: 'Count', numeric: true, value: (row) => row.count, show: (row) => count(row.count) },
];

interface Props {
  id: string;
  caption: string;
  /** What shares are of. */
  total: number;
  rows: HeldRow[];
  limit?: number;
}

export function HeldTable({ id, caption, total, rows, limit = 20 }: Props) {
  const shown = useMemo(() => columns(total, rows), [total, rows]);
  return <Table id={id} caption={caption} columns={shown} rows={rows} limit={limit} />;
}
