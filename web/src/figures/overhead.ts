// The ratio charts: changes against the baseline, a chart per measure or one ranking; and the A/A controls.

import { h } from '../dom';
import { figure, tabs } from '../charts/figure';
import { forestSpec, type Forest, type ForestRow } from '../charts/forest';
import { choice, choose } from '../state';
import {
  panelHeading,
  findCurrency,
  ranking,
  showPanel,
  visibleComparisons,
  type CurrencyName,
  type Model,
  type Panel,
} from '../model';
import type { Theme } from '../theme';
import { headingRow, openCell, ratioRow } from './rows';

export function currencyTabs(model: Model): HTMLElement {
  const items = model.currencies.map((c) => ({ value: c.name, text: c.label }));
  return tabs('Measure', 'currency', items, (currency) => choose({ currency }));
}

export function chosenCurrency(model: Model) {
  return model.currencies.find((c) => c.name === choice.currency) ?? model.currencies[0];
}

/** One chart for each measure, with a dot for each start. */
export function overheadFigures(model: Model): HTMLElement {
  return h('div', { class: 'figures small-multiples' }, ...model.currencies.map((c) => measureFigure(model, c)));
}

function measureFigure(model: Model, c: CurrencyName): HTMLElement {
  const panels = () => model.panels.filter((p) => p.comparisons.length);
  const rows = (t: Theme) => panels().flatMap((p) => panelRows(model, p, panelHeading(p), t, c.name));
  return figure({
    id: `overhead-${c.name}`,
    title: `${capitalise(c.label)} against the baseline`,
    watch: ['everyRow'],
    ...forestSpec((t) => forestOf(model, rows(t), c)),
    data: () => dataOf(panels(), c.name),
    onPick: openCell,
  });
}

/** The comparisons of a panel below a heading: in one measure with a dot for each start, else in the chosen currency. */
function panelRows(model: Model, panel: Panel, heading: string, t: Theme, measure?: string): ForestRow[] {
  const rows = visibleComparisons(panel).map((c) => {
    const row = ratioRow(c.cell, c.variant, c.currencies, t, model.cells.get(c.cell), measure);
    const starts = measure && findCurrency(c.currencies, measure)?.fork_ratios;
    return starts && row.ratio !== null ? { ...row, dots: starts } : row;
  });
  return rows.length ? [headingRow(heading), ...rows] : [];
}

/** The chart of the chosen currency. A large run shows the ranking of the scenario in focus. */
export function overheadFigure(model: Model): HTMLElement {
  const panels = () => (model.large ? [ranking(model)].filter((p) => p !== undefined) : model.panels);
  const rows = (t: Theme) => panels().flatMap((p) => panelRows(model, p, rankingHeading(p), t));
  const label = () => chosenCurrency(model)?.label ?? 'throughput';
  return figure({
    id: 'overhead',
    title: () => `${capitalise(label())} against the baseline`,
    note: () =>
      `0 % is the baseline${model.large ? ', its own for each' : ''}. The band is the region of no material difference (±${percent(model.summary.run.region)} %).`,
    watch: model.large ? ['currency', 'panel', 'highlights', 'everyRow'] : ['currency', 'everyRow'],
    controls: [
      ...(model.currencies.length > 1 ? [currencyTabs(model)] : []),
      ...(model.large ? [scenarioTabs(model)] : []),
    ],
    ...forestSpec((t) => forestOf(model, rows(t), chosenCurrency(model))),
    data: () => dataOf(panels(), chosenCurrency(model)?.name ?? ''),
    onPick: openCell,
  });
}

/** The A/A controls: the same server twice, so any difference is noise. Null without one. */
export function noiseFigure(model: Model): HTMLElement | null {
  const noise = model.summary.noise;
  if (!noise.some((n) => n.currencies.length)) return null;
  const groups = new Set(noise.map((n) => n.group)).size;
  const rows = (t: Theme) =>
    noise.map((n) => ratioRow('', groups > 1 ? `${n.server} · ${n.scenario}` : n.scenario, n.currencies, t));
  return figure({
    id: 'noise-chart',
    title: () => `${capitalise(chosenCurrency(model)?.label ?? '')} of the baseline against a second start of itself`,
    watch: ['currency'],
    ...forestSpec((t) => forestOf(model, rows(t), chosenCurrency(model))),
    data: () => ({
      heads: ['scenario', 'server', 'currency', 'ratio', 'lower', 'upper', 'floor'],
      rows: noise.flatMap((n) =>
        n.currencies.map((c) => [n.scenario, n.server, c.label, c.ratio, c.lo, c.hi, n.floor]),
      ),
    }),
  });
}

/** Tabs for the scenario of a ranking, which contains all groups. */
function scenarioTabs(model: Model): HTMLElement {
  const panelOf = (scenario: string) => model.panels.find((p) => p.scenario === scenario)!.key;
  const items = model.scenarios.map((scenario) => ({ value: scenario, text: scenario }));
  const onChoose = (scenario: string) => void showPanel(model, panelOf(scenario));
  return tabs('Scenario', 'panel', items, onChoose, () => ranking(model)?.title);
}

/** Capitalises a text, unless it is a percentile (`p99`). */
export const capitalise = (text: string): string =>
  /^p\d/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
export const percent = (share: number): string => String(Number((share * 100).toFixed(3)));

function forestOf({ summary }: Model, rows: ForestRow[], c: CurrencyName | undefined): Forest {
  const [label, higherIsBetter] = [c?.label ?? 'throughput', c?.higher_is_better ?? true];
  return { rows, region: summary.run.region, label, higherIsBetter };
}

function rankingHeading(panel: Panel): string {
  const baselines = new Set(panel.comparisons.map((c) => c.baseline));
  if (baselines.size === 1) return `${panel.title} · against ${[...baselines][0]}`;
  const [shown, all] = [visibleComparisons(panel).length, panel.comparisons.length];
  return `${panel.title} · largest cost first${shown < all ? `, ${shown} of ${all}` : ''}`;
}

function dataOf(panels: Panel[], currency: string) {
  const heads = [
    'scenario',
    'variant',
    'baseline',
    'currency',
    'ratio',
    'lower',
    'upper',
    'forks',
    'verdict',
    'method',
  ];
  const rows = panels.flatMap((p) =>
    p.comparisons.flatMap((c) =>
      c.currencies
        .filter((x) => x.name === currency)
        .map((x) => [p.scenario, c.variant, c.baseline, x.label, x.ratio, x.lo, x.hi, x.forks, x.short, x.method]),
    ),
  );
  return { heads, rows };
}
