// Numbers, units and exports.

import { describe, expect, test } from 'vitest';
import { toCsv, toMarkdown } from '../src/format/export';
import * as number from '../src/format/number';
import * as unit from '../src/format/unit';
import { preventBreaks } from '../src/format/line_breaks';

describe('numbers', () => {
  test('carry as many digits as their interval allows', () => {
    expect(number.changeWithInterval(0.85, 0.83, 0.87)).toBe('−15.0 % [−17.0, −13.0]');
    expect(number.changeWithInterval(1.0012, 0.9991, 1.0033)).toBe('+0.12 % [−0.09, +0.33]');
    expect(number.changeWithInterval(1.047, 1.035, 1.06)).toBe('+4.7 % [+3.5, +6.0]');
    expect(number.changeWithInterval(1.07, 1.003, 1.14)).toBe('+7.0 % [+0.3, +14.0]');
    expect(number.changeText(0.805245, null, null)).toBe('−19.5 %');
  });
  test('of a seed have all their digits, also above 2^53', () => {
    const [exact, rounded] = ['9007199254740993', 2 ** 53];
    expect(number.seedText(rounded, exact, 'tare run')).toBe(exact);
    expect(number.seedText(rounded, undefined, `tare load URL --seed ${exact} -c 8`)).toBe(exact);
    expect(number.seedText(rounded, undefined, `tare load URL --seed=${exact}`)).toBe(exact);
    expect(number.seedText(rounded, undefined, 'tare run')).toBe('9007199254740992');
    expect(number.seedText(8127, undefined, 'tare run')).toBe('8127');
  });
  test('in an interval have no commas between thousands', () => {
    expect(number.changeWithInterval(2.5, 1, 41.28)).toBe('+150 % [0, +4028]');
  });
  test('carry one decimal and no brackets without an interval', () => {
    expect(number.changeWithInterval(0.91884, null, null)).toBe('−8.1 %');
    expect(number.changeWithInterval(2.4, 1, Infinity)).toBe('+140.0 %');
  });
  test('show a change with its sign, and zero without', () => {
    expect(number.changeWithInterval(0.919, 0.91, 0.928)).toBe('−8.1 % [−9.0, −7.2]');
    expect(number.changeWithInterval(1.06, 1.01, 1.11)).toBe('+6 % [+1, +11]');
    expect(number.changeText(0.99999, 0.97, 1.03)).toBe('0 %');
    expect(number.changeText(1.00001, 0.97, 1.03)).toBe('0 %');
  });
  test('show a change as a factor where per cent would have three digits, as the terminal does', () => {
    expect(number.changeText(2.994, null, null)).toBe('+199.4 %');
    expect(number.changeText(108.093, null, null)).toBe('×108');
    expect(number.changeWithInterval(7.89, 6.9, 9.97)).toBe('×7.9 [6.9, 10]');
    expect(number.differenceText(7.89, 6.9, 9.07, ['less', 'more'])).toBe('×7.9 [6.9, 9.1]');
  });
  test('show a difference as words', () => {
    expect(number.differenceText(0.919, 0.91, 0.928, ['less', 'more'])).toBe('8.1 % less [7.2, 9.0]');
    expect(number.differenceText(1.06, 1.01, 1.11, ['less', 'more'])).toBe('6 % more [1, 11]');
    expect(number.differenceText(1.0699, null, null, ['lower', 'higher'])).toBe('7.0 % higher');
    expect(number.differenceText(1.0188, 1.0041, 1.0334, ['less', 'more'])).toBe('1.9 % more [0.4, 3.3]');
  });
  test('say how many starts are higher and lower', () => {
    expect(number.sidesText([1.1, 0.9, 1.2])).toBe('2 starts higher, 1 lower');
    expect(number.sidesText([1.1, 0.9])).toBe('1 start higher, 1 lower');
    expect(number.sidesText([1.1, 1.2])).toBe('both starts higher');
    expect(number.sidesText([0.9, 0.8, 0.7])).toBe('all 3 starts lower');
    expect(number.sidesText([])).toBe('');
  });
  test('say a share as the terminal does', () => {
    const texts = [0, 0.0003, 0.011, 0.02, 0.146, 0.954, 0.9996, 1].map(number.shareText);
    expect(texts).toEqual(['0 %', '0.030 %', '1.1 %', '2 %', '15 %', '95 %', '99.9 %', '100 %']);
  });
  test('that are not finite become a dash', () => {
    expect(number.formatFixed(NaN, 1)).toBe('–');
    expect(number.formatFixed(Infinity, 1)).toBe('–');
  });
  test('of percentiles keep all nines', () => {
    expect(number.percentileText(99.9999)).toBe('99.9999');
    expect(number.percentileText(50)).toBe('50');
  });
});

describe('units', () => {
  test('suit the median of a column, not its extremes', () => {
    expect(unit.rateUnit([18_800, 17_300, 80]).name).toBe('k/s');
    expect(unit.rateUnit([80, 70, null]).name).toBe('/s');
    expect(unit.timeUnit([52_900, 57_200]).name).toBe('µs');
    expect(unit.bytesUnit([3.1e8]).name).toBe('MB');
  });
  test('of an empty column are the smallest', () => {
    expect(unit.timeUnit([]).name).toBe('ns');
    expect(unit.rateUnit([null, undefined, 0]).name).toBe('/s');
  });
  test('unknown to the page keep their name', () => {
    expect(unit.unitFor('joules', [3])).toEqual({ divisor: 1, name: 'joules' });
  });
  test('appear once, before the interval', () => {
    const kilo = { divisor: 1e3, name: 'k/s' };
    expect(unit.inUnitWithInterval({ value: 18_812, lo: 18_600, hi: 19_020 }, kilo)).toBe('18.8 k/s [18.6, 19.0]');
    expect(unit.inUnit(18_812, kilo)).toBe('18.8 k/s');
    expect(unit.inUnitWithInterval({ value: 18_812, lo: null, hi: null }, kilo)).toBe('18.8 k/s');
    expect([unit.inUnit(null, kilo), unit.inUnitWithInterval(null, kilo), unit.formatTime(undefined)]).toEqual([
      '–',
      '–',
      '–',
    ]);
  });
  test('of round times lose only trailing zeros', () => {
    expect([1.5e6, 7e6, 30e6, 150e3, 1e9].map(unit.formatRoundTime)).toEqual([
      '1.5 ms',
      '7 ms',
      '30 ms',
      '150 µs',
      '1 s',
    ]);
  });
  test('of durations and dates are readable', () => {
    expect(unit.durationText(224)).toBe('3 min 44 s');
    expect(unit.durationText(9_840)).toBe('2 h 44 min');
    expect(unit.momentText('2026-11-20T14:05:09Z')).toBe('20 November 2026, 14:05 UTC');
    expect(unit.momentText('yesterday')).toBe('yesterday');
    expect([0, 62, 220, 800].map(unit.roughlyText)).toEqual(['10 s', '60 s', '4 min', '15 min']);
  });
});

describe('text', () => {
  test('keeps numbers with their units, and ranges, on one line', () => {
    expect(preventBreaks('4.7–21.9 % in 9 min 44 s')).toBe('4.7\u2060–\u206021.9\u00a0% in 9\u00a0min 44\u00a0s');
    expect(preventBreaks('out 2.16 MB (+20.0 %)')).toBe('out 2.16\u00a0MB (+20.0\u00a0%)');
    expect(preventBreaks('in 3 starts')).toBe('in 3 starts');
    expect(preventBreaks('15 and 13 % more')).toBe('15\u00a0and\u00a013\u00a0% more');
    expect(preventBreaks('answered 1,507 requests/s')).toBe('answered 1,507\u00a0requests/s');
  });
});

describe('exports', () => {
  test('quote texts with commas, quotes and line breaks in CSV', () => {
    expect(toCsv(['a', 'b'], [['x,"y"\nz', 1.5]])).toBe('a,b\r\n"x,""y""\nz",1.5\r\n');
    expect(toCsv(['a', 'b'], [[null, NaN]])).toBe('a,b\r\n,\r\n');
  });
  test('do not let a spreadsheet run a formula', () => {
    expect(toCsv(['a'], [['=cmd()'], ['@x'], ['-1+1']])).toBe("a\r\n'=cmd()\r\n'@x\r\n'-1+1\r\n");
  });
  test('escape Markdown in text from a server', () => {
    expect(toMarkdown(['name', 'n'], [['<img>|x\ny', '1']], new Set([1]))).toBe(
      '| name | n |\n|---|---:|\n| \\<img\\>\\|x y | 1 |\n',
    );
  });
});
