// The light and the dark theme, and the switch between them, which stores the reader's choice.

import { h } from './dom';
import { DARK, LIGHT, type Theme } from './palette';
import type { VerdictKind } from './summary';

export { LIGHT, type Theme } from './palette';

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

/** Glyph and word of a verdict, so that colour is never the only sign. No glyph points up or down: more CPU is worse. */
export const VERDICTS: Record<VerdictKind, { glyph: string; word: string }> = {
  worse: { glyph: '✗', word: 'worse' },
  better: { glyph: '✓', word: 'better' },
  no_material_difference: { glyph: '=', word: 'no material difference' },
  inconclusive: { glyph: '?', word: 'not decided' },
  no_interval: { glyph: '○', word: 'no interval' },
  void: { glyph: '∅', word: 'void' },
};

export function verdictColour(verdict: VerdictKind, t: Theme): string {
  if (verdict === 'worse' || verdict === 'better') return t[verdict];
  return verdict === 'no_material_difference' ? t.ink : t.undecided;
}
