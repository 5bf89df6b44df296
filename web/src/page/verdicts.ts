// The verdict sentences, one per comparison, each with a glyph and a word; counted first where there are very many.

import { h } from '../dom';
import type { Cell, Sentence, Summary, VerdictKind } from '../summary';
import { verdictLook, LIGHT } from '../theme';

const AT_ONCE = 12;
const ORDER: VerdictKind[] = ['worse', 'better', 'no_material_difference', 'inconclusive', 'no_interval', 'void'];

export function verdicts(summary: Summary): HTMLElement {
  const { sentences } = summary;
  const section = h('section', { id: 'verdicts', 'aria-label': 'Verdicts' });
  if (summary.run.mode === 'load') section.append(...summary.cells.map(ofLoad));
  else if (!sentences.length) {
    if (summary.run.mode === 'profiled') return section;
    const searched = capacities(summary);
    if (searched) section.append(searched);
    const why = summary.cells.length
      ? 'Nothing was weighed against a baseline in this run; its figures follow.'
      : 'Nothing was measured in this run.';
    section.append(h('p', { class: 'nothing' }, why));
  } else if (sentences.length <= AT_ONCE) section.append(list(sentences), ...some(capacities(summary)));
  else {
    const all = h('details', {}, h('summary', {}, `All ${sentences.length} verdicts in words`));
    // Hundreds of sentences are made only for those who ask for them.
    all.addEventListener('toggle', () => all.childElementCount === 1 && all.append(list(sentences)), { once: true });
    section.append(counts(sentences), all);
  }
  return section;
}

const STATES: Record<Cell['validity']['state'], { word: string; look: VerdictKind; glyph: string }> = {
  valid: { word: 'VALID', look: 'no_material_difference', glyph: '✓' },
  suspect: { word: 'SUSPECT', look: 'worse', glyph: '!' },
  void: { word: 'VOID', look: 'void', glyph: '✗' },
};

/** May the numbers of a load be used, and why not. */
function ofLoad({ validity }: Cell): HTMLElement {
  const { word, look, glyph } = STATES[validity.state];
  const why = validity.reasons.length ? validity.reasons.map((r) => r.text) : ['Nothing speaks against these numbers.'];
  const one = (reason: string) =>
    h(
      'li',
      { 'data-verdict': look },
      h('span', { class: 'verdict-word' }, h('span', { class: 'glyph', 'aria-hidden': 'true' }, glyph), ` ${word}`),
      h('span', { class: 'verdict-text', dir: 'auto' }, unbroken(reason)),
    );
  return h('ul', { class: 'verdicts' }, ...why.map(one));
}

/** What a search for the largest load found, a sentence for each cell; null where there was none. */
function capacities({ cells }: Summary): HTMLElement | null {
  const found = cells.flatMap((cell) => (cell.capacity ? [cell.capacity.sentence] : []));
  if (!found.length || found.length > AT_ONCE) return null;
  return h('ul', { class: 'plain' }, ...found.map((sentence) => h('li', { dir: 'auto' }, unbroken(sentence))));
}

const some = (element: HTMLElement | null): HTMLElement[] => (element ? [element] : []);

function list(sentences: Sentence[]): HTMLElement {
  return h('ul', { class: 'verdicts' }, ...sentences.map(sentence));
}

function sentence({ text, verdict, comparison }: Sentence): HTMLElement {
  const { glyph, word } = verdictLook(verdict, LIGHT);
  return h(
    'li',
    { 'data-verdict': verdict },
    h('span', { class: 'verdict-word' }, h('span', { class: 'glyph', 'aria-hidden': 'true' }, glyph), ` ${word}`),
    h('a', { class: 'verdict-text', dir: 'auto', href: `#cell=${encodeURIComponent(comparison)}` }, unbroken(text)),
  );
}

/** Keeps a number and its per cent sign on one line. */
const unbroken = (text: string): string => text.replace(/(\d) %/g, '$1\u00a0%');

function counts(sentences: Sentence[]): HTMLElement {
  const items = ORDER.map((verdict) => ({ verdict, n: sentences.filter((s) => s.verdict === verdict).length }));
  return h(
    'ul',
    { class: 'counts' },
    ...items
      .filter((i) => i.n)
      .map(({ verdict, n }) => {
        const { glyph, word } = verdictLook(verdict, LIGHT);
        return h(
          'li',
          { 'data-verdict': verdict },
          h('b', {}, String(n)),
          ' ',
          h('span', { class: 'verdict-word' }, `${glyph} ${word}`),
        );
      }),
  );
}
