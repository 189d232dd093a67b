// SPDX-License-Identifier: Apache-2.0
// Every copy as a point, bandwidth against size, over the calibrated curves.
import { useMemo } from 'preact/hooks';
import { bytes, count, ns, rate } from '../../format';
import { Keys } from '../../parts/controls';
import { COLUMNS, ROWS, thin, type Mark } from '../../parts/density';
import { Scatter, type Curve } from '../../parts/scatter';
import { stacksOf } from '../../parts/stacks';
import type { TableColumn } from '../../parts/table';
import type { Payload } from '../../payload';
import { useChoice } from '../../state';
import { nameOf, type Calibrated, type Copies } from './model';

interface Props {
  payload: Payload;
  copies: Copies;
  curves: Calibrated[];
  kept: (group: number) => boolean;
}

/** Curves that are drawn unless asked otherwise: those of copies that there are, and of pinned ones beside. */
function wanted(curve: Calibrated, copies: Copies, kept: (group: number) => boolean): boolean {
  return copies.groups.some(
    ({ direction, host_class, modes }, group) =>
      kept(group) &&
      (curve.host_class === '' || modes.has(curve.mode === 'sync')) &&
      direction === curve.direction &&
      (curve.host_class === '' || curve.host_class === host_class || curve.host_class === 'pinned'),
  );
}

const MODES: Record<string, string> = { sync: 'blocking', async: 'asynchronous' };
export function titleOf({ direction, host_class, mode }: Calibrated): string {
  return [direction, host_class, MODES[mode] ?? mode].filter(Boolean).join(' ');
}

// The usual four, pageable and pinned up and down, differ by dash as well as by colour.
function dashOf({ direction, host_class, mode }: Calibrated): number {
  return (direction === 'd2h' ? 2 : 0) + (host_class === 'pageable' ? 1 : 0) + (mode === 'sync' ? 0 : 2);
}

// Colour by direction and class, that of the copies of this kind.
function drawn(curves: Calibrated[], copies: Copies): Curve[] {
  const kinds = copies.groups.map(nameOf);
  const colors = [...new Set([...kinds, ...curves.map(({ direction, host_class }) => `${direction} ${host_class}`)])];
  return curves.map((curve) => ({
    label: titleOf(curve),
    color: colors.indexOf(`${curve.direction} ${curve.host_class}`),
    dash: dashOf(curve),
    points: curve.points.map(({ bytes: size, ns: time }): [number, number] => [size, (1e9 * size) / time]),
  }));
}

function columnsOf(copies: Copies, site: (at: number) => string): TableColumn<Mark>[] {
  return [
    { key: 'kind', title: 'Kind', value: (mark) => nameOf(copies.groups[mark.group]) },
    {
      key: 'count',
      title: 'Copies',
      value: (mark) => mark.count,
      show: (mark) => count(mark.count),
      numeric: true,
    },
    { key: 'bytes', title: 'Size', value: (mark) => mark.x, show: (mark) => bytes(mark.x), numeric: true },
    {
      key: 'time',
      title: 'Time',
      value: (mark) => copies.time[mark.at],
      show: (mark) => ns(copies.time[mark.at]),
      numeric: true,
    },
    { key: 'rate', title: 'Bandwidth', value: (mark) => mark.y, show: (mark) => rate(mark.y), numeric: true },
    { key: 'site', title: 'Call site', value: (mark) => site(mark.at) },
  ];
}

/** Choices that differ from what is drawn unless asked. */
function useToggled(id: string): [Set<string>, (name: string) => void] {
  const [text, set] = useChoice(id, '');
  const toggled = new Set(text.split('.').filter(Boolean));
  return [
    toggled,
    (name) => {
      if (!toggled.delete(name)) toggled.add(name);
      set([...toggled].sort().join('.'));
    },
  ];
}

export function TransferPlot({ payload, copies, curves, kept }: Props) {
  const [toggled, toggle] = useToggled('x.curves');
  const all = useMemo(() => drawn(curves, copies), [curves, copies]);
  const on = curves.map((curve) => wanted(curve, copies, kept) !== toggled.has(curve.key));
  const visible = on.join();
  const shown = useMemo(() => all.filter((_, i) => on[i]), [all, visible]);
  const marks = useMemo(() => {
    const rates = copies.rate.map((value, at) => (kept(copies.group[at]) ? value : NaN));
    return thin(
      { x: copies.bytes, y: rates, group: copies.group, count: copies.count, weight: copies.time },
      { logX: true, logY: true },
    );
  }, [copies, kept]);
  const stacks = stacksOf(payload);
  const stack = payload.table('call').numbers('stack');
  const site = (at: number) => stacks.site(stack[copies.call[at]]);
  const columns = useMemo(() => columnsOf(copies, site), [copies]);
  const describe = (mark: Mark) => {
    const one = `${bytes(mark.x)} in ${ns(copies.time[mark.at])}, ${rate(mark.y)}, from ${site(mark.at)}`;
    const kind = nameOf(copies.groups[mark.group]);
    return mark.count > 1 ? `${count(mark.count)} copies like this ${kind} one: ${one}` : `${kind}: ${one}`;
  };
  return (
    <>
      <Scatter
        id="x.plot"
        title={
          curves.length > 0 ? 'Bandwidth of copies by size, over the calibrated curves' : 'Bandwidth of copies by size'
        }
        x={{ title: 'size of a copy', log: true, base: 16, show: bytes }}
        y={{ title: 'bandwidth', log: true, show: rate }}
        marks={marks}
        curves={shown}
        describe={describe}
        columns={columns}
      />
      {curves.length > 0 ? (
        <Keys
          label="Calibrated"
          toggle={toggle}
          entries={curves.map((curve, i) => ({
            name: curve.key,
            label: titleOf(curve),
            on: on[i],
            color: all[i].color,
            dash: all[i].dash,
          }))}
        />
      ) : (
        <p class="dim">There is no device model, so no calibrated curves: gmtrace calibrate makes one.</p>
      )}
      <p class="dim">
        Copies of one kind within 1/{COLUMNS} of the width and 1/{ROWS} of the height are one mark, at the one that took
        longest, the larger the more they are. Time is without waiting for earlier kernels.
      </p>
    </>
  );
}
