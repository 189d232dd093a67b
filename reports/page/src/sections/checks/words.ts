// SPDX-License-Identifier: Apache-2.0
// The recording's check of itself, in words.
import { NOTHING } from '../../format';
import type { Coverage, CoverageRecords } from '../../report';
import { counted } from '../../words';

export function agreement({ agrees, entry_points }: Coverage): string {
  const missed = entry_points.reduce((sum, { calls }) => sum + (calls ?? 0), 0);
  const compared = {
    true: 'What the hooks recorded and what CUPTI reported of the device agree.',
    false: 'What the hooks recorded and what CUPTI reported of the device differ.',
    null: 'There were no device records to compare with.',
  }[String(agrees) as 'true' | 'false' | 'null'];
  return missed === 0
    ? `${compared} No call of a driver function without a hook that copies or allocates was seen.`
    : `${compared} ${counted(missed, 'call')} went to driver functions without a hook.`;
}

/** "cuGetProcAddress_v2 (410 requests, for versions up to 13.0)" */
export function lookupPathsOf({ lookup_paths }: Coverage): string {
  return lookup_paths
    .map(({ name, requests, detail }) =>
      [`${name} (${requests === null ? NOTHING : counted(requests, 'request')}`, detail].filter(Boolean).join(', '),
    )
    .map((text) => `${text})`)
    .join('; ');
}

export function runtimesOf({ runtimes }: Coverage): string {
  return runtimes
    .map(({ module, runtime, detail }) => {
      const name = module.slice(module.lastIndexOf('/') + 1);
      return `${name}: ${[runtime, detail].filter(Boolean).join(', ')}`;
    })
    .join('; ');
}

export function exampleOf({ examples }: CoverageRecords): string | null {
  const example = examples[0];
  if (example === undefined) return null;
  return `${example.side === 'call' ? 'no record of' : 'no call of'} ${example.detail ?? example.id}`;
}
