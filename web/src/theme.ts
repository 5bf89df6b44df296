// Colours (Okabe–Ito, safe for colour-blind readers) for light and dark, and the switch between them, remembered.

import { h } from './dom';
import type { VerdictKind } from './summary';

/** The colours that charts use; the page's own stand in style/base.css. */
export interface Theme {
  dark: boolean;
  paper: string;
  ink: string;
  muted: string;
  faint: string;
  grid: string;
  band: string;
  shade: string;
  /** Ground of a start that was left out. */
  aside: string;
  /** Always the baseline, in every chart. */
  baseline: string;
  /** The second start of the baseline. */
  control: string;
  series: string[];
  /** The same hues, dark or light enough for text on paper. */
  seriesInk: string[];
  worse: string;
  better: string;
  undecided: string;
  /** Kinds of thread, by lightness so that they print. */
  kinds: string[];
}

const SKY = '#56b4e9';
const ORANGE = '#e69f00';
const GREEN = '#009e73';
const PURPLE = '#cc79a7';
const BLUE = '#0072b2';
const VERMILLION = '#d55e00';
const YELLOW = '#f0e442';

export const LIGHT: Theme = {
  dark: false,
  paper: '#fffefb',
  ink: '#1d1f24',
  muted: '#5f646d',
  faint: '#b9bcc2',
  grid: '#e9e7e1',
  band: 'rgba(60, 64, 72, 0.11)',
  shade: 'rgba(60, 64, 72, 0.05)',
  aside: 'rgba(213, 94, 0, 0.12)',
  baseline: '#6b7079',
  control: '#a7abb2',
  series: [SKY, ORANGE, GREEN, PURPLE, VERMILLION, '#d8c900', BLUE],
  seriesInk: ['#1f76a8', '#99660a', '#00704f', '#9c4a78', '#a84a00', '#7a7000', '#005f94'],
  worse: VERMILLION,
  better: BLUE,
  undecided: '#8d929a',
  kinds: ['#2f4d69', '#5f87aa', '#8fb1cd', '#b9cfdf', '#c9c7c0'],
};

export const DARK: Theme = {
  dark: true,
  paper: '#15171b',
  ink: '#e8e6e1',
  muted: '#a0a4ab',
  faint: '#5b6069',
  grid: '#2a2d33',
  band: 'rgba(235, 235, 240, 0.12)',
  shade: 'rgba(235, 235, 240, 0.05)',
  aside: 'rgba(238, 122, 43, 0.18)',
  baseline: '#a3a8b0',
  control: '#6f747d',
  series: [SKY, ORANGE, '#1fbf91', PURPLE, '#ee7a2b', YELLOW, '#2f7fc4'],
  seriesInk: [SKY, ORANGE, '#2cc99b', '#dc93ba', '#f08a45', YELLOW, '#5a9fdc'],
  worse: '#f0833a',
  better: SKY,
  undecided: '#868b94',
  kinds: ['#9cc3e4', '#6d97bb', '#4a6d8c', '#34506a', '#454950'],
};

const KEY = 'tare-theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
let choice = remembered();

function remembered(): 'light' | 'dark' | null {
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
  const label = () => (button.textContent = theme().dark ? 'Light' : 'Dark');
  button.addEventListener('click', () => {
    choice = theme().dark ? 'light' : 'dark';
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // Without storage the choice holds for this visit only.
    }
    apply();
  });
  onTheme(label);
  label();
  return button;
}

system.addEventListener('change', apply);
apply();

/** The colour, glyph and word of a verdict: never colour alone. */
export function verdictLook(verdict: VerdictKind, t: Theme): { colour: string; glyph: string; word: string } {
  switch (verdict) {
    case 'worse':
      return { colour: t.worse, glyph: '▼', word: 'worse' };
    case 'better':
      return { colour: t.better, glyph: '▲', word: 'better' };
    case 'no_material_difference':
      return { colour: t.ink, glyph: '=', word: 'no material difference' };
    case 'inconclusive':
      return { colour: t.undecided, glyph: '?', word: 'inconclusive' };
    case 'no_interval':
      return { colour: t.undecided, glyph: '○', word: 'no interval' };
    case 'void':
      return { colour: t.undecided, glyph: '×', word: 'void' };
  }
}
