// The figures of a load, as in the terminal: facts, latencies by percentile, errors, a histogram.

import { barsSpec } from '../charts/bars';
import { figure } from '../charts/figure';
import { h, scrollingTable } from '../dom';
import { formatWhole } from '../format/number';
import { formatRoundTime, formatTime } from '../format/unit';
import { explainTerms } from '../glossary';
import type { Model } from '../model';
import type { Cell, Distribution, ErrorCount, LoadFacts } from '../summary';
import { distributionRows } from './percentiles';

/** What a load counts: requests, or what the server sends on its own. */
export const countedIn = ({ messages }: Cell): string =>
  messages ? (messages.gap ? 'events' : 'messages') : 'requests';

export function loadFigures({ summary }: Model): HTMLElement {
  const facts = summary.load!;
  const [cell] = summary.cells;
  return h(
    'div',
    { class: 'load-figures' },
    factTable(facts),
    cell && h('div', { class: 'figures small-multiples' }, latencyTable(cell), histogram(facts, countedIn(cell))),
    urlTable(facts),
    ...(cell ? errorTables(cell, scrollingTable) : []),
  );
}

function factTable({ rows }: LoadFacts): HTMLElement {
  const line = ({ key, value }: { key: string; value: string }) =>
    h(
      'tr',
      { 'data-outcome': key },
      h('th', { scope: 'row' }, explainTerms(key)),
      h('td', { dir: 'auto' }, explainTerms(value)),
    );
  return h('table', { class: 'keys lines' }, h('tbody', {}, ...rows.map(line)));
}

/** Response and service time side by side; for pushed messages, latency and jitter; for events, the first one and the gaps. */
function latencyTable(cell: Cell): HTMLElement | null {
  const latency = cell.latency.at(-1);
  if (!latency) return null;
  const columns: [string, Distribution][] = cell.messages
    ? [
        [cell.messages.gap ? 'first event' : 'push latency', latency.response],
        [cell.messages.gap ? 'gap' : 'jitter', cell.messages.gap ?? cell.messages.jitter],
      ]
    : [
        ['response time', latency.response],
        ['service time', latency.service],
      ];
  if (latency.send_lag) columns.push(['send lag', latency.send_lag]);
  const rows = distributionRows(columns.map(([, distribution]) => distribution));
  return scrollingTable('Latency', ['', ...columns.map(([name]) => explainTerms(name))], rows);
}

function histogram({ histogram: bins }: LoadFacts, what: string): HTMLElement | null {
  if (!bins.length) return null;
  return figure({
    id: 'histogram',
    title: 'Histogram of response times',
    note: 'Each bar counts the response times up to its label and longer than the label above.',
    ...barsSpec((t) => ({
      axisName: what,
      rows: bins.map(({ upto_ns, count }) => ({
        id: '',
        label: `≤ ${formatRoundTime(upto_ns)}`,
        parts: [{ name: '', value: count, colour: t.series[0]! }],
        lo: null,
        hi: null,
        value: formatWhole(count),
        tip: [[what, formatWhole(count)]],
      })),
    })),
    data: () => ({ heads: ['upto_ns', 'count'], rows: bins.map((bin) => [bin.upto_ns, bin.count]) }),
  });
}

function urlTable({ urls }: LoadFacts): HTMLElement | null {
  if (!urls?.length) return null;
  const heads = ['URL', 'requests', 'failed', 'p50', 'p90', 'p99', 'max', 'first error'];
  const rows = urls.map((u) => [
    u.url,
    formatWhole(u.offered),
    formatWhole(u.failed),
    ...[u.p50_ns, u.p90_ns, u.p99_ns, u.max_ns].map(formatTime),
    u.example ?? '',
  ]);
  return scrollingTable('Response time by URL', heads, rows);
}

type MakeTable = (title: string, heads: string[], rows: string[][]) => HTMLElement;

/** Failed requests and connection events by class, the most frequent first. */
export function errorTables(cell: Cell, makeTable: MakeTable): HTMLElement[] {
  const tables: [title: string, counts: ErrorCount[]][] = [
    ['Failed requests by class', cell.errors],
    ['Connection events by class: they belong to no request', cell.connection_events ?? []],
  ];
  return tables
    .filter(([, counts]) => counts.length)
    .map(([title, counts]) => {
      const sorted = [...counts].sort((a, b) => b.count - a.count);
      const rows = sorted.map((e) => [e.class, formatWhole(e.count), e.example]);
      return makeTable(title, ['class', 'count', 'first example'], rows);
    });
}
