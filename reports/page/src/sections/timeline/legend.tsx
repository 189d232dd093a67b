// SPDX-License-Identifier: Apache-2.0
// What colours and patterns mean: kinds of calls, and the kernels that take the most time.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { shortKernel } from './events';
import { isIdle } from '../idle';
import { causeLook, colorOf, kernelLooks, kindLook, kindTitle, patternOf } from './looks';
import type { Model } from './model';
import type { Palette } from './palette';

const KERNELS = 10;
const FEW = 14; // kinds and kernels: the legend starts open where there is room

interface Props {
  model: Model;
  palette: (ratio: number) => Palette;
  /** Changes with the theme. */
  theme: string;
}

function Swatch({ look, palette, theme }: Omit<Props, 'model'> & { look: number }) {
  const place = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = place.current;
    const context = canvas?.getContext('2d');
    if (!canvas || !context) return;
    const colors = palette(1);
    const at = colorOf(look) - 1;
    context.fillStyle = colors.fill[at];
    context.fillRect(0, 0, canvas.width, canvas.height);
    const pattern = colors.patterns[colors.text[at] === '#000000' ? 'dark' : 'light'].get(patternOf(look));
    if (pattern === undefined) return;
    context.fillStyle = pattern;
    context.fillRect(0, 0, canvas.width, canvas.height);
  }, [look, theme]);
  return <canvas ref={place} width={24} height={14} aria-hidden="true" />;
}

export function Legend({ model, palette, theme }: Props) {
  const { events } = model;
  const { names, report } = events.head;
  const kinds = useMemo(() => {
    const present = new Uint8Array(256); // a Set of a million values takes a quarter of a second
    for (let i = 0; i < events.rows; i++) present[events.kind[i]] = 1;
    return names.kind.filter((_, i) => present[i] === 1);
  }, [events]);
  const causes = model.idle.rows > 0 ? (report.time?.parts ?? []).filter(isIdle) : [];
  const kernels = [...new Map(report.kernels.map(({ name }) => [name, shortKernel(name)]))].slice(0, KERNELS);
  const looks = kernelLooks(report.kernels.map(({ name }) => name));
  const more = new Set(report.kernels.map(({ name }) => name)).size - kernels.length;
  return (
    <details class="t-legend" open={kinds.length + kernels.length <= FEW && innerWidth > 640}>
      <summary>Legend</summary>
      <ul aria-label="Kinds of calls">
        {kinds.map((kind) => (
          <li>
            <Swatch look={kindLook(kind)} palette={palette} theme={theme} /> {kindTitle(kind)}
          </li>
        ))}
      </ul>
      {causes.length > 0 && (
        <ul aria-label="Causes of idle time">
          {causes.map(({ name, title }) => (
            <li>
              <Swatch look={causeLook(name)} palette={palette} theme={theme} /> {title}
            </li>
          ))}
        </ul>
      )}
      {kernels.length > 0 && (
        <ul aria-label="Kernels">
          {kernels.map(([name, short]) => (
            <li title={name}>
              <Swatch look={looks.get(name) ?? 0} palette={palette} theme={theme} /> {short}
            </li>
          ))}
          {more > 0 && <li class="dim">and {more} more: their names stand in the blocks</li>}
        </ul>
      )}
      <p class="dim">
        Paler: only part of what a pixel stands for was in use. Lines go from a call to what the device did for it.
      </p>
    </details>
  );
}
