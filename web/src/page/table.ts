// Every cell in one table: sorts, filters, copies as Markdown and CSV; a row opens into the cell's details.

import { add, breakable, copyButton, h, saveFile } from '../dom';
import { toCsv, toMarkdown } from '../format/export';
import type { Model } from '../model';
import type { Cell } from '../summary';
import { cellDetail } from './cell_detail';
import { columnsOf, type Column } from './columns';

/** From this many rows on, and how high one is, about. */
const MANY = 200;
const ROW_PX = 31;

interface Row {
  cell: Cell;
  element: HTMLTableRowElement;
  words: string;
}

/** The table, and a way to open a cell in it. */
export interface CellTable {
  element: HTMLElement;
  /** Opens a cell's details and brings its row into view; false when there is no such cell. */
  open(id: string): boolean;
}

export function cellTable(model: Model): CellTable {
  const columns = columnsOf(model);
  const rows = model.summary.cells.map((cell): Row => rowOf(cell, columns));
  const body = h('tbody', {}, ...rows.map((r) => r.element));
  const shown = () => [...body.children].flatMap((tr) => rows.filter((r) => r.element === tr && !r.element.hidden));
  const count = h('span', { class: 'count', role: 'status' });
  const filter = h('input', {
    type: 'search',
    placeholder: 'Filter: words of a row',
    'aria-label': 'Filter the cells',
  });
  const sayCount = (n: number) =>
    (count.textContent = n === rows.length ? `${n} cells` : `${n} of ${rows.length} cells`);
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    closeDetails(body);
    for (const row of rows) row.element.hidden = !words.every((w) => row.words.includes(w));
    sayCount(rows.filter((r) => !r.element.hidden).length);
  };
  filter.addEventListener('input', apply);
  sayCount(rows.length);

  const heads = columns.map((column) => headOf(column, (down) => sortRows(body, rows, column, down)));
  const table = h(
    'table',
    { class: 'cells' },
    h('caption', { class: 'sr' }, 'Every cell of the run'),
    h('thead', {}, h('tr', {}, ...heads)),
    body,
  );
  const controls = h('div', { class: 'controls' }, filter, count, ...exportsOf(columns, shown));
  const scroll = h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'All cells' }, table);
  if (rows.length > MANY) {
    // A long table is laid out only when the reader comes near it.
    scroll.style.contentVisibility = 'auto';
    scroll.style.containIntrinsicSize = `auto ${rows.length * ROW_PX}px`;
  }
  const element = h('div', {}, controls, scroll);
  return {
    element,
    open: (id) => {
      const row = rows.find((r) => r.cell.id === id);
      if (!row) return false;
      if (row.element.hidden) {
        filter.value = '';
        apply();
      }
      toggleDetail(row, model, columns.length, true);
      row.element.scrollIntoView({ block: 'center' });
      row.element.querySelector('a')?.focus({ preventScroll: true });
      return true;
    },
  };
}

function rowOf(cell: Cell, columns: Column[]): Row {
  const element = h('tr', { 'data-cell': cell.id });
  if (cell.baseline) element.classList.add('is-baseline');
  const texts = columns.map((c) => c.text(cell));
  columns.forEach((column, i) => {
    const text = texts[i]!;
    if (i === 0) {
      const link = h('a', { href: `#cell=${encodeURIComponent(cell.id)}` }, breakable(text));
      add(element, h('th', { scope: 'row' }, link));
    } else if (column.head === 'validity') add(element, h('td', { 'data-validity': cell.validity.state }, text));
    else add(element, h('td', column.numeric ? { class: 'number' } : {}, text));
  });
  const words = [...texts.filter((_, i) => !columns[i]!.numeric), cell.family, cell.kind, cell.version ?? ''];
  return { cell, element, words: words.join(' ').toLowerCase() };
}

function headOf(column: Column, sort: (down: boolean) => void): HTMLElement {
  const th = h('th', { scope: 'col', class: column.numeric ? 'number' : '', 'aria-sort': 'none' });
  const button = h(
    'button',
    { type: 'button' },
    column.head,
    column.unit ? h('span', { class: 'unit' }, ` ${column.unit}`) : null,
  );
  button.addEventListener('click', () => {
    const down =
      th.getAttribute('aria-sort') === (column.numeric ? 'none' : 'ascending') ||
      th.getAttribute('aria-sort') === 'ascending';
    for (const other of th.parentElement!.children) other.setAttribute('aria-sort', 'none');
    th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    sort(down);
  });
  th.append(button);
  return th;
}

/** Sorts the rows in place; what has no value stays last either way. */
function sortRows(body: HTMLElement, rows: Row[], column: Column, down: boolean): void {
  closeDetails(body);
  const sign = down ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: column.raw(row.cell) }));
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
    if (typeof a.key === 'number' && typeof b.key === 'number') return sign * (a.key - b.key);
    return sign * String(a.key).localeCompare(String(b.key), 'en', { numeric: true });
  });
  body.append(...keyed.map((k) => k.row.element));
}

function closeDetails(body: HTMLElement): void {
  for (const detail of body.querySelectorAll('tr.detail')) detail.remove();
}

function toggleDetail(row: Row, model: Model, span: number, open: boolean): void {
  const body = row.element.parentElement!;
  for (const marked of body.querySelectorAll('.target')) marked.classList.remove('target');
  closeDetails(body);
  if (!open) return;
  row.element.classList.add('target');
  row.element.after(h('tr', { class: 'detail' }, h('td', { colspan: span }, cellDetail(model, row.cell))));
}

function exportsOf(columns: Column[], shown: () => Row[]): HTMLElement[] {
  const heads = columns.map((c) => (c.unit ? `${c.head}, ${c.unit}` : c.head));
  const right = new Set(columns.flatMap((c, i) => (c.numeric ? [i] : [])));
  const markdown = () =>
    toMarkdown(
      heads,
      shown().map((r) => columns.map((c) => c.text(r.cell))),
      right,
    );
  const csv = () =>
    toCsv(
      columns.map((c) => c.csvHead),
      shown().map((r) => columns.map((c) => c.raw(r.cell))),
    );
  const save = () => saveFile('tare-cells.csv', new Blob([csv()], { type: 'text/csv' }));
  return [
    copyButton('Copy as Markdown', markdown),
    copyButton('Copy as CSV', csv),
    h('button', { type: 'button', class: 'button', onclick: save }, 'Save CSV'),
  ];
}
