// SPDX-License-Identifier: Apache-2.0
// A source line in words: where it stands, and the calls that it was inlined at.
import { base } from '../../format';
import type { InlineCall, Place } from '../../report';
import { shortName } from '../kernels/model';

/** "inlined at two (b.h:9), at b.cu:17": every call between a line and its kernel, the innermost first. */
export function chainWords(calls: InlineCall[]): string {
  let next = 1;
  const words = calls.map(({ level, function: name, file, line }) => {
    const place = `${file === null ? '?' : base(file)}:${line ?? '?'}`;
    const gap = level > next ? `${level - next} more, ` : '';
    next = level + 1;
    return name === null ? `${gap}at ${place}` : `${gap}at ${shortName(name)} (${place})`;
  });
  return words.length === 0 ? '' : `inlined ${words.join(', ')}`;
}

/** "main.cu:42, inlined at b.cu:7"; the line of the PTX where the source is not known. */
export function lineLabel({ file, line, caller_file, caller_line, inlined_at, chain_count, ptx_line, opcode }: Place): string {
  if (file === null) return ptx_line === null ? `instruction ${opcode ?? '?'}` : `PTX line ${ptx_line}`;
  // Of races only the outermost call is known.
  const outermost = caller_file === null ? [] : [{ level: 1, function: null, file: caller_file, line: caller_line }];
  const calls = chainWords(inlined_at ?? outermost);
  const ways = (chain_count ?? 0) > 1 ? ` (one of ${chain_count} ways)` : '';
  return `${base(file)}:${line ?? '?'}${calls === '' ? '' : `, ${calls}${ways}`}`;
}
