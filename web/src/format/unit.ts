// Units, chosen once per column or axis and not per value: k/s, µs, ms, MB.

import type { Estimate } from '../summary';
import { decimalsForSignificant, formatFixed, halfWidth, formatSignificant } from './number';

/** A unit: its name, and the divisor that converts a value to it. */
export interface Unit {
  divisor: number;
  name: string;
}

type Step = readonly [from: number, unit: Unit];

const RATE: Step[] = [
  [2e6, { divisor: 1e6, name: 'M/s' }],
  [2e3, { divisor: 1e3, name: 'k/s' }],
  [0, { divisor: 1, name: '/s' }],
];
const TIME: Step[] = [
  [1e9, { divisor: 1e9, name: 's' }],
  [1e6, { divisor: 1e6, name: 'ms' }],
  [1e3, { divisor: 1e3, name: 'µs' }],
  [0, { divisor: 1, name: 'ns' }],
];
const BYTES: Step[] = [
  [1e9, { divisor: 1e9, name: 'GB' }],
  [1e6, { divisor: 1e6, name: 'MB' }],
  [1e3, { divisor: 1e3, name: 'KB' }],
  [0, { divisor: 1, name: 'B' }],
];

/** The unit that suits the median of these values. */
function pickUnit(steps: Step[], values: readonly (number | null | undefined)[]): Unit {
  const sorted = values.filter((v): v is number => typeof v === 'number' && v > 0).sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return (steps.find(([from]) => middle >= from) ?? steps[steps.length - 1]!)[1];
}

type Values = readonly (number | null | undefined)[];
export const rateUnit = (values: Values): Unit => pickUnit(RATE, values);
export const timeUnit = (values: Values): Unit => pickUnit(TIME, values);
export const bytesUnit = (values: Values): Unit => pickUnit(BYTES, values);

/** The unit for a currency's values, by the name the summary gives (`per_s`, `ns`, `bytes`, `share`). */
export function unitFor(name: string, values: Values): Unit {
  if (name === 'per_s') return rateUnit(values);
  if (name === 'ns') return timeUnit(values);
  if (name === 'bytes') return bytesUnit(values);
  if (name === 'share') return { divisor: 0.01, name: '%' };
  return { divisor: 1, name };
}

/** An estimate's figure in a unit, with three significant digits; no unit name. */
export function inUnit(estimate: Estimate, unit: Unit): string {
  return formatSignificant(estimate.value / unit.divisor);
}

/** The same with its interval and unit: `18.8 k/s [18.6, 19.0]`. */
export function inUnitWithInterval(estimate: Estimate, unit: Unit): string {
  const text = `${inUnit(estimate, unit)} ${unit.name}`;
  if (halfWidth(estimate.lo, estimate.hi) === null) return text;
  return `${text} [${formatSignificant(estimate.lo! / unit.divisor)}, ${formatSignificant(estimate.hi! / unit.divisor)}]`;
}

/** A time in the unit that suits it: `3.10 ms`. */
export function formatTime(ns: number): string {
  const unit = timeUnit([ns]);
  const value = ns / unit.divisor;
  return `${formatFixed(value, decimalsForSignificant(value))} ${unit.name}`;
}

/** The same, or a dash for a time that is not known. */
export const formatTimeOrDash = (ns: number | null | undefined): string => (ns == null ? '–' : formatTime(ns));

/** A round time without trailing zeros: `1.5 ms`, `30 ms`. */
export const formatRoundTime = (ns: number): string => formatTime(ns).replace(/\.?(?<=\.\d*)0+(?= )/, '');

/** A duration in words: `3 min 40 s`. */
export function durationText(seconds: number): string {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  const rest = (unit: number, name: string) => (unit ? ` ${unit} ${name}` : '');
  if (s < 3600) return `${Math.floor(s / 60)} min${rest(s % 60, 's')}`;
  return `${Math.floor(s / 3600)} h${rest(Math.floor((s % 3600) / 60), 'min')}`;
}

/** A rough duration, rounded as in the headline (`roughly`): `60 s`, `4 min`, `25 min`. */
export function roughlyText(seconds: number): string {
  const step = seconds < 90 ? 10 : seconds < 600 ? 60 : 300;
  const rounded = Math.max(1, Math.round(seconds / step)) * step;
  return rounded < 90 ? `${rounded} s` : durationText(rounded);
}

/** A date and time: `20 November 2026, 14:05 UTC`. A text that is not a date is returned unchanged. */
export function momentText(rfc3339: string): string {
  const date = new Date(rfc3339);
  if (Number.isNaN(date.getTime())) return rfc3339;
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
  return `${day}, ${date.toISOString().slice(11, 16)} UTC`;
}
