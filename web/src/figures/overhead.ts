// The overhead chart, the first thing to see: each variant as % of its baseline, by scenario, in one currency at a time.

import { figure, tabs, type FigureSpec } from '../charts/figure';
import { forestHeight, forestOption, type Forest, type ForestRow } from '../charts/forest';
import { choice, choose, watch } from '../state';
import { ranking, visibleComparisons, type Model, type Panel } from '../model';
import { LIGHT, type Theme } from '../theme';
import { axisName, headRow, ratioRow } from './rows';

/** Tabs for the currencies of a run. */
export function currencyTabs(model: Model): HTMLElement {
  const items = model.currencies.map((c) => ({ value: c.name, text: c.label }));
  return tabs('Currency', 'currency', items, (currency) => choose({ currency }));
}

export function chosenCurrency(model: Model) {
  return model.currencies.find((c) => c.name === choice.currency) ?? model.currencies[0];
}

/** The overhead chart; a large run shows the scenario in focus, what was weighed in all its groups in order. */
export function overheadFigure(model: Model, id = 'overhead'): HTMLElement {
  const panels = () => (model.large ? [ranking(model)].filter((p) => p !== undefined) : model.panels);
  const rows = (t: Theme) => panels().flatMap((p) => panelRows(model, p, t));
  const label = () => chosenCurrency(model)?.label ?? 'throughput';
  const spec: FigureSpec = {
    id,
    title: () => `${capital(label())} as a share of the baseline`,
    note: () =>
      `100 % is the baseline${model.large ? ', its own for each' : ''}. The band is the region of no material difference (±${percent(model.summary.run.region)} %).`,
    watch: model.large ? ['currency', 'panel', 'highlights', 'everyRow'] : ['currency', 'everyRow'],
    controls: [
      ...(model.currencies.length > 1 ? [currencyTabs(model)] : []),
      ...(model.large ? [scenarioTabs(model)] : []),
    ],
    height: (width) => forestHeight(rows(LIGHT), width),
    draw: (width, t) => forestOption(forestOf(model, rows(t), width), width, t),
    data: () => dataOf(model, panels()),
    alternative: () =>
      rows(LIGHT)
        .filter((r) => r.head === undefined)
        .slice(0, 40)
        .map((r) => `${r.label}: ${r.value}`)
        .join('; '),
    onPick: (cell) => (location.hash = `cell=${encodeURIComponent(cell)}`),
  };
  return figure(spec);
}

/** Which scenario a large run's ranking shows: the one in focus, whichever group it was chosen by. */
function scenarioTabs(model: Model): HTMLElement {
  const panelOf = (scenario: string) => model.panels.find((p) => p.scenario === scenario)!.key;
  const items = model.scenarios.map((scenario) => ({ value: scenario, text: scenario }));
  const field = tabs('Scenario', 'panel', items, (scenario) => choose({ panel: panelOf(scenario) }));
  const mark = () => {
    const scenario = ranking(model)?.title;
    for (const input of field.querySelectorAll('input')) input.checked = input.value === scenario;
  };
  watch(['panel'], mark);
  mark();
  return field;
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const percent = (share: number): string => String(Number((share * 100).toFixed(3)));

export function forestOf(model: Model, rows: ForestRow[], width: number): Forest {
  const c = chosenCurrency(model);
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
  if (baselines.size === 1) return [headRow(`${panel.title} · against ${[...baselines][0]}`), ...rows];
  const hidden = panel.comparisons.length - rows.length;
  const some = hidden ? `, ${rows.length} of ${panel.comparisons.length}` : '';
  return [headRow(`${panel.title} · dearest first${some}`), ...rows];
}

function dataOf(model: Model, panels: Panel[]) {
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
        .filter((x) => x.name === (choice.currency || model.currencies[0]?.name))
        .map((x) => [p.scenario, c.variant, c.baseline, x.label, x.ratio, x.lo, x.hi, x.forks, x.short, x.method]),
    ),
  );
  return { heads, rows };
}
