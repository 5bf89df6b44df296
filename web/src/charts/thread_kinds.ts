// Kinds of threads: every chart has them in the same order and the same colours.

import type { Theme } from '../theme';

const ORDER = ['application', 'gc', 'jit', 'vm'];

/** Each kind once, the usual ones first. */
export function threadKinds(kinds: string[]): string[] {
  const place = (kind: string) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
  return [...new Set(kinds)].sort((a, b) => place(a) - place(b));
}

/** The colour of a kind; all unusual ones share the last. */
export function threadColour(kind: string, t: Theme): string {
  return (ORDER.includes(kind) ? t.kinds[ORDER.indexOf(kind)] : t.kinds.at(-1))!;
}
