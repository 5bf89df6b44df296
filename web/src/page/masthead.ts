// The top of the page: which run it was, the question, and the headline that answers it.

import { h } from '../dom';
import { durationText, momentText } from '../format/unit';
import { themeSwitch } from '../theme';
import type { Summary } from '../summary';

export function masthead({ run, headline }: Summary): HTMLElement {
  const what = run.mode === 'load' ? 'load' : `run ${run.id} · ${run.suite}`;
  const facts = [what, momentText(run.started_at), durationText(run.duration_s)].join(' · ');
  return h(
    'header',
    { class: 'masthead' },
    h('div', { class: 'brand' }, h('span', {}, h('b', {}, 'tare'), facts), themeSwitch()),
    h('p', { class: 'question', dir: 'auto' }, run.question),
    h('h1', { dir: 'auto', 'data-verdict': headline.verdict }, ...inTwoSizes(unbroken(headline.text))),
  );
}

/** The first statement of a headline is large, and the others below it are smaller: a glance takes in one statement. */
function inTwoSizes(text: string): (string | HTMLElement)[] {
  const [, first, others] = /^(.+?[;.]) (.+)$/s.exec(text) ?? [];
  return first && others ? [`${first} `, h('span', { class: 'others' }, others)] : [text];
}

/** Keeps a number and its per cent sign on one line. */
const unbroken = (text: string): string => text.replace(/(\d) %/g, '$1\u00a0%');
