// Arranges the summary for the charts: panels, look-up tables, and which variants get a colour. It computes no figure.

import { choice, choose, type Choice } from './state';
import type { Cell, Comparison, Currency, Noise, Summary } from './summary';
import type { Details } from './summary/details';
import type { Theme } from './theme';

/** One group of variants under one scenario. A chart shows one panel. */
export interface Panel {
  key: string;
  group: string;
  scenario: string;
  /** `SimpleGet`, or `http4s · SimpleGet` where there are several groups. */
  title: string;
  scenarioTitle: string;
  cells: Cell[];
  comparisons: Comparison[];
  noise: Noise[];
}

/** A currency in which some comparison has a figure. */
export type CurrencyName = Pick<Currency, 'name' | 'label' | 'unit' | 'higher_is_better'>;

export interface Model {
  summary: Summary;
  details: Details;
  panels: Panel[];
  cells: Map<string, Cell>;
  /** Key: the id of the variant's cell. */
  comparisons: Map<string, Comparison>;
  currencies: CurrencyName[];
  sliceKinds: string[];
  scenarios: string[];
  /** Whether there are too many variants for one chart. Then the overview matrix comes first. */
  large: boolean;
}

/** With more variants than this, the overview matrix comes first. */
const LARGE_VARIANTS = 12;
/** With more panels than this, only the one in focus is drawn. */
const MAX_PANELS = 3;
/** The largest number of variants that a group title lists. */
const MAX_VARIANTS_IN_TITLE = 2;
/** The largest number of rows in a chart, unless the reader asks for every row. */
const MAX_ROWS = 30;
/** The names of the kinds of slices, in their order on the page. */
const KIND_TEXT: Record<string, string> = {
  saturating: 'saturating',
  fixed: 'fixed rate',
  push: 'pushed',
  poisson: 'Poisson',
};
const SLICE_ORDER = Object.keys(KIND_TEXT);

const distinct = <T>(values: T[]): T[] => [...new Set(values)];

export function buildModel(summary: Summary, details: Details): Model {
  const panels = new Map<string, Panel>();
  const titles = groupTitles(summary.cells);
  for (const cell of summary.cells) {
    const key = `${cell.group}/${cell.scenario}`;
    let panel = panels.get(key);
    if (!panel) {
      const { group, scenario, scenario_title: scenarioTitle } = cell;
      const title = [titles.get(group), scenario].filter(Boolean).join(' · ');
      panel = { key, group, scenario, title, scenarioTitle, cells: [], comparisons: [], noise: [] };
      panels.set(key, panel);
    }
    panel.cells.push(cell);
  }
  for (const c of summary.comparisons) panels.get(`${c.group}/${c.scenario}`)?.comparisons.push(c);
  for (const n of summary.noise) panels.get(`${n.group}/${n.scenario}`)?.noise.push(n);

  const currencies = new Map<string, CurrencyName>();
  for (const c of summary.comparisons.flatMap((x) => x.currencies))
    if (!currencies.has(c.name)) currencies.set(c.name, { ...c, label: spellOut(c.label) });
  const kinds = distinct(summary.cells.flatMap((c) => c.latency.map((l) => l.slice_kind)));
  return {
    summary,
    details,
    panels: [...panels.values()],
    cells: new Map(summary.cells.map((c) => [c.id, c])),
    comparisons: new Map(summary.comparisons.map((c) => [c.cell, c])),
    currencies: [...currencies.values()],
    sliceKinds: kinds.sort((a, b) => SLICE_ORDER.indexOf(a) - SLICE_ORDER.indexOf(b)),
    scenarios: distinct(summary.cells.map((c) => c.scenario)),
    large: distinct(summary.cells.map((c) => c.variant)).length > LARGE_VARIANTS,
  };
}

/** Writes `CPU/request` as the headline does: `CPU per request`. */
export const spellOut = (label: string): string => label.replace('/request', ' per request');

/** The heading of a panel above its rows. It omits the variants if the title consists of them, because the rows name them. */
export function panelHeading({ title, scenario, comparisons }: Panel): string {
  return comparisons.every((c) => title.includes(c.variant)) ? scenario : title;
}

/** Group → its name in titles. Empty for one group. Groups of one family are named by their variants. */
export function groupTitles(cells: Cell[]): Map<string, string> {
  const groups = distinct(cells.map((c) => c.group));
  if (groups.length < 2) return new Map();
  const names = groups.map((group) => groupName(cells, group));
  const isShared = distinct(names).length < names.length;
  const compared = (group: string) =>
    distinct(cells.filter((c) => c.group === group && !c.baseline && !c.control).map((c) => c.variant));
  const nameOf = (group: string, i: number) => {
    const variants = compared(group);
    return isShared && variants.length && variants.length <= MAX_VARIANTS_IN_TITLE ? variants.join(', ') : names[i]!;
  };
  return new Map(groups.map((group, i) => [group, nameOf(group, i)]));
}

/** The name of a group: the family that its variants share, else its baseline. */
export function groupName(cells: Cell[], group: string): string {
  const groupCells = cells.filter((c) => c.group === group);
  const compared = groupCells.filter((c) => !c.baseline && !c.control);
  const families = distinct((compared.length ? compared : groupCells).map((c) => c.family));
  return (families.length === 1 && families[0]) || groupCells.find((c) => c.baseline)?.variant || group;
}

/** An id for a figure of a panel, fit for a link. Letters of all alphabets tell panels apart. */
export const panelId = (kind: string, { key }: Panel): string => `${kind}-${key.replace(/[^\p{L}\p{N}_.-]+/gu, '-')}`;

/** The cells that charts draw: void ones only of a load. Beside valid ones they would look as if they had been measured. */
export function drawnCells({ summary }: Model, panel: Panel): Cell[] {
  return summary.run.mode === 'load' ? panel.cells : panel.cells.filter((c) => c.validity.state !== 'void');
}

/** A sentence that names the servers which a chart does not draw; empty if it draws all. */
export function leftOutText(model: Model, panel: Panel): string {
  const drawn = drawnCells(model, panel);
  const names = panel.cells.filter((c) => !drawn.includes(c)).map((c) => c.variant);
  return names.length ? `× Void, and not drawn: ${names.join(', ')}.` : '';
}

export function initialChoice(model: Model): Partial<Choice> {
  return {
    panel: model.panels.length > MAX_PANELS ? model.panels[0]!.key : '',
    currency: model.currencies[0]?.name ?? '',
    sliceKind: model.sliceKinds.at(-1) ?? '',
  };
}

/** The panel that was requested last. If several are being unpacked, only this one is shown. */
let lastRequested: string | null = null;

/** Unpacks the chart data of a panel (empty key: of all panels) and then brings it into focus. */
export async function showPanel(model: Model, key: string): Promise<void> {
  lastRequested = key;
  await openPanels(model, key);
  if (lastRequested === key) choose({ panel: key });
}

/** Unpacks the chart data of a panel (empty key: of all panels). */
export async function openPanels({ panels, details }: Model, key: string): Promise<void> {
  const opening = panels.map((p, i) => (!key || p.key === key ? details.open(i, p.cells) : null));
  await Promise.all(opening);
}

export function panelsInFocus(model: Model): Panel[] {
  return choice.panel ? model.panels.filter((p) => p.key === choice.panel) : model.panels;
}

export const kindText = (kind: string): string => KIND_TEXT[kind] ?? kind;

/** All comparisons of the scenario in focus, of all groups, with the largest cost in the chosen currency first. */
export function ranking(model: Model): Panel | undefined {
  const [first] = panelsInFocus(model);
  if (!first) return undefined;
  const ratio = (c: Comparison) => {
    const figure = findCurrency(c.currencies, choice.currency);
    return figure ? Math.log(figure.ratio) * (figure.higher_is_better ? 1 : -1) : Infinity;
  };
  const together = model.panels.filter((p) => p.scenario === first.scenario);
  const comparisons = together.flatMap((p) => p.comparisons).sort((a, b) => ratio(a) - ratio(b));
  return { ...first, title: first.scenario, cells: together.flatMap((p) => p.cells), comparisons };
}

/** The cells that a chart shows: all, or up to the limit the baseline, the highlighted and the first ones. */
export function visibleCells(panel: Panel): Cell[] {
  return limitRows(panel.cells, (c) => c.baseline || choice.highlights.includes(c.variant));
}

export function visibleComparisons(panel: Panel): Comparison[] {
  return limitRows(panel.comparisons, (c) => choice.highlights.includes(c.variant));
}

function limitRows<T>(all: T[], keep: (item: T) => boolean): T[] {
  if (choice.everyRow || all.length <= MAX_ROWS) return all;
  const kept = new Set(all.filter(keep));
  for (const item of all) if (kept.size < MAX_ROWS) kept.add(item);
  return all.filter((item) => kept.has(item));
}

/** A sentence that says how many rows a chart shows; empty if it shows all. */
export function hiddenRowsText(panel: Panel): string {
  const [shown, all] = [visibleCells(panel).length, panel.cells.length];
  return shown < all ? `Shows ${shown} of ${all} servers; “every row” above the charts shows all.` : '';
}

/** Whether some chart omits rows: one of a panel, or the ranking of a large run, which has those of all groups. */
export function hasHiddenRows({ large, panels, scenarios }: Model): boolean {
  const ranked = (scenario: string) => panels.filter((p) => p.scenario === scenario).flatMap((p) => p.comparisons);
  if (large && scenarios.some((scenario) => ranked(scenario).length > MAX_ROWS)) return true;
  return panels.some((p) => p.cells.length > MAX_ROWS);
}

/** The variants of a panel that get a colour: at most `count`, the highlighted first. */
function colouredVariants(panel: Panel, count: number): string[] {
  const names = distinct(panel.cells.filter((c) => !c.baseline && !c.control).map((c) => c.variant));
  if (names.length <= count) return names;
  const first = names.filter((n) => choice.highlights.includes(n)).slice(0, count);
  return [...first, ...names.filter((n) => !first.includes(n))].slice(0, count);
}

/** The colours of a cell's marks and text; null if no colour is left. All baselines have the same neutral colour. */
export function colourOf(cell: Cell, panel: Panel, t: Theme): { mark: string; text: string } | null {
  if (cell.control) return { mark: t.control, text: t.muted };
  if (cell.baseline) return { mark: t.baseline, text: t.muted };
  const index = colouredVariants(panel, t.series.length).indexOf(cell.variant);
  return index < 0 ? null : { mark: t.series[index]!, text: t.seriesInk[index]! };
}

export function findCurrency(currencies: Currency[], name: string): Currency | undefined {
  return currencies.find((c) => c.name === name);
}
