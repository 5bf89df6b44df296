// Numbers with as many digits as their interval allows.

/** The number of decimals that gives three significant digits, at most 6. */
function significantDecimals(value: number): number {
  if (!Number.isFinite(value) || value === 0) return 0;
  return Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
}

const formatters = new Map<number, Intl.NumberFormat>();

/** Formatters are cached: to make one takes longer than to format ten thousand numbers. */
function cachedFormatter(decimals: number): Intl.NumberFormat {
  let found = formatters.get(decimals);
  if (!found) {
    found = new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    formatters.set(decimals, found);
  }
  return found;
}

/** A number with a fixed count of decimals, commas between thousands, and a minus sign (−). */
export function formatFixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return '–';
  const text = cachedFormatter(decimals).format(Math.abs(value));
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

export function formatWhole(value: number): string {
  return formatFixed(value, 0);
}

/** A number with three significant digits, for values without an interval. */
export function formatSignificant(value: number): string {
  return formatFixed(value, significantDecimals(value));
}

export const hasInterval = (lo: number | null, hi: number | null): boolean =>
  Number.isFinite(lo) && Number.isFinite(hi);

/** A number without commas between thousands: in an interval a comma separates the ends. */
const formatUngrouped = (value: number, decimals: number): string => formatFixed(value, decimals).replaceAll(',', '');

/**
 * The decimals of a change in per cent, as in the headline and the terminal (`Change::decimals`): no end of an interval without "no
 * difference" reads as 0.
 */
function changeDecimals(lo: number | null, hi: number | null): number {
  if (!hasInterval(lo, hi)) return 1;
  const width = (hi! - lo!) * 100;
  const least = width >= 5 ? 0 : width < 0.5 ? 2 : 1;
  const distance = Math.max(lo! - 1, 1 - hi!) * 100;
  return [0, 1, 2].find((decimals) => decimals >= least && distance * 10 ** decimals > 0.5) ?? least;
}

/** From this ratio on a change is told as a factor, as in the terminal (`Change::factor`): `×7.9` reads better than `+689 %`. */
const TOLD_AS_FACTOR = 3;

const times = (ratio: number): string => formatUngrouped(ratio, ratio < 9.95 ? 1 : 0);

/** `−8.1 %`, `×7.9`: a ratio as a signed difference, with the digits that its interval allows. */
export function changeText(ratio: number, lo: number | null, hi: number | null): string {
  if (ratio >= TOLD_AS_FACTOR) return `×${times(ratio)}`;
  return `${formatSigned((ratio - 1) * 100, changeDecimals(lo, hi))} %`;
}

/** An interval whose ends differ by this factor or more is too wide to be of use. */
const MAX_END_RATIO = 4;

export const isInformative = (lo: number | null, hi: number | null): boolean =>
  lo !== null && hi !== null && hi < lo * MAX_END_RATIO;

/** The difference with its interval: `−8.1 % [−9.0, −7.2]`, `×7.9 [6.9, 9.1]`. */
export function changeWithInterval(ratio: number, lo: number | null, hi: number | null): string {
  if (!hasInterval(lo, hi)) return changeText(ratio, lo, hi);
  const d = changeDecimals(lo, hi);
  const end = (r: number) => (ratio >= TOLD_AS_FACTOR ? times(r) : formatSigned((r - 1) * 100, d));
  return `${changeText(ratio, lo, hi)} [${end(lo!)}, ${end(hi!)}]`;
}

/** `+15`: a whole number with its sign, without commas. */
export const formatSignedWhole = (value: number): string => formatSigned(value, 0);

/** With its sign, unless it rounds to zero. */
function formatSigned(value: number, decimals: number): string {
  const text = formatUngrouped(value, decimals);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** `9 % more [5, 13]`: a difference in words, with the digits that its interval allows. A factor needs no word. */
export function differenceText(ratio: number, lo: number | null, hi: number | null, words: [string, string]): string {
  if (ratio >= TOLD_AS_FACTOR) return changeWithInterval(ratio, lo, hi);
  const sign = ratio < 1 ? -1 : 1;
  const size = (r: number) => sign * (r - 1) * 100;
  const d = changeDecimals(lo, hi);
  const text = `${formatUngrouped(size(ratio), d)} % ${words[sign < 0 ? 0 : 1]}`;
  if (!hasInterval(lo, hi)) return text;
  const ends = [size(lo!), size(hi!)].sort((a, b) => a - b).map((end) => formatUngrouped(end, d));
  return `${text} [${ends.join(', ')}]`;
}

/** Whether starts agree: `2 starts higher, 1 lower` than the baseline, `all 3 starts lower`. */
export function sidesText(ratios: number[]): string {
  if (!ratios.length) return '';
  const higher = ratios.filter((ratio) => ratio > 1).length;
  const lower = ratios.length - higher;
  if (higher && lower) return `${higher} start${higher === 1 ? '' : 's'} higher, ${lower} lower`;
  return `${ratios.length === 2 ? 'both' : `all ${ratios.length}`} starts ${higher ? 'higher' : 'lower'}`;
}

/** `1.1 %`: a share with the digits that the terminal gives it (`share`). Only a whole is 100 %. */
export function shareText(share: number): string {
  const exact = share * 100;
  const isRound = Math.abs(exact - Math.round(exact)) < 1e-9;
  const percent = exact >= 99.95 && exact < 100 && !isRound ? 99.9 : exact;
  if (percent >= 99.5 && percent < 99.95) return `${formatFixed(percent, 1)} %`;
  const decimals = percent >= 9.95 || isRound ? 0 : percent >= 0.1 ? 1 : 3;
  return `${formatFixed(percent, decimals)} %`;
}

/** A percentile as people write it: 50, 99.9, 99.999. */
export function percentileText(percentile: number): string {
  return String(Number(percentile.toFixed(6)));
}

/** A seed as the plan or else the command states it. As a number of JavaScript, one above 2^53 is rounded. */
export function seedText(seed: number, planned: string | undefined, command: string): string {
  if (Number.isSafeInteger(seed)) return String(seed);
  return planned ?? /--seed[ =](\d+)/.exec(command)?.[1] ?? String(seed);
}
