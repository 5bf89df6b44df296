// Makes all elements of the page. Text is always inserted as text, never as markup, because a server can send markup.

type Attrs = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;
export type Child = Node | string | null | undefined | false;

/** An element with attributes, listeners (`onclick: fn`) and the children that are not empty; strings become text nodes. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attrs: Attrs = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(attrs)) {
    if (typeof value === 'function') el.addEventListener(name.slice(2), value);
    else if (value === true) el.setAttribute(name, '');
    else if (value !== false && value != null) el.setAttribute(name, String(value));
  }
  for (const child of children) if (child) el.append(child);
  return el;
}

/** Creates an element of SVG; numbers are rounded to a hundredth of a pixel. */
export function svgElement<K extends keyof SVGElementTagNameMap>(tag: K, attrs: Record<string, string | number>) {
  const el = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attrs))
    el.setAttribute(name, typeof value === 'number' ? String(Number(value.toFixed(2))) : value);
  return el;
}

/** A sign, which screen readers leave out, and its word. */
export const signedWord = (glyph: string, word: string): Child[] => [
  h('span', { class: 'glyph', 'aria-hidden': 'true' }, glyph),
  ` ${word}`,
];

/** Allows line breaks after dots and slashes, so that long server names fit a narrow column. */
export function allowBreaks(text: string): DocumentFragment {
  const out = document.createDocumentFragment();
  for (const part of text.split(/(?<=[./])/)) out.append(part, document.createElement('wbr'));
  return out;
}

/** Longer texts, in characters, get line breaks or a scrolling box. */
export const LONG_TEXT = 400;

/** Allows a line break after every 64 characters of a long word. To break a word of 10 KB anywhere takes a browser seconds. */
export function splitLongWords(text: string): DocumentFragment {
  const out = document.createDocumentFragment();
  for (const part of text.split(/(\S{64})(?=\S)/u)) if (part) out.append(part, document.createElement('wbr'));
  return out;
}

/** Puts a long text of a table cell into a box that scrolls. */
export function boxLongText(text: Child): Child {
  return typeof text === 'string' && text.length > LONG_TEXT
    ? h('div', { class: 'long', tabindex: '0' }, splitLongWords(text))
    : text;
}

/** A plain table of headings and rows; the first column holds row headings. */
export function plainTable(caption: string, heads: Child[], rows: Child[][], attrs: Attrs = {}): HTMLTableElement {
  // An empty heading would make a screen reader announce an empty column name.
  const headCells = heads.map((head) => (head ? h('th', { scope: 'col' }, head) : h('td', {})));
  const head = heads.some(Boolean) && h('thead', {}, h('tr', {}, ...headCells));
  const field = (c: Child, i: number) => h(i ? 'td' : 'th', i ? {} : { scope: 'row' }, boxLongText(c));
  const lines = rows.map((row) => h('tr', {}, ...row.map(field)));
  return h('table', attrs, caption && h('caption', {}, caption), head, h('tbody', {}, ...lines));
}

/** A frame in which a table scrolls that is too wide for the screen. */
export function scrollFrame(label: string, table: HTMLTableElement): HTMLElement {
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, table);
}

/** A table that is too wide for narrow screens. It scrolls; its title does not. */
export function scrollingTable(title: string, heads: Child[], rows: Child[][], classes = 'cells'): HTMLElement {
  const table = plainTable('', heads, rows, { class: classes, 'aria-label': title });
  return h('div', { class: 'titled' }, h('h3', {}, title), scrollFrame(title, table));
}

/** Copies text to the clipboard, even without clipboard permission (a file opened from disk); returns whether it worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h('textarea', { class: 'sr', 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

/** Shows a text on a button for a moment instead of its label. */
export function showBriefly(button: HTMLButtonElement, label: string, text: string): void {
  button.textContent = text;
  setTimeout(() => (button.textContent = label), 2000);
}

/** A button that copies the result of `text` and shows the outcome for a moment. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const button = h('button', { type: 'button', class: 'button', 'aria-live': 'polite' }, label);
  button.addEventListener('click', async () => {
    showBriefly(button, label, (await copyText(text())) ? 'Copied' : 'Could not copy');
  });
  return button;
}

export function saveFile(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h('a', { href: url, download: name.replace(/[^\p{L}\p{N}_.-]+/gu, '-') }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
