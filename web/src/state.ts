// What the reader has chosen to look at; charts watch it and draw themselves again.

/** A side of a profile alone, or what one has more than the other, as wide as the one that it names. */
export type Side = 'variant' | 'baseline' | 'more' | 'less';

/** The reader's choices. */
export interface Choice {
  /** Key of the panel (group and scenario) in focus, or null for all of them. */
  panel: string | null;
  /** Currency of the ratio charts. */
  currency: string;
  /** Kind of slice for latency. */
  sliceKind: string;
  /** Latency from the intended start, or from the actual send. */
  clock: 'response' | 'service';
  /** Axis of latencies. */
  scale: 'log' | 'linear';
  /** The part of a panel's time axis that fills its charts, in seconds; null for all of it. */
  window: { panel: string; part: [number, number] } | null;
  /** Variants singled out where there are too many to colour. */
  highlights: string[];
  /** Id of the profile that is shown. */
  view: string;
  /** What is looked for in the flame graph: part of a name, or /a regular expression/. */
  find: string;
  /** The method whose callers and callees are shown, by its full name; none if empty. */
  method: string;
  /** Which side of a profile is drawn; of a difference, whose widths. */
  side: Side;
  /** Root above instead of below. */
  icicle: boolean;
  /** The node of the flame graph that fills its width. */
  zoom: number;
  /** Draw every row, also where there are very many. */
  everyRow: boolean;
}

export const choice: Choice = {
  panel: null,
  currency: '',
  sliceKind: '',
  clock: 'response',
  scale: 'log',
  window: null,
  highlights: [],
  view: '',
  find: '',
  method: '',
  side: 'variant',
  icicle: false,
  zoom: -1,
  everyRow: false,
};

const watchers = new Set<(changed: (keyof Choice)[]) => void>();

/** Changes some choices and tells the watchers which. */
export function choose(change: Partial<Choice>): void {
  const changed = (Object.keys(change) as (keyof Choice)[]).filter((key) => choice[key] !== change[key]);
  if (!changed.length) return;
  Object.assign(choice, change);
  for (const watcher of watchers) watcher(changed);
}

/** Calls back after a change of any of these choices. */
export function watch(keys: (keyof Choice)[], callback: () => void): void {
  watchers.add((changed) => {
    if (changed.some((key) => keys.includes(key))) callback();
  });
}
