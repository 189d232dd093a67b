// SPDX-License-Identifier: Apache-2.0
// The timeline: what the host called, when the device did it, and how much memory was in use.
import { useEffect, useState } from 'preact/hooks';
import type { SectionProps } from '../app';
import { count, ns } from '../format';
import type { Head } from '../payload';
import { timesMeanNothing } from './timeline/events';
import { buildModel, type Model } from './timeline/model';
import { Stage } from './timeline/stage';
import './timeline/timeline.css';

/** What a reader must know before he believes the picture. */
function Caveats({ head, model }: { head: Head; model: Model }) {
  const { detail, report } = head;
  const sentences: string[] = [];
  if (timesMeanNothing(head))
    sentences.push(
      report.device.software
        ? 'The software device has no times: the x axis is the number of the call, and every block is one call wide.'
        : 'This trace has no times: the x axis is the number of the call, and every block is one call wide.',
    );
  else if (!model.events.hasDevice)
    sentences.push(
      'No device times were recorded: only the calls of the host are shown, not when the device did the work.',
    );
  if (detail !== null)
    sentences.push(
      `${count(detail.events)} events are more than a page can hold: neighbours of one lane and kind within ` +
        `${ns(detail.merged_below_ns)} were merged into ${count(detail.rows)} blocks. Sums are exact.`,
    );
  return (
    <>
      {sentences.map((sentence) => (
        <p class="t-caveat">{sentence}</p>
      ))}
    </>
  );
}

export function Timeline({ payload }: SectionProps) {
  const [model, setModel] = useState<Model | null>(null);
  const empty = payload.table('call').rows === 0;
  useEffect(() => {
    if (empty) return;
    // After the rest of the page has been drawn: a million events take a moment.
    const timer = setTimeout(() => setModel(buildModel(payload)), 0);
    return () => clearTimeout(timer);
  }, [payload]);
  if (empty) return <p>This trace holds no call that works on memory or on a device: there is nothing to draw.</p>;
  if (model === null) return <p role="status">Laying out the timeline …</p>;
  return (
    <>
      <Caveats head={payload.head} model={model} />
      <Stage payload={payload} model={model} />
    </>
  );
}
