// SPDX-License-Identifier: Apache-2.0
// What an open finding shows: what to do, where, what it costs, how that is known, and the evidence.
import type { ComponentChildren } from 'preact';
import { bytes, decimal, evidence, known, ns, share } from '../../format';
import { Code, CopyButton } from '../../parts/copy';
import { PlaceLink } from '../../parts/place-link';
import { SourceQuote } from '../../parts/source-quote';
import { Stack } from '../../parts/stack';
import { Table, type TableColumn } from '../../parts/table';
import type { Payload } from '../../payload';
import type { Finding, Part, Report, SourceLine } from '../../report';
import { formatHash, go } from '../../state';
import { applied, gained, judged, offBy, type Tried } from '../../tried';
import { confidence, effort } from '../../words';
import { lineLabel } from './line-label';
import { Picture } from './picture';

interface Props {
  payload: Payload;
  finding: Finding;
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function TriedFacts({ tried }: { tried: Tried }) {
  const off = offBy(tried);
  return (
    <>
      <Fact name="Tried">
        {tried.name}: {gained(tried)}
      </Fact>
      <Fact name="What came of it">{judged(tried)}</Fact>
      {off !== '' && <Fact name="Prediction">{off}</Fact>}
      {applied(tried).map((line) => (
        <Fact name="Fix">{line}</Fact>
      ))}
    </>
  );
}

function Facts({ finding, report }: { finding: Finding; report: Report }) {
  const { where, saving, cost_ns, excess_bytes } = finding;
  const place = where.file === null ? null : `${where.file}${where.line === null ? '' : `:${where.line}`}`;
  return (
    <dl class="facts">
      {place !== null && (
        <Fact name={where.kernel === null ? 'Place' : 'Launched at'}>
          <PlaceLink file={where.file} line={where.line}>
            <code>{place}</code>
          </PlaceLink>{' '}
          <CopyButton what="the place" text={place} />
        </Fact>
      )}
      {where.function !== null && (
        <Fact name="Function">
          <code>{where.function}</code>
        </Fact>
      )}
      {where.kernel !== null && (
        <Fact name="Kernel">
          <code>{where.kernel}</code>
        </Fact>
      )}
      {where.origin !== undefined && <Fact name="Made by">{where.origin}</Fact>}
      {where.graph !== undefined && <Fact name="Graphs">{where.graph}</Fact>}
      {where.api !== null && (
        <Fact name="Call">
          <code>{where.api}</code>
        </Fact>
      )}
      {where.module !== null && (
        <Fact name="Module">
          <code>{where.module}</code>
        </Fact>
      )}
      {finding.range != null && (
        <Fact name="Range">
          <code>{finding.range}</code>
        </Fact>
      )}
      {known(finding.saved_peak_bytes) && (
        <Fact name="Memory">
          the peak of {finding.saved_peak_of ?? 'device memory'} is {bytes(finding.saved_peak_bytes)} lower
        </Fact>
      )}
      {known(cost_ns) && <Fact name="Cost now">{finding.modelled === true ? `about ${ns(cost_ns)}, modelled` : ns(cost_ns)}</Fact>}
      {known(excess_bytes) && excess_bytes > 0 && <Fact name="Unnecessary traffic">{bytes(excess_bytes)}</Fact>}
      <Fact name="Saving">
        {known(saving.best_ns)
          ? `about ${ns(saving.best_ns)} (between ${ns(saving.low_ns)} and ${ns(saving.high_ns)}), ` +
            (finding.modelled === true ? 'modelled' : `${share(saving.share_of_wall)} of the run`)
          : known(finding.at_most_ns)
            ? `not priced, at most ${ns(finding.at_most_ns)}${finding.modelled === true ? ', modelled' : ''}`
            : 'not priced'}
      </Fact>
      {finding.method !== '' && finding.method !== null && <Fact name="How computed">{finding.method}</Fact>}
      <Fact name="Confidence">{confidence(report, finding.confidence)}</Fact>
      {finding.tried !== undefined && <TriedFacts tried={finding.tried} />}
      <Fact name="Effort">{effort(finding.effort)}</Fact>
      {finding.note && <Fact name="Only a note">{finding.note}</Fact>}
    </dl>
  );
}

interface EvidenceRow {
  name: string;
  value: number | null;
  unit: string;
}
/** Units that the value is shown with, or that say nothing to people. */
const SAID = new Set(['ns', 'bytes', 'bytes_per_s', 'percent', 'count', 'ratio']);

const EVIDENCE: TableColumn<EvidenceRow>[] = [
  { key: 'name', title: 'What', value: ({ name }) => name, show: ({ name }) => name.replaceAll('_', ' ') },
  {
    key: 'value',
    title: 'Value',
    numeric: true,
    value: ({ value }) => value,
    show: ({ value, unit }) => evidence(value, unit),
  },
  { key: 'unit', title: 'Unit', value: ({ unit }) => unit, show: ({ unit }) => (SAID.has(unit) ? '' : unit) },
];

const PARTS: TableColumn<Part>[] = [
  { key: 'label', title: 'Case', value: ({ label }) => label },
  { key: 'headline', title: 'What was seen', value: ({ headline }) => headline },
  {
    key: 'cost_ns',
    title: 'Cost',
    numeric: true,
    value: ({ cost_ns }) => cost_ns,
    show: ({ cost_ns }) => ns(cost_ns),
  },
  {
    key: 'best_ns',
    title: 'Saving',
    numeric: true,
    value: ({ best_ns }) => best_ns,
    show: ({ best_ns }) => ns(best_ns),
  },
];

const EXCESS = 'the excess';
const EXCESS_PER_LAUNCH: TableColumn<SourceLine> = {
  key: 'excess_bytes',
  title: 'Excess per launch',
  numeric: true,
  value: (row) => row.excess_bytes,
  show: (row) => bytes(row.excess_bytes),
};

/** `of`: what the shares are of. */
const lineColumns = (of: string): TableColumn<SourceLine>[] => [
  { key: 'line', title: 'Line', value: lineLabel },
  {
    key: 'share',
    title: `Share of ${of}`,
    numeric: true,
    value: (row) => row.share,
    show: (row) => share(row.share),
  },
  { key: 'code', title: 'Code', value: ({ code }) => code, show: ({ code }) => code && <code class="source-line">{code}</code> },
  { key: 'opcode', title: 'Instruction', value: ({ opcode }) => opcode },
  {
    key: 'per_request',
    title: 'Per request',
    numeric: true,
    value: (row) => row.per_request,
    show: (row) => decimal(row.per_request, 1),
    help: 'sectors of 32 bytes, or passes through shared memory',
  },
  {
    key: 'ideal',
    title: 'Ideal',
    numeric: true,
    value: (row) => row.ideal_per_request,
    show: (row) => decimal(row.ideal_per_request, 1),
    help: 'the ideal number',
  },
  ...(of === EXCESS ? [EXCESS_PER_LAUNCH] : []),
];

function Fold({ title, open, children }: { title: string; open?: boolean; children: ComponentChildren }) {
  return (
    <details open={open}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

function Actions({ payload: { head }, finding: { fingerprint, where } }: Props) {
  const kernel = where.kernel === null ? -1 : head.report.kernels.findIndex(({ name }) => name === where.kernel);
  const link = () => location.href.replace(/#.*$/s, '') + formatHash('findings', { f: fingerprint });
  return (
    <p class="actions">
      {(head.claims[fingerprint]?.length ?? 0) > 0 && (
        <button type="button" onClick={() => go('timeline', { 't.finding': fingerprint })}>
          Show in timeline
        </button>
      )}
      {kernel >= 0 && (
        <button type="button" onClick={() => go('kernels', { 'k.open': String(kernel) })}>
          Open the kernel
        </button>
      )}
      <CopyButton what="the link to this finding" text={link} label="Copy link" />
    </p>
  );
}

/** A page without its title: the finding's head names the rule. */
const explained = (page: string) => page.replace(/^#.*\n+/, '').trimEnd();

export function Body({ payload, finding }: Props) {
  const rows = Object.entries(finding.evidence).map(([name, { value, unit }]) => ({ name, value, unit }));
  const id = `e.${finding.fingerprint}`;
  const { lines = [], parts = [], where, rule } = finding;
  const page = payload.head.rule_pages?.[rule];
  return (
    <div class="finding-body">
      <div>
        <h4>What to do</h4>
        <p>{finding.fix}</p>
        {finding.place !== undefined && <SourceQuote place={finding.place} />}
        {finding.patch !== undefined && <Code what={`the patch for ${where.label}`} text={finding.patch} />}
        {finding.sketch !== null && <Code what={`the sketch for ${where.label}`} text={finding.sketch} />}
        <Actions payload={payload} finding={finding} />
        <Facts finding={finding} report={payload.head.report} />
      </div>
      <div>
        <Picture payload={payload} finding={finding} />
        {where.stack.length > 0 && (
          <Fold title="Call stack, innermost call first" open={where.stack.some(({ runtime }) => !runtime)}>
            <Stack frames={where.stack} />
          </Fold>
        )}
        {lines.length > 0 && (
          <Fold title={`Lines behind it (${lines.length})`} open>
            <Table
              id={`${id}.lines`}
              caption="Lines behind the finding"
              columns={lineColumns(finding.lines_of ?? EXCESS)}
              rows={lines}
            />
          </Fold>
        )}
        {parts.length > 0 && (
          <Fold title={`Cases in one place (${parts.length})`}>
            <Table id={`${id}.parts`} caption="Cases that were merged" columns={PARTS} rows={parts} />
          </Fold>
        )}
        {rows.length > 0 && (
          <Fold title={`Evidence (${rows.length} values)`}>
            <Table id={id} caption="Evidence" columns={EVIDENCE} rows={rows} />
          </Fold>
        )}
        {finding.sql !== null && (
          <Fold title="The query that gives these numbers">
            <Code what={`the query behind ${where.label}`} text={finding.sql} wrap />
          </Fold>
        )}
        {page && (
          <Fold title={`How ${rule} finds and prices this`}>
            <Code what={`the page of ${rule}`} text={explained(page)} wrap />
          </Fold>
        )}
      </div>
    </div>
  );
}
