// SPDX-License-Identifier: Apache-2.0
// The canvas with its tools: wires the model, the view, the painter and the input together.
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { stacksOf } from '../../parts/stacks';
import type { Payload } from '../../payload';
import { setChoices, useChoice } from '../../state';
import { isDark, useTheme } from '../../theme';
import { bindAddress, findingOf, formatRange, hull, parseRange, placeClaims } from './address';
import { hitAt, type Hit } from './blocks';
import { Painter, type Overlay } from './draw';
import { framesOf } from './events';
import { listen } from './input';
import { chooseLanes, scaleOf } from './layout';
import { Legend } from './legend';
import { EventList } from './list';
import { Minimap } from './minimap';
import type { Model } from './model';
import { readPalette, type Palette } from './palette';
import { Search } from './search';
import { EventPanel, RangePanel } from './selection';
import { Hint, ShownText, Tools } from './tools';
import { HoverPlace, Tooltip } from './tooltip';
import { View } from './view';
import { holds, neighbour, otherEnd, revealed, stretchOf } from './walk';

interface Props {
  payload: Payload;
  model: Model;
}

function newView({ from, to, events }: Model): View {
  const room = events.byOrder ? 0 : (to - from) * 0.01;
  return new View(from - room, to + room, events.byOrder ? 4 : 20);
}

/** One palette per theme and resolution: making the patterns takes a while. */
function paletteCache(): (ratio: number) => Palette {
  const made = new Map<number, Palette>();
  return (ratio) => {
    let palette = made.get(ratio);
    if (palette === undefined) made.set(ratio, (palette = readPalette(ratio)));
    return palette;
  };
}

export function Stage({ payload, model }: Props) {
  const { events } = model;
  const { head } = payload;
  const theme = `${useTheme()} ${isDark()}`;
  const view = useMemo(() => newView(model), [model]);
  const palette = useMemo(paletteCache, [theme]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<Painter | null>(null);
  const frame = useRef(0);
  const hoverPlace = useMemo(() => new HoverPlace(), []);
  const [hits, setHits] = useState<Uint32Array>(() => new Uint32Array(0));
  const [ranging, setRanging] = useState(false);
  const [hinting, setHinting] = useState(0);
  const [allLanes, setAllLanes] = useChoice('t.lanes', '');
  const [asTable, setAsTable] = useChoice('t.table', '');
  const [eventChoice, setEvent] = useChoice('t.event', '');
  const [rangeChoice, setRangeChoice] = useChoice('t.range', '');
  const [fingerprint, setFingerprint] = useChoice('t.finding', '');
  const selected = /^\d+$/.test(eventChoice) && Number(eventChoice) < events.rows ? Number(eventChoice) : -1;
  const [dragged, setDragged] = useState<[number, number] | null>(null);
  const range = useMemo(() => dragged ?? parseRange(rangeChoice), [dragged, rangeChoice]);
  const settled = useMemo(() => parseRange(rangeChoice), [rangeChoice]);
  const finding = findingOf(head, fingerprint);
  const claims = useMemo(() => placeClaims(events, fingerprint), [events, fingerprint]);
  const chosen = chooseLanes(model.lanes, allLanes !== '', (lane) => holds(model, lane, selected));
  // The same array while the choice is the same: a new one lays the canvas out again.
  const lanes = useMemo(() => chosen, [model, chosen.map((lane) => model.lanes.indexOf(lane)).join()]);
  const overlay = useRef<Overlay>({ selected, hovered: -1, pointer: NaN, range, claims, hits });
  Object.assign(overlay.current, { selected, range, claims, hits });

  const redraw = useCallback(() => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => painter.current?.draw(view, overlay.current));
  }, [view]);
  const scale = () => scaleOf(painter.current?.layout ?? { gutter: 0, width: 1 }, view.from, view.to);
  const show = (stretch: [number, number] | null) => stretch !== null && view.show(stretch[0], stretch[1]);
  const select = (row: number) => setEvent(row < 0 ? '' : String(row));
  const walkTo = (row: number) => {
    if (row < 0) return;
    select(row);
    const [from, to] = revealed(model, view, row);
    if (from !== view.from || to !== view.to) view.glide(from, to);
  };
  const toOtherEnd = () => {
    if (selected >= 0 && !Number.isNaN(events.deviceBegin[selected])) view.glide(...otherEnd(model, view, selected));
  };
  const zoomToSelection = () => show(selected >= 0 ? stretchOf(model, selected) : (settled ?? hull(claims)));
  const sumShown = () => setRangeChoice(formatRange([view.from, view.to]));
  const clear = () => {
    if (selected < 0 && settled === null) canvas.current?.blur();
    setChoices({ 't.event': undefined, 't.range': undefined });
  };
  const keyed: Record<string, () => void> = {
    f: zoomToSelection,
    r: sumShown,
    n: () => walkTo(neighbour(model, view, selected, 1)),
    p: () => walkTo(neighbour(model, view, selected, -1)),
    o: toOtherEnd,
    escape: clear,
  };
  const hoverAt = (at: { x: number; y: number } | null) => {
    const now = scale();
    const hit: Hit | null =
      at === null || painter.current === null ? null : hitAt(painter.current.layout, now, at.x, at.y);
    overlay.current.hovered = hit?.row ?? -1;
    overlay.current.pointer = hit === null ? NaN : hit.time;
    hoverPlace.describe(
      hit === null || at === null
        ? null
        : { hit, x: at.x, y: at.y, width: now.left + now.width, span: view.to - view.from },
    );
    redraw();
  };
  // Listeners outlive renders: they call what the last render made.
  const latest = useRef({ hoverAt, select, scale, keyed, ranging });
  latest.current = { hoverAt, select, scale, keyed, ranging };

  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    return listen(element, {
      view,
      scale: () => latest.current.scale(),
      hover: (at) => latest.current.hoverAt(at),
      click: (x, y) => {
        const hit = painter.current && hitAt(painter.current.layout, latest.current.scale(), x, y);
        latest.current.select(hit?.row ?? -1);
      },
      range: setDragged,
      rangeDone: (done) => {
        setDragged(null);
        setRangeChoice(formatRange(done));
        setRanging(false);
      },
      ranging: () => latest.current.ranging,
      hint: () => setHinting((n) => n + 1),
      key: (key) => {
        const action = latest.current.keyed[key];
        action?.();
        return action !== undefined;
      },
    });
  }, [view]);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const made = new Painter(element, model, palette);
    painter.current = made;
    const resize = () => {
      made.resize(lanes, element.clientWidth);
      made.draw(view, overlay.current); // at once: a canvas that changed its size is empty
    };
    const observer = new ResizeObserver(resize);
    observer.observe(element);
    resize();
    return () => observer.disconnect();
  }, [model, palette, lanes]);
  useEffect(() => view.onChange(redraw), [view]);
  useEffect(() => bindAddress(view), [view]);
  useEffect(redraw, [selected, range, claims, hits]);
  const first = useRef(true);
  useEffect(() => {
    // A link that also holds what to show keeps it; pressing "Show in timeline" goes to the finding.
    if (!first.current || view.isAll()) show(hull(claims));
    first.current = false;
  }, [fingerprint]);

  const summary = `Timeline of ${events.rows.toLocaleString('en-US')} calls in ${lanes.length} lanes`;
  return (
    <div class="t-stage">
      <div class="t-tools">
        <Tools view={view} ranging={ranging} onRanging={setRanging} onZoomTo={zoomToSelection} onSum={sumShown} />
        <Search events={events} selected={selected} onHits={setHits} onGo={walkTo} />
      </div>
      {fingerprint !== '' && (
        <p class="t-finding" role="status">
          <span>
            {finding === undefined ? 'This report has no such finding.' : `${finding.rule}: ${finding.headline}`}
            {finding !== undefined && claims.length === 0 && ' It refers to no part of the timeline.'}
          </span>
          <button type="button" onClick={() => show(hull(claims))} disabled={claims.length === 0}>
            Zoom to it
          </button>
          <button type="button" onClick={() => setFingerprint('')} aria-label="No longer mark the finding">
            ×
          </button>
        </p>
      )}
      <Minimap model={model} view={view} />
      <div class="t-canvas">
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-label={summary}
          aria-describedby="t-keys"
          data-ranging={ranging ? 'yes' : undefined}
        />
        <Tooltip model={model} place={hoverPlace} />
        <Hint times={hinting} />
      </div>
      <ShownText model={model} view={view} lanes={lanes.length} onAllLanes={() => setAllLanes('all')} />
      {(selected >= 0 || settled !== null) && (
        <div class="t-panels">
          {selected >= 0 && (
            <EventPanel
              model={model}
              row={selected}
              frames={framesOf(payload, events.stack[selected])}
              onShow={() => show(stretchOf(model, selected))}
              onOther={toOtherEnd}
              onClose={() => select(-1)}
            />
          )}
          {settled !== null && (
            <RangePanel model={model} range={settled} onShow={() => show(settled)} onClose={() => setRangeChoice('')} />
          )}
        </div>
      )}
      <Legend model={model} palette={palette} theme={theme} />
      <p class="t-buttons">
        <button type="button" aria-pressed={asTable !== ''} onClick={() => setAsTable(asTable === '' ? 'yes' : '')}>
          Show events as table
        </button>
      </p>
      {asTable !== '' && <EventList events={events} view={view} stacks={stacksOf(payload)} onSelect={walkTo} />}
    </div>
  );
}
