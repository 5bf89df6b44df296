// Rows of the ratio charts, made from what the summary states.

import type { ForestRow } from '../charts/forest';
import { ratioText } from '../format/number';
import { inUnitWithInterval, unitFor } from '../format/unit';
import { inCurrency } from '../model';
import { choice } from '../state';
import type { Currency, VerdictKind } from '../summary';
import { verdictLook, type Theme } from '../theme';

const blank = { ratio: null, lo: null, hi: null, value: '', colour: '', tip: [] };

/** A heading row. */
export function headRow(text: string): ForestRow {
  return { ...blank, head: text, id: '', label: '' };
}

/** A row for one thing weighed, in the currency chosen; void and absent figures say so in words. */
export function ratioRow(id: string, label: string, currencies: Currency[], t: Theme, isVoid = false): ForestRow {
  const c = inCurrency(currencies, choice.currency);
  if (isVoid || c?.verdict === 'void') return { ...blank, id, label, value: '× void', tip: [['verdict', 'void']] };
  if (!c) return { ...blank, id, label, value: 'not measured', tip: [['', 'not measured']] };
  const interval = hasInterval(c);
  return {
    id,
    label,
    ratio: c.ratio,
    lo: interval ? c.lo : null,
    hi: interval ? c.hi : null,
    value: interval ? ratioText(c.ratio, c.lo, c.hi) : `${ratioText(c.ratio, null, null)}  no interval yet`,
    colour: verdictLook(c.verdict, t).colour,
    tip: currencyTip(c),
  };
}

export function hasInterval(c: Currency): boolean {
  return c.lo !== null && c.hi !== null && Number.isFinite(c.lo) && Number.isFinite(c.hi);
}

/** What a currency says, line by line. */
export function currencyTip(c: Currency): [string, string][] {
  const unit = unitFor(c.unit, [c.baseline_value, c.variant_value]);
  const value = (v: number) => inUnitWithInterval({ value: v, lo: null, hi: null }, unit);
  const lines: [string, string][] = [
    ['verdict', `${c.short}${c.material ? ' materially' : ''}`],
    ['of the baseline', ratioText(c.ratio, c.lo, c.hi)],
    ['this variant', value(c.variant_value)],
    ['baseline', value(c.baseline_value)],
    ['method', c.method],
  ];
  if (c.reason) lines.push(['why', c.reason]);
  return lines;
}

/** The axis's name with the better side on it. */
export function axisName(label: string, higherIsBetter: boolean, narrow: boolean): string {
  const what = narrow ? '% of baseline' : `${label}, % of baseline (log)`;
  return higherIsBetter ? `← worse    ${what}    better →` : `← better    ${what}    worse →`;
}

/** Undecided verdicts, which charts show in grey. */
export function isUndecided(verdict: VerdictKind): boolean {
  return verdict === 'inconclusive' || verdict === 'no_interval' || verdict === 'void';
}
