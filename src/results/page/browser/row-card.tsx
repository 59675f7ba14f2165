// The card of a row: its file, its key, and as many facts as the density leaves room for.

import type { Table } from './all-rows.ts';
import type { ReadDetail } from './data.ts';
import { NoPicture, SmallFile } from './files.tsx';
import type { Cell } from './gallery.tsx';
import { Terms } from './view-parts.tsx';
import { pickText, type Picks } from './viewer-choices.ts';

/** From contact sheet to one a line: the measures of a cell of the gallery. */
export const DENSITIES = [
  { name: 'Contact sheet', least: 104, gap: 6, caption: 0, ratio: 1 },
  { name: 'Small', least: 160, gap: 14, caption: 64, ratio: 1 },
  { name: 'Large', least: 300, gap: 28, caption: 96, ratio: 0.9 },
  { name: 'One a line', least: Infinity, gap: 1, caption: 188, ratio: 0 },
] as const;

/** The picture of a row that has its own line. */
const LINE_PICTURE = 168;
/** Pixels of a card that shows the small copy, whose longest side has 320. */
const MAX_SMALL_COPY = 400;

export type Source = { table: Table; picks: Picks; read: ReadDetail };

export function cellIn(density: number, room: number): Cell {
  const { least, gap, caption, ratio } = DENSITIES[density] ?? DENSITIES[0];
  const columns = Math.max(1, Math.floor((room + gap) / (least + gap)));
  const width = Math.floor((room - gap * (columns - 1)) / columns);
  const height = Math.round(width * ratio) + caption;
  return { density, columns, width, height, gap, line: height + gap };
}

/** The words of a screen reader for a row. */
function labelOf({ table, picks }: Source, row: number): string {
  const { mark, stars } = picks.of(table.key[row] ?? '');
  const outcome = table.outcomeName(row);
  const pick = `${mark ? `, ${mark}` : ''}${stars ? `, ${stars} of 5 stars` : ''}`;
  return `${table.title(row)}, ${outcome === 'open' ? 'not done yet' : outcome}${pick}`;
}

type RowCardProps = { source: Source; row: number; cell: Cell };

export function RowCard({ source, row, cell: { density = 0, width, height } }: RowCardProps) {
  const { table } = source;
  const facts = <span class="facts clamp">{table.factsText(row)}</span>;
  const prompt = <span class="prompt clamp">{table.caption(row)}</span>;
  if (density === 3)
    return (
      <>
        <Frame source={source} row={row} width={Math.min(LINE_PICTURE, width * 0.36)} height={LINE_PICTURE} />
        <div class="line-text">
          <b>{table.title(row)}</b>
          {facts}
          {prompt}
          <Terms class="cells wrap note" entries={otherCells(table, row)} />
        </div>
      </>
    );
  const caption = DENSITIES[density]?.caption ?? 0;
  return (
    <>
      <Frame source={source} row={row} width={width} height={height - caption} />
      {caption > 0 && (
        <div class="caption">
          <b class="clip">{table.title(row)}</b>
          {density > 1 && prompt}
          {facts}
        </div>
      )}
    </>
  );
}

/** The cells that neither the key nor the caption shows. */
const otherCells = (table: Table, row: number) =>
  table.facts.columns.flatMap((name, column) => {
    const cell = table.cells[column]?.[row] ?? '';
    const isShown = cell !== '' && cell !== table.key[row] && column !== table.captionColumn;
    return isShown ? [[name, cell] as const] : [];
  });

type FrameProps = { source: Source; row: number; width: number; height: number };

/** The picture of a row with the viewer's pick. */
export function Frame({ source, row, width, height }: FrameProps) {
  const { table, picks } = source;
  const files = table.of.files[row] ?? 0;
  const pick = pickText(picks.of(table.key[row] ?? ''));
  return (
    <div class="frame" style={{ width: `${width}px`, height: `${height}px` }}>
      <RowPicture source={source} row={row} width={width} height={height} />
      {pick && <span class="pill badge">{pick}</span>}
      {files > 1 && (
        <span class="pill badge files" aria-hidden="true">
          {files}
        </span>
      )}
    </div>
  );
}

function RowPicture({ source, row, width, height }: FrameProps) {
  const { table } = source;
  const path = table.file[row] ?? '';
  const outcome = table.outcomeName(row);
  if (path === '')
    return <NoPicture outcome={outcome} text={outcome === 'open' ? '' : (table.reason[row] ?? '')} />;
  const isSmall = Math.max(width, height) * Math.min(2, devicePixelRatio) <= MAX_SMALL_COPY;
  // `runsheet open` makes it.
  const copy = `report/small/${path.replace(/^outputs\//, '')}.webp`;
  const small = isSmall && table.small[row] ? copy : undefined;
  return <SmallFile path={path} label={labelOf(source, row)} small={small} />;
}
