// Keeps on one line: a number with its unit, a range, a word of a command.

import { copyButton, h } from '../dom';

/** Keeps a number and its unit on one line, and both ends of a range: `15 and 13 %`, `9.5 to 21 %`. */
export const preventBreaks = (text: string): string =>
  text
    .replace(/(\d) (?=(%|ns|µs|ms|s|min|h|B|KB|MB|GB|UTC|requests\/s|messages\/s)(?!\w))/g, '$1\u00a0')
    .replace(/(\d) (and|to) (?=[\d.]+\u00a0%)/g, '$1\u00a0$2\u00a0')
    .replace(/(\d)–(?=\d)/g, '$1\u2060–\u2060');

/** A command in a box, with a button that copies it. */
export const commandBox = (command: string): HTMLElement =>
  h(
    'div',
    { class: 'command' },
    h('pre', { tabindex: '0' }, commandWords(command)),
    copyButton('Copy', () => command),
  );

/** A command that breaks only between words, and not after the hyphens of `--against`. */
export function commandWords(command: string): DocumentFragment {
  const out = document.createDocumentFragment();
  for (const part of command.split(/( +)/)) out.append(part.trim() ? h('span', { class: 'word' }, part) : part);
  return out;
}
