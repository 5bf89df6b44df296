// The light and the dark theme, and the switch between them, which stores the reader's choice.

import { h } from './dom';
import { DARK, LIGHT, type Theme } from './palette';
import type { VerdictKind } from './summary';

export { DARK, LIGHT, type Theme } from './palette';

const KEY = 'tare-theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
let choice = readStoredChoice();

function readStoredChoice(): 'light' | 'dark' | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : null;
  } catch {
    return null;
  }
}

/** The current theme: the reader's choice, or else the system's. */
export function theme(): Theme {
  return (choice ?? (system.matches ? 'dark' : 'light')) === 'dark' ? DARK : LIGHT;
}

/** Calls `listener` when the theme changes. */
export function onThemeChange(listener: () => void): void {
  listeners.add(listener);
}

function apply(): void {
  document.documentElement.dataset.theme = theme().dark ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

/** The switch between the themes; it stores the choice if the browser allows that. */
export function themeSwitch(): HTMLButtonElement {
  const button = h('button', { type: 'button', class: 'button theme-switch' });
  const updateLabel = () => (button.textContent = theme().dark ? 'Light' : 'Dark');
  button.addEventListener('click', () => {
    choice = theme().dark ? 'light' : 'dark';
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // Without storage the choice holds for this visit only.
    }
    apply();
  });
  onThemeChange(updateLabel);
  updateLabel();
  return button;
}

system.addEventListener('change', apply);
apply();

/** Colour, glyph and word of a verdict, so that colour is never the only sign. No glyph points up or down: more CPU is worse. */
export function verdictLook(verdict: VerdictKind, t: Theme): { colour: string; glyph: string; word: string } {
  switch (verdict) {
    case 'worse':
      return { colour: t.worse, glyph: '✗', word: 'worse' };
    case 'better':
      return { colour: t.better, glyph: '✓', word: 'better' };
    case 'no_material_difference':
      return { colour: t.ink, glyph: '=', word: 'no material difference' };
    case 'inconclusive':
      return { colour: t.undecided, glyph: '?', word: 'not decided' };
    case 'no_interval':
      return { colour: t.undecided, glyph: '○', word: 'no interval' };
    case 'void':
      return { colour: t.undecided, glyph: '∅', word: 'void' };
  }
}
