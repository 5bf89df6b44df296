// Fork by fork: each start's ratio as a dot, because starts, and not requests, are what an interval rests on.

import { figure } from '../charts/figure';
import { forestHeight, forestOption, type ForestRow } from '../charts/forest';
import { choice } from '../state';
import { inCurrency, visibleComparisons, type Model, type Panel } from '../model';
import { LIGHT, type Theme } from '../theme';
import type { Currency, Noise } from '../summary';
import { capital, chosenCurrency, forestOf } from './overhead';
import { ratioRow } from './rows';

const LETTERS = /[^\w.-]+/g;
/** An id for a figure of a panel, fit for a link. */
export const panelId = (kind: string, panel: Panel): string => `${kind}-${panel.key.replace(LETTERS, '-')}`;

/** The control goes by the name of its cell. */
function controlName(panel: Panel, noise: Noise): string {
  return panel.cells.find((c) => c.control && c.server === noise.server)?.variant ?? `${noise.server} (again)`;
}

/** The fork strip of a panel, the A/A control beside the variants; null where there were no forks. */
export function forksFigure(model: Model, panel: Panel): HTMLElement | null {
  const items: { id: string; label: string; currencies: Currency[] }[] = [
    ...panel.noise.map((n) => ({ id: '', label: controlName(panel, n), currencies: n.currencies })),
    ...visibleComparisons(panel).map((c) => ({ id: c.cell, label: c.variant, currencies: c.currencies })),
  ];
  const dots = (currencies: Currency[]) => inCurrency(currencies, choice.currency)?.fork_ratios ?? [];
  const some = items.filter((i) => i.currencies.some((c) => c.fork_ratios.length));
  if (!some.length) return null;
  const rows = (t: Theme): ForestRow[] =>
    some.map((i) => {
      const row = ratioRow(i.id, i.label, i.currencies, t);
      const ratios = dots(i.currencies);
      const least = Math.min(...ratios);
      const range = `${(least * 100).toFixed(1)}–${(Math.max(...ratios) * 100).toFixed(1)} %`;
      return { ...row, dots: ratios, value: ratios.length ? `${ratios.length} forks, ${range}` : row.value };
    });
  return figure({
    id: panelId('forks', panel),
    title: () => `${panel.title}: ${chosenCurrency(model)?.label ?? ''} as a share of the baseline, fork by fork`,
    note: 'Each dot is one start of the server; the upright line is their mean, the whisker its interval.',
    watch: ['currency', 'highlights', 'everyRow'],
    height: (width) => forestHeight(rows(LIGHT), width),
    draw: (width, t) => forestOption(forestOf(model, rows(t), width), width, t),
    data: () => ({
      heads: ['scenario', 'variant', 'currency', 'fork', 'ratio'],
      rows: some.flatMap((i) =>
        dots(i.currencies).map((ratio, f) => [panel.scenario, i.label, choice.currency, f + 1, ratio]),
      ),
    }),
    alternative: () =>
      rows(LIGHT)
        .map((r) => `${r.label}: ${r.value}`)
        .join('; '),
  });
}

/** The A/A controls: the same server twice, so any difference is noise. */
export function noiseFigure(model: Model): HTMLElement | null {
  const noise = model.summary.noise;
  if (!noise.some((n) => n.currencies.length)) return null;
  const groups = new Set(noise.map((n) => n.group)).size;
  const rows = (t: Theme) =>
    noise.map((n) => ratioRow('', groups > 1 ? `${n.server} · ${n.scenario}` : n.scenario, n.currencies, t));
  return figure({
    id: 'noise-chart',
    title: () => `${capital(chosenCurrency(model)?.label ?? '')} of the baseline against a second start of itself`,
    watch: ['currency'],
    height: (width) => forestHeight(rows(LIGHT), width),
    draw: (width, t) => forestOption(forestOf(model, rows(t), width), width, t),
    data: () => ({
      heads: ['scenario', 'server', 'currency', 'ratio', 'lower', 'upper', 'floor'],
      rows: noise.flatMap((n) =>
        n.currencies.map((c) => [n.scenario, n.server, c.label, c.ratio, c.lo, c.hi, n.floor]),
      ),
    }),
    alternative: () =>
      rows(LIGHT)
        .map((r) => `${r.label}: ${r.value}`)
        .join('; '),
  });
}
