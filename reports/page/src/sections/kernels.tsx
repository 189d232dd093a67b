// SPDX-License-Identifier: Apache-2.0
import type { SectionProps } from '../app';

export function Kernels({ payload }: SectionProps) {
  return <p>{payload.head.report.trace}</p>;
}
