// SPDX-License-Identifier: Apache-2.0
// A call stack, innermost call first; frames inside the CUDA runtime are left out until asked for.
import { useState } from 'preact/hooks';
import { base } from '../format';
import type { Frame } from '../report';
import { PlaceLink } from './place-link';

function place({ file, line, module, offset }: Frame): string {
  if (file !== null) return line !== null ? `${base(file)}:${line}` : base(file);
  return module !== null ? `${base(module)}+0x${offset.toString(16)}` : `0x${offset.toString(16)}`;
}

export function Stack({ frames }: { frames: Frame[] }) {
  const [all, setAll] = useState(false);
  const own = frames.filter(({ runtime }) => !runtime);
  const hidden = frames.length - own.length;
  const shown = all ? frames : own;
  return (
    <>
      {shown.length === 0 && <p class="dim">All frames that were recorded are inside the CUDA runtime.</p>}
      <ol class="stack">
        {shown.map((frame, index) => (
          <li key={index} class={frame.runtime ? 'dim' : undefined}>
            <code>{frame.function ?? '?'}</code>{' '}
            <span class="dim" title={frame.file ?? frame.module ?? undefined}>
              <PlaceLink file={frame.file} line={frame.line}>
                {place(frame)}
              </PlaceLink>
            </span>
          </li>
        ))}
      </ol>
      {hidden > 0 && (
        <button type="button" aria-pressed={all} onClick={() => setAll(!all)}>
          {all ? 'Hide' : 'Show'} {hidden} frame{hidden === 1 ? '' : 's'} of the CUDA runtime
        </button>
      )}
    </>
  );
}
