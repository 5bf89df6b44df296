// The first screen of a load: its figures as tiles.

import { h } from '../dom';
import { countedIn } from '../figures/load';
import { formatFixed, formatSignificant, formatWhole, shareText } from '../format/number';
import { formatTime } from '../format/unit';
import type { Cell, Distribution } from '../summary';

const PERCENTILES = [50, 99, 99.9];

export function loadTiles(cell: Cell): HTMLElement {
  const response = cell.latency.at(-1)?.response;
  const rate = cell.throughput_per_s?.value ?? cell.latency.at(-1)?.pace.answers_per_s;
  const busy = cell.generator_cpu_share;
  const what = countedIn(cell);
  const failed = cell.requests_failed;
  const share = failed / Math.max(1, failed + cell.requests_ok);
  const tiles: [string, string, string?][] = [
    [`${what}/s`, rate === undefined ? '–' : rate < 100 ? formatSignificant(rate) : formatWhole(rate)],
    ...PERCENTILES.map((p): [string, string, string?] => [`p${p}`, ...percentile(response, p, what)]),
    ['max', formatTime(response?.max_ns)],
    ['errors', formatWhole(failed), failed ? shareText(share) : `of ${formatWhole(cell.requests_ok)}`],
    ['generator busy', busy === null ? '–' : `${formatFixed(busy * 100, 0)} %`],
  ];
  return h(
    'dl',
    { class: 'tiles' },
    ...tiles.map(([name, value, more]) =>
      h('div', {}, h('dt', {}, name), h('dd', {}, value, more ? h('small', {}, more) : null)),
    ),
  );
}

function percentile(response: Distribution | undefined, p: number, what: string): [string, string?] {
  const found = response?.percentiles.find((v) => v.percentile === p);
  return found ? [formatTime(found.value_ns)] : ['–', `too few ${what}`];
}
