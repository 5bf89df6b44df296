// What stands below the answer: each comparison in words, and what a search for the largest load found.

import { h } from '../dom';
import { preventBreaks } from '../format/line_breaks';
import type { Sentence, Summary } from '../summary';
import { verdictLook, LIGHT } from '../theme';

const MAX_CAPACITY_SENTENCES = 12;

export function verdictSentences(summary: Summary): HTMLElement {
  const { sentences } = summary;
  const section = h('div', { id: 'verdicts' });
  const capacityList = capacitySentences(summary);
  if (capacityList) section.append(capacityList);
  // The headline of one comparison is its sentence.
  if (sentences.length < 2) return section;
  const all = h('details', {}, h('summary', {}, `Each of the ${sentences.length} comparisons in words`));
  // Hundreds of sentences are made only for those who ask for them.
  all.addEventListener('toggle', () => all.childElementCount === 1 && all.append(sentenceList(sentences)), {
    once: true,
  });
  section.append(all);
  return section;
}

/** What a search for the largest load found, a sentence for each cell; null where there was none. */
function capacitySentences({ cells }: Summary): HTMLElement | null {
  const found = cells.flatMap((cell) => (cell.capacity ? [cell.capacity.sentence] : []));
  if (!found.length || found.length > MAX_CAPACITY_SENTENCES) return null;
  return h('ul', { class: 'plain' }, ...found.map((sentence) => h('li', { dir: 'auto' }, preventBreaks(sentence))));
}

function sentenceList(sentences: Sentence[]): HTMLElement {
  return h('ul', { class: 'verdicts' }, ...sentences.map(sentenceItem));
}

function sentenceItem({ text, verdict, comparison }: Sentence): HTMLElement {
  const { glyph, word } = verdictLook(verdict, LIGHT);
  return h(
    'li',
    { 'data-verdict': verdict },
    h('span', { class: 'verdict-word' }, h('span', { class: 'glyph', 'aria-hidden': 'true' }, glyph), ` ${word}`),
    h(
      'a',
      { class: 'verdict-text', dir: 'auto', href: `#cell=${encodeURIComponent(comparison)}` },
      preventBreaks(text),
    ),
  );
}
