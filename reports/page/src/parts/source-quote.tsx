// SPDX-License-Identifier: Apache-2.0
// The lines around a place in a source file, with the place marked.
import { base } from '../format';
import type { Quote } from '../report';
import { PlaceLink } from './place-link';
import './source-quote.css';

export function SourceQuote({ place }: { place: Quote }) {
  const { file, line, first_line, lines } = place;
  if (file === null || lines.length === 0) return null;
  const first = first_line ?? 1;
  const width = String(first + lines.length - 1).length;
  return (
    <figure class="quote">
      <figcaption>
        <PlaceLink file={file} line={line}>
          <code>
            {base(file)}:{line}
          </code>
        </PlaceLink>
      </figcaption>
      <pre tabIndex={0} role="group" aria-label={`source around ${base(file)}:${line}`}>
        {lines.map((text, i) => (
          <span class={first + i === line ? 'quote-line meant' : 'quote-line'}>
            <span class="quote-number">{String(first + i).padStart(width)}</span>
            {first + i === line ? ' ▸ ' : '   '}
            {text}
            {'\n'}
          </span>
        ))}
      </pre>
    </figure>
  );
}
