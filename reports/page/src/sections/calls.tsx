// SPDX-License-Identifier: Apache-2.0
// Who called: an icicle over the stacks by bytes copied, by time or by bytes allocated.
import { useMemo } from 'preact/hooks';
import type { SectionProps } from '../app';
import { Controls, Flag, Pick, useFlag, usePick } from '../parts/controls';
import { Icicle } from '../parts/icicle';
import { stacksOf } from '../parts/stacks';
import { useRange } from '../range';
import { useChoice } from '../state';
import { MEASURES } from './calls/weights';

const OPTIONS = MEASURES.map(({ id, title }) => [id, title] as const);

function describe(title: string, inverted: boolean) {
  const order = inverted ? 'from the calling line outwards' : 'from main() inwards';
  return `Call sites by ${title}, ${order}`;
}

export function Calls({ payload }: SectionProps) {
  const [by] = usePick('c.by', OPTIONS);
  const [inverted] = useFlag('c.inverted');
  const [runtime] = useFlag('c.runtime');
  const [search, setSearch] = useChoice('c.search', '');
  const measure = MEASURES.find(({ id }) => id === by) ?? MEASURES[0];
  const timeless = measure.timed && payload.head.report.device.software;
  const range = useRange();
  const root = useMemo(
    () => stacksOf(payload).tree(timeless ? [] : measure.weights(payload, range), { inverted, runtime }),
    [payload, measure, timeless, inverted, runtime, range],
  );
  return (
    <>
      <Controls>
        <Pick id="c.by" label="By" options={OPTIONS} />
        <Flag id="c.inverted" label="Inverted" />
        <Flag id="c.runtime" label="With frames of the runtime" />
        <input
          type="search"
          placeholder="Mark functions"
          aria-label="Mark functions in the icicle of call sites"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </Controls>
      {timeless ? (
        <p>This trace is of the software device, whose times mean nothing: choose bytes instead.</p>
      ) : (
        <Icicle
          id="c"
          title={describe(measure.title, inverted)}
          root={root}
          what={measure.what}
          counted={measure.counted}
          show={measure.show}
          search={search}
        />
      )}
    </>
  );
}
