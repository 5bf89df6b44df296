// A method between its callers and its callees, as two flame graphs: callers above, callees below.

import { figure, type FigureSpec } from '../charts/figure';
import { h } from '../dom';
import { calleesOf, callersOf } from '../flame/sandwich';
import { buildTree } from '../flame/tree';
import { formatSignificant } from '../format/number';
import { choice, choose } from '../state';
import type { FlameColumns, ProfileView } from '../summary';
import { cachedTree, flameSpec, largestDifference, shortName } from './flame';

/** Both graphs of the chosen method, or a hint if none is chosen. */
export function sandwich(view: ProfileView): HTMLElement[] {
  const frame = view.flame.names.indexOf(choice.method);
  if (frame < 0) {
    const hint = 'Choose a method in a table below to see who calls it and what it calls.';
    return [h('p', { class: 'note hint', id: 'callers' }, hint)];
  }
  const tree = cachedTree(view);
  const close = h('button', { type: 'button', class: 'button', onclick: () => choose({ method: '' }) }, 'Close');
  const name = shortName(choice.method);
  return [
    graph(view, callersOf(tree, frame), {
      id: 'callers',
      title: `Who calls ${name}`,
      icicle: false,
      controls: [close],
    }),
    graph(view, calleesOf(tree, frame), { id: 'callees', title: `What ${name} calls`, icicle: true, controls: [] }),
  ];
}

type GraphSpec = Pick<FigureSpec, 'id' | 'title'> & { icicle: boolean; controls: Node[] };

function graph(view: ProfileView, columns: FlameColumns, spec: GraphSpec): HTMLElement {
  // A profile with the merged stacks, so that names, colours and figures are made as in the whole flame graph.
  const part: ProfileView = { ...view, flame: columns };
  const scale = largestDifference(view);
  const direct = () =>
    columns.depth
      .flatMap((depth, node) => (depth === 1 ? [node] : []))
      .map((node) => ({
        name: columns.names[columns.frame[node]!]!,
        share: columns.value[node]! / (columns.value[0] || 1),
      }));
  return figure({
    id: spec.id,
    title: spec.title,
    note: 'The method fills the width.',
    hint: 'Click a frame to show that method instead.',
    watch: ['find', 'side'],
    ...flameSpec(part, buildTree(columns), () => ({ zoom: 0, icicle: spec.icicle, scale })),
    data: () => ({
      heads: ['method', 'share of it %'],
      rows: direct().map((d) => [d.name, formatSignificant(d.share * 100)]),
    }),
    alternative: () => {
      const largest = direct().slice(0, 3);
      const listed = largest.map((d) => `${shortName(d.name)} ${formatSignificant(d.share * 100)} %`).join(', ');
      return listed || 'There is none.';
    },
    onPick: (node) => choose({ method: columns.names[columns.frame[Number(node)]!]! }),
    controls: spec.controls,
  });
}
