// Makes the rows of the ratio charts from the summary.

import type { ForestRow } from '../charts/forest';
import { changeWithInterval, hasInterval, isInformative } from '../format/number';
import { durationText, inUnit, unitFor } from '../format/unit';
import { findCurrency } from '../model';
import { choice } from '../state';
import type { Cell, Currency } from '../summary';
import { verdictColour, type Theme } from '../theme';
import { reasonsIn, validityIn } from '../validity';

const BLANK_ROW = { ratio: null, lo: null, hi: null, value: '', colour: '', tip: [] };

/** Opens the cell of a row, even if the page has its address already. */
export function openCell(id: string): void {
  const hash = `#cell=${encodeURIComponent(id)}`;
  if (location.hash === hash) dispatchEvent(new HashChangeEvent('hashchange'));
  else location.hash = hash;
}

export function headingRow(text: string): ForestRow {
  return { ...BLANK_ROW, head: text, id: '', label: '' };
}

/** A row for one variant in one currency. A void or missing figure becomes a text. */
export function ratioRow(
  id: string,
  label: string,
  currencies: Currency[],
  t: Theme,
  cell?: Cell,
  name = choice.currency,
): ForestRow {
  const c = findCurrency(currencies, name);
  if (cell?.validity.state === 'void' || c?.verdict === 'void') {
    return { ...BLANK_ROW, id, label, value: '× void', tip: [['verdict', 'void'], ...doubtLines(cell, name)] };
  }
  if (!c) return { ...BLANK_ROW, id, label, value: 'not measured', tip: [['', 'not measured']] };
  const doubt = cell && validityIn(cell, c.name) === 'suspect' ? ' !' : '';
  return {
    id,
    label,
    ratio: c.ratio,
    lo: c.lo,
    hi: c.hi,
    value: valueText(c) + doubt,
    colour: verdictColour(c.verdict, t),
    open: !isDecided(c),
    tip: [...currencyTip(c), ...doubtLines(cell, c.name)],
  };
}

/** The change with its interval, or what is wrong with the interval. */
function valueText(c: Currency): string {
  if (isInformative(c.lo, c.hi)) return changeWithInterval(c.ratio, c.lo, c.hi);
  const change = knownChange({ ...c, lo: null, hi: null });
  if (c.bound) return change;
  return `${change}  ${hasInterval(c.lo, c.hi) ? 'interval too wide' : 'no interval yet'}`;
}

/** The change with its interval; of a capacity beyond the loads that were tried, only what is known. */
export function knownChange(c: Currency): string {
  if (c.bound === 'unknown') return 'beyond what was tried';
  const change = changeWithInterval(c.ratio, c.lo, c.hi);
  return c.bound ? `${c.bound === 'at_least' ? 'at least' : 'at most'} ${change}` : change;
}

export const isDecided = (c: Currency): boolean => ['worse', 'better', 'no_material_difference'].includes(c.verdict);

function currencyTip(c: Currency): [string, string][] {
  const unit = unitFor(c.unit, [c.baseline_value, c.variant_value]);
  const lines: [string, string][] = [
    ['verdict', `${c.short}${c.material ? ' materially' : ''}`],
    ['change', knownChange(c)],
    ['this variant', inUnit(c.variant_value, unit)],
    ['baseline', inUnit(c.baseline_value, unit)],
    ['method', c.method],
  ];
  if (c.reason) lines.push(['why', c.reason]);
  if (c.needed_s !== null) lines.push(['still needed', `about ${durationText(c.needed_s)}`]);
  if (c.prior) lines.push(['earlier runs', c.prior.text]);
  return lines;
}

/** Why a cell's figures in one currency are suspect or void. */
export function doubtLines(cell: Cell | undefined, currency: string): [string, string][] {
  const state = cell ? validityIn(cell, currency) : 'valid';
  if (!cell || state === 'valid') return [];
  const texts = reasonsIn(cell, currency).map((reason) => reason.text);
  return [[state, texts.join('; ') || 'no reason stated']];
}
