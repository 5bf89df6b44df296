// Shows the definitions of terms on hover and focus. The build takes them from docs/GLOSSARY.md.

import { h } from './dom';
import { preventBreaks } from './format/line_breaks';

declare const __GLOSSARY__: Record<string, string>;

const DEFINITIONS = new Map(Object.entries(__GLOSSARY__).map(([word, text]) => [word.toLowerCase(), text]));
const longestFirst = [...DEFINITIONS.keys()].sort((a, b) => b.length - a.length);
const escapeRegex = (word: string) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
const TERMS = new RegExp(`(?<![\\w-])(${longestFirst.map(escapeRegex).join('|')})(s?)(?![\\w-])`, 'gi');

/** The text; the first occurrence of each term shows its definition on hover and on focus. */
export function explainTerms(words: string): DocumentFragment {
  const text = preventBreaks(words);
  const out = document.createDocumentFragment();
  const seen = new Set<string>();
  let from = 0;
  for (const match of text.matchAll(TERMS)) {
    const word = match[1]!.toLowerCase();
    if (seen.has(word)) continue;
    seen.add(word);
    out.append(text.slice(from, match.index), h('abbr', { title: DEFINITIONS.get(word)!, tabindex: '0' }, match[0]));
    from = match.index + match[0].length;
  }
  out.append(text.slice(from));
  return out;
}
