// SPDX-License-Identifier: Apache-2.0
// Light, dark or as the system has it; remembered where the browser lets a file remember.
import { options } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'gmtrace.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

function remembered(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';
  }
}

let theme = remembered();
let printing = false;

function apply() {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  for (const listener of [...listeners]) listener();
}

export function isDark(): boolean {
  return !printing && (theme === 'dark' || (theme === 'system' && dark.matches));
}

/** True while the page is put on paper; who renders by it calls useTheme(). */
export function isPrinting(): boolean {
  return printing;
}

export function getTheme(): Theme {
  return theme;
}

export function setTheme(next: Theme) {
  theme = next;
  try {
    if (next === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    /* not remembered then */
  }
  apply();
}

/** A colour of the style by the name of its custom property, as canvases need it: color('--ink'). */
export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Renders again when the theme changes; what is seen, "light" or "dark", for effects to depend on. */
export function useTheme(): Theme {
  const [, again] = useState(0);
  useEffect(() => {
    const listener = () => again((n) => n + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return isDark() ? 'dark' : 'light';
}

/** Paper is white. Handlers must have drawn by the time that they return. */
function onPrint(now: boolean) {
  printing = now;
  const later = options.debounceRendering;
  options.debounceRendering = (draw) => draw();
  apply();
  options.debounceRendering = later;
}

addEventListener('beforeprint', () => onPrint(true));
addEventListener('afterprint', () => onPrint(false));
dark.addEventListener('change', apply);
apply();
