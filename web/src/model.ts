// The summary arranged for drawing: panels (a group under a scenario), look-ups, and which variants get a colour. No figure is computed here.

import { choice, choose } from './state';
import type { Cell, Comparison, Currency, Noise, Summary } from './summary';
import type { Details } from './summary/details';
import type { Theme } from './theme';

/** One group of variants under one scenario: what a chart puts side by side. */
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

/** A currency that some comparison states. */
export type CurrencyName = Pick<Currency, 'name' | 'label' | 'unit' | 'higher_is_better'>;

export interface Model {
  summary: Summary;
  details: Details;
  panels: Panel[];
  cells: Map<string, Cell>;
  /** By the id of the variant's cell. */
  comparisons: Map<string, Comparison>;
  currencies: CurrencyName[];
  sliceKinds: string[];
  variants: string[];
  scenarios: string[];
  /** More variants than a chart can show at once: the overview matrix comes first. */
  large: boolean;
}

/** Beyond this many variants the first chart is the overview matrix. */
const LARGE_VARIANTS = 12;
/** Beyond this many panels only the one in focus is drawn. */
const PANELS_AT_ONCE = 3;
/** A title names no more variants than these. */
const NAMED_AT_ONCE = 2;
/** Rows of a chart unless the reader asks for every row. */
const ROWS_AT_ONCE = 30;
const SLICE_ORDER = ['saturating', 'fixed', 'push', 'poisson'];

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
  const variants = distinct(summary.cells.map((c) => c.variant));
  return {
    summary,
    details,
    panels: [...panels.values()],
    cells: new Map(summary.cells.map((c) => [c.id, c])),
    comparisons: new Map(summary.comparisons.map((c) => [c.cell, c])),
    currencies: [...currencies.values()],
    sliceKinds: kinds.sort((a, b) => SLICE_ORDER.indexOf(a) - SLICE_ORDER.indexOf(b)),
    variants,
    scenarios: distinct(summary.cells.map((c) => c.scenario)),
    large: variants.length > LARGE_VARIANTS,
  };
}

/** `CPU/request` as the headline says it: `CPU per request`. */
export const spellOut = (label: string): string => label.replace('/request', ' per request');

/** The title of a panel above rows that name its variants: one that is made of them would say them twice. */
export function panelHeading({ title, scenario, comparisons }: Panel): string {
  return comparisons.every((c) => title.includes(c.variant)) ? scenario : title;
}

/** What groups are called in titles: nothing where there is one, and of several that compare the same family, the variants. */
export function groupTitles(cells: Cell[]): Map<string, string> {
  const groups = distinct(cells.map((c) => c.group));
  if (groups.length < 2) return new Map();
  const names = groups.map((group) => groupName(cells, group));
  const isShared = distinct(names).length < names.length;
  const compared = (group: string) =>
    distinct(cells.filter((c) => c.group === group && !c.baseline && !c.control).map((c) => c.variant));
  const nameOf = (group: string, i: number) => {
    const variants = compared(group);
    return isShared && variants.length && variants.length <= NAMED_AT_ONCE ? variants.join(', ') : names[i]!;
  };
  return new Map(groups.map((group, i) => [group, nameOf(group, i)]));
}

/** A group goes by the family that its variants share, else by its baseline. */
export function groupName(cells: Cell[], group: string): string {
  const groupCells = cells.filter((c) => c.group === group);
  const compared = groupCells.filter((c) => !c.baseline && !c.control);
  const families = distinct((compared.length ? compared : groupCells).map((c) => c.family));
  return (families.length === 1 && families[0]) || groupCells.find((c) => c.baseline)?.variant || group;
}

/** The cells of a panel that charts draw. Beside others a void server would look as if it had been measured; a load stands alone. */
export function drawnCells({ summary }: Model, panel: Panel): Cell[] {
  return summary.run.mode === 'load' ? panel.cells : panel.cells.filter((c) => c.validity.state !== 'void');
}

/** Which of its servers a chart leaves out; empty where it draws all. */
export function leftOutText(model: Model, panel: Panel): string {
  const drawn = drawnCells(model, panel);
  const names = panel.cells.filter((c) => !drawn.includes(c)).map((c) => c.variant);
  return names.length ? `× Void, and not drawn: ${names.join(', ')}.` : '';
}

/** The choices a run opens with. */
export function initialChoice(model: Model): Partial<typeof choice> {
  return {
    panel: model.panels.length > PANELS_AT_ONCE ? model.panels[0]!.key : null,
    currency: model.currencies[0]?.name ?? '',
    sliceKind: model.sliceKinds.at(-1) ?? '',
  };
}

/** The panel that was asked for last: only it is shown when several are unpacked at a time. */
let lastRequested: string | null = null;

/** Brings a panel into focus (null: all of them), as soon as what its charts show is unpacked. */
export async function showPanel(model: Model, key: string | null): Promise<void> {
  lastRequested = key;
  await openPanels(model, key);
  if (lastRequested === key) choose({ panel: key });
}

/** Unpacks what the charts of a panel show (null: of all panels). */
export async function openPanels({ panels, details }: Model, key: string | null): Promise<void> {
  const opening = panels.map((p, i) => (key === null || p.key === key ? details.open(i, p.cells) : null));
  await Promise.all(opening);
}

/** The panels to draw now. */
export function panelsInFocus(model: Model): Panel[] {
  return choice.panel === null ? model.panels : model.panels.filter((p) => p.key === choice.panel);
}

const KIND_TEXT: Record<string, string> = {
  saturating: 'saturating',
  fixed: 'fixed rate',
  poisson: 'Poisson',
  push: 'pushed',
};

/** A kind of slice as people call it. */
export const kindText = (kind: string): string => KIND_TEXT[kind] ?? kind;

/** Everything compared under the scenario in focus, the dearest first in the currency that is chosen: the ranking of a large run. */
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

/** The rows of a panel's chart: all of them, or the baseline, the highlighted and the first ones. */
export function visibleCells(panel: Panel): Cell[] {
  return limitRows(panel.cells, (c) => c.baseline || choice.highlights.includes(c.variant));
}

export function visibleComparisons(panel: Panel): Comparison[] {
  return limitRows(panel.comparisons, (c) => choice.highlights.includes(c.variant));
}

function limitRows<T>(all: T[], keep: (item: T) => boolean): T[] {
  if (choice.everyRow || all.length <= ROWS_AT_ONCE) return all;
  const kept = new Set(all.filter(keep));
  for (const item of all) if (kept.size < ROWS_AT_ONCE) kept.add(item);
  return all.filter((item) => kept.has(item));
}

/** How many of a panel's rows a chart shows; empty where it shows all. */
export function shownText(panel: Panel): string {
  const [shown, all] = [visibleCells(panel).length, panel.cells.length];
  return shown < all ? `Shows ${shown} of ${all} servers; “every row” above the charts shows all.` : '';
}

/** True where some chart leaves rows out. */
export function hasHiddenRows(model: Model): boolean {
  return model.panels.some((p) => p.cells.length > ROWS_AT_ONCE);
}

/** The variants of a panel that have a colour of their own: at most seven, the highlighted first. */
export function colouredVariants(panel: Panel, count: number): string[] {
  const names = distinct(panel.cells.filter((c) => !c.baseline && !c.control).map((c) => c.variant));
  if (names.length <= count) return names;
  const first = names.filter((n) => choice.highlights.includes(n)).slice(0, count);
  return [...first, ...names.filter((n) => !first.includes(n))].slice(0, count);
}

/** A cell's colour, and the one for its text: baselines always the same neutral; null where no colour is left for it. */
export function colourOf(cell: Cell, panel: Panel, t: Theme): { mark: string; text: string } | null {
  if (cell.control) return { mark: t.control, text: t.muted };
  if (cell.baseline) return { mark: t.baseline, text: t.muted };
  const index = colouredVariants(panel, t.series.length).indexOf(cell.variant);
  return index < 0 ? null : { mark: t.series[index]!, text: t.seriesInk[index]! };
}

/** The figure of a comparison in the currency that is chosen. */
export function findCurrency(currencies: Currency[], name: string): Currency | undefined {
  return currencies.find((c) => c.name === name);
}
