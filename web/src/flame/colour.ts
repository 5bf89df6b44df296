// Colours of a flame graph: by the kind of code, or by the difference between the sides. A difference goes from blue to orange,
// which readers with red–green blindness can distinguish, and the tooltip has the sign.

import type { Theme } from '../theme';

/** The kinds of frames: letter in the columns, name in the key, and fill. */
export const KINDS: [letter: string, label: string, fill: (t: Theme) => string][] = [
  ['j', 'Java', (t) => t.kinds[1]!],
  ['i', 'Java, inlined', (t) => t.kinds[2]!],
  ['0', 'Java, interpreted', (t) => t.series[5]!],
  ['n', 'native', (t) => t.kinds[4]!],
  ['k', 'kernel', (t) => t.kinds[0]!],
  ['c', 'class of the object', (t) => t.series[2]!],
];
const FILLS = new Map(KINDS.map(([letter, , fill]) => [letter, fill]));

/** The fill of a kind of frame, by its letter. An unknown kind looks like native code. */
export const kindColour = (letter: string, t: Theme): string => (FILLS.get(letter) ?? FILLS.get('n')!)(t);

/** From blue (less) over grey to orange (more); `part` is −1 … 1. */
export function differenceColour(part: number, t: Theme): string {
  const towards = part > 0 ? t.worse : t.better;
  return mix(t.grid, towards, Math.sqrt(Math.min(1, Math.abs(part))));
}

/** Black or white: on any fill one of them has a contrast above 4.5:1. */
const INKS = ['#000000', '#ffffff'] as const;

/** The text colour with the better contrast on a fill. */
export function inkFor(fill: string): string {
  const [dark, light] = INKS;
  return contrast(dark, fill) > contrast(light, fill) ? dark : light;
}

/** The contrast of two colours by WCAG 2.2, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

function luminance(colour: string): number {
  const linear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = channels(colour).map((c) => linear(c / 255));
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

/** The colour between two, each #rrggbb. */
export function mix(from: string, to: string, part: number): string {
  const [a, b] = [channels(from), channels(to)];
  return `#${a.map((c, i) => hex(c + (b[i]! - c) * part)).join('')}`;
}

const hex = (value: number) => Math.round(value).toString(16).padStart(2, '0');
const channels = (colour: string) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
