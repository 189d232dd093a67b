// SPDX-License-Identifier: Apache-2.0
// The blocks of one track as a line of pixels: how much of each is covered, and by what look. The line is
// stretched to the height of the track when it is drawn: one image for all tracks, whatever they hold.
import { levelFor, visible, type Level, type Track } from './tracks';

/** A single event wide enough for a pattern, an edge and perhaps its name. */
export interface Wide {
  x0: number;
  x1: number;
  look: number;
  row: number;
}

export class Strip {
  private covered = new Float32Array(0);
  private lead = new Float32Array(0);
  private look = new Uint8Array(0);

  private clear(width: number) {
    if (this.covered.length !== width) {
      this.covered = new Float32Array(width);
      this.lead = new Float32Array(width);
      this.look = new Uint8Array(width);
    } else {
      this.covered.fill(0);
      this.lead.fill(0);
    }
  }

  private put(x: number, share: number, look: number) {
    this.covered[x] += share;
    if (share > this.lead[x]) {
      this.lead[x] = share;
      this.look[x] = look;
    }
  }

  private block(level: Level, i: number, a: number, b: number, width: number) {
    const look = level.look[i];
    const taken = level.end[i] - level.begin[i];
    const density = level.covered === null || taken <= 0 ? 1 : level.covered[i] / taken;
    const from = Math.max(a, 0);
    const to = Math.min(b, width);
    const first = Math.min(Math.floor(from), width - 1);
    const last = Math.min(Math.floor(to), width - 1);
    const least = 1e-4; // what is too short for its pixel is seen all the same
    if (first === last) {
      this.put(first, Math.max((to - from) * density, least), look);
      return;
    }
    this.put(first, (first + 1 - from) * density, look);
    for (let x = first + 1; x < last; x++) this.put(x, density, look);
    if (to > last) this.put(last, (to - last) * density, look);
  }

  /**
   * Fills `pixels` (from `at`, `width` of them) with the colours (0xBBGGRR by look), more opaque the more
   * of a pixel is covered. Returns the events that are at least `wide` pixels wide.
   */
  draw(
    track: Track,
    from: number,
    to: number,
    pixels: Uint32Array,
    at: number,
    width: number,
    colors: Uint32Array,
    wide: number,
  ) {
    const perPixel = (to - from) / width;
    const level = levelFor(track, perPixel);
    const [first, end] = visible(level, from, to);
    const found: Wide[] = [];
    this.clear(width);
    for (let i = first; i < end; i++) {
      const a = (level.begin[i] - from) / perPixel;
      const b = (level.end[i] - from) / perPixel;
      if (b < 0 || a > width) continue;
      this.block(level, i, a, b, width);
      if (b - a >= wide && (level.count === null || level.count[i] === 1))
        found.push({ x0: a, x1: b, look: level.look[i], row: level.row[i] });
    }
    for (let x = 0; x < width; x++) {
      const covered = this.covered[x];
      if (covered === 0) continue;
      const alpha = covered >= 0.995 ? 255 : Math.round(80 + 175 * covered);
      pixels[at + x] = ((alpha << 24) | colors[this.look[x]]) >>> 0;
    }
    return found;
  }
}
