// The frame of a chart: title, drawing, text alternative, and buttons to save it. It draws when it comes near the screen, and
// again when its width, the theme or a choice changes.

import { h, plainTable } from '../dom';
import { explainTerms } from '../glossary';
import { choice, watch, type Choice } from '../state';
import { LIGHT, onThemeChange, theme, type Theme } from '../theme';
import { ChartCursor, type CursorSpec } from './cursor';
import { openChart, type Chart, type Option } from './echarts';
import { NAMED_PX } from './end_labels';
import { drawingOf, saveMenu } from './save';

export type Value = string | number | null | undefined;

/** The data of a chart as a table, for CSV and for screen readers. */
export interface Data {
  heads: string[];
  rows: Value[][];
}

/** An entry of the key: a name, its colour, and its line style if lines differ in it. */
export interface KeyItem {
  label: string;
  colour: string;
  stroke?: 'solid' | 'dashed' | 'dotted';
}

type Note = string | (string | false | undefined)[];

export interface FigureSpec {
  id: string;
  title: string | (() => string);
  /** Below the title. Empty sentences are left out. */
  note?: Note | (() => Note);
  /** What a click does. Shown after the note on a screen, but not on paper. */
  hint?: string | (() => string);
  watch?: (keyof Choice)[];
  height(width: number): number;
  /** The height of the rows of small multiples. A printed page ends between rows. */
  rowPx?: number;
  draw(width: number, t: Theme): Option;
  data(): Data;
  /** One or two sentences that say what a sighted reader sees. */
  alternative(): string;
  /** Called with the id of the clicked mark (`name` of the item in the series data). */
  onPick?: (name: string) => void;
  controls?: Node[];
  /** The key. It is shown if the drawing is too narrow for names at the lines. */
  key?: (t: Theme) => KeyItem[];
  /** Shows the key at every width. */
  alwaysKey?: boolean;
  cursor?: CursorSpec;
}

const PRINT_WIDTH_PX = 672;
const TABLE_ROWS = 300;
const liveFigures = new Set<Figure>();
let isPrinting = false;
const resolveText = (value: string | (() => string)) => (typeof value === 'function' ? value() : value);
const joinSentences = (note: Note | (() => Note)) =>
  [typeof note === 'function' ? note() : note].flat().filter(Boolean).join(' ');

class Figure {
  readonly element: HTMLElement;
  private readonly place = h('div', { class: 'chart', role: 'img', tabindex: '0' });
  private readonly title = h('h3', {});
  private readonly note = h('p', { class: 'note' });
  private readonly key = h('ul', { class: 'key', 'aria-hidden': 'true' });
  /** The rows of the drawing as separate elements, for paper. */
  private readonly rows = h('div', { class: 'paper-rows', 'aria-hidden': 'true' });
  private readonly hidden = h('div', { class: 'sr' });
  private readonly cursor: ChartCursor | null;
  private readonly unwatch: () => void;
  private chart: Chart | null = null;
  private isNear = false;
  private width = 0;

  constructor(private readonly spec: FigureSpec) {
    this.cursor = spec.cursor ? new ChartCursor(this.place, spec.cursor) : null;
    const box = h('div', { class: 'chart-box' }, this.place, this.cursor?.overlay);
    this.element = h(
      'figure',
      { id: spec.id, class: 'figure' },
      h('figcaption', {}, this.title, this.note),
      spec.controls?.length ? h('div', { class: 'controls' }, ...spec.controls) : null,
      this.key,
      this.cursor?.readout,
      box,
      this.rows,
      this.hidden,
      this.menu(),
    );
    this.place.style.height = `${spec.height(640)}px`;
    this.updateTexts();
    liveFigures.add(this);
    this.unwatch = watch(spec.watch ?? [], () => this.refresh());
    new IntersectionObserver((entries) => this.onNear(entries.some((e) => e.isIntersecting)), {
      rootMargin: '500px 0px',
    }).observe(this.element);
    new ResizeObserver(() => this.isNear && this.place.clientWidth !== this.width && this.draw()).observe(this.place);
  }

  private onNear(isNear: boolean): void {
    if (isNear && !this.isNear) {
      this.isNear = true;
      if (this.element.isConnected) this.draw();
    }
  }

  /** Draws again if the chart is near the screen; otherwise it draws when it comes near. */
  refresh(): void {
    this.updateTexts();
    this.rows.replaceChildren();
    if (this.isNear) this.draw();
    else this.place.style.height = `${this.spec.height(this.place.clientWidth || 640)}px`;
  }

  private updateTexts(): void {
    this.title.textContent = resolveText(this.spec.title);
    const { note = '', hint: hintOf = '' } = this.spec;
    const [text, hint] = [joinSentences(note), resolveText(hintOf)];
    this.note.replaceChildren(explainTerms(text));
    if (hint) this.note.append(h('span', { class: 'hint' }, `${text && ' '}${hint}`));
    this.note.hidden = !this.note.textContent;
    this.place.setAttribute('aria-label', `${resolveText(this.spec.title)}. ${this.spec.alternative()}`);
  }

  /** Draws in the current theme at the width of the element; on paper, in the light theme at the width of the sheet. */
  draw(): void {
    const t = isPrinting ? LIGHT : theme();
    const width = isPrinting ? PRINT_WIDTH_PX : this.place.clientWidth;
    if (!width) return;
    const height = this.spec.height(width);
    this.width = width;
    this.place.style.height = `${height}px`;
    if (!this.chart) {
      this.chart = openChart(this.place, width, height);
      this.chart.on('click', (event) => {
        if (event.name) this.spec.onPick?.(event.name);
      });
    } else this.chart.resize({ width, height, silent: true });
    this.chart.setOption(this.spec.draw(width, t), { notMerge: true });
    this.chart.getZr().flush();
    this.cursor?.refresh();
    this.fillKey(t, width);
    this.fillTable();
    if (isPrinting && this.spec.rowPx) this.rows.replaceChildren(...this.splitRows(this.spec.rowPx, width, height));
  }

  /** Copies of the drawing that each show one row. A single drawing would be cut anywhere by the end of a page. */
  private splitRows(rowPx: number, width: number, height: number): Node[] {
    const count = Math.round(height / rowPx);
    return Array.from({ length: count > 1 ? count : 0 }, (_, row) => {
      const copy = this.place.querySelector('svg')!.cloneNode(true) as SVGElement;
      copy.setAttribute('viewBox', `0 ${row * rowPx} ${width} ${rowPx}`);
      copy.setAttribute('height', String(rowPx));
      copy.removeAttribute('style');
      return copy;
    });
  }

  private fillKey(t: Theme, width: number): void {
    const items = this.spec.alwaysKey || width < NAMED_PX ? (this.spec.key?.(t) ?? []) : [];
    this.key.replaceChildren(
      ...items.map(({ label, colour, stroke = 'solid' }) =>
        h('li', {}, h('i', { style: `border-top-style: ${stroke}; border-top-color: ${colour}` }), label),
      ),
    );
  }

  private fillTable(): void {
    const { heads, rows } = this.spec.data();
    const shown = rows.slice(0, TABLE_ROWS).map((row) => row.map((v) => (v == null ? '–' : String(v))));
    const more = rows.length > TABLE_ROWS ? ` The first ${TABLE_ROWS} of ${rows.length} rows; the CSV has all.` : '';
    this.hidden.replaceChildren(plainTable(`Data of “${resolveText(this.spec.title)}”.${more}`, heads, shown));
  }

  private menu(): HTMLElement {
    const drawnChart = () => {
      this.isNear = true;
      if (!this.chart) this.draw();
      return this.chart!;
    };
    const { id, title } = this.spec;
    return saveMenu({
      id,
      title: () => resolveText(title),
      drawing: () => drawingOf(drawnChart()),
      data: () => this.spec.data(),
    });
  }

  dispose(): void {
    this.unwatch();
    this.chart?.dispose();
    this.cursor?.dispose();
    liveFigures.delete(this);
  }
}

/** Creates a figure. It draws again when a choice in `watch` changes. */
export function figure(spec: FigureSpec): HTMLElement {
  return new Figure(spec).element;
}

/** An element that is filled again when a choice changes. It disposes of the figures that it removes. */
export function rerenderOn(keys: (keyof Choice)[], fill: () => Node[]): HTMLElement {
  const place = h('div', { class: 'figures' });
  const refill = () => {
    for (const f of liveFigures) if (place.contains(f.element)) f.dispose();
    place.replaceChildren(...fill());
  };
  watch(keys, refill);
  refill();
  return place;
}

interface Item<K extends keyof Choice> {
  value: Choice[K] & string;
  text: string;
}

/** Gives each set of tabs its own name of radio buttons. */
let tabSetCount = 0;

/** Tabs for one choice, of which `chosen` is marked. For the keyboard they are a radio group. */
export function tabs<K extends keyof Choice>(
  label: string,
  key: K,
  items: Item<K>[],
  onChoose: (value: Choice[K] & string) => void,
  chosen: () => unknown = () => choice[key],
): HTMLElement {
  const name = `tabs-${++tabSetCount}`;
  const inputs = items.map(({ value }) =>
    h('input', { type: 'radio', name, value, checked: chosen() === value, onchange: () => onChoose(value) }),
  );
  watch([key], () => inputs.forEach((input) => (input.checked = input.value === chosen())));
  const labels = items.map((item, i) => h('label', {}, inputs[i]!, h('span', {}, item.text)));
  return h('fieldset', { class: 'tabs' }, h('legend', { class: 'sr' }, label), ...labels);
}

/** A list for one choice, where tabs would be too many or too long. */
export function list<K extends keyof Choice>(
  label: string,
  key: K,
  items: Item<K>[],
  onChoose: (value: Choice[K] & string) => void,
): HTMLElement {
  const select = h(
    'select',
    { 'aria-label': label, onchange: () => onChoose(select.value as Choice[K] & string) },
    ...items.map(({ value, text }) => h('option', { value }, text)),
  );
  const mark = () => (select.value = String(choice[key]));
  watch([key], mark);
  mark();
  return select;
}

onThemeChange(() => liveFigures.forEach((f) => f.refresh()));
// For printing every chart is drawn. After that, all are drawn for the screen again.
window.addEventListener('beforeprint', () => {
  isPrinting = true;
  liveFigures.forEach((f) => f.draw());
});
window.addEventListener('afterprint', () => {
  isPrinting = false;
  liveFigures.forEach((f) => f.refresh());
});
