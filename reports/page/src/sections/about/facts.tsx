// SPDX-License-Identifier: Apache-2.0
// Names and values below each other; what is not known is an en dash.
import type { ComponentChildren } from 'preact';
import { NOTHING } from '../../format';

export type Fact = [name: string, value: ComponentChildren];

export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl class="facts card">
      {facts.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value === null || value === undefined || value === '' ? NOTHING : value}</dd>
        </div>
      ))}
    </dl>
  );
}
