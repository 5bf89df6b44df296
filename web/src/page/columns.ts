// The columns of the table of all cells: their texts, their sort keys and their CSV values.

import { formatSignificant, formatWhole } from '../format/number';
import { knownChange } from '../figures/rows';
import { estimateUnit, timeUnit, type Unit } from '../format/unit';
import { groupTitles, kindText, type Model } from '../model';
import type { Cell, EstimateName } from '../summary';
import { validityText } from '../validity';

/** A column. `raw` is the sort key and the CSV value, `text` is what the page shows. */
export interface Column {
  head: string;
  unit: string;
  numeric: boolean;
  csvHead: string;
  raw: (cell: Cell) => number | string | null;
  text: (cell: Cell) => string;
}

export function columnsOf(model: Model): Column[] {
  const { cells } = model.summary;
  const titles = groupTitles(cells);
  const estimate = (head: string, name: EstimateName): Column =>
    unitColumn(head, name, estimateUnit(cells, name), (c) => c[name]?.value);
  const columns: Column[] = [
    textColumn('variant', (c) => c.variant),
    textColumn('scenario', (c) => c.scenario),
    ...(titles.size ? [textColumn('group', (c) => titles.get(c.group)!)] : []),
    { ...textColumn('validity', validityText), raw: (c) => c.validity.state },
    estimate('throughput', 'throughput_per_s'),
    ...ratioColumns(model, 'throughput'),
    estimate('CPU per request', 'cpu_ns_per_request'),
    ...ratioColumns(model, 'cpu_per_request'),
    estimate('allocated per request', 'allocated_bytes_per_request'),
    ...ratioColumns(model, 'allocated_per_request'),
    ...[50, 99].map((p) => percentileColumn(model, p)),
    estimate('memory', 'rss_bytes'),
    countColumn('requests', 'requests_ok'),
    countColumn('failed', 'requests_failed'),
    countColumn('starts', 'forks'),
  ];
  return columns.filter((c) => !c.numeric || cells.some((cell) => c.raw(cell) !== null));
}

function textColumn(head: string, value: (cell: Cell) => string): Column {
  return { head, unit: '', numeric: false, csvHead: head, raw: value, text: value };
}

function countColumn(head: string, name: 'requests_ok' | 'requests_failed' | 'forks'): Column {
  return { head, unit: '', numeric: true, csvHead: name, raw: (c) => c[name], text: (c) => formatWhole(c[name]) };
}

function unitColumn(head: string, csvHead: string, unit: Unit, value: (cell: Cell) => number | undefined): Column {
  const text = (cell: Cell) => {
    const v = value(cell);
    return v === undefined ? '–' : formatSignificant(v / unit.divisor);
  };
  return { head, unit: unit.name, numeric: true, csvHead, raw: (c) => value(c) ?? null, text };
}

/** A column with the change against the baseline in one currency, void ones left out; none if no comparison has it. */
function ratioColumns(model: Model, name: string): Column[] {
  const value = (cell: Cell) =>
    model.comparisons.get(cell.id)?.currencies.find((c) => c.name === name && c.verdict !== 'void');
  if (!model.currencies.some((c) => c.name === name)) return [];
  const text = (cell: Cell) => {
    if (cell.baseline && !cell.control) return 'baseline';
    const c = value(cell);
    return c ? knownChange(c) : '–';
  };
  const raw = (cell: Cell) => (value(cell)?.bound ? null : (value(cell)?.ratio ?? null));
  return [{ head: 'against baseline', unit: '%', numeric: true, csvHead: `${name}_ratio`, raw, text }];
}

/** A percentile of response time under the last of the slice kinds, which is the gentlest load. */
function percentileColumn(model: Model, p: number): Column {
  const kind = model.sliceKinds.at(-1) ?? '';
  const value = (cell: Cell) =>
    cell.latency.find((l) => l.slice_kind === kind)?.response.percentiles.find((v) => v.percentile === p)?.value_ns;
  const unit = timeUnit(model.summary.cells.map(value));
  return unitColumn(`p${p} ${kindText(kind)}`, `p${p}_${kind}_ns`, unit, value);
}
