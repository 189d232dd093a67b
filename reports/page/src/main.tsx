// SPDX-License-Identifier: Apache-2.0
// Unpacks the payload and shows the report.
import { render } from 'preact';
import { App } from './app';
import { DiffApp } from './diff/diff';
import { RanksApp } from './diff/ranks';
import { readPayload, type Payload } from './payload';
import './style.css';

/** A page of one trace, unless its head says that it is over several. */
function appOf(payload: Payload) {
  const { diff, ranks, reproduce } = payload.head;
  if (diff !== undefined) return <DiffApp diff={diff} reproduce={reproduce} />;
  if (ranks !== undefined) return <RanksApp ranks={ranks} reproduce={reproduce} />;
  return <App payload={payload} />;
}

const root = document.getElementById('page') as HTMLElement;

readPayload(document.getElementById('payload') as HTMLElement)
  .then((payload) => {
    root.textContent = '';
    render(appOf(payload), root);
    // A report says itself when its last section is laid out.
    const { diff, ranks } = payload.head;
    if (diff !== undefined || ranks !== undefined) document.documentElement.dataset.ready = 'yes';
  })
  .catch((error: unknown) => {
    root.textContent = `This report cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
    root.setAttribute('role', 'alert');
  });
