// SPDX-License-Identifier: Apache-2.0
// Unpacks the payload and shows the report.
import { render } from 'preact';
import { App } from './app';
import { readPayload } from './payload';
import './style.css';

const root = document.getElementById('page') as HTMLElement;

readPayload(document.getElementById('payload') as HTMLElement)
  .then((payload) => {
    root.textContent = '';
    render(<App payload={payload} />, root);
    document.documentElement.dataset.ready = 'yes';
  })
  .catch((error: unknown) => {
    root.textContent = `This report cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
    root.setAttribute('role', 'alert');
  });
