// What servers pushed: how many messages came and how, and their jitter by percentile, which needs no clock of the server's.

import { figure } from '../charts/figure';
import { latencyHeight, latencyOption, type LatencyLine } from '../charts/latency';
import { h, plainTable } from '../dom';
import { percentileText, whole } from '../format/number';
import { plainTime } from '../format/unit';
import { colourOf, type Model, type Panel } from '../model';
import type { Messages } from '../summary';
import { LIGHT, type Theme } from '../theme';
import { panelId } from './forks';

const HEADS = ['', 'messages', 'users', 'missing', 'late', 'out of order', 'twice', 'pings', 'clocks agree within'];

/** Counts of a panel's messages; null where nothing was pushed. */
export function messagesTable(_: Model, panel: Panel): HTMLElement | null {
  const rows = panel.cells.flatMap((c) => (c.messages ? [[c.variant, ...counts(c.messages)]] : []));
  if (!rows.length) return null;
  return h('div', { class: 'scroll' }, plainTable(`${panel.title}: what came`, HEADS, rows));
}

function counts(m: Messages): string[] {
  const numbers = [m.received, m.subscriptions, m.missing, m.late, m.out_of_order, m.duplicated, m.pings];
  const coarse = m.stamp_unit_ns > 1 ? `, stamps to ${plainTime(m.stamp_unit_ns)}` : '';
  return [...numbers.map(whole), plainTime(m.clock_within_ns) + coarse];
}

/** By how much the time between two messages differed from the period. */
export function jitterFigure(_: Model, panel: Panel): HTMLElement | null {
  const cells = panel.cells.filter((c) => c.messages?.jitter.count);
  if (!cells.length) return null;
  const lines = (t: Theme): LatencyLine[] =>
    cells.map((cell): LatencyLine => {
      const colour = colourOf(cell, panel, t);
      const style = colour ?? { mark: t.faint, text: t.muted };
      const distribution = cell.messages!.jitter;
      return {
        label: cell.variant,
        distribution,
        ...style,
        context: !colour,
        stroke: cell.control ? 'dashed' : 'solid',
      };
    });
  return figure({
    id: panelId('jitter', panel),
    title: `${panel.title}: jitter by percentile`,
    note: 'How far the time between two messages of a user was from the period, either way.',
    watch: ['highlights'],
    key: (t) =>
      lines(t)
        .filter((l) => !l.context)
        .map((l) => ({ label: l.label, colour: l.mark })),
    height: latencyHeight,
    draw: (width, t) => latencyOption(lines(t), width, t),
    data: () => ({
      heads: ['scenario', 'variant', 'percentile', 'jitter_ns'],
      rows: cells.flatMap((cell) =>
        cell.messages!.jitter.percentiles.map((p) => [panel.scenario, cell.variant, p.percentile, p.value_ns]),
      ),
    }),
    alternative: () => lines(LIGHT).map(stated).join('; '),
  });
}

function stated({ label, distribution }: LatencyLine): string {
  const told = distribution.percentiles.filter((p) => [50, 99, 99.9].includes(p.percentile));
  return `${label}: ${told.map((p) => `p${percentileText(p.percentile)} ${plainTime(p.value_ns)}`).join(', ')}`;
}
