// SPDX-License-Identifier: Apache-2.0
import type { SectionProps } from '../app';

export function Calls({ payload }: SectionProps) {
  return <p>{payload.head.report.trace}</p>;
}
