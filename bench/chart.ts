// Draws a chart of bars as an SVG that reads in light and in dark pages.

export type Bar = {
  readonly name: string;
  readonly value: number;
  readonly text: string;
  readonly isOurs: boolean;
};

const WIDTH = 720;
const LEFT = 230;
const RIGHT = 90;
const ROW = 30;
const TOP = 46;
const BAR = 18;

/** A `mark` is a line that all bars can be compared with, such as the ideal. */
export function barsOf(title: string, bars: readonly Bar[], mark?: { value: number; name: string }): string {
  const most = Math.max(...bars.map(({ value }) => value), mark?.value ?? 0);
  const across = (value: number): number => LEFT + ((WIDTH - LEFT - RIGHT) * value) / most;
  const height = TOP + ROW * bars.length + 14;
  const rows = bars.map(({ name, value, text, isOurs }, at) => {
    const y = TOP + ROW * at;
    const middle = y + BAR / 2 + 5;
    return [
      `<text x="${LEFT - 10}" y="${middle}" text-anchor="end">${escaped(name)}</text>`,
      `<rect class="${isOurs ? 'own' : 'other'}" x="${LEFT}" y="${y}" width="${(across(value) - LEFT).toFixed(1)}" height="${BAR}" rx="3"/>`,
      `<text x="${(across(value) + 8).toFixed(1)}" y="${middle}">${escaped(text)}</text>`,
    ].join('');
  });
  const line =
    mark === undefined
      ? ''
      : `<line class="mark" x1="${across(mark.value)}" x2="${across(mark.value)}" y1="${TOP - 6}" y2="${height - 12}"/><text class="small" x="${across(mark.value)}" y="${TOP - 12}" text-anchor="end">${escaped(mark.name)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img" aria-label="${escaped(title)}"><style>${STYLE}</style><text class="title" x="0" y="20">${escaped(title)}</text>${line}${rows.join('')}</svg>\n`;
}

const STYLE = [
  'text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600;font-size:15px}.small{font-size:11px;fill:#656d76}',
  '.own{fill:#2f6feb}.other{fill:#afb8c1}.mark{stroke:#656d76;stroke-dasharray:3 3}',
  '@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#8d96a0}.other{fill:#57606a}.mark{stroke:#8d96a0}}',
].join('');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
