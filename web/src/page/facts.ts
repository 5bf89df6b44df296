// Findings, and how the run was made: plan, environment, versions, command.

import { boxLongText, allowBreaks, splitLongWords, h, LONG_TEXT, plainTable, signedWord } from '../dom';
import { commandBox, commandWords } from '../format/line_breaks';
import { seedText } from '../format/number';
import { percent } from '../figures/overhead';
import type { Finding, Row, Section, Severity, Summary } from '../summary';
import { explainTerms } from '../glossary';
import type { Model } from '../model';

const SEVERITY: Record<Severity, { glyph: string; word: string; rank: number }> = {
  error: { glyph: '×', word: 'error', rank: 0 },
  warning: { glyph: '!', word: 'warning', rank: 1 },
  info: { glyph: 'i', word: 'note', rank: 2 },
};

export function findingsList(model: Model): HTMLElement {
  const { findings } = model.summary;
  if (!findings.length) return h('p', { class: 'nothing' }, 'No findings: nothing gives a reason to doubt this run.');
  const sorted = [...findings].sort((a, b) => SEVERITY[a.severity].rank - SEVERITY[b.severity].rank);
  return h('div', { class: 'findings' }, ...sorted.map((f) => findingArticle(model, f)));
}

function findingArticle(model: Model, f: Finding): HTMLElement {
  const { glyph, word } = SEVERITY[f.severity];
  const cell = f.cell && model.cells.has(f.cell) ? f.cell : null;
  return h(
    'article',
    { 'data-severity': f.severity },
    h('span', { class: 'severity' }, ...signedWord(glyph, word)),
    h(
      'div',
      {},
      h('h3', { dir: 'auto' }, f.title),
      h('p', { dir: 'auto' }, explainTerms(asSentence(f.text))),
      f.remedy && h('p', { dir: 'auto' }, h('b', {}, 'Remedy: '), f.remedy),
      cell && h('p', {}, h('a', { href: `#cell=${encodeURIComponent(cell)}` }, 'Cell ', allowBreaks(cell))),
      f.log && h('pre', { tabindex: '0', 'aria-label': 'Last log lines of the server' }, splitLongWords(f.log)),
    ),
  );
}

/** Adds a full stop, and a capital unless the text begins with a name. */
function asSentence(text: string): string {
  const [first = ''] = text.split(/[ ,]/);
  const capitalised = /^[a-z]+$/.test(first) ? first.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(capitalised) ? capitalised : `${capitalised}.`;
}

/** Whether a text has options such as `-Xmx1g`. They must not break after their hyphens. */
const hasOptions = (text: string): boolean => /(^|\s)-\S/.test(text) && text.length <= LONG_TEXT;

function sectionTable(section: Section): HTMLElement {
  const sources = section.rows.some((r) => r.source);
  const line = (row: Row) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, allowBreaks(row.key)),
      h('td', {}, hasOptions(row.value) ? commandWords(row.value) : boxLongText(row.value)),
      sources ? h('td', { class: 'source', 'data-source': row.source ?? '' }, row.source ?? '') : null,
    );
  return h('table', { class: 'keys' }, h('caption', {}, section.title), h('tbody', {}, ...section.rows.map(line)));
}

/** The resolved versions. Servers with the same versions share a section. */
function versionSections(summary: Summary): Section[] {
  const sets = new Map<string, { variants: string[]; rows: Row[] }>();
  for (const cell of summary.cells) {
    if (!cell.resolved.length) continue;
    const key = JSON.stringify(cell.resolved);
    const set = sets.get(key) ?? { variants: [], rows: cell.resolved };
    if (!set.variants.includes(cell.variant)) set.variants.push(cell.variant);
    sets.set(key, set);
  }
  return [...sets.values()].map((s) => ({ title: s.variants.join(', '), rows: s.rows }));
}

export function howItWasRun({ summary }: Model): HTMLElement {
  const part = (id: string, title: string, content: HTMLElement) =>
    h('section', { id, class: 'part' }, h('h3', {}, title), content);
  const tables = (id: string, title: string, sections: Section[]) =>
    sections.length > 0 && part(id, title, h('div', { class: 'sections' }, ...sections.map(sectionTable)));
  return h(
    'div',
    {},
    h('ul', { class: 'facts' }, ...summary.run.headline.map((fact) => h('li', { dir: 'auto' }, commandWords(fact)))),
    part('again', 'Make it again', reproducePart(summary)),
    tables('plan', 'Plan', summary.plan),
    tables('environment', 'Environment', summary.environment),
    tables('versions', 'Versions resolved', summary.run.mode === 'load' ? [] : versionSections(summary)),
  );
}

/** The command that repeats the run, with seed and revision. */
function reproducePart({ run, plan }: Summary): HTMLElement {
  const planned = plan.flatMap(({ rows }) => rows).find(({ key }) => key === 'seed')?.value;
  // These apply to comparisons, and a load has none.
  const limits = [
    ['region of no material difference', `±${percent(run.region)} %`],
    ['error probability of a comparison', String(run.alpha)],
  ];
  const facts = [
    ['tare', run.tare_version],
    ['git revision', run.git_revision ?? 'none'],
    ['seed', seedText(run.seed, planned, run.command)],
    ...(run.mode === 'load' ? [] : limits),
    ['began', run.started_at],
  ];
  const table = plainTable('Run', [], facts, { class: 'keys' });
  return h('div', {}, commandBox(run.command), h('div', { class: 'sections' }, table));
}
