// Which figures of a cell may be used: a reason can make all of them doubtful, or those of one measure.

import type { Cell, Concern, Reason, ValidityState } from './summary';

const MEASURE_NAMES: Record<Concern, string> = {
  everything: '',
  throughput: 'throughput',
  cpu_per_request: 'CPU per request',
  latency: 'latency',
};

/** Whether the figures in one currency may be used: `throughput`, `latency_p99`. */
export function validityIn(cell: Cell, currency: string): ValidityState {
  if (cell.validity.state === 'void') return 'void';
  return reasonsIn(cell, currency).length ? 'suspect' : 'valid';
}

/** The reasons to doubt the figures in one currency. */
export function reasonsIn({ validity }: Cell, currency: string): Reason[] {
  return validity.reasons.filter((reason) => isAbout(reason, currency));
}

function isAbout({ concerns = 'everything' }: Reason, currency: string): boolean {
  if (concerns === 'latency') return currency.startsWith('latency') || currency === 'capacity';
  return concerns === 'everything' || concerns === currency;
}

/** The measure that a reason concerns: `latency`; empty if it concerns all. */
export const measureOf = ({ concerns = 'everything' }: Reason): string => MEASURE_NAMES[concerns];

/** `valid`, `suspect`, `valid, latency suspect`. */
export function validityText({ validity: { state, reasons } }: Cell): string {
  const measures = [...new Set(reasons.map(measureOf).filter(Boolean))];
  return state === 'valid' && measures.length ? `valid, ${measures.join(' and ')} suspect` : state;
}
