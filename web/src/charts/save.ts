// Saves a chart or an HTML table as SVG, or as PNG at twice its size.

import { h, saveFile, showBriefly, svgElement } from '../dom';
import { theme } from '../theme';
import { FONT, type Chart } from './echarts';

/** Sizes of a PNG, the best first. A canvas that is too large gives no picture: in Chromium above 65,535 pixels. */
const SCALES = [2, 1, 0.5, 0.25];

const TITLE_PX = 34;

/** A drawing that can be saved. */
export interface Drawing {
  title: string;
  ink: string;
  svg: SVGElement;
  width: number;
  height: number;
}

/** The current drawing of a chart. */
export function drawingOf(chart: Chart, title: string, ink: string): Drawing {
  const svg = chart.getDom().querySelector('svg')!.cloneNode(true) as SVGElement;
  return { title, ink, svg, width: chart.getWidth(), height: chart.getHeight() };
}

/** A drawing of a table with the colours of the screen: backgrounds and texts of its cells. */
export function tableDrawing(table: HTMLTableElement, title: string, ink: string): Drawing {
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
  return { title, ink, svg, width: Math.ceil(frame.width), height: Math.ceil(frame.height) };
}

/** The drawing below its title, as a complete SVG file. */
function svgText({ title, ink, svg, width, height }: Drawing): string {
  const sheet = svgElement('svg', { width, height: height + TITLE_PX, viewBox: `0 0 ${width} ${height + TITLE_PX}` });
  // Light letters of the dark theme would not be seen on the white of a document.
  const paper = svgElement('rect', { width: '100%', height: '100%', fill: theme().paper });
  const head = svgElement('text', { x: 0, y: 16, fill: ink, style: `font: 600 15px ${FONT}` });
  head.textContent = title;
  svg.removeAttribute('style');
  for (const [name, value] of Object.entries({ y: TITLE_PX, width, height })) svg.setAttribute(name, String(value));
  sheet.append(paper, head, svg);
  return new XMLSerializer().serializeToString(sheet);
}

/** Saves a drawing as SVG. */
export function saveSvg(drawing: Drawing, name: string): void {
  saveFile(`${name}.svg`, new Blob([svgText(drawing)], { type: 'image/svg+xml' }));
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
async function savePng(drawing: Drawing, name: string): Promise<boolean> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(drawing))}`;
  await image.decode();
  for (const scale of SCALES) {
    const blob = await pngOf(drawing, image, scale).catch(() => null);
    if (blob) {
      saveFile(`${name}.png`, blob);
      return true;
    }
  }
  return false;
}

/** A button that saves a drawing as PNG, and says so if it is too large for one. */
export function pngButton(label: string, drawing: () => Drawing, name: string): HTMLButtonElement {
  const button = h('button', { type: 'button', 'aria-label': label, 'aria-live': 'polite' }, 'PNG');
  button.addEventListener('click', async () => {
    const isSaved = await savePng(drawing(), name).catch(() => false);
    if (!isSaved) showBriefly(button, 'PNG', 'Too large: use SVG');
  });
  return button;
}
