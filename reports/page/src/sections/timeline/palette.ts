// SPDX-License-Identifier: Apache-2.0
// Colours of the theme as a canvas needs them, and the patterns that say the same without colour.
import { color, isDark } from '../../theme';
import { colorName, COLORS, PATTERNS, type Pattern } from './looks';

export interface Palette {
  ink: string;
  dim: string;
  line: string;
  card: string;
  back: string;
  accent: string;
  select: string;
  /** By colour - 1: what is drawn on it. */
  text: string[];
  fill: string[];
  /** By look, as pixels: 0xBBGGRR. */
  pixels: Uint32Array;
  patterns: Record<'dark' | 'light', Map<Pattern, CanvasPattern>>;
}

function channels(text: string): [number, number, number] {
  const hex = /^#([0-9a-f]{6})$/i.exec(text)?.[1] ?? '808080';
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
}

function luminance(rgb: number[]): number {
  const [r, g, b] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Lines of a tile by pattern: from x, y to x, y in eighths of it. */
const STROKES: Record<Exclude<Pattern, 'none' | 'dots'>, number[][]> = {
  rising: [
    [-1, 5, 5, -1],
    [3, 9, 9, 3],
  ],
  falling: [
    [-1, 3, 5, 9],
    [3, -1, 9, 5],
  ],
  level: [
    [0, 2, 8, 2],
    [0, 6, 8, 6],
  ],
  upright: [
    [2, 0, 2, 8],
    [6, 0, 6, 8],
  ],
};

function tile(pattern: Pattern, ink: string, ratio: number): CanvasPattern | null {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 8 * ratio;
  const context = canvas.getContext('2d');
  if (context === null || pattern === 'none') return null;
  context.scale(ratio, ratio);
  context.fillStyle = context.strokeStyle = ink;
  if (pattern === 'dots') {
    for (const [x, y] of [
      [1, 1],
      [5, 5],
    ])
      context.fillRect(x, y, 2, 2);
  } else {
    context.beginPath();
    for (const [x0, y0, x1, y1] of STROKES[pattern]) {
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
    }
    context.stroke();
  }
  return context.createPattern(canvas, 'repeat');
}

function tiles(ink: string, ratio: number): Map<Pattern, CanvasPattern> {
  const found = new Map<Pattern, CanvasPattern>();
  for (const pattern of PATTERNS) {
    const made = tile(pattern, ink, ratio);
    if (made !== null) found.set(pattern, made);
  }
  return found;
}

/** `ratio`: device pixels per CSS pixel, whole. */
export function readPalette(ratio: number): Palette {
  const fill = Array.from({ length: COLORS }, (_, i) => color(colorName(i + 1)));
  const rgb = fill.map(channels);
  const pixels = new Uint32Array(256);
  for (let look = 0; look < pixels.length; look++) {
    const [r, g, b] = rgb[look % COLORS];
    pixels[look] = (b << 16) | (g << 8) | r;
  }
  return {
    ink: color('--ink'),
    dim: color('--dim'),
    line: color('--line'),
    card: color('--card'),
    back: color('--code'),
    accent: color('--accent'),
    select: isDark() ? '#ffffff' : '#000000',
    // The contrast of black and of white on a colour is equal at a luminance of 0.179.
    text: rgb.map((value) => (luminance(value) > 0.179 ? '#000000' : '#ffffff')),
    fill,
    pixels,
    patterns: { dark: tiles('rgba(0, 0, 0, 0.22)', ratio), light: tiles('rgba(255, 255, 255, 0.28)', ratio) },
  };
}
