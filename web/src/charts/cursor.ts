// A crosshair and a zoom along the x axis of a chart, by pointer and by keyboard. Charts with the same key share the crosshair.

import { h } from '../dom';

export interface Reading {
  at: string;
  values: [name: string, value: string][];
}

/** The margins of a plot, in pixels. */
export interface Margins {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface CursorSpec {
  /** The crosshairs of charts with the same key move together. */
  key: string;
  /** The margins of the plot, and the axis values at its left and right side. */
  plot(width: number): Margins & { from: number; to: number };
  /** The axis values at which the keyboard stops, in ascending order. */
  stops(): number[];
  read(x: number): Reading;
  /** Zooms to a part of the axis, or out to all of it (null). A chart without this cannot be zoomed. */
  zoom?: (part: [number, number] | null) => void;
}

/** A drag shorter than this is a click. */
const MIN_DRAG_PX = 8;
/** How many stops a key moves the crosshair. */
const STEPS: Record<string, number> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  PageUp: -10,
  PageDown: 10,
  Home: -Infinity,
  End: Infinity,
};
/** By how much a key widens the visible part of the axis. */
const FACTORS: Record<string, number> = { '+': 0.5, '=': 0.5, '-': 2 };
const groups = new Map<string, Set<ChartCursor>>();

export class ChartCursor {
  /** The element above the drawing. */
  readonly overlay: HTMLElement;
  readonly readout = h('p', { class: 'readout' });
  private readonly line = h('div', { class: 'crosshair', hidden: true });
  private readonly brush = h('div', { class: 'brush', hidden: true });
  private at: number | null = null;
  private pointer = [Number.NaN, Number.NaN];

  constructor(
    private readonly place: HTMLElement,
    private readonly spec: CursorSpec,
  ) {
    this.overlay = h('div', { class: 'chart-overlay', 'aria-hidden': 'true' }, this.line, this.brush);
    place.setAttribute('role', 'application');
    place.setAttribute('aria-roledescription', 'chart');
    if (spec.zoom) place.classList.add('zoomable');
    place.addEventListener('pointermove', (event) => this.onPointerMove(event));
    place.addEventListener('pointerleave', () => this.moveGroup(null));
    place.addEventListener('pointerdown', (event) => this.onPointerDown(event));
    place.addEventListener('dblclick', () => spec.zoom?.(null));
    place.addEventListener('keydown', (event) => this.onKeyDown(event));
    place.addEventListener('focus', () => this.readout.setAttribute('aria-live', 'polite'));
    place.addEventListener('blur', () => this.readout.removeAttribute('aria-live'));
    const group = groups.get(spec.key) ?? new Set();
    groups.set(spec.key, group.add(this));
    this.show(null);
  }

  /** Draws the crosshair again, for instance at another width. */
  refresh(): void {
    this.show(this.at);
  }

  dispose(): void {
    groups.get(this.spec.key)?.delete(this);
  }

  private moveGroup(at: number | null): void {
    for (const cursor of groups.get(this.spec.key) ?? []) cursor.show(at);
  }

  private show(at: number | null): void {
    const plot = this.spec.plot(this.place.clientWidth);
    this.at = at;
    const shown = at !== null && at >= plot.from && at <= plot.to;
    this.line.hidden = !shown;
    if (!shown) {
      const zoom = this.spec.zoom ? 'Drag to zoom, double-click for all. ' : '';
      const keys = this.spec.zoom ? '← → move, + − zoom, Esc shows all.' : '← → move.';
      this.readout.replaceChildren(`${zoom}Keys: ${keys}`);
      return;
    }
    this.placeMark(this.line, at, at);
    const { at: where, values } = this.spec.read(at);
    const items = values.flatMap(([name, value]) => [h('span', {}, `${name} `, h('b', {}, value))]);
    this.readout.replaceChildren(h('span', {}, where), ...items);
  }

  private placeMark(mark: HTMLElement, from: number, to: number): void {
    const width = this.place.clientWidth;
    const plot = this.spec.plot(width);
    const toPx = (x: number) => ((x - plot.from) / (plot.to - plot.from || 1)) * (width - plot.left - plot.right);
    const [a, b] = [toPx(from), toPx(to)].sort((x, y) => x - y) as [number, number];
    Object.assign(mark.style, { left: `${plot.left + a}px`, width: `${Math.max(1, b - a)}px` });
    Object.assign(mark.style, { top: `${plot.top}px`, bottom: `${plot.bottom}px` });
  }

  /** The axis value under a pointer; outside the plot, that of the nearest side. */
  private axisValueAt(event: PointerEvent): number {
    const { left, right, from, to } = this.spec.plot(this.place.clientWidth);
    const box = this.place.getBoundingClientRect();
    const share = (event.clientX - box.left - left) / (box.width - left - right);
    return from + Math.min(1, Math.max(0, share)) * (to - from);
  }

  private onPointerMove(event: PointerEvent): void {
    // When the page scrolls under a pointer that rests, the crosshair stays where the keyboard has put it.
    const { clientX, clientY } = event;
    if (clientX === this.pointer[0] && clientY === this.pointer[1]) return;
    this.pointer = [clientX, clientY];
    this.moveGroup(this.axisValueAt(event));
  }

  private onPointerDown(event: PointerEvent): void {
    if (!this.spec.zoom || event.button !== 0) return;
    const from = this.axisValueAt(event);
    const isDrag = ({ clientX }: PointerEvent) => Math.abs(clientX - event.clientX) >= MIN_DRAG_PX;
    const onDrag = (moved: PointerEvent) => {
      this.brush.hidden = !isDrag(moved);
      this.placeMark(this.brush, from, this.axisValueAt(moved));
    };
    const stop = () => {
      this.brush.hidden = true;
      removeEventListener('pointermove', onDrag);
      removeEventListener('pointerup', onRelease);
      removeEventListener('pointercancel', stop);
    };
    const onRelease = (up: PointerEvent) => {
      const part = [from, this.axisValueAt(up)].sort((a, b) => a - b) as [number, number];
      stop();
      if (isDrag(up) && part[0] < part[1]) this.spec.zoom!(part);
    };
    addEventListener('pointermove', onDrag);
    addEventListener('pointerup', onRelease);
    addEventListener('pointercancel', stop);
  }

  private onKeyDown(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in STEPS) this.step(STEPS[event.key]!);
    else if (this.spec.zoom && event.key in FACTORS) this.scale(FACTORS[event.key]!);
    else if (this.spec.zoom && ['Escape', '0'].includes(event.key)) this.spec.zoom(null);
    else return;
    event.preventDefault();
  }

  /** Moves the crosshair by some stops within the visible part. */
  private step(by: number): void {
    const { from, to } = this.spec.plot(this.place.clientWidth);
    const stops = this.spec.stops().filter((x) => x >= from && x <= to);
    if (!stops.length) return;
    const at = this.at ?? from;
    const here = by > 0 ? stops.findLastIndex((x) => x <= at) : stops.findIndex((x) => x >= at);
    const begin = here < 0 ? (by > 0 ? -1 : stops.length) : here;
    this.moveGroup(stops[Math.min(stops.length - 1, Math.max(0, begin + by))]!);
  }

  /** Multiplies the visible part of the axis by `factor`, around the crosshair. */
  private scale(factor: number): void {
    const { from, to } = this.spec.plot(this.place.clientWidth);
    const middle = this.at ?? (from + to) / 2;
    const half = ((to - from) * factor) / 2;
    const stops = this.spec.stops();
    const [min, max] = [stops[0] ?? from, stops.at(-1) ?? to];
    const part: [number, number] = [Math.max(min, middle - half), Math.min(max, middle + half)];
    const isAll = part[0] <= min && part[1] >= max;
    this.spec.zoom!(isAll ? null : part);
    this.moveGroup(middle);
  }
}
