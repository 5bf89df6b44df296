// Order and colours of the kinds of thread, the same in every chart.

import type { Theme } from '../theme';

const ORDER = ['application', 'gc', 'jit', 'vm'];

/** The distinct kinds, the known ones first. */
export function threadKinds(kinds: string[]): string[] {
  const place = (kind: string) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
  return [...new Set(kinds)].sort((a, b) => place(a) - place(b));
}

/** The colour of a kind. All unknown kinds share one. */
export function threadColour(kind: string, t: Theme): string {
  return (ORDER.includes(kind) ? t.kinds[ORDER.indexOf(kind)] : t.kinds.at(-1))!;
}
