// Units, chosen once per column or axis and not per value: k/s, µs, ms, MB.

import type { Cell, Estimate, EstimateName } from '../summary';
import { formatSignificant, hasInterval } from './number';

/** A unit: its name, and the divisor that converts a value to it. */
export interface Unit {
  divisor: number;
  name: string;
}

const unitsOf = (divisors: Record<string, number>): Unit[] =>
  Object.entries(divisors).map(([name, divisor]) => ({ name, divisor }));
const RATE = unitsOf({ 'M/s': 1e6, 'k/s': 1e3, '/s': 1 });
const TIME = unitsOf({ s: 1e9, ms: 1e6, µs: 1e3, ns: 1 });
const BYTES = unitsOf({ GB: 1e9, MB: 1e6, KB: 1e3, B: 1 });

type Values = readonly (number | null | undefined)[];

/** The largest unit of which the median of these values has at least `least`; else the smallest. */
function pickUnit(units: Unit[], values: Values, least = 1): Unit {
  const sorted = values.filter((v): v is number => typeof v === 'number' && v > 0).sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return units.find(({ divisor }) => middle >= least * divisor) ?? units.at(-1)!;
}

export const rateUnit = (values: Values): Unit => pickUnit(RATE, values, 2);
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

const ESTIMATE_UNITS: Record<EstimateName, string> = {
  throughput_per_s: 'per_s',
  cpu_ns_per_request: 'ns',
  allocated_bytes_per_request: 'bytes',
  rss_bytes: 'bytes',
};

export function estimateUnit(cells: Cell[], name: EstimateName): Unit {
  const values = cells.map((c) => c[name]?.value);
  return unitFor(ESTIMATE_UNITS[name], values);
}

/** How many of a unit a value is. */
export const scaled = (value: number | null | undefined, unit: Unit): number | null =>
  value == null ? null : value / unit.divisor;

/** A value in a unit, with three significant digits: `18.8 k/s`. A dash if it is not known. */
export function inUnit(value: number | null | undefined, unit: Unit): string {
  return value == null ? '–' : `${formatSignificant(value / unit.divisor)} ${unit.name}`;
}

/** An estimate in a unit, with its interval: `18.8 k/s [18.6, 19.0]`. A dash if it is not known. */
export function inUnitWithInterval(estimate: Estimate | null, unit: Unit): string {
  const text = inUnit(estimate?.value, unit);
  if (!estimate || !hasInterval(estimate.lo, estimate.hi)) return text;
  const ends = [estimate.lo!, estimate.hi!].map((end) => formatSignificant(end / unit.divisor));
  return `${text} [${ends.join(', ')}]`;
}

/** A time in the unit that suits it: `3.10 ms`. A dash if it is not known. */
export const formatTime = (ns: number | null | undefined): string => inUnit(ns, timeUnit([ns]));

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
