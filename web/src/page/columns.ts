// The columns of the table of all cells: their texts, their sort keys and their CSV values.

import { formatSignificant, formatWhole } from '../format/number';
import { knownChange } from '../figures/rows';
import { bytesUnit, inUnit, rateUnit, timeUnit, type Unit } from '../format/unit';
import { groupTitles, kindText, type Model } from '../model';
import type { Cell, Estimate } from '../summary';
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
  const columns: Column[] = [
    textColumn('variant', (c) => c.variant),
    textColumn('scenario', (c) => c.scenario),
    ...(titles.size ? [textColumn('group', (c) => titles.get(c.group)!)] : []),
    { ...textColumn('validity', validityText), raw: (c) => c.validity.state },
    estimateColumn(
      'throughput',
      'throughput_per_s',
      rateUnit(cells.map((c) => c.throughput_per_s?.value)),
      (c) => c.throughput_per_s,
    ),
    ...ratioColumns(model, 'throughput'),
    estimateColumn(
      'CPU per request',
      'cpu_ns_per_request',
      timeUnit(cells.map((c) => c.cpu_ns_per_request?.value)),
      (c) => c.cpu_ns_per_request,
    ),
    ...ratioColumns(model, 'cpu_per_request'),
    estimateColumn(
      'allocated per request',
      'allocated_bytes_per_request',
      bytesUnit(cells.map((c) => c.allocated_bytes_per_request?.value)),
      (c) => c.allocated_bytes_per_request,
    ),
    ...ratioColumns(model, 'allocated_per_request'),
    ...[50, 99].map((p) => percentileColumn(model, p)),
    estimateColumn('memory', 'rss_bytes', bytesUnit(cells.map((c) => c.rss_bytes?.value)), (c) => c.rss_bytes),
    countColumn('requests', 'requests_ok', (c) => c.requests_ok),
    countColumn('failed', 'requests_failed', (c) => c.requests_failed),
    countColumn('starts', 'forks', (c) => c.forks),
  ];
  return columns.filter((c) => !c.numeric || cells.some((cell) => c.raw(cell) !== null));
}

function textColumn(head: string, value: (cell: Cell) => string): Column {
  return { head, unit: '', numeric: false, csvHead: head, raw: value, text: value };
}

function countColumn(head: string, csvHead: string, value: (cell: Cell) => number): Column {
  return { head, unit: '', numeric: true, csvHead, raw: value, text: (c) => formatWhole(value(c)) };
}

function estimateColumn(head: string, csvHead: string, unit: Unit, value: (cell: Cell) => Estimate | null): Column {
  const text = (cell: Cell) => {
    const e = value(cell);
    return e ? inUnit(e, unit) : '–';
  };
  return { head, unit: unit.name, numeric: true, csvHead, raw: (c) => value(c)?.value ?? null, text };
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
  return [
    {
      head: 'against baseline',
      unit: '%',
      numeric: true,
      csvHead: `${name}_ratio`,
      raw: (c) => (value(c)?.bound ? null : (value(c)?.ratio ?? null)),
      text,
    },
  ];
}

/** A percentile of response time under the last of the slice kinds, which is the gentlest load. */
function percentileColumn(model: Model, p: number): Column {
  const kind = model.sliceKinds.at(-1) ?? '';
  const value = (cell: Cell) =>
    cell.latency.find((l) => l.slice_kind === kind)?.response.percentiles.find((v) => v.percentile === p);
  const unit = timeUnit(model.summary.cells.map((c) => value(c)?.value_ns));
  const text = (cell: Cell) => {
    const v = value(cell);
    if (!v) return '–';
    return formatSignificant(v.value_ns / unit.divisor);
  };
  return {
    head: `p${p} ${kindText(kind)}`,
    unit: unit.name,
    numeric: true,
    csvHead: `p${p}_${kind}_ns`,
    raw: (c) => value(c)?.value_ns ?? null,
    text,
  };
}
