// Which colours are in force, light or dark, and the switch between them, remembered.

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

/** The theme in force: what the reader chose, or else what the system says. */
export function theme(): Theme {
  return (choice ?? (system.matches ? 'dark' : 'light')) === 'dark' ? DARK : LIGHT;
}

/** Calls back when the theme changes. */
export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

function apply(): void {
  document.documentElement.dataset.theme = theme().dark ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

/** The switch; its choice is remembered where the browser lets a page remember. */
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
  onTheme(updateLabel);
  updateLabel();
  return button;
}

system.addEventListener('change', apply);
apply();

/** The colour, glyph and word of a verdict: never colour alone. No glyph points up or down, because more CPU is worse. */
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
