// SPDX-License-Identifier: Apache-2.0
// An icicle: a tree of stacks as rows of boxes, as wide as their share. Click or Enter zooms, arrow
// keys walk, Escape goes back; its data can be had as a table.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { count, share } from '../format';
import { useChoice } from '../state';
import { findPath, flatten, layOut, nodeAt, pathKey, step, type Cell } from './layout';
import type { Node } from './stacks';
import { Table, type TableColumn } from './table';
import './icicle.css';

interface Props {
  /** Prefix of its keys in the URL. */
  id: string;
  title: string;
  root: Node;
  /** "bytes copied", "device time", ... */
  what: string;
  /** "copies", "allocations", ... */
  counted: string;
  show: (value: number) => string;
  /** Boxes whose label holds this are marked. */
  search?: string;
}

const LEAST = 0.0015; // of the width: about 2 pixels; narrower ones stand in the table only
const THIN = 0.012; // no room for a letter
const ROW_REM = 1.6;
const COLORS = 8;

// Boxes of one place have one colour wherever they stand.
function colorOf(label: string): number {
  let hash = 7;
  for (let i = 0; i < label.length; i++) hash = (hash * 31 + label.charCodeAt(i)) | 0;
  return (Math.abs(hash) % COLORS) + 1;
}

type Row = ReturnType<typeof flatten>[number];

function twinColumns({ what, counted, show }: Props, total: number): TableColumn<Row>[] {
  return [
    { key: 'depth', title: 'Level', value: (row) => row.depth, numeric: true },
    { key: 'function', title: 'Function', value: (row) => row.node.label },
    { key: 'caller', title: 'Next to it outwards', value: (row) => row.parent },
    {
      key: 'value',
      title: what,
      value: (row) => row.node.value,
      show: (row) => show(row.node.value),
      numeric: true,
    },
    {
      key: 'share',
      title: 'Share',
      value: (row) => row.node.value / total,
      show: (row) => share(row.node.value / total),
      numeric: true,
    },
    { key: 'self', title: 'Itself', value: (row) => row.self, show: (row) => show(row.self), numeric: true },
    { key: 'count', title: counted, value: (row) => row.node.count, numeric: true },
  ];
}

interface CrumbsProps {
  title: string;
  root: Node;
  path: number[];
  zoom: (path: number[]) => void;
}

function Crumbs({ title, root, path, zoom }: CrumbsProps) {
  return (
    <nav class="crumbs" aria-label={`Zoomed to, in ${title}`}>
      {[[], ...path.map((_, i) => path.slice(0, i + 1))].map((part, i) => (
        <>
          {i > 0 && <span aria-hidden="true"> › </span>}
          <button type="button" aria-current={i === path.length ? 'true' : undefined} onClick={() => zoom(part)}>
            {nodeAt(root, part).label}
          </button>
        </>
      ))}
    </nav>
  );
}

/** "function (file:line)": where it is narrow, the function is cut, for boxes of one function differ by their lines. */
function Label({ text }: { text: string }) {
  const at = text.endsWith(')') ? text.lastIndexOf(' (') : -1;
  if (at < 0) return <span>{text}</span>;
  return (
    <>
      <span>{text.slice(0, at)}</span>
      <span class="place">{text.slice(at)}</span>
    </>
  );
}

interface BoxProps {
  cell: Cell;
  text: string;
  found: boolean;
  active: boolean;
  press: () => void;
  point: () => void;
}

function Box({ cell, text, found, active, press, point }: BoxProps) {
  const place = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (active && document.activeElement?.closest('.icicle') === place.current?.parentElement) place.current?.focus();
  }, [active]);
  return (
    <button
      ref={place}
      type="button"
      class={found ? 'found' : undefined}
      data-color={cell.depth === 0 && cell.node.frame < 0 ? undefined : colorOf(cell.node.label)}
      data-thin={cell.width < THIN ? 'yes' : undefined}
      tabIndex={active ? 0 : -1}
      aria-label={found ? `${text}, found` : text}
      style={{
        left: `${100 * cell.left}%`,
        width: `${100 * cell.width}%`,
        top: `${cell.depth * ROW_REM}rem`,
        height: `${ROW_REM}rem`,
      }}
      onClick={press}
      onFocus={point}
      onMouseEnter={point}
    >
      <Label text={cell.node.label} />
    </button>
  );
}

export function Icicle(props: Props) {
  const { id, title, root, what, counted, show, search = '' } = props;
  const [key, setKey] = useChoice(`${id}.zoom`, '');
  const [asTable, setAsTable] = useState(false);
  const [active, setActive] = useState('');
  const path = useMemo(() => findPath(root, key), [root, key]);
  const { cells, hidden } = useMemo(() => layOut(root, path, LEAST), [root, path]);
  const rows = useMemo(() => (asTable ? flatten(root) : []), [asTable, root]);
  const zoom = (to: number[]) => {
    setKey(pathKey(root, to));
    setActive(to.join('.'));
  };
  const current = cells.find((cell) => cell.path.join('.') === active) ?? cells[0];
  const describe = ({ node }: Cell) => {
    const part = `${show(node.value)} ${what}, ${share(node.value / root.value)} of all`;
    return `${node.label}: ${part}, ${count(node.count)} ${counted}`;
  };
  const onKey = (event: KeyboardEvent) => {
    if (current === undefined) return;
    if (event.key.startsWith('Arrow')) setActive(step(cells, current, event.key).path.join('.'));
    else if (event.key === 'Escape' || event.key === 'Backspace') zoom(path.slice(0, -1));
    else return;
    event.preventDefault();
  };
  const words = search.trim().toLowerCase();
  const found = (cell: Cell) => words !== '' && cell.node.label.toLowerCase().includes(words);
  const depth = cells.reduce((most, cell) => Math.max(most, cell.depth), 0) + 1;
  return (
    <figure class="plot">
      <figcaption>
        {title}
        <button type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? 'Show icicle' : 'Show data'}
        </button>
      </figcaption>
      {cells.length === 0 ? (
        <p class="dim">Nothing to show: no {what}.</p>
      ) : asTable ? (
        <Table id={id} caption={title} columns={twinColumns(props, root.value)} rows={rows} />
      ) : (
        <>
          <Crumbs title={title} root={root} path={path} zoom={zoom} />
          <div class="icicle-scroll">
            <div
              class="icicle"
              role="group"
              aria-label={`${title}. Arrow keys move, Enter zooms, Escape goes back.`}
              style={{ height: `${depth * ROW_REM}rem` }}
              onKeyDown={onKey}
            >
              {cells.map((cell) => (
                <Box
                  key={cell.path.join('.')}
                  cell={cell}
                  text={describe(cell)}
                  found={found(cell)}
                  active={cell === current}
                  press={() => zoom(cell.path)}
                  point={() => setActive(cell.path.join('.'))}
                />
              ))}
            </div>
          </div>
          <p class="icicle-details" aria-hidden="true">
            {describe(current)}
          </p>
          {hidden > 0 && (
            <p class="dim">
              Not drawn: {hidden === 1 ? '1 box' : `${count(hidden)} boxes`} narrower than {share(LEAST)} of the width.
              Zoom in, or see the data.
            </p>
          )}
          {words !== '' && (
            <p class="dim" role="status">
              {cells.filter(found).length} of {cells.length} boxes hold “{search}”
            </p>
          )}
        </>
      )}
    </figure>
  );
}
