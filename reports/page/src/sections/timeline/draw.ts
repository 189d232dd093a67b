// SPDX-License-Identifier: Apache-2.0
// Draws the timeline. Whatever is shown, the work is bound by the pixels: lanes are strips of one image, and
// names, patterns and arrows are drawn only for what is wide enough.
import { bytes, share } from '../../format';
import { lengthText, ruler } from './axis';
import { boxOf, labelsOf, type Box } from './blocks';
import { layOut, scaleOf, type Layout, type PlacedLane, type Scale } from './layout';
import { colorOf, patternOf } from './looks';
import { mostWithin } from './memory';
import type { Lane, Model } from './model';
import type { Palette } from './palette';
import { lowerBound } from './sort';
import { Strip, type Wide } from './strip';
import { causeOf } from './idle';
import { busyWithin } from './sums';

/** What is drawn on top of the lanes. */
export interface Overlay {
  selected: number;
  hovered: number;
  /** Where the pointer is, on the x axis; NaN: nowhere. */
  pointer: number;
  range: [number, number] | null;
  /** What a finding claims, by begin. */
  claims: [number, number][];
  /** Rows that the search found, ascending. */
  hits: Uint32Array;
}

export interface View2D {
  from: number;
  to: number;
}

const FONT = '11px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';
const BOLD = '600 12px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';
const ALL_ARROWS = 48; // calls in view: with more, arrows are drawn only for the hovered and the selected one

export class Painter {
  layout: Layout;
  ratio = 1;
  private readonly context: CanvasRenderingContext2D;
  private readonly strip = new Strip();
  private readonly lines = document.createElement('canvas');
  private image: ImageData | null = null;
  private readonly widths = new Map<string, number>();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly model: Model,
    private readonly palette: (ratio: number) => Palette,
  ) {
    this.context = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
    this.layout = layOut([], model.events.head, 1);
  }

  resize(lanes: Lane[], width: number) {
    this.layout = layOut(lanes, this.model.events.head, width);
    this.ratio = Math.max(1, Math.min(3, Math.round(devicePixelRatio * 4) / 4));
    this.canvas.width = Math.round(this.layout.width * this.ratio);
    this.canvas.height = Math.round(this.layout.height * this.ratio);
    this.canvas.style.height = `${this.layout.height}px`;
    this.image = null;
  }

  draw(view: View2D, overlay: Overlay) {
    const { context, layout } = this;
    const palette = this.palette(this.ratio);
    const scale = scaleOf(layout, view.from, view.to);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.font = FONT;
    context.textBaseline = 'middle';
    context.fillStyle = palette.card;
    context.fillRect(0, 0, layout.width, layout.height);
    this.drawRuler(view, scale, palette);
    this.drawLanes(view, scale, palette);
    this.drawTitles(view, palette);
    this.drawOverlay(view, overlay, scale, palette);
  }

  private textWidth(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      if (this.widths.size > 5000) this.widths.clear();
      width = this.context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  /** Text cut to a width with an ellipsis; empty where less than three letters fit. */
  private fitted(text: string, width: number): string {
    if (text.length > 200) text = text.slice(0, 200);
    const whole = this.textWidth(text);
    if (whole <= width) return text;
    const letters = Math.floor((text.length * width) / whole) - 1;
    return letters < 3 ? '' : `${text.slice(0, letters)}…`;
  }

  private drawRuler(view: View2D, scale: Scale, palette: Palette) {
    const { context, layout, model } = this;
    const { base, ticks } = ruler(view.from, view.to, scale.width / 110, model.events.byOrder);
    context.strokeStyle = palette.line;
    context.beginPath();
    for (const { at } of ticks) {
      const x = Math.round(scale.x(at)) + 0.5;
      context.moveTo(x, layout.ruler - 6);
      context.lineTo(x, layout.height);
    }
    context.moveTo(0, layout.ruler + 0.5);
    context.lineTo(layout.width, layout.ruler + 0.5);
    context.stroke();
    context.fillStyle = palette.dim;
    let free = scale.left;
    if (base !== '') {
      const text = layout.gutter > 0 ? `from ${base}` : base;
      context.fillText(text, 4, layout.ruler / 2);
      free = Math.max(free, 8 + this.textWidth(text));
    }
    for (const { at, label } of ticks) {
      const width = this.textWidth(label);
      const x = scale.x(at) - width / 2;
      if (x < free || x + width > layout.width) continue;
      context.fillText(label, x, layout.ruler / 2);
      free = x + width + 10;
    }
  }

  /** Claims that share pixels are one band, so that a thousand are not darker than one. */
  private drawClaims({ claims }: Overlay, scale: Scale, palette: Palette) {
    const { context, layout } = this;
    const bands: [number, number][] = [];
    for (const claim of claims) {
      const from = Math.max(scale.x(claim[0]), scale.left);
      const to = Math.min(Math.max(scale.x(claim[1]), scale.x(claim[0]) + 1), layout.width);
      if (from >= to) continue;
      const last = bands[bands.length - 1];
      if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
      else bands.push([from, to]);
    }
    context.fillStyle = palette.accent;
    for (const [from, to] of bands) {
      context.globalAlpha = 0.22;
      context.fillRect(from, layout.ruler, to - from, layout.height);
      context.globalAlpha = 1;
      context.fillRect(from, layout.ruler - 4, Math.max(to - from, 2), 4);
    }
  }

  private drawLanes(view: View2D, scale: Scale, palette: Palette) {
    const { context, layout, ratio } = this;
    const tracks = layout.lanes.flatMap((placed) =>
      placed.lane.tracks.map((track, depth) => ({ placed, track, depth })),
    );
    const width = Math.max(1, Math.round(scale.width * ratio));
    const height = Math.max(1, tracks.length);
    if (this.image === null || this.image.width !== width || this.image.height !== height) {
      this.lines.width = width;
      this.lines.height = height;
      this.image = new ImageData(width, height);
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(0);
    const wide = tracks.map(({ track }, i) =>
      this.strip.draw(track, view.from, view.to, pixels, i * width, width, palette.pixels, 5 * ratio),
    );
    this.lines.getContext('2d')?.putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.fillStyle = palette.back;
    for (const { top, height: tall } of layout.lanes) context.fillRect(scale.left, top, scale.width, tall);
    tracks.forEach(({ placed, depth }, i) => {
      const top = placed.top + depth * placed.trackHeight;
      context.drawImage(this.lines, 0, i, width, 1, scale.left, top, scale.width, placed.trackHeight - 1);
      if (placed.lane.kind !== 'busy') this.drawWide(wide[i], placed, top, scale, palette);
    });
    for (const placed of layout.lanes) if (placed.lane.memory !== null) this.drawMemory(placed, scale, palette);
  }

  private drawWide(wide: Wide[], placed: PlacedLane, top: number, scale: Scale, palette: Palette) {
    const { context, ratio, model } = this;
    const height = placed.trackHeight - 1;
    const onHost = placed.lane.kind === 'thread';
    context.save();
    context.beginPath();
    context.rect(scale.left, top, scale.width, height);
    context.clip();
    for (const [i, { x0, x1, look, row }] of wide.entries()) {
      const from = scale.left + Math.max(x0 / ratio, 0);
      const width = Math.min(scale.left + x1 / ratio, scale.left + scale.width) - from;
      const ink = palette.text[colorOf(look) - 1];
      const pattern = palette.patterns[ink === '#000000' ? 'dark' : 'light'].get(patternOf(look));
      if (pattern !== undefined) {
        context.save();
        context.setTransform(1, 0, 0, 1, Math.round(from * ratio), Math.round(top * ratio));
        context.fillStyle = pattern;
        context.fillRect(0, 0, Math.round(width * ratio), Math.round(height * ratio));
        context.restore();
      }
      context.fillStyle = palette.card;
      if (x0 >= 0) context.fillRect(from, top, 1, height);
      // What overlaps begins later and is drawn over this: its own name has the room there.
      const room = Math.min(width, scale.left + (wide[i + 1]?.x0 ?? Infinity) / ratio - from);
      if (room < 28 || height < 11) continue;
      const { texts, cut } =
        placed.lane.kind === 'own'
          ? { texts: ['gmtrace'], cut: false }
          : placed.lane.kind === 'idle'
            ? { texts: [causeOf(model, row)], cut: true }
            : labelsOf(model, row, onHost);
      const whole = texts.find((each) => this.textWidth(each) <= room - 8);
      const text = whole ?? (cut ? this.fitted(texts[texts.length - 1], room - 8) : '');
      if (text === '') continue;
      if (pattern !== undefined) {
        context.fillStyle = palette.fill[colorOf(look) - 1];
        context.fillRect(from + 2, top + 2, Math.min(this.textWidth(text) + 4, room - 3), height - 4);
      }
      context.fillStyle = ink;
      context.fillText(text, from + 4, top + height / 2 + 0.5);
    }
    context.restore();
  }

  private drawMemory({ lane, top, height }: PlacedLane, scale: Scale, palette: Palette) {
    const { context } = this;
    const curve = lane.memory;
    if (curve === null || curve.peak <= 0) return;
    const y = (used: number) => top + height - (used / curve.peak) * (height - 4);
    context.beginPath();
    context.moveTo(scale.left, top + height);
    for (let x = scale.left; x < scale.left + scale.width; x++) {
      const most = y(mostWithin(curve, scale.time(x), scale.time(x + 1)));
      context.lineTo(x, most);
      context.lineTo(x + 1, most);
    }
    context.lineTo(scale.left + scale.width, top + height);
    context.closePath();
    context.globalAlpha = 0.35;
    context.fillStyle = palette.fill[1];
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = palette.fill[1];
    context.stroke();
    const at = scale.x(curve.peakAt);
    if (at < scale.left || at > scale.left + scale.width) return;
    const text = `peak ${bytes(curve.peak)}`;
    const left = Math.min(Math.max(at + 4, scale.left + 2), scale.left + scale.width - this.textWidth(text) - 4);
    context.fillStyle = palette.ink;
    context.fillRect(at - 1, top, 2, 6);
    context.fillText(text, left, top + 7);
  }

  /** What stands in small letters beside a title. */
  private aside({ lane }: PlacedLane, view: View2D): string {
    if (lane.kind === 'memory') return lane.memory === null ? '' : `to ${bytes(lane.memory.peak)}`;
    const busy = lane.kind === 'busy' ? this.model.busy.get(lane.device) : undefined;
    if (busy === undefined) return '';
    // The room beside the extent is no time of the trace.
    const [from, to] = [Math.max(view.from, this.model.from), Math.min(view.to, this.model.to)];
    const part = share(busyWithin(busy, from, to) / (to - from));
    return this.model.busyAtLeast ? `at least ${part}` : part;
  }

  private drawTitles(view: View2D, palette: Palette) {
    const { context, layout } = this;
    const room = (layout.gutter === 0 ? layout.width : layout.gutter) - 14;
    context.fillStyle = palette.ink;
    context.font = BOLD;
    for (const { text, top } of layout.headings) context.fillText(text.slice(0, 80), 4, top + 10);
    context.font = FONT;
    for (const placed of layout.lanes) {
      const y =
        layout.gutter === 0 ? placed.titleTop + 8 : placed.top + Math.min(placed.height, placed.trackHeight) / 2;
      const aside = this.aside(placed, view);
      const taken = aside === '' ? 0 : this.textWidth(aside) + 8;
      context.fillStyle = palette.ink;
      context.fillText(this.fitted(placed.lane.title, room - taken), 6, y);
      context.fillStyle = palette.dim;
      if (aside !== '') context.fillText(aside, room + 6 - this.textWidth(aside), y);
    }
  }

  private drawOverlay(view: View2D, overlay: Overlay, scale: Scale, palette: Palette) {
    const { context, layout } = this;
    context.save();
    context.beginPath();
    context.rect(scale.left, 0, scale.width, layout.height);
    context.clip();
    this.drawClaims(overlay, scale, palette);
    this.drawHits(view, overlay, scale, palette);
    if (overlay.range !== null) this.drawRange(overlay.range, scale, palette);
    this.drawArrows(view, overlay, scale, palette);
    if (overlay.hovered >= 0) this.outline(overlay.hovered, scale, palette.ink, 1);
    if (overlay.selected >= 0) this.outline(overlay.selected, scale, palette.select, 2);
    if (!Number.isNaN(overlay.pointer)) {
      context.globalAlpha = 0.4;
      context.fillStyle = palette.ink;
      context.fillRect(Math.round(scale.x(overlay.pointer)), layout.ruler, 1, layout.height);
      context.globalAlpha = 1;
    }
    context.restore();
  }

  /** A mark on the ruler per pixel with hits; each hit is outlined where few are seen. */
  private drawHits(view: View2D, { hits }: Overlay, scale: Scale, palette: Palette) {
    const { context, layout, model } = this;
    const { begin } = model.events;
    const after = (time: number) => {
      let low = 0;
      let high = hits.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (begin[hits[middle]] < time) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    const first = after(view.from);
    const end = after(view.to);
    context.fillStyle = palette.accent;
    for (let i = first; i < end;) {
      const x = Math.floor(scale.x(begin[hits[i]]));
      context.fillRect(x - 1, layout.ruler - 7, 3, 7);
      i = Math.max(i + 1, after(scale.time(x + 1)));
    }
    if (end - first <= 400) for (let i = first; i < end; i++) this.outline(hits[i], scale, palette.accent, 1.5);
  }

  private drawRange([from, to]: [number, number], scale: Scale, palette: Palette) {
    const { context, layout, model } = this;
    const [x0, x1] = [scale.x(from), scale.x(to)];
    context.globalAlpha = 0.14;
    context.fillStyle = palette.ink;
    context.fillRect(x0, 0, x1 - x0, layout.height);
    context.globalAlpha = 1;
    context.fillRect(x0, 0, 1, layout.height);
    context.fillRect(x1 - 1, 0, 1, layout.height);
    const text = lengthText(to - from, model.events.byOrder);
    const width = this.textWidth(text) + 8;
    const left = Math.min(Math.max((x0 + x1 - width) / 2, scale.left), layout.width - width);
    context.fillRect(left, 3, width, layout.ruler - 8);
    context.fillStyle = palette.card;
    context.fillText(text, left + 4, layout.ruler / 2 - 1);
  }

  private outline(row: number, scale: Scale, ink: string, width: number) {
    const { context, model, layout } = this;
    context.strokeStyle = ink;
    context.lineWidth = width;
    for (const on of ['host', 'device', 'copy'] as const) {
      const box = boxOf(model, layout, scale, row, on);
      if (box === null || box.x1 < scale.left || box.x0 > layout.width) continue;
      const from = Math.max(box.x0, scale.left - 3);
      const to = Math.min(box.x1, layout.width + 3);
      context.strokeRect(from - 1, box.y0 - 0.5, Math.max(to - from, 1) + 2, box.y1 - box.y0 + 1);
    }
    context.lineWidth = 1;
  }

  private drawArrows(view: View2D, { hovered, selected }: Overlay, scale: Scale, palette: Palette) {
    const { begin } = this.model.events;
    const first = lowerBound(begin, view.from);
    const end = lowerBound(begin, view.to, true);
    if (end - first <= ALL_ARROWS) for (let row = first; row < end; row++) this.arrow(row, scale, palette.dim, 1);
    for (const row of [hovered, selected]) if (row >= 0) this.arrow(row, scale, palette.select, 1.5);
  }

  /** From the call to what the device did for it. */
  private arrow(row: number, scale: Scale, ink: string, width: number) {
    const { context, model, layout } = this;
    const from: Box | null = boxOf(model, layout, scale, row, 'host');
    const to = boxOf(model, layout, scale, row, 'device');
    if (from === null || to === null) return;
    if (Math.max(from.x0, to.x0) < scale.left - 200 || Math.min(from.x0, to.x0) > layout.width + 200) return;
    const [x0, x1] = [from, to].map(({ x0: x }) => Math.min(Math.max(x, scale.left - 400), layout.width + 400) + 1);
    const middle = (from.y1 + to.y0) / 2;
    context.strokeStyle = context.fillStyle = ink;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x0, from.y1);
    context.bezierCurveTo(x0, middle, x1, middle, x1, to.y0);
    context.stroke();
    context.beginPath();
    context.moveTo(x1, to.y0 + 1);
    context.lineTo(x1 - 3.5, to.y0 - 6);
    context.lineTo(x1 + 3.5, to.y0 - 6);
    context.fill();
    context.lineWidth = 1;
  }
}
