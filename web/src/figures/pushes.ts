// Pushed messages and events: counts, and jitter or gaps by percentile, which do not depend on the server's clock.

import { figure } from '../charts/figure';
import { latencySpec, type LatencyLine } from '../charts/latency';
import { scrollingTable } from '../dom';
import { formatWhole } from '../format/number';
import { formatTime } from '../format/unit';
import { drawnCells, leftOutText, panelId, type Model, type Panel } from '../model';
import type { Messages } from '../summary';
import type { Theme } from '../theme';
import { latencyLine } from './percentiles';

/** The counts of a row, by their heading. */
const COUNTS = {
  messages: 'received',
  users: 'subscriptions',
  missing: 'missing',
  late: 'late',
  'out of order': 'out_of_order',
  twice: 'duplicated',
  'ahead of their stamps': 'ahead',
  pings: 'pings',
} as const;

/** The message counts of a panel; null if nothing was pushed. */
export function messagesTable(_: Model, panel: Panel): HTMLElement | null {
  const rows = panel.cells.flatMap((c) => (c.messages ? [[c.variant, ...countTexts(c.messages)]] : []));
  if (!rows.length) return null;
  const title = `${panel.title}: what came`;
  return scrollingTable(title, ['', ...Object.keys(COUNTS), 'clocks agree within'], rows);
}

function countTexts(m: Messages): string[] {
  const numbers = Object.values(COUNTS).map((count) => formatWhole(m[count]));
  const stampText = m.stamp_unit_ns > 1 ? `, stamps to ${formatTime(m.stamp_unit_ns)}` : '';
  return [...numbers, clockErrorText(m) + stampText];
}

/** The possible error between the clocks, and the offset if the server has its own clock. */
function clockErrorText(m: Messages): string {
  const within = formatTime(m.clock_within_ns);
  if (!m.clock) return within;
  if (m.clock.offset_ns === null) return 'not known';
  const way = m.clock.offset_ns < 0 ? 'behind' : 'ahead';
  return `${within}, server’s ${formatTime(Math.abs(m.clock.offset_ns))} ${way}`;
}

export function jitterFigure(model: Model, panel: Panel): HTMLElement | null {
  const between = (m: Messages) => m.gap ?? m.jitter;
  const cells = drawnCells(model, panel).filter((c) => c.messages && between(c.messages).count);
  if (!cells.length) return null;
  const ofEvents = Boolean(cells[0]!.messages!.gap);
  const name = ofEvents ? 'gap' : 'jitter';
  const what = ofEvents
    ? 'The time between two events of a stream.'
    : 'How far the time between two messages of a user was from the period, either way.';
  const lines = (t: Theme): LatencyLine[] => cells.map((cell) => latencyLine(cell, panel, t, between(cell.messages!)));
  return figure({
    id: panelId(name, panel),
    title: `${panel.title}: ${name} by percentile`,
    note: [what, leftOutText(model, panel)],
    watch: ['scale', 'highlights'],
    ...latencySpec(name, lines),
    data: () => ({
      heads: ['scenario', 'variant', 'percentile', `${name}_ns`],
      rows: cells.flatMap((cell) =>
        between(cell.messages!).percentiles.map((p) => [panel.scenario, cell.variant, p.percentile, p.value_ns]),
      ),
    }),
  });
}
