// The overview of a large run: a row per server, a column per scenario. A cell shows a change and links to its comparison.

import { allowBreaks, copyButton, h } from '../dom';
import { toMarkdown } from '../format/export';
import { formatSignedWhole } from '../format/number';
import { groupName, findCurrency, type Model } from '../model';
import { waitForPaint } from '../paint';
import { colourStrength } from '../palette';
import { choice, watch } from '../state';
import type { Cell, Currency, VerdictKind } from '../summary';
import { capitalise, chosenCurrency, currencyTabs } from '../figures/overhead';
import { knownChange } from '../figures/rows';
import { saveMenu, tableDrawing } from '../charts/save';
import { VERDICTS } from '../theme';

/** Rows of the first paint. The others follow after it. */
const FIRST_PAINT_ROWS = 24;

/** What a cell shows: its verdict, or null if the chosen currency was not measured. */
type Shown = VerdictKind | null;

const lookOf = (shown: Shown) => (shown ? VERDICTS[shown] : { glyph: '', word: 'not measured' });

/** A table with more rows scrolls in its frame, so that the next step stays close. */
const MAX_ROWS_WITHOUT_SCROLLING = 40;

const titleOf = (model: Model): string =>
  `${capitalise(chosenCurrency(model)?.label ?? 'throughput')} of every variant against its baseline, by scenario`;

interface MatrixRow {
  variant: string;
  family: string;
  byScenario: Map<string, Cell>;
}

function rowsOf(model: Model): MatrixRow[] {
  const rows = new Map<string, MatrixRow>();
  const families = new Map(model.panels.map((p) => [p.group, groupName(model.summary.cells, p.group)]));
  for (const cell of model.summary.cells) {
    if (cell.control) continue;
    const key = `${cell.group}/${cell.variant}`;
    const row = rows.get(key) ?? {
      variant: cell.variant,
      family: families.get(cell.group) ?? cell.family,
      byScenario: new Map(),
    };
    row.byScenario.set(cell.scenario, cell);
    rows.set(key, row);
  }
  const sections = new Set([...rows.values()].map((row) => row.family));
  return [...sections].flatMap((family) => [...rows.values()].filter((row) => row.family === family));
}

export function matrixFigure(model: Model): HTMLElement {
  const rows = rowsOf(model);
  const body = h('tbody', {});
  const fill = (count = rows.length) => body.replaceChildren(...bodyRows(model, rows.slice(0, count)));
  const title = h('h2', {}, titleOf(model));
  const countList = h('ul', { class: 'counts' }, ...verdictCounts(model));
  watch(['currency'], () => {
    fill();
    countList.replaceChildren(...verdictCounts(model));
    title.textContent = titleOf(model);
  });
  fill(FIRST_PAINT_ROWS);
  if (rows.length > FIRST_PAINT_ROWS) void waitForPaint().then(() => fill());
  const heads = model.scenarios.map((s) =>
    h('th', { scope: 'col' }, allowBreaks(s.replace(/(?<=[a-z])(?=[A-Z])/g, '\u200b'))),
  );
  const table = h(
    'table',
    { class: 'matrix' },
    h('caption', { class: 'sr' }, 'Change of each variant against its baseline in per cent, by scenario'),
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'variant'), ...heads)),
    body,
  );
  const data = () => matrixAsText(model, rows);
  const frame = rows.length > MAX_ROWS_WITHOUT_SCROLLING ? 'scroll tall' : 'scroll';
  return h(
    'figure',
    { id: 'matrix', class: 'figure' },
    h(
      'figcaption',
      {},
      title,
      h(
        'p',
        { class: 'note' },
        'Change against the baseline in %. ✗ worse, ✓ better, = no material difference, grey: not decided.',
        h('span', { class: 'hint' }, ' A number opens its comparison.'),
      ),
    ),
    model.currencies.length > 1 ? h('div', { class: 'controls' }, currencyTabs(model)) : null,
    countList,
    h('div', { class: frame, tabindex: '0', role: 'region', 'aria-label': 'Overview matrix' }, table),
    saveMenu(
      { id: 'matrix', title: () => titleOf(model), drawing: () => tableDrawing(table), data },
      copyButton('Markdown', () => toMarkdown(data().heads, data().rows)),
    ),
  );
}

function verdictCounts(model: Model): HTMLElement[] {
  const verdicts = [...model.comparisons.keys()].map((id) => resultOf(model, model.cells.get(id)!).verdict);
  const order = [...(Object.keys(VERDICTS) as VerdictKind[]), null];
  return order.flatMap((verdict) => {
    const n = verdicts.filter((v) => v === verdict).length;
    const { glyph, word } = lookOf(verdict);
    const words = h('span', { class: 'verdict-word' }, `${glyph} ${word}`.trim());
    return n ? [h('li', { 'data-verdict': verdict }, h('b', {}, String(n)), ' ', words)] : [];
  });
}

/** The rows; with several families, each family has a heading that names its baselines. */
function bodyRows(model: Model, all: MatrixRow[]): HTMLElement[] {
  const families = new Set(all.map((r) => r.family)).size;
  const colour = colourScale(model);
  const isBaseline = (row: MatrixRow) => families > 1 && [...row.byScenario.values()].every((cell) => cell.baseline);
  const rows = all.filter((row) => !isBaseline(row));
  let family: string | null = null;
  return rows.flatMap((row) => {
    const cells = model.scenarios.map((s) => matrixCell(model, row.byScenario.get(s), colour));
    const line = h('tr', {}, h('th', { scope: 'row' }, allowBreaks(row.variant)), ...cells);
    if (row.family === family || families < 2) return [line];
    family = row.family;
    const baselines = all.filter((r) => r.family === family && isBaseline(r)).map((r) => r.variant);
    const against = baselines.length ? h('small', {}, ` against ${[...new Set(baselines)].join(', ')}`) : null;
    const head = h(
      'tr',
      { class: 'family' },
      h('th', { scope: 'rowgroup', colspan: model.scenarios.length + 1 }, row.family, against),
    );
    return [head, line];
  });
}

/** What a cell shows in the chosen currency. A void one has no figure. */
function resultOf(model: Model, cell: Cell): { verdict: Shown; figure?: Currency } {
  const currencies = model.comparisons.get(cell.id)?.currencies ?? [];
  const figure = findCurrency(currencies, choice.currency);
  const isVoid = cell.validity.state === 'void' || !currencies.length || figure?.verdict === 'void';
  if (isVoid) return { verdict: 'void' };
  return figure ? { verdict: figure.verdict, figure } : { verdict: null };
}

/** The colour strength of a ratio, in the chosen currency. Void ones have no colour. */
function colourScale({ summary }: Model): (ratio: number) => number {
  const shown = summary.comparisons.flatMap((c) => findCurrency(c.currencies, choice.currency) ?? []);
  return colourStrength(shown.filter((c) => c.verdict !== 'void').map((c) => c.ratio));
}

function matrixCell(model: Model, cell: Cell | undefined, colour: (ratio: number) => number): HTMLElement {
  if (!cell) return h('td', { class: 'absent' }, '·');
  if (cell.baseline) return h('td', { class: 'baseline' }, 'baseline');
  const { verdict, figure } = resultOf(model, cell);
  const { glyph, word } = lookOf(verdict);
  const none = verdict === 'void' ? 'void' : '–';
  const text = figure ? (figure.bound ? '?' : formatSignedWhole((figure.ratio - 1) * 100)) : none;
  const strength = figure ? colour(figure.ratio) : 0;
  const what = figure ? `${figure.short}; ${knownChange(figure)}` : word;
  const link = h(
    'a',
    { href: `#open=${encodeURIComponent(cell.id)}`, title: `${cell.variant}, ${cell.scenario}: ${what}` },
    text,
    h('span', { class: 'glyph', 'aria-hidden': 'true' }, ` ${glyph}`),
    h('span', { class: 'sr' }, ` ${word}`),
  );
  const style = `--strength: ${Math.round(12 + strength * 58)}%`;
  return h('td', { class: verdict ? null : 'absent', 'data-verdict': verdict, style }, link);
}

function matrixAsText(model: Model, rows: MatrixRow[]): { heads: string[]; rows: string[][] } {
  const value = (cell: Cell | undefined) => {
    if (!cell) return '';
    if (cell.baseline) return 'baseline';
    const { verdict, figure } = resultOf(model, cell);
    return figure ? knownChange(figure) : lookOf(verdict).word;
  };
  return {
    heads: ['variant', ...model.scenarios],
    rows: rows.map((r) => [r.variant, ...model.scenarios.map((s) => value(r.byScenario.get(s)))]),
  };
}
