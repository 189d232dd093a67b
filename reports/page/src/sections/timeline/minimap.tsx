// SPDX-License-Identifier: Apache-2.0
// The whole extent in a few lines, and the part that is shown as a window: drag it, its edges, or click
// where it shall be; arrow keys move it.
import { useEffect, useRef } from 'preact/hooks';
import { useTheme } from '../../theme';
import { placeText } from './axis';
import type { Model } from './model';
import { readPalette } from './palette';
import { Strip } from './strip';
import type { View } from './view';

interface Props {
  model: Model;
  view: View;
}

const LINES = 40; // CSS pixels of all tracks together
const [THINNEST, THICKEST] = [4, 8]; // of one
const MOST_LINES = 12;
const EDGE = 7; // pixels beside an edge that still take it

/** The tracks with the most events, in the order of the lanes. */
function tracksOf(model: Model) {
  const all = model.lanes.filter(({ kind }) => kind !== 'copies').flatMap(({ tracks }) => tracks);
  const sizes = all.map(({ levels }) => levels[0].length).sort((a, b) => b - a);
  const least = sizes[Math.min(sizes.length, MOST_LINES) - 1] ?? 0;
  return all.filter(({ levels }) => levels[0].length >= least).slice(0, MOST_LINES);
}

class Map2D {
  private readonly picture = document.createElement('canvas');
  private ratio = 1;
  private line = THINNEST;
  private readonly palette = readPalette(1);

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly model: Model,
    private readonly view: View,
  ) {}

  resize() {
    const { canvas, model } = this;
    const tracks = tracksOf(model);
    this.ratio = Math.max(1, Math.min(3, devicePixelRatio));
    const width = Math.max(1, Math.round(canvas.clientWidth * this.ratio));
    this.line = Math.min(Math.max(Math.round(LINES / Math.max(1, tracks.length)), THINNEST), THICKEST);
    const height = Math.max(24, tracks.length * this.line + 8);
    canvas.style.height = `${height}px`;
    canvas.width = width;
    canvas.height = Math.round(height * this.ratio);
    this.picture.width = width;
    this.picture.height = Math.max(1, tracks.length);
    const image = new ImageData(width, this.picture.height);
    const pixels = new Uint32Array(image.data.buffer);
    const strip = new Strip();
    tracks.forEach((track, i) =>
      strip.draw(track, model.from, model.to, pixels, i * width, width, this.palette.pixels, Infinity),
    );
    this.picture.getContext('2d')?.putImageData(image, 0, 0);
    this.draw();
  }

  x(time: number): number {
    return ((time - this.view.low) / (this.view.high - this.view.low)) * this.canvas.clientWidth;
  }

  time(x: number): number {
    return this.view.low + (x / Math.max(1, this.canvas.clientWidth)) * (this.view.high - this.view.low);
  }

  draw() {
    const context = this.canvas.getContext('2d', { alpha: false });
    if (context === null) return;
    const { width, height } = this.canvas;
    const { palette } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = palette.back;
    context.fillRect(0, 0, width, height);
    context.imageSmoothingEnabled = false;
    const low = this.x(this.model.from) * this.ratio;
    const high = this.x(this.model.to) * this.ratio;
    const line = this.line * this.ratio;
    for (let i = 0; i < this.picture.height; i++)
      context.drawImage(
        this.picture,
        0,
        i,
        this.picture.width,
        1,
        low,
        4 * this.ratio + i * line,
        high - low,
        line - 1,
      );
    const from = Math.round(this.x(this.view.from) * this.ratio);
    const to = Math.max(from + 3, Math.round(this.x(this.view.to) * this.ratio));
    context.fillStyle = palette.card;
    context.globalAlpha = 0.72;
    context.fillRect(0, 0, from, height);
    context.fillRect(to, 0, width - to, height);
    context.globalAlpha = 1;
    context.strokeStyle = palette.ink;
    context.lineWidth = 2;
    context.strokeRect(from + 1, 1, Math.max(1, to - from - 2), height - 2);
  }
}

type Grip = 'from' | 'to' | 'window';

function dragging(canvas: HTMLCanvasElement, map: Map2D, view: View) {
  let grip: { kind: Grip; at: number } | null = null;
  const timeOf = (event: PointerEvent) => map.time(event.clientX - canvas.getBoundingClientRect().left);
  return {
    press(event: PointerEvent) {
      const x = event.clientX - canvas.getBoundingClientRect().left;
      const near = (time: number) => Math.abs(map.x(time) - x) < EDGE;
      const at = timeOf(event);
      const kind: Grip = near(view.from) ? 'from' : near(view.to) ? 'to' : 'window';
      if (kind === 'window' && (at < view.from || at > view.to)) {
        const half = (view.to - view.from) / 2;
        view.set(at - half, at + half);
      }
      grip = { kind, at };
      canvas.setPointerCapture(event.pointerId);
    },
    move(event: PointerEvent) {
      if (grip === null) return;
      const at = timeOf(event);
      if (grip.kind === 'window') view.set(view.from + at - grip.at, view.to + at - grip.at);
      else if (grip.kind === 'from') view.set(Math.min(at, view.to - 1), view.to);
      else view.set(view.from, Math.max(at, view.from + 1));
      grip.at = at;
    },
    release() {
      grip = null;
    },
  };
}

const KEYS: Record<string, (view: View) => void> = {
  ArrowLeft: (view) => view.pan(-0.25),
  ArrowRight: (view) => view.pan(0.25),
  ArrowUp: (view) => view.zoom(0.5),
  ArrowDown: (view) => view.zoom(2),
  Home: (view) => view.all(),
};

export function Minimap({ model, view }: Props) {
  const place = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  useEffect(() => {
    const canvas = place.current;
    if (canvas === null) return;
    const map = new Map2D(canvas, model, view);
    let frame = 0;
    const describe = () => {
      const span = view.to - view.from;
      const text = (at: number) => placeText(at, span, model.events.byOrder);
      canvas.setAttribute('aria-valuenow', String(Math.round(map.x((view.from + view.to) / 2))));
      canvas.setAttribute('aria-valuemax', String(Math.round(canvas.clientWidth)));
      canvas.setAttribute('aria-valuetext', `${text(view.from)} to ${text(view.to)}`);
    };
    const ends = view.onChange(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        map.draw();
        describe();
      });
    });
    const observer = new ResizeObserver(() => map.resize());
    observer.observe(canvas);
    const { press, move, release } = dragging(canvas, map, view);
    canvas.addEventListener('pointerdown', press);
    canvas.addEventListener('pointermove', move);
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
    map.resize();
    describe();
    return () => {
      ends();
      observer.disconnect();
      cancelAnimationFrame(frame);
      canvas.removeEventListener('pointerdown', press);
      canvas.removeEventListener('pointermove', move);
      canvas.removeEventListener('pointerup', release);
      canvas.removeEventListener('pointercancel', release);
    };
  }, [model, view, theme]);
  return (
    <canvas
      ref={place}
      class="t-minimap"
      tabIndex={0}
      role="slider"
      aria-label="Part of the timeline that is shown"
      aria-valuemin={0}
      onKeyDown={(event) => {
        const action = KEYS[event.key];
        if (action === undefined) return;
        event.preventDefault();
        action(view);
      }}
    />
  );
}
