// A method with all that calls it and all that it calls: the stacks around it, merged wherever it stands.

import type { FlameColumns } from '../summary';
import type { Tree } from './tree';

interface Merged {
  frame: number;
  value: number;
  base: number;
  children: Map<number, Merged>;
}

const merged = (frame: number): Merged => ({ frame, value: 0, base: 0, children: new Map() });

function childOf(parent: Merged, frame: number): Merged {
  let child = parent.children.get(frame);
  if (!child) parent.children.set(frame, (child = merged(frame)));
  return child;
}

function count(into: Merged, { columns }: Tree, node: number): void {
  into.value += columns.value[node]!;
  into.base += columns.base[node] ?? 0;
}

/** The nodes of a method that stand under no other node of it. */
function outermost({ columns, end }: Tree, frame: number): number[] {
  const found = [];
  for (let i = 0; i < columns.frame.length;) {
    if (columns.frame[i] === frame) {
      found.push(i);
      i = end[i]!;
    } else i++;
  }
  return found;
}

/** What a method calls, the method as the root. */
export function calleesOf(tree: Tree, frame: number): FlameColumns {
  const root = merged(frame);
  for (const top of outermost(tree, frame)) {
    const path: Merged[] = [];
    const depth = tree.columns.depth[top]!;
    for (let i = top; i < tree.end[top]!; i++) {
      const level = tree.columns.depth[i]! - depth;
      path[level] = level ? childOf(path[level - 1]!, tree.columns.frame[i]!) : root;
      count(path[level]!, tree, i);
    }
  }
  return columnsOf(root, tree.columns);
}

/** Who calls a method, the method as the root and its callers above one another. */
export function callersOf(tree: Tree, frame: number): FlameColumns {
  const root = merged(frame);
  for (const top of outermost(tree, frame)) {
    let at = root;
    // Every caller counts with what was spent in the method, not with all of its own.
    const into = (node: Merged) => count(node, tree, top);
    into(at);
    for (let i = tree.parent[top]!; i >= 0; i = tree.parent[i]!) into((at = childOf(at, tree.columns.frame[i]!)));
  }
  return columnsOf(root, tree.columns);
}

/** The merged nodes as columns, the widest first. */
function columnsOf(root: Merged, { names, kinds, base }: FlameColumns): FlameColumns {
  const out: FlameColumns = { names, kinds, frame: [], depth: [], value: [], base: [], cut: 0 };
  const width = (node: Merged) => Math.max(node.value, node.base);
  const open: [Merged, number][] = [[root, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, depth] = next;
    out.frame.push(node.frame);
    out.depth.push(depth);
    out.value.push(node.value);
    if (base.length) out.base.push(node.base);
    const children = [...node.children.values()].sort((a, b) => width(a) - width(b));
    open.push(...children.map((child): [Merged, number] => [child, depth + 1]));
  }
  return out;
}
