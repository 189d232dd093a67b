// SPDX-License-Identifier: Apache-2.0
// Whose bytes the device holds, as a memory snapshot beside the trace shows it; errors; other settings of the allocator.
import { useMemo } from 'preact/hooks';
import { bytes, count, known, ns, percent } from '../../format';
import { Table, type TableColumn } from '../../parts/table';
import { holderRows } from './held';
import { HeldTable } from './held-table';
import { heldRows, type Snapshot, type SnapshotDevice, type SnapshotMoment, type SnapshotReplay } from './snapshot';

const fits = ({ fits: fit }: SnapshotReplay) => (fit === null ? null : fit ? 'would fit' : 'would not fit');

const REPLAYS: TableColumn<SnapshotReplay>[] = [
  { key: 'setting', title: 'Setting', value: ({ setting }) => setting ?? 'as recorded' },
  { key: 'reserved', title: 'Reserved at the peak', numeric: true, value: (row) => row.reserved_bytes, show: (row) => bytes(row.reserved_bytes) },
  { key: 'fits', title: 'The failed request', value: fits },
];

function Failed({ moment, id }: { moment: SnapshotMoment; id: string }) {
  const rows = useMemo(
    () => [...holderRows('tensors', moment.holders), ...holderRows('outside of the allocator', moment.outside)],
    [moment],
  );
  return (
    <>
      <h4>Out of memory</h4>
      <p>
        {bytes(moment.asked_bytes)} asked{known(moment.at_ns) && ` at ${ns(moment.at_ns)}`}, {bytes(moment.free_bytes)} free on the device;
        segments held {bytes(moment.reserved_bytes)}, tensors in them {bytes(moment.requested_bytes)}.
      </p>
      <HeldTable id={id} caption="Who held memory" total={moment.reserved_bytes + (moment.outside_bytes ?? 0)} rows={rows} limit={10} />
    </>
  );
}

function Device({ device }: { device: SnapshotDevice }) {
  const rows = useMemo(() => heldRows(device), [device]);
  const { history } = device;
  return (
    <>
      <h3>
        Whose bytes: {bytes(device.total_bytes)} of device {device.device} at the memory snapshot
        {known(device.at_ns) && `, ${ns(device.at_ns)}`}
      </h3>
      {device.unmatched_bytes > 0 && (
        <p>
          {bytes(device.unmatched_bytes)} of its {bytes(device.segment_bytes)} in segments are not in the trace: the snapshot is of another
          run or process, or calls were not recorded.
        </p>
      )}
      <HeldTable id={`m.w${device.device}`} caption="Whose bytes" total={device.total_bytes} rows={rows} />
      <p class="dim">Not measured: contexts and modules.</p>
      {history?.out_of_memory.map((moment, i) => <Failed key={i} moment={moment} id={`m.o${device.device}.${i}`} />)}
      {history && (
        <>
          <h4>Settings of the allocator, replayed</h4>
          {history.advice !== null && <p>{history.advice}.</p>}
          <Table id={`m.r${device.device}`} caption="Settings of the allocator" columns={REPLAYS} rows={history.replays} />
          <p class="dim">
            {count(history.events)} events; the program reserved {bytes(history.recorded_peak_bytes)}, the replay's error is{' '}
            {percent(100 * (history.replay_error ?? NaN))}. {history.caveats}
          </p>
        </>
      )}
    </>
  );
}

export function Whose({ snapshot }: { snapshot: Snapshot | undefined }) {
  return <>{snapshot?.devices.map((device) => <Device key={device.device} device={device} />)}</>;
}
