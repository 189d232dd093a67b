// SPDX-License-Identifier: Apache-2.0
// A frame around a plot by uPlot: as wide as its place, in the colours of the theme, and with its
// data as a table for whoever cannot or does not want to read the picture.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTheme } from '../theme';
import { Table, type TableColumn } from './table';

interface Props<Row> {
  id: string;
  /** Says in one sentence what is seen; read out in place of the picture. */
  title: string;
  height?: number;
  /** Called again when the theme changes: colours come from color('--...'). Width is set here. */
  options: () => Omit<uPlot.Options, 'width' | 'height'>;
  data: uPlot.AlignedData;
  columns: TableColumn<Row>[];
  rows: Row[];
}

export function Plot<Row>({ id, title, height = 280, options, data, columns, rows }: Props<Row>) {
  const place = useRef<HTMLDivElement>(null);
  const [asTable, setAsTable] = useState(false);
  const theme = useTheme();
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const plot = new uPlot({ ...options(), width: Math.max(240, element.clientWidth), height }, data, element);
    const observer = new ResizeObserver(() => plot.setSize({ width: Math.max(240, element.clientWidth), height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [asTable, theme, data, height]);
  return (
    <figure class="plot">
      <figcaption>
        {title}
        <button type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? 'Show plot' : 'Show data'}
        </button>
      </figcaption>
      {asTable ? (
        <Table id={id} caption={title} columns={columns} rows={rows} />
      ) : (
        <div ref={place} role="img" aria-label={title} />
      )}
    </figure>
  );
}
