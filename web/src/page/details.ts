// The charts below the first screen, for the panels in focus.

import { list, rerenderOn, tabs } from '../charts/figure';
import { h } from '../dom';
import { allocationFigure, cpuFigure, cpuSlopes, memoryFigure, throughputFigure } from '../figures/bars';
import { capacityTable, triesFigures } from '../figures/capacity';
import { cpuOverTime } from '../figures/cpu_over_time';
import { latencyFigure, latencyTable, tailWords } from '../figures/latency';
import { heapOverTime, p99OverTime, rssOverTime, throughputOverTime } from '../figures/over_time';
import { jitterFigure, messagesTable } from '../figures/pushes';
import { changeText } from '../format/number';
import { explainTerms } from '../glossary';
import { panelsInFocus, hasHiddenRows, kindText, showPanel, type Model, type Panel } from '../model';
import { choose, type Choice } from '../state';
import { noiseFigure, overheadFigures, percent } from '../figures/overhead';

/** Up to this many panels are shown as tabs, more as a list. */
const TABS = 6;

/** The controls that select the scenario of the charts; null if there is nothing to select. */
export function focusBar(model: Model): HTMLElement | null {
  const parts: HTMLElement[] = [];
  const items = model.panels.map((p) => ({ value: p.key, text: p.title }));
  const onChoose = (key: string) => void showPanel(model, key);
  if (items.length > TABS) parts.push(list('Scenario', 'panel', items, onChoose));
  else if (items.length > 1)
    parts.push(tabs('Scenario', 'panel', [{ value: '', text: 'all scenarios' }, ...items], onChoose));
  if (hasHiddenRows(model)) {
    const box = h('input', { type: 'checkbox', onchange: () => choose({ everyRow: box.checked }) });
    parts.push(h('label', { class: 'check' }, box, ' every row'));
  }
  return parts.length ? h('div', { class: 'focus-bar' }, h('span', {}, 'Charts for'), ...parts) : null;
}

type Draw = (model: Model, panel: Panel) => HTMLElement | null;

/** Figures of every panel in focus, redrawn when one of `keys` changes. */
function panelFigures(model: Model, draws: Draw[], small: boolean, keys: (keyof Choice)[] = ['panel']): HTMLElement {
  const place = rerenderOn(keys, () => {
    const made = panelsInFocus(model).flatMap((panel) => draws.map((draw) => draw(model, panel)));
    const some = made.filter((f): f is HTMLElement => f !== null);
    return some.length ? some : [h('p', { class: 'nothing' }, 'Not measured in this run.')];
  });
  if (small) place.classList.add('small-multiples');
  return place;
}

export const overheadSection = (m: Model) =>
  h(
    'div',
    { class: 'figures' },
    h(
      'p',
      { class: 'note' },
      explainTerms('The large dot is the estimate, the line its interval. A small dot is one start.'),
      ` Grey: the region that does not matter, ±${percent(m.summary.run.region)}\u00a0%. !\u00a0use with care.`,
    ),
    overheadFigures(m),
  );
export const throughputSection = (m: Model) => panelFigures(m, [throughputFigure], true);
export const cpuSection = (m: Model) =>
  h('div', {}, panelFigures(m, [cpuSlopes, cpuFigure], true), panelFigures(m, [cpuOverTime], false));
export const memorySection = (m: Model) =>
  h(
    'div',
    {},
    panelFigures(m, [allocationFigure, memoryFigure], true),
    panelFigures(m, [rssOverTime, heapOverTime], false),
  );
export const timeSection = (m: Model) =>
  h('div', {}, h('div', { class: 'controls' }, scaleTabs()), panelFigures(m, [throughputOverTime, p99OverTime], false));

export const capacitySection = (m: Model) => panelFigures(m, [capacityTable, triesFigures], false);
export const pushSection = (m: Model) => panelFigures(m, [messagesTable, jitterFigure], false);

function scaleTabs(): HTMLElement {
  const scales = [
    { value: 'log' as const, text: 'logarithmic latency' },
    { value: 'linear' as const, text: 'linear' },
  ];
  return tabs('Axis of latencies', 'scale', scales, (scale) => choose({ scale }));
}

export function latencySection(model: Model): HTMLElement {
  const kinds = model.sliceKinds.map((k) => ({ value: k, text: kindText(k) }));
  const clocks = [
    { value: 'response' as const, text: 'response time' },
    { value: 'service' as const, text: 'service time' },
  ];
  const hasClocks = model.sliceKinds.some((kind) => kind !== 'push');
  const controls = kinds.length
    ? h(
        'div',
        { class: 'controls' },
        kinds.length > 1 ? tabs('Load', 'sliceKind', kinds, (sliceKind) => choose({ sliceKind })) : null,
        hasClocks ? tabs('Clock', 'clock', clocks, (clock) => choose({ clock })) : null,
        scaleTabs(),
      )
    : null;
  const keys = ['panel', 'sliceKind', 'clock'] as const;
  return h('div', {}, controls, panelFigures(model, [latencyFigure, tailWords, latencyTable], false, [...keys]));
}

/** With more noise floors only the chart shows them. */
const MAX_FLOORS = 8;
const NOISE_NOTE =
  'The same server was started twice and compared with itself. Differences of this size are noise on this machine.';

/** The noise floor as text, and the chart of the A/A controls. */
export function noiseSection(model: Model): HTMLElement {
  const { noise, run } = model.summary;
  if (!noise.length) {
    const why =
      run.mode === 'sequential'
        ? 'A sequential run has no A/A control: its noise is not known.'
        : 'No A/A control was run, so the noise is not known. --control adds one.';
    return h('p', { class: 'nothing' }, why);
  }
  const floors = noise.filter((n) => n.floor !== null);
  const lines = (floors.length > MAX_FLOORS ? [] : floors).map((n) => {
    const c = n.currencies[0];
    const seen = c ? `, this time ${changeText(c.ratio, c.lo, c.hi)}` : '';
    const floor = percent(Number(n.floor!.toPrecision(2)));
    return h('li', {}, `${n.server} against itself on ${n.scenario}: ±${floor} %${seen}.`);
  });
  return h('div', {}, h('p', {}, NOISE_NOTE), h('ul', { class: 'plain' }, ...lines), noiseFigure(model));
}
