// The tree of a flame graph, and the layout of the boxes that are wide enough to see. Linear in the number of nodes.

import type { FlameColumns } from '../summary';

/** The total of a side, in the unit of the nodes' values. */
export const WHOLE = 1e7;

export interface Tree {
  columns: FlameColumns;
  /** Index after the last node beneath each node. */
  end: Int32Array;
  parent: Int32Array;
}

export interface Box {
  node: number;
  /** From the left edge, in pixels. */
  x: number;
  width: number;
  /** Rows above the root. */
  row: number;
  above: boolean;
}

export function buildTree(columns: FlameColumns): Tree {
  const n = columns.frame.length;
  const end = new Int32Array(n);
  const parent = new Int32Array(n).fill(-1);
  const open: number[] = [];
  for (let i = 0; i < n; i++) {
    while (open.length > columns.depth[i]!) end[open.pop()!] = i;
    parent[i] = open.at(-1) ?? -1;
    open.push(i);
  }
  for (const i of open) end[i] = n;
  return { columns, end, parent };
}

/** The boxes of a side that are at least `minPx` pixels wide. The node `zoom` (−1: the whole) fills the width. */
export function layOutBoxes(tree: Tree, widths: ArrayLike<number>, zoom: number, width: number, minPx: number): Box[] {
  const { columns, end, parent } = tree;
  const boxes: Box[] = [];
  for (let i = zoom < 0 ? -1 : parent[zoom]!; i >= 0; i = parent[i]!)
    boxes.push({ node: i, x: 0, width, row: columns.depth[i]!, above: true });
  const whole = zoom < 0 ? WHOLE : widths[zoom]!;
  if (!whole) return boxes;
  const scale = width / whole;
  /** Where the next child at each depth begins. */
  const next: number[] = [];
  const from = Math.max(zoom, 0);
  next[columns.depth[from] ?? 0] = 0;
  const stop = zoom < 0 ? columns.frame.length : end[zoom]!;
  for (let i = from; i < stop;) {
    const depth = columns.depth[i]!;
    const x = next[depth]!;
    const w = widths[i]! * scale;
    next[depth] = x + w;
    next[depth + 1] = x;
    if (w < minPx) {
      i = end[i]!;
      continue;
    }
    boxes.push({ node: i, x, width: w, row: depth, above: false });
    i++;
  }
  return boxes;
}

/** Whether each name matches, as 1 or 0. `/…/` is a regular expression; an invalid one matches nothing. */
export function matchNames(columns: FlameColumns, find: string): Uint8Array {
  const found = new Uint8Array(columns.names.length);
  const test = nameTest(find);
  if (test) columns.names.forEach((name, i) => (found[i] = test(name) ? 1 : 0));
  return found;
}

function nameTest(find: string): ((name: string) => boolean) | null {
  if (!find.trim()) return null;
  const expression = /^\/(.+)\/$/.exec(find.trim());
  if (!expression) return (name) => name.toLowerCase().includes(find.trim().toLowerCase());
  try {
    const regex = new RegExp(expression[1]!);
    return (name) => regex.test(name);
  } catch {
    return null;
  }
}

/** Share (0–1) of a side in matching nodes and below them. A match within a match counts once. */
export function shareOf(tree: Tree, widths: ArrayLike<number>, found: Uint8Array): number {
  const outermost = outermostNodes(tree, (frame) => found[frame] === 1);
  return outermost.reduce((sum, node) => sum + widths[node]!, 0) / WHOLE;
}

/** The nodes of some frames that have no such node above them. */
export function outermostNodes({ columns, end }: Tree, isWanted: (frame: number) => boolean): number[] {
  const found = [];
  for (let i = 0; i < columns.frame.length;) {
    if (isWanted(columns.frame[i]!)) {
      found.push(i);
      i = end[i]!;
    } else i++;
  }
  return found;
}
