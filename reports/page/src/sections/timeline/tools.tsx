// SPDX-License-Identifier: Apache-2.0
// Buttons above the canvas, the sentence below it, and the hint about the wheel.
import { useEffect, useState } from 'preact/hooks';
import { count } from '../../format';
import { lengthText, placeText } from './axis';
import type { Model } from './model';
import { callsBegun } from './sums';
import type { View } from './view';

interface ToolsProps {
  view: View;
  ranging: boolean;
  onRanging: (on: boolean) => void;
  onZoomTo: () => void;
  onSum: () => void;
}

export function Tools({ view, ranging, onRanging, onZoomTo, onSum }: ToolsProps) {
  const buttons: { text: string; title: string; press: () => void; pressed?: boolean }[] = [
    { text: '+', title: 'Zoom in (W or +)', press: () => view.zoom(1 / 1.6) },
    { text: '−', title: 'Zoom out (S or −)', press: () => view.zoom(1.6) },
    { text: '‹', title: 'To the left (A)', press: () => view.pan(-0.4) },
    { text: '›', title: 'To the right (D)', press: () => view.pan(0.4) },
    { text: 'All', title: 'Show all (0 or Home)', press: () => view.all() },
    { text: 'Selection', title: 'Zoom to the selection (F)', press: onZoomTo },
    {
      text: 'Range',
      title: 'Drag selects a range (or Shift and drag)',
      press: () => onRanging(!ranging),
      pressed: ranging,
    },
    { text: 'Sum what is shown', title: 'Sum what is shown: calls, times, bytes (R)', press: onSum },
  ];
  return (
    <div class="t-buttons" role="toolbar" aria-label="Timeline">
      {buttons.map(({ text, title, press, pressed }) => (
        <button type="button" title={title} aria-label={title} aria-pressed={pressed} onClick={press}>
          {text}
        </button>
      ))}
    </div>
  );
}

const WAIT_MS = 300;

/** Says what is shown once the view has come to rest: for all to read, and read out. */
export function ShownText({
  model,
  view,
  lanes,
  onAllLanes,
}: {
  model: Model;
  view: View;
  lanes: number;
  onAllLanes: () => void;
}) {
  const { events } = model;
  const describe = () => {
    // The room beside the extent is no time of the trace.
    const [from, to] = [Math.max(view.from, model.from), Math.min(view.to, model.to)];
    const text = (at: number) => placeText(at, to - from, events.byOrder);
    const calls = callsBegun(events, view.from, view.to);
    const length = lengthText(to - from, events.byOrder);
    const begin = events.byOrder ? '' : `, ${count(calls)} ${calls === 1 ? 'call begins' : 'calls begin'} in it`;
    return `${text(from)} to ${text(to)}: ${length}${begin}.`;
  };
  const [said, say] = useState(describe);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ends = view.onChange(() => {
      clearTimeout(timer);
      timer = setTimeout(() => say(describe()), WAIT_MS);
    });
    say(describe());
    return () => {
      clearTimeout(timer);
      ends();
    };
  }, [model, view]);
  return (
    <>
      <p class="t-shown">
        <span role="status">{said}</span>{' '}
        {lanes < model.lanes.length && (
          <button type="button" onClick={onAllLanes}>
            {lanes} of {model.lanes.length} lanes are shown, those with the most events: show all
          </button>
        )}
      </p>
      <p id="t-keys" class="dim t-keys">
        <span class="t-by-mouse">
          Click the lanes, then the wheel zooms; until then it scrolls the page, and Ctrl + wheel zooms. Drag or Shift +
          wheel moves, Shift + drag selects a range.{' '}
        </span>
        <span class="t-by-touch">Two fingers zoom, one moves sideways; “Range” lets one finger select a range. </span>
        Keys: W/S or ↑/↓ zoom, A/D or ←/→ move, 0 all, F to the selection, N/P next and previous call, O the other end
        of its line, R sums, Esc clears the selection.
      </p>
    </>
  );
}

const HINT_MS = 1500;

export function Hint({ times }: { times: number }) {
  const [on, setOn] = useState(false);
  useEffect(() => {
    if (times === 0) return;
    setOn(true);
    const timer = setTimeout(() => setOn(false), HINT_MS);
    return () => clearTimeout(timer);
  }, [times]);
  return on ? <div class="t-hint">Click the lanes, or hold Ctrl, to zoom with the wheel</div> : null;
}
