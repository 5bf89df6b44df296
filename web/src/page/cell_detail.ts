// The details of a cell: reasons against its validity, errors, percentiles, counts, command.

import { h, plainTable, type Child } from '../dom';
import { errorTables } from '../figures/load';
import { distributionRows } from '../figures/percentiles';
import { formatFixed, formatWhole } from '../format/number';
import { durationText, formatTime, bytesUnit, inUnit } from '../format/unit';
import { commandWords } from '../format/line_breaks';
import { explainTerms } from '../glossary';
import { kindText, spellOut, type Model } from '../model';
import type { Cell, Currency, Latency, Probes } from '../summary';
import { measureOf } from '../validity';

export function cellDetail(model: Model, cell: Cell, close: () => void): HTMLElement {
  return h(
    'div',
    { class: 'cell-detail' },
    h('button', { type: 'button', class: 'button close', onclick: close }, 'Close'),
    ...detailParts(model, cell)
      .filter(Boolean)
      .map((part) => (typeof part === 'string' ? h('p', {}, part) : part)),
  );
}

function detailParts(model: Model, cell: Cell): Child[] {
  const comparison = model.comparisons.get(cell.id);
  return [
    cell.scenario_title,
    cell.validity.reasons.length ? reasonList(cell) : null,
    comparison?.currencies.length
      ? plainTable(
          `Against ${comparison.baseline}`,
          ['measure', 'verdict', 'method', 'why'],
          comparison.currencies.map((c) => [
            spellOut(c.label),
            `${c.short}${c.material ? ', materially' : ''}`,
            c.method,
            whyText(c),
          ]),
        )
      : null,
    comparison?.cpu_cost?.text,
    cell.latency.length > 0 && percentileTable(cell.latency),
    ...errorTables(cell, plainTable),
    plainTable('Counts', ['what', 'value'], [...countRows(cell), ...probeRows(cell.probes)]),
    cell.command && h('pre', { tabindex: '0' }, commandWords(cell.command)),
  ];
}

function whyText(c: Currency): string {
  const needed = c.needed_s === null ? '' : `about ${durationText(c.needed_s)} more would decide it`;
  return [c.reason, needed, c.prior?.text].filter(Boolean).join('; ');
}

const BECAUSE = { void: 'Void, because', suspect: 'Suspect, because', valid: 'Suspect in part, because' };

function reasonList(cell: Cell): HTMLElement {
  const items = cell.validity.reasons.map((reason) => {
    const measure = measureOf(reason) && `${measureOf(reason)}: `;
    return h('li', {}, measure + (reason.remedy ? `${reason.text}. ${reason.remedy}` : reason.text));
  });
  return h('div', {}, h('b', {}, BECAUSE[cell.validity.state]), h('ul', {}, ...items));
}

function percentileTable(latency: Latency[]): HTMLElement {
  const columns = latency.flatMap((l) => {
    const response = { head: `${l.model}: response`, d: l.response };
    if (l.send_lag === null) return [response];
    const kind = kindText(l.slice_kind);
    return [response, { head: `${kind}: service`, d: l.service }, { head: `${kind}: send lag`, d: l.send_lag }];
  });
  const rows = distributionRows(columns.map((c) => c.d));
  const counts = ['requests', ...columns.map((c) => formatWhole(c.d.count))];
  return plainTable('Latency', ['', ...columns.map((c) => explainTerms(c.head))], [...rows, counts]);
}

const bytes = (n: number) => inUnit(n, bytesUnit([n]));

/** What the probes measured. Rows without a value are left out. */
function probeRows(p: Probes): string[][] {
  const size = (name: string, n: number | null): string[][] => (n === null ? [] : [[name, bytes(n)]]);
  const share = (s: number) => `${formatFixed(s * 100, 2)} %`;
  const times = (n: number, ns: number) => `${formatWhole(n)}, ${formatTime(ns)} in all`;
  return [
    ...size('heap left by a collection, at most', p.heap_after_gc_peak_bytes),
    ...size('resident beside the heap, at most', p.off_heap_peak_bytes),
    ...size('classes, at most', p.metaspace_peak_bytes),
    ...p.collectors.map((c) => [c.collector, times(c.pauses, c.pause_ns)]),
    ...(p.safepoint_share === null ? [] : [['all threads stopped', `${share(p.safepoint_share)} of the time`]]),
    ...p.pauses.map((c) => [
      `pauses: ${c.cause}`,
      `${times(c.pauses, c.pause_ns)}, the longest ${formatTime(c.pause_max_ns)}`,
    ]),
    ...(p.probe_cpu_share === null ? [] : [['CPU of the probes', `${share(p.probe_cpu_share)} of the server’s`]]),
  ];
}

function countRows(cell: Cell): string[][] {
  const share = cell.generator_cpu_share;
  return [
    ['starts', `${cell.forks}, of these steady when measuring began: ${cell.steady_forks}`],
    ['limited by', cell.bottleneck],
    ['generator CPU', share === null ? '–' : `${Math.round(share * 100)} % of its cores`],
    ['bytes received, sent', `${bytes(cell.bytes_in)}, ${bytes(cell.bytes_out)}`],
  ];
}
