// The reader's choices. Charts watch them and redraw.

/** What a flame graph shows: one side, or the difference with the widths of the variant (`more`) or of the baseline (`less`). */
export type Side = 'variant' | 'baseline' | 'more' | 'less';

/** The reader's choices, as they are when the page opens. */
export const choice = {
  /** Key of the panel (group and scenario) in focus; all of them if empty. */
  panel: '',
  currency: '',
  /** Kind of slice for latency. */
  sliceKind: '',
  /** Latency from the intended start, or from the actual send. */
  clock: 'response' as 'response' | 'service',
  scale: 'log' as 'log' | 'linear',
  /** The part of a panel's time axis that fills its charts, in seconds; null for all of it. */
  window: null as { panel: string; part: [number, number] } | null,
  /** Variants that get a colour first, if there are too many to colour. */
  highlights: [] as string[],
  view: '',
  /** The search text of the flame graph: part of a name, or /a regular expression/. */
  find: '',
  /** Full name of the method whose callers and callees are shown; none if empty. */
  method: '',
  side: 'variant' as Side,
  /** Whether the root is at the top. */
  icicle: false,
  /** The node that fills the width of the flame graph; -1 for the whole graph. */
  zoom: -1,
  /** Whether charts show all rows, however many. */
  everyRow: false,
};

export type Choice = typeof choice;

const watchers = new Set<(changed: (keyof Choice)[]) => void>();

export function choose(change: Partial<Choice>): void {
  const changed = (Object.keys(change) as (keyof Choice)[]).filter((key) => choice[key] !== change[key]);
  if (!changed.length) return;
  Object.assign(choice, change);
  for (const watcher of watchers) watcher(changed);
}

/** Calls `callback` after a change of any of these choices, until the function that it returns is called. */
export function watch(keys: (keyof Choice)[], callback: () => void): () => void {
  const watcher = (changed: (keyof Choice)[]) => {
    if (changed.some((key) => keys.includes(key))) callback();
  };
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}
