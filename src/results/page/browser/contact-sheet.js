// A page of the grid as one picture, for sending. A browser lets no page read the pictures beside it when it was opened from a folder;
// its viewer gives it the folder then.

import { Button, html, save, useRef, useState } from './parts.js';
import { valueText } from './arrange.js';
import { kindOf } from './files.js';
import { pickText } from './picks.js';
import { joined } from './text.js';

/** @import { Cells } from './grid.js' */
/** @import { Picks } from './picks.js' */
/** @import { Table } from './table.js' */
/** @typedef {CanvasImageSource & { width: number, height: number }} Picture */
/** @typedef {(path: string) => Promise<Picture | undefined>} ReadPicture */
/** @typedef {{ table: Table, picks: Picks, cells: Cells, page: string, bestIn: (line: number, column: number) => number | undefined, heads: readonly string[] }} SheetProps */

/** Pixels: of a cell at most, of the whole picture, between cells, of the heads. */
const SIDE_MOST = 320;
const AREA_MOST = 60_000_000;
const LENGTH_MOST = 14_000;
const GAP = 8;
const HEAD = { left: 220, top: 108, title: 44 };
const INK = '#1c1c1a';
const WHY =
  'The browser asks for the folder of the batch, because a page of a folder may not read pictures; nothing leaves this machine';

/** @param {SheetProps} props */
export function SaveSheet(props) {
  const input = useRef();
  const [said, say] = useState('');
  const isFolder = location.protocol === 'file:';
  const make = async (read) => {
    say('Drawing…');
    const blob = await draw(props, read).catch(() => undefined);
    if (blob !== undefined) save(`${props.table.facts.batch}-grid.png`, blob);
    say(blob === undefined ? 'The picture could not be made' : '');
  };
  const chosen = () => {
    const files = new Map([...input.current.files].map((file) => [file.name, file]));
    return make(async (path) => {
      const file = files.get(path.split('/').at(-1));
      return file && createImageBitmap(file);
    });
  };
  const start = () => (isFolder ? input.current.click() : void make(loaded));
  const folder = html`<input type="file" hidden ref=${input} webkitdirectory multiple onChange=${chosen} />`;
  return html`<${Button} id="save-sheet" title=${isFolder ? WHY : ''} onClick=${start}>Save as picture<//>
    ${isFolder && folder}<span class="note" role="status">${said}</span>`;
}

/** @type {ReadPicture} */
async function loaded(path) {
  const image = Object.assign(new Image(), { src: path });
  await image.decode();
  return image;
}

/** @type {(props: SheetProps, read: ReadPicture) => Promise<Blob | undefined>} */
async function draw({ table, picks, cells: { lines, columns }, page, bestIn, heads }, read) {
  const fit = Math.min(
    Math.sqrt(AREA_MOST / (columns.length * lines.length)),
    LENGTH_MOST / Math.max(columns.length, lines.length),
  );
  const side = Math.floor(Math.min(SIDE_MOST, fit - GAP));
  const [left, top] = [
    (column) => HEAD.left + column * (side + GAP),
    (line) => HEAD.top + line * (side + GAP),
  ];
  const canvas = Object.assign(document.createElement('canvas'), {
    width: left(columns.length),
    height: top(lines.length),
  });
  const context = canvas.getContext('2d');
  if (context === null) return undefined;
  const box = (colour, x, y, width, height) => {
    context.fillStyle = colour;
    context.fillRect(x, y, width, height);
    context.fillStyle = INK;
  };
  const text = (words, x, y, width, most) => write(context, { words, x, y, width, most });
  box('#fff', 0, 0, canvas.width, canvas.height);
  context.font = '600 20px system-ui, sans-serif';
  text(joined([table.facts.batch, joined(heads, ' × '), page]), 12, 30, canvas.width - 24, 1);
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
      else place(context, picture, { x, y, side });
      const pick = pickText(picks.of(table.key[row] ?? ''));
      if (pick === '') continue;
      box('#fff', x, y + side - 26, context.measureText(pick).width + 14, 26);
      context.fillText(pick, x + 7, y + side - 8);
    }
  }
  return new Promise((done) => canvas.toBlob((blob) => done(blob ?? undefined), 'image/png'));
}

/** @type {(context: CanvasRenderingContext2D, picture: Picture, at: { x: number, y: number, side: number }) => void} */
function place(context, picture, { x, y, side }) {
  const scale = Math.min(side / picture.width, side / picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, x + (side - width) / 2, y + (side - height) / 2, width, height);
}

/** Words in lines of a width; what does not fit is cut. @type {(context: CanvasRenderingContext2D, given: { words: string, x: number, y: number, width: number, most: number }) => void} */
function write(context, { words, x, y, width, most }) {
  let rest = words.slice(0, 400);
  for (let line = 0; line < most && rest !== ''; line += 1) {
    let end = rest.length;
    while (end > 1 && context.measureText(rest.slice(0, end)).width > width) end -= 1;
    const space = rest.lastIndexOf(' ', end);
    if (end < rest.length && space > 0) end = space;
    const isCut = line === most - 1 && end < rest.length;
    context.fillText(
      isCut ? `${rest.slice(0, Math.max(1, end - 1))}…` : rest.slice(0, end),
      x,
      y + line * 19,
    );
    rest = rest.slice(end).trimStart();
  }
}
