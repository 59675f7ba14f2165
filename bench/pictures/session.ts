// Records a command in a pseudo-terminal, as `script` (util-linux) writes it, and replays it into a terminal without a window: what
// the screen shows at which moment.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import headless, { type IBufferCell, type IBufferLine, type Terminal } from '@xterm/headless';

export type Size = { readonly columns: number; readonly rows: number };
/** Texts of one colour in a line of the screen. */
export type Span = { readonly at: number; readonly text: string; readonly style: string };
export type Screen = { readonly atMs: number; readonly lines: readonly (readonly Span[])[] };

type Output = { readonly atMs: number; readonly text: string };

/** Runs the command in `folder`, whose path does not appear in what is recorded. */
export function recordSession(command: string, folder: string, { columns, rows }: Size): readonly Output[] {
  const [output, timing] = [join(folder, 'output'), join(folder, 'timing')];
  const words = `stty cols ${columns} rows ${rows}; ${command}`;
  execFileSync('script', ['-qfe', '-T', timing, '-c', words, output], { cwd: folder, stdio: 'ignore' });
  const bytes = readFileSync(output);
  // The first line is `script`'s own.
  let place = bytes.indexOf('\n') + 1;
  let atMs = 0;
  return readFileSync(timing, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [seconds, count] = line.split(' ').map(Number);
      atMs += (seconds ?? 0) * 1_000;
      const text = bytes.toString('utf8', place, (place += count ?? 0)).replaceAll(`${folder}/`, '');
      return { atMs, text };
    });
}

/** The screens of a session, at least `apartMs` apart; the first one shows the command only. */
export async function screensOf(
  command: string,
  session: readonly Output[],
  { columns, rows }: Size,
  apartMs: number,
): Promise<readonly Screen[]> {
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
  const write = (text: string): Promise<void> => new Promise((written) => terminal.write(text, written));
  const screens: Screen[] = [];
  const look = (atMs: number): void => {
    screens.push({ atMs, lines: linesOf(terminal) });
  };
  await write(`$ ${command}\r\n`);
  look(0);
  for (const [index, { atMs, text }] of session.entries()) {
    await write(text);
    const next = session[index + 1]?.atMs ?? Infinity;
    if (next - atMs < REDRAW_MS) continue;
    if (next === Infinity || atMs - (screens.at(-1)?.atMs ?? 0) >= apartMs) look(atMs);
  }
  terminal.dispose();
  return screens;
}

/** Outputs that follow so quickly belong together. */
const REDRAW_MS = 5;

function linesOf({ buffer: { active }, rows }: Terminal): Screen['lines'] {
  return Array.from({ length: rows }, (_, row) => {
    const line = active.getLine(active.baseY + row);
    return line === undefined ? [] : spansOf(line);
  });
}

function spansOf(line: IBufferLine): readonly Span[] {
  const spans: { at: number; end: number; text: string; style: string }[] = [];
  for (let at = 0; at < line.length; at += 1) {
    const cell = line.getCell(at);
    const text = cell?.getChars() ?? '';
    if (cell === undefined || text.trim() === '') continue;
    const style = styleOf(cell);
    const last = spans.at(-1);
    const gap = last === undefined ? Infinity : at - last.end;
    // A single blank between words does not begin another text.
    if (last?.style === style && gap <= 1) {
      last.text += ' '.repeat(gap) + text;
      last.end = at + 1;
    } else spans.push({ at, end: at + 1, text, style });
  }
  return spans.map(({ at, text, style }) => ({ at, text, style }));
}

const COLOURS: Readonly<Record<number, string>> = { 1: 'red', 2: 'green', 3: 'yellow' };

/** Throws for what the pictures have no colour for. */
function styleOf(cell: IBufferCell): string {
  if (cell.isDim()) return 'dim';
  if (cell.isBold()) return 'bold';
  if (cell.isFgDefault()) return '';
  const colour = cell.isFgPalette() ? COLOURS[cell.getFgColor()] : undefined;
  if (colour === undefined) throw new Error(`no colour ${cell.getFgColor()}`);
  return colour;
}
