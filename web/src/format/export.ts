// Tables as Markdown and CSV. Untrusted text stays one cell: quoted in CSV, escaped in Markdown.

/** CSV after RFC 4180. A text that looks like a formula gets an apostrophe, so that a spreadsheet does not run it. */
export function toCsv(heads: string[], rows: (string | number | null | undefined)[][]): string {
  return [heads, ...rows].map((row) => row.map(csvCell).join(',')).join('\r\n') + '\r\n';
}

function csvCell(value: string | number | null | undefined): string {
  if (value == null) return '';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A Markdown table; the columns with an index in `right` are aligned right. */
export function toMarkdown(heads: string[], rows: string[][], right: ReadonlySet<number> = new Set()): string {
  const line = (cells: string[]) => `| ${cells.map(markdownCell).join(' | ')} |`;
  const rule = `|${heads.map((_, i) => (right.has(i) ? '---:' : '---')).join('|')}|`;
  return [line(heads), rule, ...rows.map(line)].join('\n') + '\n';
}

function markdownCell(text: string): string {
  return text
    .replace(/[\\|`*_[\]<>~]/g, (c) => `\\${c}`)
    .replace(/\s*[\r\n]+\s*/g, ' ')
    .trim();
}
