// The callers and the callees of a method, merged over all its occurrences in a flame graph.

import type { FlameColumns } from '../summary';
import { outermostNodes, type Tree } from './tree';

interface MergedNode {
  frame: number;
  value: number;
  base: number;
  children: Map<number, MergedNode>;
}

const emptyNode = (frame: number): MergedNode => ({ frame, value: 0, base: 0, children: new Map() });

function childFor(parent: MergedNode, frame: number): MergedNode {
  let child = parent.children.get(frame);
  if (!child) parent.children.set(frame, (child = emptyNode(frame)));
  return child;
}

function addValues(total: MergedNode, { columns }: Tree, node: number): void {
  total.value += columns.value[node]!;
  total.base += columns.base[node] ?? 0;
}

/** The callees of a method as a flame graph, with the method as the root. */
export function calleesOf(tree: Tree, frame: number): FlameColumns {
  const root = emptyNode(frame);
  for (const top of outermostNodes(tree, (other) => other === frame)) {
    const path: MergedNode[] = [];
    const depth = tree.columns.depth[top]!;
    for (let i = top; i < tree.end[top]!; i++) {
      const level = tree.columns.depth[i]! - depth;
      path[level] = level ? childFor(path[level - 1]!, tree.columns.frame[i]!) : root;
      addValues(path[level]!, tree, i);
    }
  }
  return columnsOf(root, tree.columns);
}

/** The callers of a method as a flame graph, with the method as the root. */
export function callersOf(tree: Tree, frame: number): FlameColumns {
  const root = emptyNode(frame);
  for (const top of outermostNodes(tree, (other) => other === frame)) {
    let at = root;
    // A caller gets the cost of the method, not its own cost.
    const addTo = (node: MergedNode) => addValues(node, tree, top);
    addTo(at);
    for (let i = tree.parent[top]!; i >= 0; i = tree.parent[i]!) addTo((at = childFor(at, tree.columns.frame[i]!)));
  }
  return columnsOf(root, tree.columns);
}

/** The merged nodes as columns, the widest first. */
function columnsOf(root: MergedNode, { names, kinds, base }: FlameColumns): FlameColumns {
  const out: FlameColumns = { names, kinds, frame: [], depth: [], value: [], base: [], cut: 0 };
  const width = (node: MergedNode) => Math.max(node.value, node.base);
  const open: [MergedNode, number][] = [[root, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, depth] = next;
    out.frame.push(node.frame);
    out.depth.push(depth);
    out.value.push(node.value);
    if (base.length) out.base.push(node.base);
    const children = [...node.children.values()].sort((a, b) => width(a) - width(b));
    open.push(...children.map((child): [MergedNode, number] => [child, depth + 1]));
  }
  return out;
}
