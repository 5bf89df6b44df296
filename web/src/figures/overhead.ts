// The overhead charts: changes against the baseline. A small run has a chart per measure, a large one a ranking.

import { h } from '../dom';
import { figure, tabs } from '../charts/figure';
import { forestHeight, forestOption, type Forest, type ForestRow } from '../charts/forest';
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
import { LIGHT, type Theme } from '../theme';
import { axisName, headingRow, openCell, ratioRow, rowsInWords } from './rows';

/** Tabs for the currencies of a run. */
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
  const rows = (t: Theme) => panels().flatMap((p) => measureRows(model, p, c.name, t));
  return figure({
    id: `overhead-${c.name}`,
    title: `${capitalise(c.label)} against the baseline`,
    watch: ['everyRow'],
    height: (width) => forestHeight(rows(LIGHT), width),
    draw: (width, t) => forestOption(forestOf(model, rows(t), width, c), width, t),
    data: () => dataOf(panels(), c.name),
    alternative: () => rowsInWords(rows(LIGHT)),
    onPick: openCell,
  });
}

function measureRows(model: Model, panel: Panel, name: string, t: Theme): ForestRow[] {
  const rows = visibleComparisons(panel).map((c) => {
    const row = ratioRow(c.cell, c.variant, c.currencies, t, model.cells.get(c.cell), name);
    return row.ratio === null ? row : { ...row, dots: findCurrency(c.currencies, name)?.fork_ratios ?? [] };
  });
  return rows.length ? [headingRow(panelHeading(panel)), ...rows] : [];
}

/** The chart of the chosen currency. A large run shows the ranking of the scenario in focus. */
export function overheadFigure(model: Model): HTMLElement {
  const panels = () => (model.large ? [ranking(model)].filter((p) => p !== undefined) : model.panels);
  const rows = (t: Theme) => panels().flatMap((p) => panelRows(model, p, t));
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
    height: (width) => forestHeight(rows(LIGHT), width),
    draw: (width, t) => forestOption(forestOf(model, rows(t), width), width, t),
    data: () => dataOf(panels(), chosenCurrency(model)?.name ?? ''),
    alternative: () => rowsInWords(rows(LIGHT)),
    onPick: openCell,
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

export function forestOf(model: Model, rows: ForestRow[], width: number, c = chosenCurrency(model)): Forest {
  return {
    rows,
    region: model.summary.run.region,
    axisName: axisName(c?.label ?? 'throughput', c?.higher_is_better ?? true, width < 600),
  };
}

function panelRows(model: Model, panel: Panel, t: Theme): ForestRow[] {
  const rows = visibleComparisons(panel).map((c) =>
    ratioRow(c.cell, c.variant, c.currencies, t, model.cells.get(c.cell)),
  );
  if (!rows.length) return [];
  const baselines = new Set(panel.comparisons.map((c) => c.baseline));
  if (baselines.size === 1) return [headingRow(`${panel.title} · against ${[...baselines][0]}`), ...rows];
  const hidden = panel.comparisons.length - rows.length;
  const some = hidden ? `, ${rows.length} of ${panel.comparisons.length}` : '';
  return [headingRow(`${panel.title} · largest cost first${some}`), ...rows];
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
