// The limits of a check: a row for each limit and comparison, and the exit code.

import { h, plainTable, scrollFrame } from '../dom';
import type { Model } from '../model';
import type { LimitCheck, LimitResult } from '../summary';

const HEADS = ['limit', 'on', 'server', 'baseline', 'change', 'verdict'];
const REASON_HEAD = 'why not judged';

const OUTCOMES: Record<LimitCheck['outcome'], string> = {
  holds: 'Every limit holds: exit code 0.',
  regressed: 'A limit is exceeded: exit code 3.',
  void: 'A build failed or answered wrongly: exit code 4.',
  undecided: 'No limit is exceeded, but not all are decided: exit code 4, or 0 with --undecided pass.',
};

const VERDICTS: Record<LimitResult['verdict'], string> = {
  regressed: '✗ regressed',
  improved: '✓ improved',
  no_material_change: '✓ no material change',
  void: '✗ void',
  undecided: '? undecided',
};

/** The scenario of a limit, with its group where there are several. */
const placeOf = ({ panels }: Model, { comparison, scenario }: LimitResult): string =>
  panels.find((p) => p.comparisons.some((c) => c.id === comparison))?.title ?? scenario;

export function limitsSection(model: Model): HTMLElement {
  const check = model.summary.check!;
  const isOpen = check.limits.some((limit) => limit.reason !== null);
  const rows = check.limits.map((limit) => [
    limit.limit,
    placeOf(model, limit),
    limit.variant,
    limit.baseline,
    limit.ratio === null ? '–' : `${limit.short} ${limit.label}`,
    VERDICTS[limit.verdict],
    ...(isOpen ? [limit.reason ?? ''] : []),
  ]);
  const table = plainTable('', isOpen ? [...HEADS, REASON_HEAD] : HEADS, rows, { class: 'cells' });
  return h(
    'div',
    {},
    h('p', {}, `${OUTCOMES[check.outcome]} A limit is judged by the interval of a change, never by its estimate.`),
    scrollFrame('Limits', table),
    check.legend ? h('p', {}, `${check.legend}.`) : null,
    check.power ? h('p', {}, `Before the run, the plan said: ${check.power}.`) : null,
  );
}
