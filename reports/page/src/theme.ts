// SPDX-License-Identifier: Apache-2.0
// Light, dark or as the system has it; remembered where the browser lets a file remember.
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

function apply() {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  for (const listener of [...listeners]) listener();
}

export function isDark(): boolean {
  return theme === 'dark' || (theme === 'system' && dark.matches);
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

/** Renders again when the theme changes. */
export function useTheme(): Theme {
  const [, again] = useState(0);
  useEffect(() => {
    const listener = () => again((n) => n + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return theme;
}

dark.addEventListener('change', apply);
apply();
