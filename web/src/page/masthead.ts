// The top of the page: which run it was, the question, and the headline that answers it.

import { h } from '../dom';
import { durationText, momentText } from '../format/unit';
import { preventBreaks } from '../format/line_breaks';
import { themeSwitch } from '../theme';
import type { Summary } from '../summary';

export function masthead({ run, headline, cells }: Summary): HTMLElement {
  const what = run.mode === 'load' ? 'load' : `run ${run.id} · ${run.suite}`;
  const facts = [what, momentText(run.started_at), preventBreaks(durationText(run.duration_s))].join(' · ');
  return h(
    'header',
    { class: 'masthead' },
    h('div', { class: 'brand' }, h('span', {}, h('b', {}, 'tare'), facts), themeSwitch()),
    h('p', { class: 'question', dir: 'auto' }, run.question),
    h('h1', { dir: 'auto' }, ...splitHeadline(preventBreaks(headline.text), new Set(cells.map((c) => c.variant)))),
  );
}

/** Splits a headline: the first statement is large, the others are below it in a smaller size. */
function splitHeadline(text: string, names: Set<string>): (string | HTMLElement)[] {
  const [, first, mark, others] = /^(.+?)([;.]) (.+)$/s.exec(text) ?? [];
  if (!first || !others) return [text];
  // The line break replaces the semicolon, which screen readers and copied text still have.
  const end = mark === ';' ? h('span', { class: 'sr' }, '; ') : `${mark} `;
  // CSS capitalises the second part, except names and percentiles, so that the text is the same as in the terminal.
  const [firstWord = ''] = others.split(/,? /);
  const isName = /^p\d/.test(firstWord) || names.has(firstWord);
  return [h('span', {}, first, end), h('span', { class: isName ? 'others' : 'others sentence' }, others)];
}
