// The flame graph of a profile: side, marks, zoom, texts and data.

import { figure, list, type FigureSpec, type KeyItem } from '../charts/figure';
import { flameHeight, flameOption, MIN_BOX_PX, type Flame } from '../charts/flame';
import { h } from '../dom';
import { differenceColour, KINDS, kindColour } from '../flame/colour';
import { layOutBoxes, matchNames, shareOf, buildTree, WHOLE, type Box, type Tree } from '../flame/tree';
import { changeText, formatSignificant } from '../format/number';
import { inUnit, unitFor } from '../format/unit';
import { choice, choose, watch, type Side } from '../state';
import type { ProfileView } from '../summary';
import type { Theme } from '../theme';

const percent = (share: number) => formatSignificant(share * 100);

const trees = new WeakMap<ProfileView, Tree>();

export function cachedTree(view: ProfileView): Tree {
  let tree = trees.get(view);
  if (!tree) trees.set(view, (tree = buildTree(view.flame)));
  return tree;
}

/** The short name: class and method, without packages. */
export function shortName(name: string): string {
  const at = name.search(/(?<=\.)[A-Z$_]/);
  return at > 0 ? name.slice(at) : name;
}

/** The side to draw. A profile without a baseline has only one. */
function sideOf(view: ProfileView): Side {
  return view.flame.base.length ? choice.side : 'variant';
}

const isDifference = (side: Side) => side === 'more' || side === 'less';
const widthsOf = (view: ProfileView, side: Side) =>
  side === 'baseline' || side === 'less' ? view.flame.base : view.flame.value;

/** The cost of a node on both sides: per request if that is known, else as a share. */
function nodeCosts(view: ProfileView, node: number): { own: number; base: number } {
  const known = view.per_request && view.baseline_per_request;
  const scale = (estimate: { value: number } | null) => (known ? estimate!.value : 1) / WHOLE;
  return {
    own: view.flame.value[node]! * scale(view.per_request),
    base: (view.flame.base[node] ?? 0) * scale(view.baseline_per_request),
  };
}

/** The largest difference of any node below the first two levels, which hold the whole difference. */
export function largestDifference(view: ProfileView): number {
  let max = 0;
  for (let i = 0; i < view.flame.frame.length; i++) {
    if (view.flame.depth[i]! < 2) continue;
    const { own, base } = nodeCosts(view, i);
    max = Math.max(max, Math.abs(own - base));
  }
  return max || 1;
}

/** How a flame graph is drawn: the node that fills the width (-1 for the whole graph), and whether the root is above. */
interface Drawn {
  zoom: number;
  icicle: boolean;
  /** The largest difference, which has the full colour. */
  scale: number;
}

export function flameSpec(
  view: ProfileView,
  tree: Tree,
  drawn: () => Drawn,
): Pick<FigureSpec, 'height' | 'draw' | 'key'> {
  const boxesOf = (width: number, zoom: number) =>
    layOutBoxes(tree, widthsOf(view, sideOf(view)), zoom, width, MIN_BOX_PX);
  /** The rows that the graph needs with and without zoom, so that zooming does not move the page. */
  const rowsOf = (width: number) =>
    [...boxesOf(width, -1), ...boxesOf(width, drawn().zoom)].reduce((max, box) => Math.max(max, box.row), 0) + 1;
  const name = (node: number) => view.flame.names[view.flame.frame[node]!]!;
  return {
    height: (width) => flameHeight(rowsOf(width)),
    draw: (width, t) => {
      const { zoom, icicle, scale } = drawn();
      const found = matchNames(view.flame, choice.find);
      const flame: Flame = {
        boxes: boxesOf(width, zoom),
        rows: rowsOf(width),
        icicle,
        name: (node) => shortName(name(node)),
        colour: (box) => boxColour(view, box, sideOf(view), scale, t),
        marked: (node) => found[view.flame.frame[node]!] === 1,
        tip: (node) => tipOf(view, node, name(node)),
      };
      return flameOption(flame, t);
    },
    key: (t) => keyOf(view, t),
  };
}

export function flameFigure(view: ProfileView): HTMLElement {
  const tree = cachedTree(view);
  const scale = largestDifference(view);
  return figure({
    id: 'flame',
    title: () => title(view),
    note: () => note(view, tree),
    hint: () =>
      choice.find.trim()
        ? 'Enter zooms to the widest frame found.'
        : 'Click a frame to zoom in; click it again to zoom out.',
    watch: ['find', 'side', 'icicle', 'zoom'],
    ...flameSpec(view, tree, () => ({ zoom: choice.zoom, icicle: choice.icicle, scale })),
    data: () => ({
      heads: ['method', 'share %', 'by itself %', 'mostly called by'],
      rows: view.hot.map((f) => [f.name, percent(f.total.value), percent(f.own.value), f.caller]),
    }),
    alternative: () => alternative(view),
    onPick: (node) => choose({ zoom: Number(node) === choice.zoom ? -1 : Number(node) }),
    controls: controls(view),
    alwaysKey: true,
  });
}

function boxColour(view: ProfileView, box: Box, side: Side, scale: number, t: Theme): string {
  if (!isDifference(side)) return kindColour(view.flame.kinds[view.flame.frame[box.node]!]!, t);
  const { own, base } = nodeCosts(view, box.node);
  return differenceColour((own - base) / scale, t);
}

const EVENTS: Record<string, string> = { cpu: 'CPU', alloc: 'allocation', wall: 'time', lock: 'waiting for locks' };

export const eventText = (event: string): string => EVENTS[event] ?? event;

function title(view: ProfileView): string {
  const side = sideOf(view);
  const what = eventText(view.event);
  if (!isDifference(side)) return `Where the ${what} of ${side === 'baseline' ? view.baseline : view.variant} goes`;
  return `What ${view.variant} has more (orange) and less (blue) than ${view.baseline}: ${what}`;
}

function note(view: ProfileView, tree: Tree): string {
  const side = sideOf(view);
  const widths = isDifference(side)
    ? `Widths are those of ${side === 'less' ? view.baseline : view.variant}; the colour is the difference${view.per_request ? ' per request' : ''}.`
    : '';
  if (!choice.find.trim()) return widths;
  const share = shareOf(tree, widthsOf(view, side), matchNames(view.flame, choice.find));
  return `${widths} Marked: ${percent(share)} % is in the frames found and what they call.`.trim();
}

function alternative(view: ProfileView): string {
  const top = view.hot.slice(0, 3).map((f) => `${f.short} ${percent(f.own.value)} %`);
  return `A flame graph; a frame is as wide as its share. By themselves, most have ${top.join(', ')}.`;
}

function tipOf(view: ProfileView, node: number, name: string): [string, string][] {
  const unit = unitFor(view.unit, [view.per_request?.value ?? 0]);
  const shareOfWhole = (value: number) => `${percent(value / WHOLE)} %`;
  const lines: [string, string][] = [
    ['', name],
    [view.baseline ? view.variant : 'share', shareOfWhole(view.flame.value[node]!)],
  ];
  const { own, base } = nodeCosts(view, node);
  const amount = (value: number) => inUnit(value, unit);
  if (view.flame.base.length) lines.push([view.baseline!, shareOfWhole(view.flame.base[node]!)]);
  if (view.per_request) lines.push(['per request', amount(own)]);
  if (view.per_request && view.baseline_per_request && view.flame.base.length) {
    const more = own - base;
    const ratio = base > 0 ? ` (${changeText(own / base, null, null)})` : '';
    lines.push(['difference', `${more > 0 ? '+' : '−'}${amount(Math.abs(more))}${ratio}`]);
  }
  return lines;
}

function keyOf(view: ProfileView, t: Theme): KeyItem[] {
  if (isDifference(sideOf(view)))
    return [
      { label: `more than ${view.baseline}`, colour: t.worse },
      { label: 'no difference', colour: t.grid },
      { label: `less than ${view.baseline}`, colour: t.better },
    ];
  const seen = new Set(view.flame.kinds);
  return KINDS.filter(([letter]) => seen.has(letter)).map(([letter, label]) => ({
    label,
    colour: kindColour(letter, t),
  }));
}

const SIDES: [Side, (v: ProfileView) => string][] = [
  ['variant', (v) => v.variant],
  ['baseline', (v) => v.baseline!],
  ['more', () => 'difference'],
  ['less', () => 'difference, as wide as the baseline'],
];

/** Shows the callers and callees of the frame that fills the width. */
function chooseFrame({ flame }: ProfileView): void {
  const frame = flame.frame[choice.zoom];
  if (frame === undefined) return;
  choose({ method: flame.names[frame]! });
  document.getElementById('callers')?.scrollIntoView({ block: 'start' });
}

/** The widest frame that the search finds; -1 if it finds none. */
function widestFound(view: ProfileView): number {
  const found = matchNames(view.flame, choice.find);
  const widths = widthsOf(view, sideOf(view));
  let widest = -1;
  view.flame.frame.forEach((frame, node) => {
    if (found[frame] && widths[node]! > (widths[widest] ?? 0)) widest = node;
  });
  return widest;
}

function controls(view: ProfileView): Node[] {
  const search = h('input', {
    type: 'search',
    value: choice.find,
    placeholder: 'Find a method, or /a regex/',
    'aria-label': 'Find in the flame graph',
    oninput: () => choose({ find: search.value }),
    onkeydown: (event) => (event as KeyboardEvent).key === 'Enter' && choose({ zoom: widestFound(view) }),
  });
  // A link from a sentence marks a method, too.
  watch(['find'], () => {
    if (search.value !== choice.find) search.value = choice.find;
  });
  const whole = h('button', { type: 'button', class: 'button', onclick: () => choose({ zoom: -1 }) }, 'Whole');
  const box = h('input', { type: 'checkbox', onchange: () => choose({ icicle: box.checked }) });
  box.checked = choice.icicle;
  const callersButton = h(
    'button',
    { type: 'button', class: 'button', onclick: () => chooseFrame(view) },
    'Callers and callees',
  );
  const enable = () => (callersButton.disabled = choice.zoom < 0);
  watch(['zoom'], enable);
  enable();
  const parts: Node[] = [search, whole, callersButton, h('label', { class: 'check' }, box, ' root above')];
  if (!view.flame.base.length) return parts;
  const sides = SIDES.map(([value, text]) => ({ value, text: text(view) }));
  return [list('Side', 'side', sides, (side) => choose({ side, zoom: -1 })), ...parts];
}
