// SPDX-License-Identifier: Apache-2.0
// The part of the x axis that is shown. Whoever draws listens; input, links and buttons change it.

const GLIDE_MS = 160;

export class View {
  from: number;
  to: number;
  private readonly listeners = new Set<() => void>();
  private gliding = 0;

  constructor(
    readonly low: number,
    readonly high: number,
    /** The shortest stretch that can be shown. */
    private readonly shortest: number,
  ) {
    this.from = low;
    this.to = high;
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  isAll(): boolean {
    return this.from <= this.low && this.to >= this.high;
  }

  /** Kept inside the extent; a stretch that is too short or too long keeps its middle. */
  set(from: number, to: number) {
    cancelAnimationFrame(this.gliding);
    this.move(from, to);
  }

  private move(from: number, to: number) {
    if (!Number.isFinite(from) || !Number.isFinite(to)) return;
    const full = this.high - this.low;
    const span = Math.min(full, Math.max(to - from, Math.min(this.shortest, full)));
    const middle = (from + to) / 2;
    const begin = span === to - from ? from : middle - span / 2;
    const kept = Math.min(Math.max(begin, this.low), this.high - span);
    if (kept === this.from && kept + span === this.to) return;
    this.from = kept;
    this.to = kept + span;
    for (const listener of [...this.listeners]) listener();
  }

  /** Factor below 1: nearer. `at` stays where it is. */
  zoom(factor: number, at = (this.from + this.to) / 2) {
    this.set(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  /** By a share of what is shown. */
  pan(share: number) {
    const by = (this.to - this.from) * share;
    this.set(this.from + by, this.to + by);
  }

  /** Moves there in a few frames; at once for whoever asked for less motion. */
  glide(from: number, to: number) {
    cancelAnimationFrame(this.gliding);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.move(from, to);
      return;
    }
    const [a, b] = [this.from, this.to];
    const began = performance.now();
    const step = (now: number) => {
      const share = Math.min(1, Math.max(0, now - began) / GLIDE_MS);
      const eased = 1 - (1 - share) ** 3;
      this.move(a + (from - a) * eased, b + (to - b) * eased);
      if (share < 1) this.gliding = requestAnimationFrame(step);
    };
    this.gliding = requestAnimationFrame(step);
  }

  all() {
    this.glide(this.low, this.high);
  }

  /** Shows a stretch with some room beside it. */
  show(from: number, to: number, room = 0.3) {
    const beside = Math.max((to - from) * room, this.shortest / 2);
    this.glide(from - beside, to + beside);
  }
}
