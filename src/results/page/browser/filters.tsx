// Chooses which rows are shown, in which order, and how large.

import { useMemo, useState } from 'preact/hooks';
import type { Table } from './all-rows.ts';
import { EVERYTHING, fewValues, valueText, type Wish } from './arrange.ts';
import { Button, Chips, Choices, Search, type Chip, type Choice, type ChoiceGroup } from './view-parts.tsx';
import type { Picks } from './viewer-choices.ts';
import { DENSITIES } from './row-card.tsx';
import { count, plural } from '../../../options/text/printed-numbers.ts';

const MAX_VALUES = 40;
const SORTS = {
  '': 'Order of the sheet',
  key: 'Key',
  outcome: 'Outcome',
  stars: 'Your stars',
  gpu: 'GPU',
  seconds: 'Run time',
  queue: 'Queueing',
  cost: 'Cost',
  tries: 'Attempts',
  ended: 'End',
  bytes: 'File size',
};
const STARS = [4, 3, 2, 1].map((stars): Choice => [`${stars}`, `${'★'.repeat(stars)} or more`]);
const PICKED: readonly Choice[] = [
  ['', 'Picks…'],
  ['picked', 'Picked'],
  ['rejected', 'Rejected'],
  ['5', '★★★★★'],
  ...STARS,
];
const SIZES = DENSITIES.map(({ name }, nth): Choice => [`${nth}`, name]);

export type ChangeWish = (change: Partial<Wish>) => void;

type FiltersProps = {
  table: Table;
  picks: Picks;
  wish: Wish;
  change: ChangeWish;
  density: number;
  setDensity: (density: number) => void;
  /** How many rows are shown. */
  shown: number;
  download: () => void;
};

export function Filters({ table, picks, wish, change, density, setDensity, shown, download }: FiltersProps) {
  const [isOpen, setOpen] = useState(false);
  const { outcome, gpu, column, picked, sort, down, text } = wish;
  const many = [outcome, gpu, column >= 0, picked, sort !== 'row'].filter(Boolean).length;
  const isAll = shown === table.rows && sort === 'row' && !down;
  return (
    <div id="toolbar" class={isOpen ? 'open' : ''}>
      <div class="bar wrap">
        <Search label="Find in rows" text={text} onText={(typed) => change({ text: typed })} />
        <Button
          id="filter-toggle"
          aria-expanded={isOpen}
          aria-controls="filters"
          onClick={() => setOpen(!isOpen)}
        >
          Filter{many > 0 && ` (${many})`}
        </Button>
        <Choices
          id="density"
          label="Size of the cards"
          options={SIZES}
          value={`${density}`}
          onValue={(size) => setDensity(Number(size))}
        />
      </div>
      <RowFilters table={table} wish={wish} change={change} />
      <div class="wrap note status">
        <span id="count" role="status">
          {shown === table.rows ? '' : `${count(shown)} of `}
          {plural(table.rows, 'row')}
        </span>
        {!isAll && (
          <Button id="reset" class="link" onClick={() => change(EVERYTHING)}>
            Show all
          </Button>
        )}
        {picks.size > 0 && (
          <Button id="picks-download" class="link" onClick={download}>
            Save picks.csv ({count(picks.size)})
          </Button>
        )}
      </div>
    </div>
  );
}

type RowFiltersProps = { table: Table; wish: Wish; change: ChangeWish };

function RowFilters({
  table,
  wish: { outcome, gpu, column, value, picked, sort, down },
  change,
}: RowFiltersProps) {
  const { gpus, values, outcomes } = useMemo(() => choicesOf(table), [table.version, table.rows]);
  const chips = outcomes.filter(([name, , rows]) => rows > 0 || name === outcome);
  const columns = table.facts.columns.map((name, nth): Choice => [`c${nth}`, name]);
  const setValue = (chosen: string) => {
    const [number = ''] = chosen.split(' ', 1);
    change({ column: number === '' ? -1 : Number(number), value: chosen.slice(number.length + 1) });
  };
  return (
    <div class="wrap" id="filters">
      <Chips
        label="Outcome"
        isOutcome
        chips={chips}
        chosen={outcome}
        choose={(name) => change({ outcome: name })}
      />
      {gpus.length > 1 && (
        <Choices id="gpu" label="GPU" options={gpus} value={gpu} onValue={(name) => change({ gpu: name })} />
      )}
      {values.length > 1 && (
        <Choices
          id="value"
          label="Value of a column"
          options={values}
          value={column < 0 ? '' : `${column} ${value}`}
          onValue={setValue}
        />
      )}
      <Choices
        id="picked"
        label="Picks"
        options={PICKED}
        value={picked}
        onValue={(name) => change({ picked: name })}
      />
      <Choices
        id="sort"
        label="Order"
        options={[...Object.entries(SORTS), ...columns]}
        value={sort === 'row' ? '' : sort}
        onValue={(name) => change({ sort: name || 'row' })}
      />
      <Button
        id="direction"
        aria-label={down ? 'descending' : 'ascending'}
        onClick={() => change({ down: !down })}
      >
        {down ? '↓' : '↑'}
      </Button>
    </div>
  );
}

type RowChoices = { outcomes: Chip[]; gpus: Choice[]; values: (Choice | ChoiceGroup)[] };

function choicesOf(table: Table): RowChoices {
  const counts = [...table.counts()];
  const unsuccessful = counts.filter(([name, rows]) => name !== 'succeeded' && name !== 'open' && rows > 0);
  const sum = unsuccessful.reduce((total, [, rows]) => total + rows, 0);
  const used = new Set(table.of.gpu);
  const named = table.gpus.filter((name, nth) => name !== '' && used.has(nth));
  const outcomes: Chip[] = [['', 'All', table.rows]];
  for (const [name, rows] of counts) outcomes.push([name, name === 'open' ? 'not done' : name, rows]);
  if (unsuccessful.length > 1) outcomes.push(['others', 'not succeeded', sum]);
  const few = fewValues(table, MAX_VALUES).map(({ column, name, values }): ChoiceGroup => ({
    label: name,
    options: [...values].map(([value, rows]): Choice => [
      `${column} ${value}`,
      `${name}: ${valueText(value).slice(0, 40)} (${count(rows)})`,
    ]),
  }));
  const gpus = named.length > 1 ? [['', 'GPU…'] as const, ...named.map((name) => [name, name] as const)] : [];
  return { outcomes, gpus, values: [['', 'Column…'], ...few] };
}
