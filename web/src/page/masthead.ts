// The top of the page: the question in words, where and when it was asked, and how the run ended.

import { add, h } from '../dom';
import { durationText, momentText } from '../format/unit';
import { themeSwitch } from '../theme';
import type { RunInfo, RunStatus, Summary } from '../summary';

const ENDED: Record<RunStatus, string> = {
  complete: '',
  budget_spent: 'The budget was spent before everything was decided.',
  interrupted: 'The run was interrupted: what was measured until then stands.',
  partial: 'The run broke off: what was measured until then stands.',
};

export function masthead(summary: Summary): HTMLElement {
  const { run } = summary;
  const top = h(
    'div',
    { class: 'brand' },
    h('span', {}, h('b', {}, 'tare'), run.mode === 'load' ? ' load' : ` suite ${run.suite}, run ${run.id}`),
    themeSwitch(),
  );
  const header = h('header', { class: 'masthead' }, top, h('h1', { dir: 'auto' }, run.question), facts(run));
  if (ENDED[run.status]) add(header, h('p', { class: 'ended' }, h('b', {}, '! '), ENDED[run.status]));
  add(header, findingsLine(summary));
  return header;
}

function facts(run: RunInfo): HTMLElement {
  const how = {
    compared: ', in alternating slices',
    sequential: ', one cell after another, one fork each',
    load: '',
    profiled: ', profiled, nothing scored',
  }[run.mode];
  const when = `${momentText(run.started_at)}, ${durationText(run.duration_s)}${how}`;
  return h('ul', { class: 'facts' }, ...[when, ...run.headline].map((fact) => h('li', { dir: 'auto' }, fact)));
}

/** Says before anything else that something is wrong, where it is. */
function findingsLine({ findings }: Summary): HTMLElement | null {
  const count = (s: string) => findings.filter((f) => f.severity === s).length;
  const parts = [
    [count('error'), 'error', 'errors'],
    [count('warning'), 'warning', 'warnings'],
  ] as const;
  const said = parts.filter(([n]) => n).map(([n, one, many]) => `${n} ${n === 1 ? one : many}`);
  if (!said.length) return null;
  return h('p', { class: 'to-findings' }, h('a', { href: '#findings' }, `${said.join(' and ')} among the findings`));
}
