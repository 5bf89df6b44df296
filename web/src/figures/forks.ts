// The chart of the A/A controls: a server compared with itself shows the noise.

import { figure } from '../charts/figure';
import { forestHeight, forestOption } from '../charts/forest';
import type { Model } from '../model';
import { LIGHT, type Theme } from '../theme';
import { capitalise, chosenCurrency, forestOf } from './overhead';
import { ratioRow, rowsInWords } from './rows';

/** The A/A controls: the same server twice, so any difference is noise. */
export function noiseFigure(model: Model): HTMLElement | null {
  const noise = model.summary.noise;
  if (!noise.some((n) => n.currencies.length)) return null;
  const groups = new Set(noise.map((n) => n.group)).size;
  const rows = (t: Theme) =>
    noise.map((n) => ratioRow('', groups > 1 ? `${n.server} · ${n.scenario}` : n.scenario, n.currencies, t));
  return figure({
    id: 'noise-chart',
    title: () => `${capitalise(chosenCurrency(model)?.label ?? '')} of the baseline against a second start of itself`,
    watch: ['currency'],
    height: (width) => forestHeight(rows(LIGHT), width),
    draw: (width, t) => forestOption(forestOf(model, rows(t), width), width, t),
    data: () => ({
      heads: ['scenario', 'server', 'currency', 'ratio', 'lower', 'upper', 'floor'],
      rows: noise.flatMap((n) =>
        n.currencies.map((c) => [n.scenario, n.server, c.label, c.ratio, c.lo, c.hi, n.floor]),
      ),
    }),
    alternative: () => rowsInWords(rows(LIGHT)),
  });
}
