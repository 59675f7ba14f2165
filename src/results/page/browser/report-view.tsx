// The page of a batch, ended or under way: its views, and the rows that they show.

import { render } from 'preact';
import { useEffect, useMemo, useRef, useState, type MutableRef } from 'preact/hooks';
import type { Live, Running } from '../living-page.ts';
import type { ReportFacts } from '../report.ts';
import { Table } from './all-rows.ts';
import { arrange, EVERYTHING, type Wish } from './arrange.ts';
import { Charts } from './charts.tsx';
import { Costs } from './costs.tsx';
import { detailFiles, jsonIn, readColumns, smallCopies, type ReadFile } from './data.ts';
import { Filters, type ChangeWish } from './filters.tsx';
import { Gallery, type Card, type Cell, type GalleryPort } from './gallery.tsx';
import { axesOf, Grid } from './grid.tsx';
import { Head } from './head.tsx';
import { besidePage, type LivingBatch } from './live.ts';
import { Button, save, useNamed } from './view-parts.tsx';
import { choiceOf, Picks } from './viewer-choices.ts';
import { cellIn, RowCard, type Source } from './row-card.tsx';
import { RowView, type Opened } from './row-view.tsx';

const FEW_ROWS = 12;
const LOADING: Running = { state: 'loading' };
const VIEWS = [
  ['rows', 'Rows'],
  ['grid', 'Grid'],
  ['times', 'Time'],
  ['costs', 'Cost'],
] as const;
type View = (typeof VIEWS)[number][0];

export async function startReport(facts: ReportFacts, page: HTMLElement): Promise<void> {
  const { out = facts.out } = document.getElementById('place')?.dataset ?? {};
  const table = new Table({ ...facts, ...(out && { out }) });
  const { file, read } = detailFiles(facts.rowsEach);
  const start = (living?: LivingBatch, running?: Running) => {
    const source = { table, picks: new Picks(facts.mark), read: living?.read ?? read };
    const draw = (now: Running | undefined) =>
      render(<Report source={source} running={now} file={living ? undefined : file} />, page);
    draw(running);
    return living?.follow(draw);
  };
  const [columns, small, live] = await Promise.all([readColumns(), smallCopies(), jsonIn<Live>('live.js')]);
  table.load(columns, facts);
  table.markSame();
  table.small = small;
  const isOver = facts.summary && (!live || live.summary);
  return isOver ? start() : start(besidePage(table, read), LOADING);
}

/** `running`: while the batch runs. */
type ReportProps = { source: Source; file: ReadFile | undefined; running: Running | undefined };

function Report({ source, file, running }: ReportProps) {
  const { table, picks } = source;
  const [view, setView] = useState<View>('rows');
  const [wish, setWish] = useState<Wish>(EVERYTHING);
  const [opened, setOpened] = useState<Opened>();
  const [, setPicked] = useState(0);
  const port = useRef<GalleryPort>();
  const deep = useDeepSearch(wish.text, file, table.facts.rowsEach);
  const order = useMemo(
    () => arrange(table, { ...wish, deep }, picks),
    [wish, deep, table.version, table.rows],
  );
  const axes = useMemo(() => axesOf(table), [table.version, table.rows]);
  const change: ChangeWish = (changed) => setWish((before) => ({ ...before, ...changed }));
  const filter: ChangeWish = (only) => {
    setView('rows');
    change({ ...EVERYTHING, ...only });
  };
  const open = (row: number, attempt = 0) => {
    const isShown = order.includes(row);
    if (!isShown) change(EVERYTHING);
    const rows = isShown ? order : arrange(table, EVERYTHING, picks);
    setOpened({ order: rows, place: rows.indexOf(row), attempt });
  };
  useNamed((key) => {
    const row = key === '' || opened ? -1 : table.key.indexOf(key);
    if (row >= 0) open(row);
  });
  const onPick = () => setPicked((times) => times + 1);
  const onClose = () => {
    setOpened(undefined);
    if (view === 'rows' && opened?.order === order) port.current?.reveal(opened.place);
  };
  const rows = { source, order, wish, change, setOpened, onPick, port };
  return (
    <>
      <header>
        <Head table={table} running={running} open={open} filter={filter} isShort={view !== 'rows'} />
        <Tabs view={view} setView={setView} hasGrid={axes.length > 0} />
      </header>
      <main>
        <div id={`panel-${view}`} role="tabpanel" aria-labelledby={`tab-${view}`}>
          {view === 'rows' && <Rows {...rows} />}
          {view === 'grid' && <Grid source={source} axes={axes} onPick={onPick} open={setOpened} />}
          {view === 'times' && <Charts table={table} open={open} />}
          {view === 'costs' && <Costs table={table} />}
        </div>
      </main>
      {opened && (
        <RowView
          {...opened}
          source={source}
          onClose={onClose}
          onPick={onPick}
          go={(place) => setOpened({ ...opened, place, attempt: 0 })}
        />
      )}
    </>
  );
}

type RowsProps = {
  source: Source;
  order: Uint32Array;
  wish: Wish;
  change: ChangeWish;
  setOpened: (opened: Opened) => void;
  onPick: () => void;
  port: MutableRef<GalleryPort | undefined>;
};

/** The cards, with the filters that choose them. */
function Rows({ source, order, wish, change, setOpened, onPick, port }: RowsProps) {
  const { table, picks } = source;
  // Few cards have room.
  const [density, setDensity] = useState(table.facts.rows <= FEW_ROWS && innerWidth > 640 ? 2 : 1);
  // A live page keeps the cards of the rows that it shows; another wish has new ones.
  const serial = useRef(0);
  useMemo(() => (serial.current += 1), [wish, density]);
  const onKey = (place: number, key: string) => {
    const [choice, own] = [choiceOf(key), table.key[order[place] ?? 0]];
    if (choice === undefined || !own) return false;
    picks.toggle(own, choice);
    onPick();
    return true;
  };
  const download = () => save('picks.csv', new Blob([picks.csv(table.key)], { type: 'text/csv' }));
  const filters = { table, picks, wish, change, density, setDensity, download };
  return (
    <>
      <Filters {...filters} shown={order.length} />
      <Gallery
        key={serial.current}
        class={`density-${density}`}
        version={table.version}
        length={order.length}
        cellOf={(room) => cellIn(density, room)}
        placeOf={(row) => order.indexOf(row)}
        onKey={onKey}
        port={port}
        draw={(place, cell) => cardOf(source, order[place] ?? 0, cell)}
        onOpen={(place) => setOpened({ order, place, attempt: 0 })}
        nothing="No row is like that."
        showAll={() => change(EVERYTHING)}
      />
    </>
  );
}

function cardOf(source: Source, row: number, cell: Cell): Card {
  const key = source.table.key[row] ?? '';
  return {
    id: row,
    class: source.picks.of(key).mark ?? '',
    href: `#${encodeURIComponent(key)}`,
    content: <RowCard source={source} row={row} cell={cell} />,
  };
}

type TabsProps = { view: View; setView: (view: View) => void; hasGrid: boolean };

/** Arrow keys go from one tab to the next. */
function Tabs({ view, setView, hasGrid }: TabsProps) {
  const shown = VIEWS.filter(([name]) => name !== 'grid' || hasGrid);
  const names = shown.map(([name]) => name);
  const press = ({ key }: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
    const by = steps[key];
    if (by === undefined) return;
    const next = names.at((names.indexOf(view) + by) % names.length) ?? 'rows';
    setView(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div id="tabs" role="tablist" aria-label="Views" onKeyDown={press}>
      {shown.map(([name, label]) => (
        <Button
          key={name}
          class="tab"
          id={`tab-${name}`}
          role="tab"
          aria-selected={name === view}
          tabindex={name === view ? 0 : -1}
          aria-controls={name === view ? `panel-${name}` : undefined}
          onClick={() => setView(name)}
        >
          {label}
        </Button>
      ))}
    </div>
  );
}

/** The index has the beginning of long cells; the whole cells are searched when the viewer stops typing. */
function useDeepSearch(
  text: string,
  file: ReadFile | undefined,
  rowsEach: number,
): ReadonlySet<number> | undefined {
  const [matches, setMatches] = useState<ReadonlySet<number>>();
  useEffect(() => {
    setMatches(undefined);
    if (text.length < 3 || file === undefined) return undefined;
    const search = { isOver: false };
    const start = async () => {
      const rows = await rowsWith(text.toLowerCase(), file, rowsEach, search);
      if (!search.isOver) setMatches(rows);
    };
    const timer = setTimeout(() => void start(), 400);
    return () => {
      search.isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
  return matches;
}

async function rowsWith(
  wanted: string,
  file: ReadFile,
  rowsEach: number,
  search: { readonly isOver: boolean },
): Promise<ReadonlySet<number>> {
  const matches = new Set<number>();
  for (let number = 1; !search.isOver; number += 1) {
    const rows = (await file(number)) ?? [];
    for (const [place, { inputs, data, reason = '' }] of rows.entries()) {
      const cells = [...Object.values(inputs), ...Object.values(data), reason];
      if (cells.some((cell) => cell.toLowerCase().includes(wanted)))
        matches.add((number - 1) * rowsEach + place);
    }
    if (rows.length < rowsEach) break;
  }
  return matches;
}
