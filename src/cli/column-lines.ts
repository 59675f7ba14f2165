// Prints a line for each column of a sheet: what becomes of it, and its first value.

import { terminalLine } from '../errors/outside-text.ts';
import { count, plural } from '../options/text/printed-numbers.ts';
import type { ColumnUse, Use } from '../sheet/column-use.ts';

/** Longer names and values are cut at this many characters. */
const MAX_NAME = 28;
const MAX_USE = 44;
const MAX_VALUE = 40;

/** Columns without any value and results of runsheet share a line each, which names all of them. */
export function columnLines(columns: readonly ColumnUse[]): readonly string[] {
  const isResult = ({ uses }: ColumnUse): boolean => uses[0]?.as === 'result';
  const isIdle = ({ first, uses }: ColumnUse): boolean => first === undefined && uses.length === 0;
  const lines = tableOf(columns.filter((column) => !isResult(column) && !isIdle(column)));
  const named = (what: string, group: readonly ColumnUse[]): readonly string[] =>
    group.length === 0 ? [] : [`${what}: ${group.map(({ name }) => name).join(', ')}`];
  const groups = [
    ...named('not sent, without any value', columns.filter(isIdle)),
    ...named('not sent, results of an earlier batch', columns.filter(isResult)),
  ];
  return [...lines, ...groups].map((line, at) =>
    terminalLine(`${at === 0 ? '  columns   ' : '            '}${line}`),
  );
}

/** The line about --fill-down; undefined if no cell was filled or left empty by it. */
export function filledLine(columns: readonly ColumnUse[]): string | undefined {
  const texts = columns.flatMap(({ name, filled }) => {
    if (filled === undefined) return [];
    const { cells, left, group } = filled;
    const stays = left === 0 ? '' : `, ${count(left)} left empty, whose "${group}" has none or several`;
    return [`"${name}": ${plural(cells, 'cell')}${stays}`];
  });
  return texts.length === 0 ? undefined : terminalLine(`  filled    ${texts.join('; ')}`);
}

function tableOf(columns: readonly ColumnUse[]): readonly string[] {
  const rows = columns.map(({ name, first = '', uses }) => [
    cut(name, MAX_NAME),
    cut(useText(uses), MAX_USE),
    first === '' ? '' : cut(JSON.stringify(first), MAX_VALUE),
  ]);
  const widthAt = (at: number): number => Math.max(0, ...rows.map((row) => (row[at] ?? '').length));
  const [nameWidth, useWidth] = [widthAt(0), widthAt(1)];
  return rows.map(([name = '', use = '', first = '']) =>
    `${name.padEnd(nameWidth)}  ${use.padEnd(useWidth)}  ${first}`.trimEnd(),
  );
}

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

const useText = (uses: readonly Use[]): string =>
  uses.length === 0 ? 'not sent' : uses.map(wordsOf).join(', ');

function wordsOf(use: Use): string {
  switch (use.as) {
    case 'input':
      return `→ ${use.input}${use.type === 'auto' ? '' : ` (${use.type})`}`;
    case 'template':
      return `→ in ${use.input}`;
    case 'key':
      return 'names the row';
    case 'gpu':
      return 'GPU of the row';
    case 'where':
      return 'condition';
    case 'order':
      return 'order';
    case 'priority':
      return 'priority';
    case 'repeat':
      return 'number of runs';
    case 'output_name':
      return 'in the file name';
    case 'result':
      return 'result of an earlier batch';
  }
}
