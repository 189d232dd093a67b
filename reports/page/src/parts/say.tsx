// SPDX-License-Identifier: Apache-2.0
// The page's one live region: say() shows a short message and has it read out.
import { useEffect, useState } from 'preact/hooks';

const SHOWN_MS = 4000;
let hear: (text: string) => void = () => {};

export function say(text: string) {
  hear(text);
}

export function Announcer() {
  const [text, setText] = useState('');
  useEffect(() => {
    let timer = 0;
    hear = (next) => {
      clearTimeout(timer);
      setText(next);
      timer = setTimeout(() => setText(''), SHOWN_MS);
    };
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class={text === '' ? 'said empty' : 'said'} role="status" aria-live="polite">
      {text}
    </p>
  );
}
