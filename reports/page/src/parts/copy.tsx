// SPDX-License-Identifier: Apache-2.0
// A button that copies a text, and code that comes with such a button.
import { copyText } from './csv';
import { say } from './say';

interface CopyProps {
  /** What is copied, for the button's name: "the query". */
  what: string;
  text: string | (() => string);
  label?: string;
}

export function CopyButton({ what, text, label = 'Copy' }: CopyProps) {
  const copy = async () => {
    const done = await copyText(typeof text === 'string' ? text : text());
    say(done ? `Copied ${what}` : 'The browser does not let this page copy');
  };
  return (
    <button type="button" class="copy" onClick={copy} aria-label={`${label}: ${what}`}>
      {label}
    </button>
  );
}

/** wrap: line breaks mean nothing in it. */
export function Code({ what, text, wrap }: { what: string; text: string; wrap?: boolean }) {
  return (
    <div class={wrap ? 'code wrap' : 'code'}>
      <pre tabIndex={0} role="group" aria-label={what}>
        {text}
      </pre>
      <CopyButton what={what} text={text} />
    </div>
  );
}
