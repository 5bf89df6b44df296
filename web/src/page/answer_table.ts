// The answer table: a row per variant and scenario, a column per measure. A cell has a small forest plot and its text.

import { explainTerms } from '../glossary';
import { axisHalfWidth, miniForest, miniScale } from '../charts/mini_forest';
import { allowBreaks, h, scrollFrame, type Child } from '../dom';
import { capitalise } from '../figures/overhead';
import { isDecided, knownChange } from '../figures/rows';
import { changeText, changeWithInterval, differenceText, isInformative, sidesText } from '../format/number';
import { inUnit, roughlyText, unitFor } from '../format/unit';
import { panelHeading, findCurrency, type CurrencyName, type Model, type Panel } from '../model';
import type { Cell, Comparison, Currency } from '../summary';
import { VERDICTS } from '../theme';
import { reasonsIn } from '../validity';

/** With more comparisons the page shows a matrix instead. */
export const MAX_TABLE_ROWS = 40;
/** If a decision needs longer than this, the table advises a quieter machine instead. */
const MAX_FORECAST_S = 1800;
/** With fewer starts nothing can be decided. */
const MIN_STARTS = 3;

/** A column: a measure, and half the width of the axis of its small forest plots. */
interface Column extends CurrencyName {
  halfWidth: number;
}

export function answerTable(model: Model): HTMLElement {
  const columns = columnsOf(model);
  const baselines = [...new Set(model.summary.comparisons.map((c) => c.baseline))];
  const isOpen = model.summary.comparisons.some((c) => neededText(c, '') !== null);
  const heads = columns.map((c) =>
    h('th', { scope: 'col', role: 'columnheader' }, explainTerms(capitalise(c.label)), columnScale(c)),
  );
  const head = h(
    'tr',
    { role: 'row' },
    h('th', { scope: 'col', role: 'columnheader' }, baselines.length === 1 ? `against ${baselines[0]}` : 'variant'),
    ...heads,
    isOpen && h('th', { scope: 'col', role: 'columnheader' }, 'Still needed'),
  );
  const bodies = model.panels.filter((p) => p.comparisons.length).map((p) => panelRows(model, p, columns, isOpen));
  const table = h(
    'table',
    { class: 'answer', role: 'table' },
    h('caption', { class: 'sr' }, 'Each variant against its baseline, by measure'),
    h('thead', { role: 'rowgroup' }, head),
    ...bodies,
  );
  return scrollFrame('Answer table', table);
}

/** Beside a p99, these have a column only if they are the first. The charts and the notes below show them. */
const BESIDE_P99 = ['latency_p50', 'latency_met_stop'];

function columnsOf(model: Model): Column[] {
  const { currencies, summary } = model;
  const hasTail = currencies.some((c) => c.name === 'latency_p99');
  const shown = currencies.filter((c, i) => i === 0 || !(hasTail && BESIDE_P99.includes(c.name)));
  return shown.map((c) => ({ ...c, halfWidth: axisHalfWidth(ratiosOf(model, c.name), summary.run.region) }));
}

/** The ratios that are drawn: void ones are not. */
const ratiosOf = ({ summary }: Model, name: string): number[] =>
  summary.comparisons
    .flatMap((c) => c.currencies)
    .filter((x) => x.name === name && x.verdict !== 'void')
    .map((x) => x.ratio);

const isLatency = (name: string): boolean => name.startsWith('latency');
const changeWords = (name: string): [string, string] => (isLatency(name) ? ['lower', 'higher'] : ['less', 'more']);

const axisWords = (c: CurrencyName): string => (c.higher_is_better ? 'worse ◀ ▶ better' : 'better ◀ ▶ worse');

/** The heading of the small forest plots in a column: which side is better, and the scale. */
const columnScale = (c: Column): HTMLElement => h('span', { class: 'axis' }, axisWords(c), miniScale(c.halfWidth));

function panelRows(model: Model, panel: Panel, columns: Column[], isOpen: boolean): HTMLElement {
  const head = h(
    'tr',
    { class: 'panel', role: 'row' },
    h(
      'th',
      { scope: 'rowgroup', role: 'rowheader' },
      panelHeading(panel),
      panel.scenarioTitle && h('small', {}, panel.scenarioTitle),
    ),
    ...columns.map((c) =>
      h('td', { role: 'cell', 'data-label': capitalise(c.label) }, baselineLevel(panel, c.name), columnScale(c)),
    ),
    isOpen && h('td', { role: 'cell' }),
  );
  const rows = panel.comparisons.map((c) => comparisonRow(model, c, columns, isOpen));
  return h('tbody', { role: 'rowgroup' }, head, ...rows);
}

function baselineLevel(panel: Panel, name: string): Child {
  const found = panel.comparisons.flatMap((c) => c.currencies).find((c) => c.name === name);
  if (!found) return null;
  const unit = unitFor(found.unit, [found.baseline_value]);
  return h('span', { class: 'level' }, `baseline ${inUnit(found.baseline_value, unit)}`);
}

function comparisonRow(model: Model, c: Comparison, columns: Column[], isOpen: boolean): HTMLElement {
  const cell = model.cells.get(c.cell);
  const name = h('a', { href: `#cell=${encodeURIComponent(c.cell)}` }, allowBreaks(c.variant));
  return h(
    'tr',
    { role: 'row' },
    h('th', { scope: 'row', role: 'rowheader' }, name, h('small', {}, startsText(model, cell, c.odd_forks.length))),
    ...columns.map((column) => measureCell(c, column, model.summary.run.region, cell)),
    isOpen && h('td', { role: 'cell', class: 'needed' }, neededText(c, columns[0]!.label) ?? 'nothing'),
  );
}

/** `5 of 7 starts count`: without the starts that were set aside or that settled in another mode. */
function startsText({ summary }: Model, cell: Cell | undefined, odd: number): string {
  if (!cell) return '';
  const all = cell.forks + cell.forks_set_aside.length;
  const counted = cell.forks - odd;
  const doubt = { valid: '', suspect: ', use with care', void: ', do not use' }[cell.validity.state];
  const starts = `${all} ${summary.run.repeats_one_start ? 'repeat' : 'start'}${all === 1 ? '' : 's'}`;
  return counted < all ? `${counted} of ${starts} count${doubt}` : starts + doubt;
}

function measureCell(c: Comparison, column: Column, region: number, cell?: Cell): HTMLElement {
  const attrs = { role: 'cell', 'data-label': capitalise(column.label) };
  const figure = findCurrency(c.currencies, column.name);
  if (cell?.validity.state === 'void' || figure?.verdict === 'void' || !c.currencies.length)
    return h('td', attrs, h('span', { class: 'words' }, '× void'));
  if (!figure) return h('td', attrs, h('span', { class: 'words' }, 'not measured'));
  const reasons = cell ? reasonsIn(cell, figure.name).map((reason) => reason.text) : [];
  const title = [figure.short, figure.method, figure.reason, ...reasons].filter(Boolean).join(' · ');
  return h(
    'td',
    { ...attrs, title, 'data-verdict': figure.verdict },
    miniForest(figure, isDecided(figure), column.halfWidth, region),
    h(
      'span',
      { class: 'words' },
      h('b', { 'aria-hidden': 'true' }, VERDICTS[figure.verdict].glyph),
      '\u00a0',
      figureText(figure),
      reasons.length > 0 && ' !',
      remark(figure, region, figure === c.currencies[0]),
      figure.name === 'cpu_per_request' && isDifferent(figure) && cpuCost(c),
    ),
  );
}

function figureText(c: Currency): Child {
  switch (c.verdict) {
    case 'worse':
    case 'better':
      return splitInterval('b', differenceText(c.ratio, c.lo, c.hi, changeWords(c.name)));
    case 'no_material_difference':
      return splitInterval('span', `same: ${changeWithInterval(c.ratio, c.lo, c.hi)}`);
    case 'no_interval':
      return `${changeText(c.ratio, null, null)}, one start`;
    default:
      return openText(c);
  }
}

/** Puts the figure and its interval into separate elements, so that neither breaks across lines. */
function splitInterval(tag: 'b' | 'span', text: string): DocumentFragment {
  const [figure, interval] = text.split(' [');
  const out = document.createDocumentFragment();
  out.append(h(tag, {}, figure!));
  if (interval) out.append(' ', h('span', {}, `[${interval}`));
  return out;
}

/** The change of an open question, with its interval if that is narrow enough to be of use. */
function openText(c: Currency): Child {
  if (c.bound) return knownChange(c);
  return splitInterval(
    'span',
    isInformative(c.lo, c.hi) ? changeWithInterval(c.ratio, c.lo, c.hi) : changeText(c.ratio, c.lo, c.hi),
  );
}

/** The remark below a figure: why the question is open, or that the difference may be too small to matter. */
function remark(c: Currency, region: number, isDeciding: boolean): Child {
  const text = remarkText(c, region, isDeciding);
  return text ? h('small', {}, text) : null;
}

function remarkText(c: Currency, region: number, isDeciding: boolean): string {
  if (isDifferent(c)) return !c.material && Math.abs(c.ratio - 1) < region ? 'perhaps too little to matter' : '';
  if (c.verdict !== 'inconclusive') return '';
  if (c.bound) return c.reason ?? '';
  if (isClear(c, region)) return isDeciding ? 'an earlier question is open' : 'too little evidence so far';
  return isInformative(c.lo, c.hi) ? '' : sidesText(c.fork_ratios);
}

/** `0.25 % of a core at 1,000 requests/s`: the added CPU time where a reader can weigh it. */
function cpuCost({ cpu_cost }: Comparison): Child {
  const core = cpu_cost?.text.match(/= (.* requests\/s)/)?.[1];
  return core ? h('small', { title: cpu_cost!.text }, core) : null;
}

const isDifferent = (c: Currency): boolean => c.verdict === 'worse' || c.verdict === 'better';

/** Whether the interval lies on one side of the baseline or in the region. Without a verdict, this needs an explanation. */
const isClear = (c: Currency, region: number): boolean =>
  isInformative(c.lo, c.hi) && (c.lo! > 1 || c.hi! < 1 || (c.lo! > 1 - region && c.hi! < 1 + region));

/** Whether a question is open in spite of a clear interval, because all measures are judged together. */
export const needsMoreEvidence = ({ summary }: Model): boolean =>
  summary.comparisons.some(({ currencies }) =>
    currencies.some((c, i) => i > 0 && c.verdict === 'inconclusive' && isClear(c, summary.run.region)),
  );

/** What the first measure still needs for a decision; null if it is decided or void. */
function neededText({ currencies: [first] }: Comparison, measure: string): string | null {
  if (!first || first.verdict === 'void' || isDecided(first)) return null;
  const { verdict, needed_s, forks } = first;
  if (verdict === 'no_interval' || (needed_s === null && forks < MIN_STARTS)) return 'more starts';
  if (needed_s === null || needed_s > MAX_FORECAST_S) return 'a quieter machine';
  return `about ${roughlyText(needed_s)}, for ${measure}`;
}
