// Findings, and how the run was made: plan, environment, versions, command.

import { appendChildren, boxLongText, allowBreaks, splitLongWords, copyButton, h, LONG_TEXT } from '../dom';
import { commandWords } from '../format/line_breaks';
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
  const mark = h(
    'span',
    { class: 'severity' },
    h('span', { class: 'glyph', 'aria-hidden': 'true' }, glyph),
    ` ${word}`,
  );
  const article = h('article', { 'data-severity': f.severity }, mark);
  const body = h(
    'div',
    {},
    h('h3', { dir: 'auto' }, f.title),
    h('p', { dir: 'auto' }, explainTerms(asSentence(f.text))),
  );
  if (f.remedy) appendChildren(body, h('p', { class: 'remedy', dir: 'auto' }, h('b', {}, 'Remedy: '), f.remedy));
  if (f.cell && model.cells.has(f.cell)) {
    appendChildren(
      body,
      h('p', {}, h('a', { href: `#cell=${encodeURIComponent(f.cell)}` }, 'Cell ', allowBreaks(f.cell))),
    );
  }
  if (f.log)
    appendChildren(
      body,
      h('pre', { tabindex: '0', 'aria-label': 'Last log lines of the server' }, splitLongWords(f.log)),
    );
  article.append(body);
  return article;
}

/** Adds a full stop, and a capital unless the text begins with a name. */
function asSentence(text: string): string {
  const [first = ''] = text.split(/[ ,]/);
  const capitalised = /^[a-z]+$/.test(first) ? first.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(capitalised) ? capitalised : `${capitalised}.`;
}

/** Whether a text has options such as `-Xmx1g`. They must not break after their hyphens. */
const hasOptions = (text: string): boolean => /(^|\s)-\S/.test(text) && text.length <= LONG_TEXT;

/** A small table for each section. */
function sectionTables(sections: Section[]): HTMLElement {
  if (!sections.length) return h('p', { class: 'nothing' }, 'Not recorded.');
  return h('div', { class: 'sections' }, ...sections.map(sectionTable));
}

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

/** Command, facts of the run, plan, environment and versions. */
export function howItWasRun({ summary }: Model): HTMLElement {
  const part = (id: string, title: string, content: HTMLElement) =>
    h('section', { id, class: 'part' }, h('h3', {}, title), content);
  const tables: [string, string, Section[]][] = [
    ['plan', 'Plan', summary.plan],
    ['environment', 'Environment', summary.environment],
    ['versions', 'Versions resolved', summary.run.mode === 'load' ? [] : versionSections(summary)],
  ];
  const shown = tables.filter(([, , sections]) => sections.length);
  return h(
    'div',
    {},
    h('ul', { class: 'facts' }, ...summary.run.headline.map((fact) => h('li', { dir: 'auto' }, commandWords(fact)))),
    part('again', 'Make it again', reproducePart(summary)),
    ...shown.map(([id, title, sections]) => part(id, title, sectionTables(sections))),
  );
}

/** The command that repeats the run, with seed and revision. */
function reproducePart({ run, plan }: Summary): HTMLElement {
  const planned = plan.flatMap(({ rows }) => rows).find(({ key }) => key === 'seed')?.value;
  // These apply to comparisons, and a load has none.
  const limits: Row[] = [
    { key: 'region of no material difference', value: `±${percent(run.region)} %`, source: null },
    { key: 'error probability of a comparison', value: String(run.alpha), source: null },
  ];
  const facts: Row[] = [
    { key: 'tare', value: run.tare_version, source: null },
    { key: 'git revision', value: run.git_revision ?? 'none', source: null },
    { key: 'seed', value: seedText(run.seed, planned, run.command), source: null },
    ...(run.mode === 'load' ? [] : limits),
    { key: 'began', value: run.started_at, source: null },
  ];
  return h(
    'div',
    {},
    h(
      'div',
      { class: 'command' },
      h('pre', { tabindex: '0' }, commandWords(run.command)),
      copyButton('Copy', () => run.command),
    ),
    sectionTables([{ title: 'Run', rows: facts }]),
  );
}
