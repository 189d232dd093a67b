// SPDX-License-Identifier: Apache-2.0
// Whose bytes the device holds, as the program's allocators say by the heaps and regions that they register.
import { useMemo } from 'preact/hooks';
import { bytes, count, known, ns, share } from '../../format';
import { Table, type TableColumn } from '../../parts/table';
import { HeldTable } from './held-table';
import { heapRows, regionRows, unusedShare, type HeapRow, type Heaps, type HeapsDevice } from './heaps';

const DOMAIN: TableColumn<HeapRow> = { key: 'domain', title: 'Domain', value: ({ domain }) => domain };

const columns = (rows: HeapRow[]): TableColumn<HeapRow>[] => [
  { key: 'name', title: 'Name', value: ({ name }) => name },
  ...(rows.some(({ domain }) => domain !== null) ? [DOMAIN] : []),
  { key: 'heaps', title: 'Heaps', numeric: true, value: (row) => row.count, show: (row) => count(row.count) },
  { key: 'held', title: 'Held', numeric: true, value: (row) => row.held, show: (row) => bytes(row.held) },
  { key: 'used', title: 'In use', numeric: true, value: (row) => row.used, show: (row) => bytes(row.used), help: 'in regions' },
  {
    key: 'unused',
    title: 'Unused',
    numeric: true,
    value: unusedShare,
    show: (row) => share(unusedShare(row)),
    help: 'share of what is held that is in no region: the allocator keeps it',
  },
  {
    key: 'peak',
    title: 'Most in use',
    numeric: true,
    value: (row) => row.peak,
    show: (row) => bytes(row.peak),
    help: 'the most that regions of these heaps had at one time',
  },
  { key: 'at', title: 'At', numeric: true, value: (row) => row.peakAt, show: (row) => ns(row.peakAt), help: 'when they had most' },
];

function Device({ device }: { device: HeapsDevice }) {
  const rows = useMemo(() => regionRows(device), [device]);
  const heaps = useMemo(() => heapRows(device), [device]);
  const shown = useMemo(() => columns(heaps), [heaps]);
  return (
    <>
      <h3>
        Whose bytes: {bytes(device.total_bytes)} of device {device.device} when its allocators had handed out most
        {known(device.at_ns) && `, ${ns(device.at_ns)}`}
      </h3>
      <p class="dim">Heaps and regions are what allocators register with NVTX. Places are those that asked the allocator.</p>
      <HeldTable id={`m.h${device.device}`} caption="Whose bytes: regions" total={device.total_bytes} rows={rows} />
      {heaps.length > 0 && (
        <>
          <h4>Heaps</h4>
          <Table id={`m.n${device.device}`} caption="Heaps" columns={shown} rows={heaps} />
        </>
      )}
      {device.never_ended > 0 && (
        <p>
          {count(device.never_ended)} region{device.never_ended === 1 ? '' : 's'}, {bytes(device.never_ended_bytes)}, never ended.
        </p>
      )}
    </>
  );
}

export function Allocators({ heaps }: { heaps: Heaps | undefined }) {
  return <>{heaps?.devices.map((device) => <Device key={device.device} device={device} />)}</>;
}
