// Saves a chart or an HTML table as SVG, as PNG at twice its size, or as CSV.

import { copyText, h, saveFile, showBriefly, svgElement, type Child } from '../dom';
import { toCsv } from '../format/export';
import { theme } from '../theme';
import { FONT, type Chart } from './echarts';
import type { Data } from './figure';

/** Sizes of a PNG, the best first. A canvas that is too large gives no picture: in Chromium above 65,535 pixels. */
const SCALES = [2, 1, 0.5, 0.25];

const TITLE_PX = 34;

interface Drawing {
  svg: SVGElement;
  width: number;
  height: number;
}

export function drawingOf(chart: Chart): Drawing {
  const svg = chart.getDom().querySelector('svg')!.cloneNode(true) as SVGElement;
  return { svg, width: chart.getWidth(), height: chart.getHeight() };
}

/** A drawing of a table with the colours of the screen: backgrounds and texts of its cells. */
export function tableDrawing(table: HTMLTableElement): Drawing {
  // Headings stay in view while the table scrolls in its frame, so they are at their places only where it is not scrolled.
  const scrolling = table.parentElement!;
  const { scrollLeft, scrollTop } = scrolling;
  Object.assign(scrolling, { scrollLeft: 0, scrollTop: 0 });
  const frame = table.getBoundingClientRect();
  const svg = svgElement('svg', {});
  for (const cell of table.querySelectorAll<HTMLTableCellElement>('th, td')) {
    const box = cell.getBoundingClientRect();
    const style = getComputedStyle(cell);
    const centred = style.textAlign === 'center';
    const [x, y] = [box.left - frame.left, box.top - frame.top];
    const rect = svgElement('rect', {
      x,
      y,
      width: box.width - 1,
      height: box.height - 1,
      fill: style.backgroundColor,
    });
    const text = svgElement('text', {
      x: centred ? x + box.width / 2 : x,
      y: y + box.height / 2,
      fill: getComputedStyle(cell.querySelector('a') ?? cell).color,
      'text-anchor': centred ? 'middle' : 'start',
      'dominant-baseline': 'central',
      style: `font: ${style.fontWeight} 13px ${FONT}`,
    });
    text.textContent = [...(cell.querySelector('a') ?? cell).childNodes]
      .filter((node) => !(node instanceof Element && node.classList.contains('sr')))
      .map((node) => node.textContent)
      .join('');
    svg.append(rect, text);
  }
  Object.assign(scrolling, { scrollLeft, scrollTop });
  return { svg, width: Math.ceil(frame.width), height: Math.ceil(frame.height) };
}

/** The drawing below its title, as a complete SVG file. */
function svgText({ svg, width, height }: Drawing, title: string): string {
  const { paper, ink } = theme();
  const sheet = svgElement('svg', { width, height: height + TITLE_PX, viewBox: `0 0 ${width} ${height + TITLE_PX}` });
  // Light letters of the dark theme would not be seen on the white of a document.
  const ground = svgElement('rect', { width: '100%', height: '100%', fill: paper });
  const head = svgElement('text', { x: 0, y: 16, fill: ink, style: `font: 600 15px ${FONT}` });
  head.textContent = title;
  svg.removeAttribute('style');
  for (const [name, value] of Object.entries({ y: TITLE_PX, width, height })) svg.setAttribute(name, String(value));
  sheet.append(ground, head, svg);
  return new XMLSerializer().serializeToString(sheet);
}

/** A drawing as PNG; null if it is too large for the browser. */
async function pngOf(drawing: Drawing, image: HTMLImageElement, scale: number): Promise<Blob | null> {
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(drawing.width * scale);
  canvas.height = Math.round((drawing.height + TITLE_PX) * scale);
  const context = canvas.getContext('2d');
  if (!context) return null;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
}

/** Saves a drawing as PNG at the best size that the browser can draw; returns whether there is one. */
async function savePng(drawing: Drawing, title: string, name: string): Promise<boolean> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(drawing, title))}`;
  await image.decode();
  for (const scale of SCALES) {
    const blob = await pngOf(drawing, image, scale).catch(() => null);
    if (blob) {
      saveFile(`${name}.png`, blob, blob.type);
      return true;
    }
  }
  return false;
}

interface Saved {
  id: string;
  title: () => string;
  drawing: () => Drawing;
  data: () => Data;
}

/** The buttons below a figure: SVG, PNG, CSV, others, and a link that is also copied. */
export function saveMenu({ id, title, drawing, data }: Saved, ...others: Child[]): HTMLElement {
  const name = `tare-${id}`;
  const button = (label: string, what: string, onclick: () => void) =>
    h('button', { type: 'button', onclick, 'aria-label': `${what}: ${title()}`, 'aria-live': 'polite' }, label);
  const png = button('PNG', 'Save as PNG', async () => {
    const isSaved = await savePng(drawing(), title(), name).catch(() => false);
    if (!isSaved) showBriefly(png, 'PNG', 'Too large: use SVG');
  });
  const link = h('a', { href: `#${id}`, 'aria-label': `Link to: ${title()}` }, 'Link');
  link.addEventListener('click', () => void copyText(location.href.replace(/#.*|$/, `#${id}`)));
  return h(
    'div',
    { class: 'figure-menu' },
    button('SVG', 'Save as SVG', () => saveFile(`${name}.svg`, svgText(drawing(), title()), 'image/svg+xml')),
    png,
    button('CSV', 'Save the data as CSV', () => saveFile(`${name}.csv`, toCsv(data().heads, data().rows), 'text/csv')),
    ...others,
    link,
  );
}
