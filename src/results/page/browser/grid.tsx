// The rows of a batch as a grid of two columns of few values: prompts against seeds, models against styles. A third column gives pages.

import { useMemo, useRef, useState, type MutableRef } from 'preact/hooks';
import type { Table } from './all-rows.ts';
import { fewValues, valueText, type FewValues } from './arrange.ts';
import { CardLink } from './gallery.tsx';
import { SaveSheet, type GridCells } from './grid-picture.tsx';
import { Button, Choices, type Children, type Choice } from './view-parts.tsx';
import { choiceOf, type PickChoice } from './viewer-choices.ts';
import { Frame, type Source } from './row-card.tsx';
import type { Opened } from './row-view.tsx';
import { count } from '../../../options/text/printed-numbers.ts';

/** The number of the column of each axis; -1: none. */
type Axes = { lines: number; columns: number; pages: number };
const MAX_VALUES = 200;
const SIZES = [72, 104, 152, 224, 320];

/** The columns that can be an axis, those of the batch's own grid first; none if there are fewer than two. */
export function axesOf(table: Table): readonly FewValues[] {
  const own = table.facts.axes ?? [];
  const few = fewValues(table, MAX_VALUES, own);
  const rank = ({ name }: FewValues) => (own.includes(name) ? own.indexOf(name) : own.length);
  return few.length < 2 ? [] : few.sort((a, b) => rank(a) - rank(b));
}

function cellsOf(table: Table, axes: readonly FewValues[], chosen: Axes, page: number): GridCells {
  const wanted = [chosen.lines, chosen.columns, chosen.pages].map((axis) => axes[axis]);
  const [lines = [''], columns = [''], pages = ['']] = wanted.map((axis) => axis && [...axis.values.keys()]);
  const valuesOf = (row: number) => wanted.map((axis) => (axis ? table.cells[axis.column]?.[row] : ''));
  const rowsOf = Map.groupBy(table.of.outcome.keys(), (row) => valuesOf(row).join('\n'));
  const shown = pages[Math.min(page, pages.length - 1)];
  return {
    lines,
    columns,
    pages,
    rows: (line, column) => rowsOf.get([lines[line], columns[column], shown].join('\n')) ?? [],
  };
}

type GridProps = {
  source: Source;
  axes: readonly FewValues[];
  open: (opened: Opened) => void;
  onPick: () => void;
};

export function Grid({ source, axes, open, onPick }: GridProps) {
  const { table, picks } = source;
  // More lines than columns fit into a window.
  const [chosen, setChosen] = useState<Axes>(() => {
    const isTall = (axes[0]?.values.size ?? 0) >= (axes[1]?.values.size ?? 0);
    return { lines: isTall ? 0 : 1, columns: isTall ? 1 : 0, pages: axes.length > 2 ? 2 : -1 };
  });
  const [page, setPage] = useState(0);
  const [size, setSize] = useState(innerWidth > 640 ? 2 : 1);
  const cells = useMemo(() => cellsOf(table, axes, chosen, page), [axes, chosen, page, table.version]);
  const weight = (row: number) => picks.weight(table.key[row] ?? '');
  const bestIn = (line: number, column: number) =>
    [...cells.rows(line, column)].sort((a, b) => weight(b) - weight(a) || a - b)[0];
  const turn = (by: number) => setPage(Math.min(cells.pages.length - 1, Math.max(0, page + by)));
  const heads: Heads = [axes[chosen.lines]?.name ?? '', axes[chosen.columns]?.name ?? ''];
  const bar = { axes, chosen, setChosen, pages: cells.pages, page, setPage, size, setSize };
  return (
    <>
      <Bar {...bar}>
        <SaveSheet
          table={table}
          picks={picks}
          cells={cells}
          bestIn={bestIn}
          heads={heads}
          page={cells.pages[page] ?? ''}
        />
      </Bar>
      <Cells
        source={source}
        cells={cells}
        bestIn={bestIn}
        heads={heads}
        side={SIZES[size] ?? 152}
        turn={turn}
        open={open}
        onPick={onPick}
      />
    </>
  );
}

type Heads = readonly [lines: string, columns: string];
type CellsProps = Omit<GridProps, 'axes'> & {
  cells: GridCells;
  /** The row that a cell shows. */
  bestIn: (line: number, column: number) => number | undefined;
  heads: Heads;
  /** Pixels of a cell. */
  side: number;
  turn: (pages: number) => void;
};

/** The cells of a page. Arrow keys move between them, other keys pick or turn the page. */
function Cells({ source, cells, bestIn, heads, side, turn, open, onPick }: CellsProps) {
  const [focused, setFocused] = useState('0,0');
  const box = useRef<HTMLDivElement>(null);
  const order = cells.lines.flatMap((_, line) =>
    cells.columns.flatMap((__, column) => cells.rows(line, column)),
  );
  const pick = (row: number, choice: PickChoice) => {
    source.picks.toggle(source.table.key[row] ?? '', choice);
    onPick();
  };
  const press = (event: KeyboardEvent, line: number, column: number) => {
    const choice = choiceOf(event.key.toLowerCase());
    const row = bestIn(line, column);
    const [down = 0, right = 0] = MOVES[event.key] ?? [];
    const pages = TURNS[event.key] ?? 0;
    if (choice !== undefined && row !== undefined) pick(row, choice);
    else if (pages !== 0) turn(pages);
    else if (down + right !== 0) focusCell(box, `${line + down},${column + right}`);
    else return;
    event.preventDefault();
  };
  const cell = (line: number, column: number) => {
    const name = `${line},${column}`;
    const row = bestIn(line, column);
    const onOpen = () => {
      if (row !== undefined) open({ order, place: order.indexOf(row), attempt: 0 });
    };
    return (
      <GridCell
        key={column}
        source={source}
        row={row}
        rows={cells.rows(line, column).length}
        side={side}
        name={name}
        isFocused={focused === name}
        onOpen={onOpen}
        onFocus={() => setFocused(name)}
        onKey={(event) => press(event, line, column)}
      />
    );
  };
  return (
    <div id="grid" ref={box} style={{ '--side': `${side}px` }}>
      <table>
        <ColumnHeads heads={heads} values={cells.columns} />
        <tbody>
          {cells.lines.map((value, line) => (
            <tr key={value}>
              <ValueHead scope="row" value={value} />
              {cells.columns.map((_, column) => cell(line, column))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Lines down and columns right. */
const MOVES: Record<string, readonly [down: number, right: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};
const TURNS: Record<string, number> = { PageUp: -1, PageDown: 1 };

const focusCell = (box: MutableRef<HTMLElement | null>, name: string) =>
  box.current?.querySelector<HTMLElement>(`[data-cell="${name}"]`)?.focus();

const ValueHead = ({ scope, value }: { scope: 'row' | 'col'; value: string }) => (
  <th scope={scope} title={value}>
    <span class="clamp">{valueText(value)}</span>
  </th>
);

const ColumnHeads = ({ heads, values }: { heads: Heads; values: readonly string[] }) => (
  <thead>
    <tr>
      <td class="note">
        {heads[0]} ↓ · {heads[1]} →
      </td>
      {values.map((value) => (
        <ValueHead key={value} scope="col" value={value} />
      ))}
    </tr>
  </thead>
);

type GridCellProps = {
  source: Source;
  row: number | undefined;
  /** How many rows the cell has. */
  rows: number;
  side: number;
  name: string;
  isFocused: boolean;
  onOpen: () => void;
  onFocus: () => void;
  onKey: (event: KeyboardEvent) => void;
};

function GridCell({ source, row, rows, side, name, isFocused, onOpen, onFocus, onKey }: GridCellProps) {
  const key = row === undefined ? '' : (source.table.key[row] ?? '');
  return (
    <td>
      <CardLink
        class={source.picks.of(key).mark ?? ''}
        data-cell={name}
        href={`#${encodeURIComponent(key)}`}
        tabindex={isFocused ? 0 : -1}
        onOpen={onOpen}
        onFocus={onFocus}
        onKey={onKey}
      >
        {row === undefined ? '–' : <Frame source={source} row={row} width={side} height={side} />}
        {rows > 1 && (
          <span class="pill badge more" aria-hidden="true">
            {count(rows)} rows
          </span>
        )}
      </CardLink>
    </td>
  );
}

type BarProps = {
  axes: readonly FewValues[];
  chosen: Axes;
  setChosen: (axes: Axes) => void;
  pages: readonly string[];
  page: number;
  setPage: (page: number) => void;
  size: number;
  setSize: (size: number) => void;
  children: Children;
};

/** Chooses the axes, the page, and the size of the cells. */
function Bar({ axes, chosen, setChosen, pages, page, setPage, size, setSize, children }: BarProps) {
  const choose = (axis: keyof Axes, to: number) => {
    const axisNames = ['lines', 'columns', 'pages'] as const;
    const previous = axisNames.find((name) => name !== axis && chosen[name] === to);
    // The axis that had it takes the one that is free.
    setChosen({ ...chosen, ...(previous && to >= 0 ? { [previous]: chosen[axis] } : {}), [axis]: to });
    setPage(0);
  };
  const names = axes.map(({ name, values }, nth): Choice => [`${nth}`, `${name} (${count(values.size)})`]);
  const axis = (name: keyof Axes, label: string, options: readonly Choice[]) => (
    <label class="note">
      {label}{' '}
      <Choices
        id={`grid-${name}`}
        label={label}
        options={options}
        value={`${chosen[name]}`}
        onValue={(to) => choose(name, Number(to))}
      />
    </label>
  );
  return (
    <div id="grid-bar" class="wrap">
      {axis('lines', 'Down', names)} {axis('columns', 'Across', names)}{' '}
      {axes.length > 2 && axis('pages', 'Pages', [['-1', 'none'], ...names])}{' '}
      {pages.length > 1 && (
        <Turner name={axes[chosen.pages]?.name ?? ''} pages={pages} page={page} setPage={setPage} />
      )}
      <span class="wrap" role="group" aria-label="Size">
        <Step label="Smaller" sign="−" to={size - 1} most={SIZES.length} set={setSize} />{' '}
        <Step label="Larger" sign="+" to={size + 1} most={SIZES.length} set={setSize} />
      </span>
      {children}
    </div>
  );
}

type TurnerProps = {
  name: string;
  pages: readonly string[];
  page: number;
  setPage: (page: number) => void;
};

const Turner = ({ name, pages, page, setPage }: TurnerProps) => (
  <span class="wrap" role="group" aria-label="Page">
    <Step label="Previous page" sign="‹" to={page - 1} most={pages.length} set={setPage} />{' '}
    <Choices
      id="grid-page"
      label={name}
      options={pages.map((value, nth): Choice => [`${nth}`, valueText(value).slice(0, 60)])}
      value={`${page}`}
      onValue={(to) => setPage(Number(to))}
    />{' '}
    <Step label="Next page" sign="›" to={page + 1} most={pages.length} set={setPage} />
  </span>
);

type StepProps = { label: string; sign: string; to: number; most: number; set: (to: number) => void };

const Step = ({ label, sign, to, most, set }: StepProps) => (
  <Button aria-label={label} disabled={to < 0 || to >= most} onClick={() => set(to)}>
    {sign}
  </Button>
);
