// The first screen below the headline: whether the figures may be used, the answer table, the next step, how to read it.

import { h, signedWord, type Child } from '../dom';
import { overheadFigure, percent } from '../figures/overhead';
import { isDecided } from '../figures/rows';
import { commandBox } from '../format/line_breaks';
import { explainTerms } from '../glossary';
import type { Model } from '../model';
import type { Comparison, NextStep, RunStatus, Summary, ValidityState } from '../summary';
import { answerTable, MAX_TABLE_ROWS, needsMoreEvidence } from './answer_table';
import { matrixFigure } from './matrix';
import { loadTiles } from './tiles';
import { verdictSentences } from './verdicts';

const VALIDITY_LABELS: Record<ValidityState, { word: string; glyph: string }> = {
  valid: { word: 'VALID', glyph: '✓' },
  suspect: { word: 'USE WITH CARE', glyph: '!' },
  void: { word: 'DO NOT USE', glyph: '×' },
};

const STATUS_TEXT: Record<RunStatus, string> = {
  complete: '',
  budget_spent: 'The budget ended before every comparison was decided.',
  interrupted: 'The run was interrupted. The report shows what was measured before.',
  partial: 'The run broke off. The report shows what was measured before.',
};

/** Whether the comparisons fit into the answer table. Otherwise the page shows a matrix. */
export function fitsAnswerTable(model: Model): boolean {
  return isCompared(model) && model.summary.comparisons.length <= MAX_TABLE_ROWS && !model.large;
}

/** Whether any comparison has a figure. A run that broke off may have none. */
const isCompared = ({ currencies }: Model): boolean => currencies.length > 0;

/** The section with the answer. It can be read without the rest. */
export function answerSection(model: Model): HTMLElement {
  const { summary } = model;
  const parts: Child[] = [trustStrip(summary)];
  if (summary.run.mode === 'load') parts.push(...summary.cells.map(loadTiles));
  const isTable = fitsAnswerTable(model);
  const isMatrix = isCompared(model) && !isTable;
  if (isTable) parts.push(answerTable(model));
  if (isMatrix) parts.push(matrixFigure(model));
  parts.push(afterTable(model, isTable), verdictSentences(summary));
  if (isMatrix) parts.push(overheadFigure(model));
  return h('section', { id: 'answer', 'aria-label': 'Answer' }, ...parts);
}

/** Whether the first measure needs no more starts. */
const isSettled = ({ currencies: [first] }: Comparison): boolean =>
  first !== undefined && (isDecided(first) || first.verdict === 'void');

/** Says whether the figures may be used, and the reasons. */
function trustStrip({ trust, run, comparisons }: Summary): HTMLElement {
  const isAllDecided = run.status === 'budget_spent' && comparisons.every(isSettled);
  const end = isAllDecided ? 'The budget ended before every interval was as narrow as asked.' : STATUS_TEXT[run.status];
  const { word, glyph } = VALIDITY_LABELS[trust.state];
  const reasons =
    trust.reasons.length || trust.state !== 'valid' ? trust.reasons : ['Nothing disturbed the measurement.'];
  const link = `${trust.warnings} warning${trust.warnings === 1 ? '' : 's'} in the findings`;
  return h(
    'div',
    { class: 'trust', 'data-state': trust.state, role: 'note', 'aria-label': 'May these figures be used?' },
    h('b', {}, ...signedWord(glyph, word)),
    h(
      'ul',
      {},
      ...reasons.map((reason) => h('li', { dir: 'auto' }, explainTerms(reason))),
      end && h('li', {}, end),
      trust.warnings > 0 && h('li', {}, h('a', { href: '#findings' }, link)),
    ),
  );
}

function afterTable(model: Model, isTable: boolean): HTMLElement | null {
  const { next } = model.summary;
  if (!next && !isTable) return null;
  return h('div', { class: 'after-answer' }, next && nextStep(next), isTable && howToRead(model));
}

function nextStep({ command, text }: NextStep): HTMLElement {
  return h('div', { class: 'next' }, h('h2', {}, 'Next step'), h('p', {}, text), commandBox(command));
}

function howToRead(model: Model): HTMLElement {
  const { run } = model.summary;
  const sure = percent(1 - run.alpha);
  const [dot, interval] = run.repeats_one_start
    ? ['measurement of one start', 'interval of repeated measurements of the same start']
    : ['start of the server', 'confidence interval'];
  const lines = [
    `● decided, ○ not decided yet. A small dot is one ${dot}.`,
    `The line is the ${sure} % ${interval}, in figures [from, to]. An arrow points to what lies beyond the axis.`,
    `The grey band around the baseline is the region, ±${percent(run.region)}\u00a0%: too small to matter. The ${percent(1 - 2 * run.alpha)}\u00a0% interval of what is the same lies within it. ✗\u00a0worse, ✓\u00a0better, =\u00a0the same, ?\u00a0not decided, !\u00a0use with care.`,
  ];
  if (needsMoreEvidence(model))
    lines.push('All measures are judged together: beside the first one, a clear interval may need more starts.');
  const items = lines.map((line) => h('li', {}, explainTerms(line)));
  return h('div', { class: 'reading' }, h('h2', {}, 'How to read this'), h('ul', {}, ...items));
}
