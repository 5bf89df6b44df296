// The table of all cells. It can be sorted, filtered and exported as Markdown and CSV. A row opens the details of its cell.

import { allowBreaks, copyButton, h, saveFile, scrollFrame } from '../dom';
import { toCsv, toMarkdown } from '../format/export';
import { explainTerms } from '../glossary';
import { openPanels, type Model } from '../model';
import type { Cell } from '../summary';
import { cellDetail } from './cell_detail';
import { columnsOf, type Column } from './columns';

/** Rows at first. The reader can ask for all: to lay out a thousand takes a browser long. */
const FIRST_ROWS = 60;

interface Row {
  cell: Cell;
  /** Created when it is shown for the first time. */
  element: HTMLTableRowElement | null;
  words: string;
}

const levelsNote = () =>
  h(
    'p',
    { class: 'note' },
    explainTerms(
      'p50 and p99 are of all starts together. A change is the geometric mean of the changes in each start, so it is not the quotient of two rows.',
    ),
  );

const isCompared = ({ summary }: Model): boolean => summary.comparisons.length > 0;

export class CellTable {
  readonly element: HTMLElement;
  private readonly columns: Column[];
  private rows: Row[];
  private limit = FIRST_ROWS;
  private readonly body = h('tbody', {});
  private readonly count = h('span', { class: 'count', role: 'status' });
  private readonly more = h('button', { type: 'button', class: 'button more', onclick: () => this.showAll() });
  private readonly filter = h('input', {
    type: 'search',
    placeholder: 'Filter: words of a row',
    'aria-label': 'Filter the cells',
    oninput: () => this.show(),
  });

  constructor(private readonly model: Model) {
    this.columns = columnsOf(model);
    this.rows = model.summary.cells.map((cell) => ({ cell, element: null, words: filterText(cell, this.columns) }));
    const heads = this.columns.map((column) => columnHeader(column, (down) => this.sort(column, down)));
    const table = h(
      'table',
      { class: 'cells' },
      h('caption', { class: 'sr' }, 'Every cell of the run'),
      h('thead', {}, h('tr', {}, ...heads)),
      this.body,
    );
    const exports = exportButtons(this.columns, () => this.matching());
    const controls = h('div', { class: 'controls' }, this.filter, this.count, ...exports);
    this.element = h(
      'div',
      {},
      isCompared(model) && levelsNote(),
      controls,
      scrollFrame('All cells', table),
      this.more,
    );
    this.show();
  }

  /** Opens a cell's details and brings its row into view. */
  async open(id: string): Promise<void> {
    const row = this.rows.find((r) => r.cell.id === id);
    if (!row) return;
    await openPanels(this.model, `${row.cell.group}/${row.cell.scenario}`);
    if (!this.matching().includes(row)) this.filter.value = '';
    this.limit = Math.max(this.limit, this.matching().indexOf(row) + 1);
    this.show();
    const element = this.elementOf(row);
    element.classList.add('target');
    const link = element.querySelector('a');
    const close = () => {
      this.show();
      link?.focus({ preventScroll: true });
    };
    const detail = cellDetail(this.model, row.cell, close);
    element.after(h('tr', { class: 'detail' }, h('td', { colspan: this.columns.length }, detail)));
    element.scrollIntoView({ block: 'center' });
    link?.focus({ preventScroll: true });
  }

  private matching(): Row[] {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    return this.rows.filter((row) => words.every((word) => row.words.includes(word)));
  }

  /** Shows the matching rows, and closes all details. */
  private show(): void {
    const found = this.matching();
    const all = this.rows.length;
    for (const marked of this.body.querySelectorAll('.target')) marked.classList.remove('target');
    this.body.replaceChildren(...found.slice(0, this.limit).map((row) => this.elementOf(row)));
    this.count.textContent = found.length === all ? `${all} cells` : `${found.length} of ${all} cells`;
    this.more.textContent = `Show all ${found.length} rows`;
    this.more.hidden = found.length <= this.limit;
  }

  private showAll(): void {
    this.limit = Infinity;
    this.show();
  }

  /** Sorts the rows. Those without a value are last in both directions. */
  private sort(column: Column, down: boolean): void {
    const sign = down ? -1 : 1;
    const keyed = this.rows.map((row) => ({ row, key: column.raw(row.cell) }));
    keyed.sort((a, b) => {
      if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
      if (typeof a.key === 'number' && typeof b.key === 'number') return sign * (a.key - b.key);
      return sign * COLLATOR.compare(String(a.key), String(b.key));
    });
    this.rows = keyed.map(({ row }) => row);
    this.show();
  }

  private elementOf(row: Row): HTMLTableRowElement {
    return (row.element ??= rowElement(row.cell, this.columns));
  }
}

const COLLATOR = new Intl.Collator('en', { numeric: true });

/** The text of a row that the filter searches, in lower case. */
function filterText(cell: Cell, columns: Column[]): string {
  const texts = columns.filter((c) => !c.numeric).map((c) => c.text(cell));
  return [...texts, cell.family, cell.kind, cell.version ?? ''].join(' ').toLowerCase();
}

function rowElement(cell: Cell, columns: Column[]): HTMLTableRowElement {
  const fields = columns.map((column, i) => {
    const text = column.text(cell);
    if (i === 0)
      return h('th', { scope: 'row' }, h('a', { href: `#cell=${encodeURIComponent(cell.id)}` }, allowBreaks(text)));
    if (column.head === 'validity') return h('td', { 'data-validity': cell.validity.state }, text);
    return h('td', column.numeric ? { class: 'number' } : {}, text);
  });
  return h('tr', { 'data-cell': cell.id, class: cell.baseline ? 'is-baseline' : null }, ...fields);
}

function columnHeader(column: Column, sort: (down: boolean) => void): HTMLElement {
  const th = h('th', { scope: 'col', class: column.numeric ? 'number' : '', 'aria-sort': 'none' });
  const button = h(
    'button',
    { type: 'button' },
    column.head,
    column.unit ? h('span', { class: 'unit' }, ` ${column.unit}`) : null,
  );
  button.addEventListener('click', () => {
    const before = th.getAttribute('aria-sort');
    const down = before === 'ascending' || (before === 'none' && column.numeric);
    for (const other of th.parentElement!.children) other.setAttribute('aria-sort', 'none');
    th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    sort(down);
  });
  th.append(button);
  return th;
}

function exportButtons(columns: Column[], shown: () => Row[]): HTMLElement[] {
  const heads = columns.map((c) => (c.unit ? `${c.head}, ${c.unit}` : c.head));
  const right = new Set(columns.flatMap((c, i) => (c.numeric ? [i] : [])));
  const csvHeads = columns.map((c) => c.csvHead);
  const texts = () => shown().map((r) => columns.map((c) => c.text(r.cell)));
  const values = () => shown().map((r) => columns.map((c) => c.raw(r.cell)));
  const markdown = () => toMarkdown(heads, texts(), right);
  const csv = () => toCsv(csvHeads, values());
  const save = () => saveFile('tare-cells.csv', csv(), 'text/csv');
  return [
    copyButton('Copy as Markdown', markdown),
    copyButton('Copy as CSV', csv),
    h('button', { type: 'button', class: 'button', onclick: save }, 'Save CSV'),
  ];
}
