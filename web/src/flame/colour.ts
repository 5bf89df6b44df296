// Colours of a flame graph: the kind of code alone, or how much more one side has than the other. Told apart also by
// those who do not see red and green: blue against orange, and the sign stands in the tooltip.

import type { Theme } from '../theme';

/** Fill and ink of a kind, by the letter that the columns give it. */
export function kindColour(kind: string, t: Theme): string {
  const [native, java, inlined, , other] = t.kinds;
  switch (kind) {
    case 'j':
      return java!;
    case 'i':
      return inlined!;
    case '0':
      return t.series[5]!;
    case 'k':
      return native!;
    case 'c':
      return t.series[2]!;
    default:
      return other!;
  }
}

/** Names of the kinds, for the key. */
export const KINDS: [letter: string, label: string][] = [
  ['j', 'Java'],
  ['i', 'Java, inlined'],
  ['0', 'Java, interpreted'],
  ['n', 'native'],
  ['k', 'kernel'],
  ['c', 'class of the object'],
];

/** From blue (less) over grey to orange (more); `part` is −1 … 1. */
export function differenceColour(part: number, t: Theme): string {
  const towards = part > 0 ? t.worse : t.better;
  return mix(t.grid, towards, Math.sqrt(Math.min(1, Math.abs(part))));
}

/** The ink that is read best on a fill. */
export function inkOn(fill: string): string {
  const [r, g, b] = channels(fill);
  return 0.299 * r! + 0.587 * g! + 0.114 * b! > 140 ? '#15171b' : '#ffffff';
}

/** The colour between two, each #rrggbb. */
export function mix(from: string, to: string, part: number): string {
  const [a, b] = [channels(from), channels(to)];
  return `#${a.map((c, i) => hex(c + (b[i]! - c) * part)).join('')}`;
}

const hex = (value: number) => Math.round(value).toString(16).padStart(2, '0');
const channels = (colour: string) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
