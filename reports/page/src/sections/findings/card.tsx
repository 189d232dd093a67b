// SPDX-License-Identifier: Apache-2.0
// One finding: folded, what and where and how much; open, all that is known about it.
import { bytes, known, ns, smallShare } from '../../format';
import { IntervalBar } from '../../parts/bars';
import type { Payload } from '../../payload';
import type { Finding } from '../../report';
import { SEVERITY_MARK } from '../../words';
import { Body } from './body';

export interface CardProps {
  payload: Payload;
  finding: Finding;
  /** What the full width of all interval bars stands for. */
  scale_ns: number;
  open: boolean;
  onToggle: (fingerprint: string) => void;
}

function ofRun(part: number | null): string {
  return known(part) ? `${smallShare(part)} of the run` : '';
}

function Saving({ finding, scale_ns, software }: { finding: Finding; scale_ns: number; software: boolean }) {
  const { saving, excess_bytes, saved_peak_bytes, at_most_ns, tried } = finding;
  if (tried?.state === 'proven' && tried.gain !== null)
    return (
      <div class="saving">
        <b>{ns(tried.gain.best_ns)}</b> <small>{ofRun(tried.gain.share_of_run)}, proven</small>
        <IntervalBar saving={{ ...tried.gain, share_of_wall: null }} scale_ns={scale_ns} />
      </div>
    );
  if (known(saving.best_ns))
    return (
      <div class="saving">
        <b>{finding.modelled === true ? `about ${ns(saving.best_ns)}` : ns(saving.best_ns)}</b>{' '}
        <small>
          {finding.modelled === true ? 'modelled' : ofRun(saving.share_of_wall)}
          {finding.guess === true && ', a guess'}
        </small>
        <IntervalBar saving={saving} scale_ns={scale_ns} />
      </div>
    );
  return (
    <div class="saving">
      {known(saved_peak_bytes) ? (
        <>
          <b>{bytes(saved_peak_bytes)}</b> <small>lower peak</small>
        </>
      ) : known(excess_bytes) && excess_bytes > 0 ? (
        <>
          <b>{bytes(excess_bytes)}</b> <small>unnecessary traffic</small>
        </>
      ) : known(at_most_ns) ? (
        <small>
          at most {ns(at_most_ns)}
          {finding.modelled === true && ', modelled'}
        </small>
      ) : (
        <small>{software ? 'no times' : 'not priced'}</small>
      )}
    </div>
  );
}

/** Where to look: the line, in a kernel that which causes most of it; for kernels their name. */
function Place({ finding: { where, place } }: { finding: Finding }) {
  const named = where.kernel_title ?? where.kernel ?? where.function;
  const line = place !== undefined && place.line !== where.line ? place.label : where.label;
  return (
    <p class="finding-place">
      <code>{line}</code>
      {named !== null && named !== line && (
        <>
          {' in '}
          <code title={where.kernel ?? undefined}>{named}</code>
        </>
      )}
    </p>
  );
}

export function Card({ payload, finding, scale_ns, open, onToggle }: CardProps) {
  const { fingerprint, severity } = finding;
  const id = `f-${fingerprint}`;
  const toggle = () => onToggle(fingerprint);
  return (
    <article class={`card finding ${severity}`} id={id} data-finding={fingerprint}>
      {/* A larger target for the mouse; keys and readers of the screen have the button. */}
      <div class={open ? 'finding-head open' : 'finding-head'} onClick={toggle}>
        <div class="finding-what">
          <h3>
            <button
              type="button"
              aria-expanded={open}
              aria-controls={`${id}-body`}
              onClick={(event) => {
                event.stopPropagation();
                toggle();
              }}
            >
              <span class="fold" aria-hidden="true" />
              {finding.title}
            </button>
          </h3>
          <span class={`pill ${severity}`}>
            <span aria-hidden="true">{SEVERITY_MARK[severity]}</span> {severity}
          </span>
          <small>{finding.rule}</small>
        </div>
        <Saving finding={finding} scale_ns={scale_ns} software={payload.head.report.device.software} />
        <Place finding={finding} />
        <p class="finding-headline">{finding.headline}</p>
      </div>
      <div id={`${id}-body`} hidden={!open}>
        {open && <Body payload={payload} finding={finding} />}
      </div>
    </article>
  );
}
