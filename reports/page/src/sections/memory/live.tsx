// SPDX-License-Identifier: Apache-2.0
// What is allocated at the chosen moment: an icicle by call stack and a table.
import { useMemo } from 'preact/hooks';
import { bytes, ns } from '../../format';
import { Icicle } from '../../parts/icicle';
import { Weights } from '../../parts/stacks';
import { Table, type TableColumn } from '../../parts/table';
import type { Clock } from './areas';
import { liveAt, type Allocations, type Place } from './model';

function columnsOf(all: Allocations, at: number): TableColumn<number>[] {
  const age = (row: number) => at - all.begin[row];
  return [
    {
      key: 'bytes',
      title: 'Size',
      value: (row) => all.bytes[row],
      show: (row) => bytes(all.bytes[row]),
      numeric: true,
    },
    {
      key: 'age',
      title: all.timed ? 'Age' : 'Age in events',
      value: age,
      show: (row) => (all.timed ? ns(age(row)) : age(row)),
      numeric: true,
    },
    { key: 'kind', title: 'Kind', value: (row) => all.kind(row) },
    { key: 'site', title: 'Call site', value: (row) => all.stacks.site(all.stack[row]) },
    {
      key: 'address',
      title: 'Address',
      value: (row) => hex(all.address[row]),
      show: (row) => <code class="address">{hex(all.address[row])}</code>,
    },
    {
      key: 'id',
      title: 'allocation.id',
      value: (row) => all.id[row],
      numeric: true,
      help: 'of the trace: gmanalyze sql',
    },
  ];
}

function hex(value: number): string {
  return Number.isFinite(value) ? `0x${value.toString(16)}` : '–';
}

interface Props {
  all: Allocations;
  place: Place;
  at: number;
  clock: Clock;
}

export function Live({ all, place, at, clock }: Props) {
  const rows = useMemo(() => liveAt(all, place, at).sort((a, b) => all.bytes[b] - all.bytes[a]), [all, place, at]);
  const root = useMemo(() => {
    const sums = new Weights();
    for (const row of rows) if (all.bytes[row] > 0) sums.add(all.stack[row], all.bytes[row]);
    return all.stacks.tree(sums.all());
  }, [all, rows]);
  const when = clock(at);
  return (
    <>
      <Icicle
        id="m"
        title={`Allocated at ${when}, by call stack`}
        root={root}
        what="allocated"
        counted="allocations"
        show={bytes}
      />
      <Table id="m.live" caption={`Allocations at ${when}`} columns={columnsOf(all, at)} rows={rows} limit={20} />
    </>
  );
}
