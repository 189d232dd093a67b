// SPDX-License-Identifier: Apache-2.0
// What is said of failed calls below their table.
import { count } from '../../format';
import type { Report } from '../../report';
import { counted } from '../../words';

/** Empty where nothing is left over. */
export function restOf({ failed_calls: failed }: Report): string[] {
  if (failed === undefined) return [];
  const handled = failed.handled.reduce((sum, { calls }) => sum + calls, 0);
  const errors = failed.handled.map(({ words, calls }) => `${words} (${count(calls)})`).join(', ');
  return [
    failed.other_calls > 0 ? `${counted(failed.other_calls, 'more call')} failed at other places, or with other errors.` : '',
    handled > 0 ? `${counted(handled, 'call')} returned with an error that programs ask for or handle: ${errors}.` : '',
  ].filter(Boolean);
}
