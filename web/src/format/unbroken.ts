// What must stay on one line: a number with its unit, a range, a word of a command.

import { h } from '../dom';

/** Keeps a number and its unit on one line, and both ends of a range. */
export const unbroken = (text: string): string =>
  text
    .replace(/(\d) (?=(%|ns|µs|ms|s|min|h|B|KB|MB|GB|UTC)(?!\w))/g, '$1\u00a0')
    .replace(/(\d)–(?=\d)/g, '$1\u2060–\u2060');

/** A command that breaks between its words only: `--against` stays whole. */
export function commandWords(command: string): DocumentFragment {
  const out = document.createDocumentFragment();
  for (const part of command.split(/( +)/)) out.append(part.trim() ? h('span', { class: 'word' }, part) : part);
  return out;
}
