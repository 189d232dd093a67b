// SPDX-License-Identifier: Apache-2.0
// A frame around a plot by uPlot: as wide as its place, in the colours of the theme, and with its
// data as a table for whoever cannot or does not want to read the picture.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTheme } from '../theme';
import { Table, type TableColumn } from './table';

/** What a series looks like, for the key below the plot. */
export interface LegendItem {
  text: string;
  /** A custom property: "--c1". */
  color: string;
  mark: 'line' | 'dash' | 'dot' | 'point' | 'ring';
}

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
  /** In place of uPlot's own, which only the mouse can use. */
  legend?: LegendItem[];
}

const DASHES = { line: undefined, dash: '5 3', dot: '1.5 2.5' };

function Mark({ mark, color }: LegendItem) {
  const paint = `var(${color})`;
  return (
    <svg viewBox="0 0 24 12" width="24" height="12" aria-hidden="true">
      {mark === 'point' || mark === 'ring' ? (
        <circle cx="12" cy="6" r="4" fill={mark === 'point' ? paint : 'none'} stroke={paint} stroke-width="2" />
      ) : (
        <line x1="1" x2="23" y1="6" y2="6" stroke={paint} stroke-width="2" stroke-dasharray={DASHES[mark]} />
      )}
    </svg>
  );
}

export function Plot<Row>({ id, title, height = 280, options, data, columns, rows, legend }: Props<Row>) {
  const place = useRef<HTMLDivElement>(null);
  const [asTable, setAsTable] = useState(false);
  const theme = useTheme();
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const chosen = options();
    if (legend !== undefined) chosen.legend = { show: false };
    const plot = new uPlot({ ...chosen, width: Math.max(240, element.clientWidth), height }, data, element);
    plot.ctx.canvas.setAttribute('aria-hidden', 'true'); // the element around it has the name
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
        <>
          <div ref={place} role="img" aria-label={title} />
          {legend !== undefined && (
            <ul class="legend">
              {legend.map((item) => (
                <li>
                  <Mark {...item} /> {item.text}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </figure>
  );
}
