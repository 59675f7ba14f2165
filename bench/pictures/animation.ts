// A recorded terminal as an SVG that moves: each line is there once for each span of time in which it does not change. Where
// nothing moves (a viewer who wants less motion, a program without animations), it shows the last screen.

import type { Screen, Size, Span } from './session.ts';

const LINE_PX = 19;
const CHARACTER_PX = 8.43;
const MARGIN_PX = 18;
const BAR_PX = 11;

const DARK =
  'background:#1b1f27;--ink:#d6dbe4;--bold:#fff;--dim:#707886;--red:#f07178;--green:#8fd16a;--yellow:#e6c25e';
const LIGHT =
  'background:#f6f8fa;--ink:#24292f;--bold:#000;--dim:#7d8590;--red:#c2202c;--green:#1a7f37;--yellow:#8a5d00';
const STYLE = [
  `svg{${DARK};border-radius:8px}`,
  `@media (prefers-color-scheme:light){svg{${LIGHT}}}`,
  `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:var(--ink);white-space:pre}`,
  ...['bold', 'dim', 'red', 'green', 'yellow'].map(
    (name) => `text .${name},rect.${name}{fill:var(--${name})}`,
  ),
  `text .bold{font-weight:bold}rect{fill:var(--ink)}rect.rest{fill:var(--dim);opacity:.35}`,
  `g{visibility:hidden}.last{visibility:visible}`,
].join('\n');

export type Playback = {
  /** How many times as fast as it was. */
  readonly speed: number;
  /** How long the last screen stays. */
  readonly restMs: number;
};

type ShownScreen = {
  readonly from: number;
  readonly to: number;
  readonly row: number;
  readonly spans: readonly Span[];
};

export function animationOf(
  screens: readonly Screen[],
  { columns }: Pick<Size, 'columns'>,
  { speed, restMs }: Playback,
): string {
  const moments = screens.map(({ atMs }) => atMs / speed);
  const lengthMs = (moments.at(-1) ?? 0) + restMs;
  const rows = Math.max(...screens.map(({ lines }) => lines.findLastIndex((spans) => spans.length > 0) + 1));
  const shown = Array.from({ length: rows }, (_, row) => spansOfTime(screens, row)).flat();
  const groups = Map.groupBy(shown, ({ from, to }) => `${from}-${to}`);
  const percent = (moment: number): string =>
    `${Number((((moments[moment] ?? lengthMs) / lengthMs) * 100).toFixed(2))}%`;
  const rules: string[] = [];
  const drawn: string[] = [];
  for (const [at, lines] of [...groups.values()].entries()) {
    const { from, to } = lines[0] as ShownScreen;
    const begin = from === 0 ? '' : '0%{visibility:hidden}';
    const end = to === screens.length ? '' : `${percent(to)}{visibility:hidden}`;
    rules.push(
      `@keyframes k${at}{${begin}${percent(from)}{visibility:visible}${end}to{visibility:${end === '' ? 'visible' : 'hidden'}}}#k${at}{animation-name:k${at}}`,
    );
    const last = to === screens.length ? ' class="last"' : '';
    drawn.push(`<g id="k${at}"${last}>${lines.map(drawLine).join('')}</g>`);
  }
  const [width, height] = [
    Math.round(columns * CHARACTER_PX + 2 * MARGIN_PX),
    rows * LINE_PX + 2 * MARGIN_PX,
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<style>${STYLE}`,
    `@media (prefers-reduced-motion:no-preference){g{animation:${(lengthMs / 1_000).toFixed(2)}s step-end infinite}`,
    ...rules,
    '}</style>',
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

/** The texts of a line, each with the screens on which it is visible. */
function spansOfTime(screens: readonly Screen[], row: number): readonly ShownScreen[] {
  const texts: ShownScreen[] = [];
  let before = '[]';
  for (const [moment, { lines }] of screens.entries()) {
    const spans = lines[row] ?? [];
    const text = JSON.stringify(spans);
    const last = texts.at(-1);
    if (text === before && last !== undefined && last.to === moment)
      texts[texts.length - 1] = { ...last, to: moment + 1 };
    else if (spans.length > 0) texts.push({ from: moment, to: moment + 1, row, spans });
    before = text;
  }
  return texts;
}

const xOf = (column: number): number => Number((MARGIN_PX + column * CHARACTER_PX).toFixed(1));

function drawLine({ row, spans }: ShownScreen): string {
  const y = MARGIN_PX + 14 + row * LINE_PX;
  const parts = spans.flatMap(partsOf);
  const texts = parts.filter(({ text }) => !isBar(text));
  const bars = parts.filter(({ text }) => isBar(text));
  const line = texts.map(
    ({ at, text, style }) => `<tspan x="${xOf(at)}"${classOf(style)}>${escaped(text)}</tspan>`,
  );
  return [
    ...(line.length === 0 ? [] : [`<text y="${y}">${line.join('')}</text>`]),
    ...bars.map(({ at, text, style }) => {
      const width = Number((text.length * CHARACTER_PX).toFixed(1));
      const name = text.startsWith('░') ? 'rest' : style;
      return `<rect x="${xOf(at)}" y="${y - BAR_PX + 1}" width="${width}" height="${BAR_PX}"${classOf(name)}/>`;
    }),
  ].join('');
}

/** Bars are drawn, because fonts differ in the size of their blocks. */
function partsOf({ at, text, style }: Span): readonly Span[] {
  let column = at;
  return text.split(/(█+|░+)/).flatMap((part) => {
    const from = column;
    column += part.length;
    return part.trim() === '' ? [] : [{ at: from, text: part, style }];
  });
}

const isBar = (text: string): boolean => /^[█░]/.test(text);

const classOf = (name: string): string => (name === '' ? '' : ` class="${name}"`);

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
