// SPDX-License-Identifier: Apache-2.0
// Comma-separated values (RFC 4180), onto the clipboard.

export type Cell = number | string | null | undefined;

function quoted(cell: Cell): string {
  if (cell === null || cell === undefined || (typeof cell === 'number' && !Number.isFinite(cell))) return '';
  const text = String(cell);
  // A spreadsheet would take a leading = + - @ of a name for a formula.
  const safe = typeof cell === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function toCsv(head: string[], rows: Cell[][]): string {
  return [head, ...rows].map((row) => row.map(quoted).join(',')).join('\r\n') + '\r\n';
}

/** False where the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages from files have no clipboard in some browsers: the old way still works there.
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}
