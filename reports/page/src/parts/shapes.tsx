// SPDX-License-Identifier: Apache-2.0
// Marks that differ by shape as well as by colour, and dashes of lines; on a canvas and in legends.

function ring(corners: number, radius: number, turn = 0): [number, number][] {
  return Array.from({ length: corners }, (_, i) => {
    const angle = turn + (2 * Math.PI * i) / corners;
    return [radius * Math.sin(angle), -radius * Math.cos(angle)];
  });
}

const PLUS: [number, number][] = [
  [-0.4, -1.1],
  [0.4, -1.1],
  [0.4, -0.4],
  [1.1, -0.4],
  [1.1, 0.4],
  [0.4, 0.4],
  [0.4, 1.1],
  [-0.4, 1.1],
  [-0.4, 0.4],
  [-1.1, 0.4],
  [-1.1, -0.4],
  [-0.4, -0.4],
];
const turned = (points: [number, number][]) =>
  points.map(([x, y]): [number, number] => [Math.SQRT1_2 * (x - y), Math.SQRT1_2 * (x + y)]);

/** Polygons about the origin, of radius 1. */
const SHAPES: [number, number][][] = [
  ring(16, 1),
  ring(4, 1.2, Math.PI / 4),
  ring(3, 1.3),
  ring(4, 1.3),
  PLUS,
  turned(PLUS),
  ring(3, 1.3, Math.PI),
  ring(6, 1.1),
];
export const DASHES: number[][] = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

export const shapeOf = (index: number) => SHAPES[index % SHAPES.length];
/** The custom property of a colour. */
export const colorName = (index: number) => `--c${(index % 8) + 1}`;

export function trace(path: Path2D, index: number, x: number, y: number, radius: number) {
  shapeOf(index).forEach(([dx, dy], i) => {
    if (i === 0) path.moveTo(x + dx * radius, y + dy * radius);
    else path.lineTo(x + dx * radius, y + dy * radius);
  });
  path.closePath();
}

export function ShapeIcon({ index }: { index: number }) {
  const points = shapeOf(index).map(([x, y]) => `${(8 + 5 * x).toFixed(2)},${(8 + 5 * y).toFixed(2)}`);
  return (
    <svg class="glyph" data-color={(index % 8) + 1} width="16" height="16" aria-hidden="true">
      <polygon points={points.join(' ')} />
    </svg>
  );
}

export function LineIcon({ color, dash }: { color: number; dash: number[] }) {
  return (
    <svg class="glyph" data-color={(color % 8) + 1} width="28" height="16" aria-hidden="true">
      <line x1="0" y1="8" x2="28" y2="8" stroke-dasharray={dash.join(' ')} />
    </svg>
  );
}
