// SPDX-License-Identifier: Apache-2.0
// The range that is selected in the timeline (`t.range`): sections show what lies in it, and say so.
import { useMemo } from 'preact/hooks';
import { parseRange, type Range } from './span';
import { setChoices, useChoice } from './state';

let timed = true;

/** Where times mean nothing, the timeline's range counts calls, and filters nothing. */
export function setTimed(now: boolean) {
  timed = now;
}

export function useRange(): Range | null {
  const [text] = useChoice('t.range', '');
  return useMemo(() => (timed ? parseRange(text) : null), [text]);
}

export function clearRange() {
  setChoices({ 't.range': undefined });
}
