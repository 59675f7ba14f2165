// A recorded terminal as an SVG. It knows what our live view writes: lines, colours, and "up so many lines, and clear".

const ESCAPE = '\u001B';
const REDRAW = new RegExp(String.raw`${ESCAPE}\[(\d+)A${ESCAPE}\[0J`);
const COLOUR = new RegExp(String.raw`${ESCAPE}\[(\d+)m`);
const LINE_PX = 19;
const CHARACTER_PX = 8.43;
const MARGIN_PX = 18;

/** The class of the text after each colour code. */
const CLASS: Readonly<Record<string, string>> = {
  '1': 'bold',
  '2': 'dim',
  '31': 'red',
  '32': 'green',
  '33': 'yellow',
};

const STYLE = `
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d6dbe4; white-space: pre; }
  .bold { font-weight: bold; fill: #fff; } .dim { fill: #59606e; } .red { fill: #f07178; } .green { fill: #8fd16a; } .yellow { fill: #e6c25e; }
`;

/** The screen at the first moment at which at least `share` of the rows are done. */
export function svgOf(command: string, recording: string, share: number, columns: number): string {
  const lines = [`$ ${command}`, ...screenAt(recording, share)];
  const width = Math.round(columns * CHARACTER_PX + 2 * MARGIN_PX);
  const height = lines.length * LINE_PX + 2 * MARGIN_PX;
  const texts = lines.map(
    (line, at) =>
      `<text x="${MARGIN_PX}" y="${MARGIN_PX + 14 + at * LINE_PX}" xml:space="preserve">${spansOf(line)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<style>${STYLE}</style><rect width="100%" height="100%" rx="8" fill="#1b1f27"/>`,
    ...texts,
    '</svg>\n',
  ].join('\n');
}

function screenAt(recording: string, share: number): readonly string[] {
  // The first and the last line are `script`'s own.
  const text = recording.replaceAll('\r', '').split('\n').slice(1, -2).join('\n');
  const [first = '', ...frames] = text.split(REDRAW);
  let screen = first.split('\n').slice(0, -1);
  for (let at = 0; at + 1 < frames.length; at += 2) {
    if (shareOf(screen) >= share) return screen;
    const kept = screen.slice(0, screen.length - Number(frames[at]));
    screen = [...kept, ...(frames[at + 1] ?? '').split('\n').slice(0, -1)];
  }
  throw new Error(`no picture shows ${share} of the rows as done`);
}

const shareOf = (screen: readonly string[]): number =>
  Math.max(0, ...screen.map((line) => Number(/ (\d+\.\d)%/.exec(line)?.[1] ?? 0) / 100));

function spansOf(line: string): string {
  const [plain = '', ...coloured] = line.split(COLOUR);
  let spans = escaped(plain);
  for (let at = 0; at < coloured.length; at += 2) {
    const name = CLASS[coloured[at] ?? ''];
    const text = escaped(coloured[at + 1] ?? '');
    spans += name === undefined || text === '' ? text : `<tspan class="${name}">${text}</tspan>`;
  }
  return spans;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
