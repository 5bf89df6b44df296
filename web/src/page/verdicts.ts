// The text below the answer: a sentence per comparison, and the results of searches for the largest load.

import { h, signedWord } from '../dom';
import { preventBreaks } from '../format/line_breaks';
import type { Sentence, Summary } from '../summary';
import { VERDICTS } from '../theme';

const MAX_CAPACITY_SENTENCES = 12;

export function verdictSentences(summary: Summary): HTMLElement {
  const { sentences } = summary;
  const all = h('details', {}, h('summary', {}, `Each of the ${sentences.length} comparisons in words`));
  // There can be hundreds of sentences, so they are created only on demand.
  const fill = () => all.append(h('ul', { class: 'verdicts' }, ...sentences.map(sentenceItem)));
  all.addEventListener('toggle', fill, { once: true });
  // With one comparison the headline is its sentence.
  return h('div', { id: 'verdicts' }, capacitySentences(summary), sentences.length > 1 && all);
}

/** The results of searches for the largest load, a sentence per cell; null without one, or with too many. */
function capacitySentences({ cells }: Summary): HTMLElement | null {
  const found = cells.flatMap((cell) => (cell.capacity ? [cell.capacity.sentence] : []));
  if (!found.length || found.length > MAX_CAPACITY_SENTENCES) return null;
  return h('ul', { class: 'plain' }, ...found.map((sentence) => h('li', { dir: 'auto' }, preventBreaks(sentence))));
}

function sentenceItem({ text, verdict, comparison }: Sentence): HTMLElement {
  const { glyph, word } = VERDICTS[verdict];
  return h(
    'li',
    { 'data-verdict': verdict },
    h('span', { class: 'verdict-word' }, ...signedWord(glyph, word)),
    h(
      'a',
      { class: 'verdict-text', dir: 'auto', href: `#cell=${encodeURIComponent(comparison)}` },
      preventBreaks(text),
    ),
  );
}
