// The sentences that explain a cost, with links into the flame graph, and the profiles behind them.

import { list, rerenderOn } from '../charts/figure';
import { allowBreaks, h, plainTable, scrollingTable, type Child } from '../dom';
import { eventText, flameFigure } from '../figures/flame';
import { sandwich } from '../figures/sandwich';
import { formatFixed, formatSignificant } from '../format/number';
import { preventBreaks } from '../format/line_breaks';
import { inUnit, inUnitWithInterval, unitFor } from '../format/unit';
import { choice, choose } from '../state';
import type { AcrossVersions, Estimate, Profiles, ProfileView, Why, WhySentence } from '../summary';

const HOT_ROWS = 25;

export function whySection(profiles: Profiles): HTMLElement {
  return h('div', {}, ...profiles.whys.map(whyArticle), ...profiles.versions.map(versionsTable));
}

function whyArticle(why: Why): HTMLElement {
  return h(
    'article',
    { class: 'why', id: `why-${why.id}` },
    h('h3', {}, `${why.variant} on ${why.scenario}`),
    ...why.sentences.map((sentence) => h('p', {}, ...linkMethods(sentence))),
  );
}

/** The sentence, with a link into the flame graph for each method. */
function linkMethods({ text, view, methods }: WhySentence): Child[] {
  return text.split(/`([^`]+)`/).map((part, i) => {
    if (i % 2 === 0) return preventBreaks(part);
    const method = methods.find((m) => m.short === part);
    const code = h('code', {}, part);
    return method ? h('a', { href: flameLink(view, method.name) }, code) : code;
  });
}

const flameLink = (view: string, name: string) => `#${encodeURIComponent(`flame=${view}&find=${name}`)}`;

export function profilesSection(profiles: Profiles): HTMLElement {
  if (!profiles.views.some((v) => v.id === choice.view)) choose({ view: firstView(profiles).id });
  const shown = () => profiles.views.find((v) => v.id === choice.view) ?? profiles.views[0]!;
  const graph = rerenderOn(['view'], () => [factTable(shown(), profiles.focus), flameFigure(shown())]);
  const around = rerenderOn(['view', 'method'], () => sandwich(shown()));
  const lists = rerenderOn(['view'], () => methodTables(shown()));
  return h('div', {}, profiles.views.length > 1 && viewSelect(profiles), graph, around, lists);
}

/** The profile to show first: the CPU of a compared variant. */
function firstView({ views }: Profiles): ProfileView {
  return views.find((v) => v.baseline && v.event === 'cpu') ?? views[0]!;
}

function viewSelect({ views }: Profiles): HTMLElement {
  const label = (v: ProfileView) =>
    `${eventText(v.event)}: ${v.variant}${v.baseline ? ` against ${v.baseline}` : ''}, ${v.scenario}`;
  const items = views.map((v) => ({ value: v.id, text: label(v) }));
  return h(
    'div',
    { class: 'controls' },
    list('Profile', 'view', items, (view) => choose({ view, zoom: -1 })),
  );
}

const percent = ({ value, lo, hi }: Estimate) => {
  const bounds =
    lo === null || hi === null
      ? ''
      : ` [${formatFixed(Math.max(0, lo) * 100, 1)}, ${formatFixed(Math.min(1, hi) * 100, 1)}]`;
  return `${formatFixed(value * 100, 1)} %${bounds}`;
};

function factTable(view: ProfileView, focus: string): HTMLElement {
  const unit = unitFor(view.unit, [view.per_request?.value]);
  const rows: [string, string | null][] = [
    [
      'Sampled by',
      `${view.sampler}; ${view.forks} start${view.forks === 1 ? '' : 's'}, at ${formatSignificant(view.offered_per_s)} requests/s`,
    ],
    [
      'Not steady when sampled',
      view.steady_forks < view.forks ? `${view.forks - view.steady_forks} of ${view.forks} starts` : null,
    ],
    ['Samples', view.samples === null ? null : `${formatFixed(view.samples, 0)}`],
    [
      'Coverage',
      view.coverage === null
        ? null
        : `${formatSignificant(view.coverage * 100)} % of the CPU time that the kernel counted`,
    ],
    [
      'Stacks that could not be read',
      `${formatSignificant(view.failed_share * 100)} % of the samples; every share includes them`,
    ],
    ['Per request', view.per_request && inUnitWithInterval(view.per_request, unit)],
    ['Baseline, per request', view.baseline_per_request && inUnitWithInterval(view.baseline_per_request, unit)],
    [
      `Methods that match /${focus}/`,
      view.focus_share && `${percent(view.focus_share)} with what they call, ${percent(view.focus_own!)} by themselves`,
    ],
    ['Files', view.files.length ? view.files.map((file) => `profiles/${file}`).join(', ') : null],
  ];
  const kept = rows.filter((row): row is [string, string] => row[1] !== null);
  return plainTable('', ['', ''], kept, { class: 'keys profile-facts' });
}

function methodTables(view: ProfileView): HTMLElement[] {
  const unit = unitFor(view.unit, [view.per_request?.value ? view.per_request.value / 20 : 0]);
  const amount = (value: number | null) => inUnit(value, unit);
  const moved = view.moved.map((f): Child[] => [
    methodButton(f),
    `${f.difference.value < 0 ? '−' : '+'}${amount(Math.abs(f.difference.value))}${f.certain ? '' : ' ?'}`,
    percent(f.share),
    percent(f.baseline_share),
    f.package,
  ]);
  const hot = view.hot
    .slice(0, HOT_ROWS)
    .map((f): Child[] => [
      methodButton(f),
      percent(f.own),
      percent(f.total),
      amount(f.own_per_request),
      f.caller ? `${f.caller} (${formatFixed((f.caller_share ?? 0) * 100, 0)} %)` : '–',
      f.package,
    ]);
  const packages = view.packages
    .slice(0, HOT_ROWS)
    .map((p) => [p.name, `${formatFixed(p.own * 100, 1)} %`, amount(p.own_per_request)]);
  const hotHeads = [
    'Method',
    'By itself',
    'With what it calls',
    'By itself, per request',
    'Mostly called by',
    'Package',
  ];
  const tables = [
    methodTable('Hot methods', hotHeads, hot),
    methodTable('By package', ['Package', 'By itself', 'Per request'], packages),
  ];
  if (!moved.length) return tables;
  const caption = 'Methods that differ from the baseline (“?”: perhaps they do not)';
  const movedHeads = ['Method', 'Difference per request', 'Share', 'In the baseline', 'Package'];
  return [methodTable(caption, movedHeads, moved), ...tables];
}

function methodButton({ short, name }: { short: string; name: string }): HTMLElement {
  const show = () => {
    choose({ method: name });
    document.getElementById('callers')?.scrollIntoView({ block: 'start' });
  };
  const title = `${name}: callers and callees`;
  return h('button', { type: 'button', class: 'method', title, onclick: show }, allowBreaks(short));
}

function methodTable(caption: string, heads: string[], rows: Child[][]): HTMLElement {
  return scrollingTable(caption, heads, rows, 'cells methods');
}

function versionsTable(table: AcrossVersions): HTMLElement {
  const caption = `Share of the ${eventText(table.event)} of ${table.server} on ${table.scenario}, by version`;
  const rows = table.rows.map((row) => [row.short, ...row.shares.map(percent)]);
  return methodTable(caption, ['Method', ...table.versions], rows);
}
