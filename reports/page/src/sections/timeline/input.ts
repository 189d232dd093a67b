// SPDX-License-Identifier: Apache-2.0
// Wheel, keys, pointer and touch on the canvas. The page keeps its wheel and its vertical swipe: the wheel
// zooms only where the canvas has the focus (a click) or Ctrl or Command is held, as maps do it.
import type { Scale } from './layout';
import type { View } from './view';

export interface Actions {
  view: View;
  scale: () => Scale;
  /** The pointer is over the canvas (CSS pixels), or gone. */
  hover: (at: { x: number; y: number } | null) => void;
  click: (x: number, y: number) => void;
  /** While a range is dragged, and when it is let go. */
  range: (range: [number, number] | null) => void;
  rangeDone: (range: [number, number]) => void;
  /** Drags select a range without Shift. */
  ranging: () => boolean;
  /** A wheel was left to the page. */
  hint: () => void;
  /** A key that is not about the view; true: it was taken. */
  key: (key: string) => boolean;
}

const ZOOM = 1.6; // of a key press or a button
const PAN = 0.15; // of the view, of a key press
const WHEEL = 0.0018; // of the logarithm, per pixel of wheel
const PINCH = 0.012; // the same of a trackpad's pinch, whose steps are smaller
const LINE = 33; // pixels: of a wheel that counts lines
const CLICK = 4; // pixels: what moves less is no drag

const KEYS: Record<string, (view: View) => void> = {
  w: (view) => view.zoom(1 / ZOOM),
  s: (view) => view.zoom(ZOOM),
  a: (view) => view.pan(-PAN),
  d: (view) => view.pan(PAN),
  arrowup: (view) => view.zoom(1 / ZOOM),
  arrowdown: (view) => view.zoom(ZOOM),
  arrowleft: (view) => view.pan(-PAN),
  arrowright: (view) => view.pan(PAN),
  pageup: (view) => view.pan(-0.9),
  pagedown: (view) => view.pan(0.9),
  '+': (view) => view.zoom(1 / ZOOM),
  '=': (view) => view.zoom(1 / ZOOM),
  '-': (view) => view.zoom(ZOOM),
  '0': (view) => view.all(),
  home: (view) => view.all(),
};

interface Drag {
  kind: 'pan' | 'range';
  startX: number;
  lastX: number;
  startTime: number;
  moved: boolean;
  range: [number, number] | null;
}

class Pointers {
  private readonly down = new Map<number, { x: number; y: number }>();
  private drag: Drag | null = null;
  private apart = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly actions: Actions,
  ) {}

  private at(event: PointerEvent): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private fingers(): { apart: number; middle: number } {
    const [a, b] = [...this.down.values()];
    return { apart: Math.max(10, Math.hypot(a.x - b.x, a.y - b.y)), middle: (a.x + b.x) / 2 };
  }

  press = (event: PointerEvent) => {
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    const at = this.at(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, at);
    if (this.down.size === 2) {
      this.drag = null;
      this.apart = this.fingers().apart;
      return;
    }
    const kind = event.shiftKey || this.actions.ranging() ? 'range' : 'pan';
    this.drag = {
      kind,
      startX: at.x,
      lastX: at.x,
      startTime: this.actions.scale().time(at.x),
      moved: false,
      range: null,
    };
  };

  private pinch() {
    const { view, scale } = this.actions;
    const { apart, middle } = this.fingers();
    view.zoom(this.apart / apart, scale().time(middle));
    this.apart = apart;
  }

  private dragTo(drag: Drag, x: number) {
    const { view, scale, range } = this.actions;
    if (!drag.moved && Math.abs(x - drag.startX) < CLICK) return;
    drag.moved = true;
    const now = scale();
    if (drag.kind === 'pan') {
      const by = (drag.lastX - x) * now.perPixel;
      view.set(view.from + by, view.to + by);
    } else {
      const time = Math.min(Math.max(now.time(Math.max(x, now.left)), view.low), view.high);
      drag.range = [Math.min(drag.startTime, time), Math.max(drag.startTime, time)];
      range(drag.range);
    }
    drag.lastX = x;
  }

  move = (event: PointerEvent) => {
    const at = this.at(event);
    if (this.down.has(event.pointerId)) this.down.set(event.pointerId, at);
    if (this.down.size === 2) this.pinch();
    else if (this.drag !== null) this.dragTo(this.drag, at.x);
    this.actions.hover(this.drag?.moved ? null : at);
  };

  release = (event: PointerEvent) => {
    if (!this.down.delete(event.pointerId)) return;
    const { drag } = this;
    this.drag = null;
    if (drag === null) return;
    if (drag.range !== null) this.actions.rangeDone(drag.range);
    if (event.type === 'pointercancel' || drag.moved) return;
    const at = this.at(event);
    this.actions.click(at.x, at.y);
  };

  leave = () => this.actions.hover(null);
}

function wheel(canvas: HTMLCanvasElement, { view, scale, hint }: Actions) {
  return (event: WheelEvent) => {
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    const sideways = event.shiftKey ? dx + dy : Math.abs(dx) > Math.abs(dy) ? dx : 0;
    const held = event.ctrlKey || event.metaKey;
    if (sideways !== 0 && !held) {
      event.preventDefault();
      const by = sideways * scale().perPixel;
      view.set(view.from + by, view.to + by);
    } else if (held || document.activeElement === canvas) {
      event.preventDefault();
      const pinch = held && Math.abs(dy) < 50;
      const x = event.clientX - canvas.getBoundingClientRect().left;
      view.zoom(Math.exp(Math.min(Math.max(dy * (pinch ? PINCH : WHEEL), -1), 1)), scale().time(x));
    } else if (dy !== 0) hint();
  };
}

function keys({ view, key: other }: Actions) {
  return (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const name = event.key.toLowerCase();
    const action = KEYS[name];
    if (action === undefined && !other(name)) return;
    event.preventDefault();
    event.stopPropagation();
    action?.(view);
  };
}

/** Listens on the canvas; returns what ends that. */
export function listen(canvas: HTMLCanvasElement, actions: Actions): () => void {
  const pointers = new Pointers(canvas, actions);
  const ends: (() => void)[] = [];
  const on = <K extends keyof HTMLElementEventMap>(
    name: K,
    handler: (event: HTMLElementEventMap[K]) => void,
    options?: AddEventListenerOptions,
  ) => {
    canvas.addEventListener(name, handler, options);
    ends.push(() => canvas.removeEventListener(name, handler, options));
  };
  on('wheel', wheel(canvas, actions), { passive: false });
  on('keydown', keys(actions));
  on('pointerdown', pointers.press);
  on('pointermove', pointers.move);
  on('pointerup', pointers.release);
  on('pointercancel', pointers.release);
  on('pointerleave', pointers.leave);
  return () => {
    for (const end of ends) end();
  };
}
