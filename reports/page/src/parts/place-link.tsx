// SPDX-License-Identifier: Apache-2.0
// A place in a source file; a link into an editor where gmanalyze was given --editor-url.
import type { ComponentChildren } from 'preact';

const PATTERN = /^[a-z][a-z0-9+.-]*:/i;
/** Schemes that would run what they hold. */
const FORBIDDEN = /^(javascript|data|vbscript|blob):/i;

let template = '';

export function setEditor(url: string | undefined) {
  template = url !== undefined && PATTERN.test(url) && !FORBIDDEN.test(url) ? url : '';
}

/** null: there is no such link. Only absolute files have one: nobody knows what others are relative to. */
export function editorLink(file: string | null, line: number | null): string | null {
  if (template === '' || file === null || !file.startsWith('/')) return null;
  const path = file.split('/').map(encodeURIComponent).join('/');
  return template.replaceAll('{file}', path).replaceAll('{line}', String(line ?? 1));
}

interface Props {
  file: string | null;
  line: number | null;
  children: ComponentChildren;
}

export function PlaceLink({ file, line, children }: Props) {
  const href = editorLink(file, line);
  return href === null ? <>{children}</> : <a href={href}>{children}</a>;
}
