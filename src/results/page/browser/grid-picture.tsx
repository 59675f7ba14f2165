// A page of the grid as one picture, for sending. A browser lets no page read the pictures beside it when it was opened from a folder;
// its viewer gives it the folder then.

import { useRef, useState } from 'preact/hooks';
import type { Table } from './all-rows.ts';
import { valueText } from './arrange.ts';
import { kindOf, loaded } from './files.tsx';
import { Button, save } from './view-parts.tsx';
import { pickText, type Picks } from './viewer-choices.ts';
import { joined } from './text.ts';

/** The values of each axis, and the rows of a cell. */
export type GridCells = {
  lines: readonly string[];
  columns: readonly string[];
  pages: readonly string[];
  rows: (line: number, column: number) => readonly number[];
};

type SheetProps = {
  table: Table;
  picks: Picks;
  cells: GridCells;
  page: string;
  /** The row that a cell shows. */
  bestIn: (line: number, column: number) => number | undefined;
  heads: readonly string[];
};
type DrawnPicture = CanvasImageSource & { width: number; height: number };
type ReadPicture = (path: string) => Promise<DrawnPicture | undefined>;

/** Pixels: of a cell at most, of the whole picture, between cells, of the heads. */
const MAX_SIDE = 320;
const MAX_AREA = 60_000_000;
const MAX_LENGTH = 14_000;
const GAP = 8;
const HEAD = { left: 220, top: 108, title: 44 };
const INK = '#1c1c1a';
const WHY =
  'The browser asks for the folder of the batch, because a page of a folder may not read pictures; nothing leaves this machine';

export function SaveSheet(props: SheetProps) {
  const input = useRef<HTMLInputElement>(null);
  const [said, say] = useState('');
  const isFolder = location.protocol === 'file:';
  const make = async (read: ReadPicture) => {
    say('Drawing…');
    const blob = await draw(props, read).catch(() => undefined);
    if (blob !== undefined) save(`${props.table.facts.batch}-grid.png`, blob);
    say(blob === undefined ? 'The picture could not be made' : '');
  };
  const choose = (chosen: FileList | null) => {
    const files = new Map(Array.from(chosen ?? [], (file) => [file.name, file]));
    void make(async (path) => {
      const file = files.get(path.split('/').at(-1) ?? '');
      return file && createImageBitmap(file);
    });
  };
  const start = () => (isFolder ? input.current?.click() : void make(loaded));
  return (
    <>
      <Button id="save-sheet" title={isFolder ? WHY : ''} onClick={start}>
        Save as picture
      </Button>
      {isFolder && (
        <input
          type="file"
          hidden
          ref={input}
          // The types do not know this attribute.
          {...{ webkitdirectory: true }}
          multiple
          onChange={({ currentTarget }) => choose(currentTarget.files)}
        />
      )}
      <span class="note" role="status">
        {said}
      </span>
    </>
  );
}

async function draw(sheet: SheetProps, read: ReadPicture): Promise<Blob | undefined> {
  const { table, picks, cells, page, bestIn, heads } = sheet;
  const { lines, columns } = cells;
  const fit = Math.min(
    Math.sqrt(MAX_AREA / (columns.length * lines.length)),
    MAX_LENGTH / Math.max(columns.length, lines.length),
  );
  const side = Math.floor(Math.min(MAX_SIDE, fit - GAP));
  const left = (column: number) => HEAD.left + column * (side + GAP);
  const top = (line: number) => HEAD.top + line * (side + GAP);
  const [width, height] = [left(columns.length), top(lines.length)];
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const context = canvas.getContext('2d');
  if (context === null) return undefined;
  const box = (colour: string, x: number, y: number, boxWidth: number, boxHeight: number) => {
    context.fillStyle = colour;
    context.fillRect(x, y, boxWidth, boxHeight);
    context.fillStyle = INK;
  };
  const text = (words: string, x: number, y: number, most: number, linesMost: number) =>
    write(context, { words, x, y, width: most, linesMost });
  box('#fff', 0, 0, width, height);
  context.font = '600 20px system-ui, sans-serif';
  text(joined([table.facts.batch, joined(heads, ' × '), page]), 12, 30, width - 24, 1);
  context.font = '15px system-ui, sans-serif';
  for (const [column, value] of columns.entries())
    text(valueText(value), left(column), HEAD.title + 20, side, 2);
  for (const [line, value] of lines.entries()) {
    text(valueText(value), 12, top(line) + 18, HEAD.left - 24, Math.max(1, Math.floor(side / 20)));
    for (const column of columns.keys()) {
      const [row, x, y] = [bestIn(line, column), left(column), top(line)];
      box('#f2f2ef', x, y, side, side);
      if (row === undefined) continue;
      const path = table.file[row] ?? '';
      const picture = kindOf(path) === 'picture' ? await read(path).catch(() => undefined) : undefined;
      if (picture === undefined)
        text(table.reason[row] || table.outcomeName(row), x + 8, y + 22, side - 16, 4);
      else drawPicture(context, picture, { x, y, side });
      const pick = pickText(picks.of(table.key[row] ?? ''));
      if (pick === '') continue;
      box('#fff', x, y + side - 26, context.measureText(pick).width + 14, 26);
      context.fillText(pick, x + 7, y + side - 8);
    }
  }
  return new Promise((done) => canvas.toBlob((blob) => done(blob ?? undefined), 'image/png'));
}

type Square = { x: number; y: number; side: number };

function drawPicture(context: CanvasRenderingContext2D, picture: DrawnPicture, { x, y, side }: Square): void {
  const scale = side / Math.max(picture.width, picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, x + (side - width) / 2, y + (side - height) / 2, width, height);
}

type Words = { words: string; x: number; y: number; width: number; linesMost: number };

/** Writes words in lines of a width and cuts those that do not fit. */
function write(context: CanvasRenderingContext2D, { words, x, y, width, linesMost }: Words): void {
  const lines: string[] = [];
  for (const word of words.slice(0, 400).match(/\S{1,20}/g) ?? []) {
    const longer = `${lines.at(-1)} ${word}`;
    const fits = lines.length > 0 && context.measureText(longer).width <= width;
    if (fits) lines.pop();
    lines.push(fits ? longer : word);
  }
  for (const [nth, line] of lines.slice(0, linesMost).entries()) {
    const isCut = nth === linesMost - 1 && lines.length > linesMost;
    context.fillText(isCut ? `${line}…` : line, x, y + nth * 19, width);
  }
}
