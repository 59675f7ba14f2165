// Decides about rows that earlier batches have done: by --reuse, or by a question on a terminal.

import type { Overlap, SharedRows } from '../../create-batch/reuse/overlap.ts';
import type { EarlierBatches } from '../../create-batch/create-batch.ts';
import { list, problem } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import { ask } from './ask.ts';
import type { Printer } from '../context.ts';
import { count, plural } from '../format.ts';

export type ChoiceParams = {
  readonly printer: Printer;
  readonly process: Pick<NodeJS.Process, 'argv' | 'stdin' | 'stderr'>;
  /** Whether --reuse is given. */
  readonly reuse: boolean;
  /** Whether the command asks on a terminal. */
  readonly asks: boolean;
};

type Shared = Pick<Overlap, 'rows' | 'done' | 'open' | 'unknown'>;

/** Throws E530 if neither flags nor user decide, and E531 for rows that an earlier batch may still send. */
export async function chooseReuse(params: ChoiceParams, overlap: Shared): Promise<'reuse' | 'again'> {
  const { printer, process, reuse, asks } = params;
  const { done, open, unknown, rows } = overlap;
  const again = commandWith(process.argv, '--again');
  if (open.length > 0)
    throw problem('E531', { rows: openText(open), batches: open.map(({ batch }) => batch), again });
  if (reuse) return 'reuse';
  const isVersionSure = [...done, ...unknown].every((one) => one.isVersionSure);
  const left = rows - sumOf(done);
  const maySay = asks && isVersionSure && printer.isTerminal && process.stdin.isTTY;
  const said = maySay
    ? await ask(process, questionOf(`${knownText(overlap)}.`, { left, rows }), ANSWERS)
    : undefined;
  if (said !== undefined) return said;
  throw problem('E530', {
    rows: knownText(overlap),
    isVersionSure,
    left,
    all: rows,
    reuse: commandWith(process.argv, '--reuse'),
    again,
  });
}

/** Decides about a sheet with results of a batch. Throws E534 if the user cannot be asked. */
export async function chooseInto(
  { printer, process, asks }: Omit<ChoiceParams, 'reuse'>,
  { name, batch, file }: Pick<BatchFolder, 'batch' | 'file'> & { readonly name: string },
): Promise<'into' | 'again'> {
  const question = `The rows of ${name} are rows of ${batch}.\n  i  send those that you changed again, in that batch\n  a  make a new batch of them\n  q  stop\n[i/a/q] `;
  const maySay = asks && printer.isTerminal && process.stdin.isTTY;
  const said = maySay
    ? await ask(process, question, { i: 'into', a: 'again', q: undefined } as const)
    : undefined;
  if (said !== undefined) return said;
  const into = commandWith(process.argv, '--into', batch);
  const again = commandWith(process.argv, '--again', ...mappingOf(file, process.argv));
  throw problem('E534', { name, batch, into, again });
}

/** `300 of 301 rows are done in portraits-7f3a`. */
function doneText({ done, rows }: Pick<Overlap, 'done' | 'rows'>): string {
  const sum = sumOf(done);
  const batches = done.map((one) => (done.length === 1 ? one.batch : `${one.batch} (${count(one.rows)})`));
  return `${count(sum)} of ${plural(rows, 'row')} ${sum === 1 ? 'is' : 'are'} done in ${list(batches)}`;
}

/** What earlier batches have bought, or may have bought. */
const knownText = ({ rows, done, unknown }: Omit<Shared, 'open'>): string =>
  list(
    [
      ...(done.length > 0 ? [doneText({ rows, done })] : []),
      ...(unknown.length > 0
        ? [rowsText(unknown, () => 'may have been bought without a known outcome in')]
        : []),
    ],
    '; ',
  );

/** `2 rows (12, 40) are still open in portraits-7f3a`. */
const openText = (open: readonly SharedRows[]): string =>
  rowsText(open, (rows) => `${rows === 1 ? 'is' : 'are'} still open in`);

function rowsText(shared: readonly SharedRows[], standing: (rows: number) => string): string {
  const texts = shared.map(({ batch, rows, first }) => {
    const more = rows > first.length ? ', …' : '';
    return `${plural(rows, 'row')} (${first.join(', ')}${more}) ${standing(rows)} ${batch}`;
  });
  return list(texts, '; ');
}

/** What `plan` says about earlier batches. */
export function earlierLines(
  { same, done = [], open = [], unknown = [] }: EarlierBatches,
  { sheet: { rows, reused } }: Pick<BatchFile, 'sheet'>,
): readonly string[] {
  if (same !== undefined)
    return [`  earlier   this is batch ${same}; run attaches to it and buys no row again`];
  const left = rows - sumOf(done);
  const isSure = done.every((one) => one.isVersionSure) ? '' : '; the deployment may have changed since';
  const flags =
    reused === undefined ? `: --reuse runs ${plural(left, 'row')}, --again all ${count(rows)}` : '';
  return [
    ...(done.length === 0 ? [] : [`  earlier   ${doneText({ rows, done })}${isSure}${flags}`]),
    ...(unknown.length === 0 ? [] : [`  earlier   ${knownText({ rows, done: [], unknown })}`]),
    ...(open.length === 0
      ? []
      : [`  earlier   ${openText(open)}; run refuses this sheet until they have ended`]),
  ];
}

const sumOf = (shared: readonly SharedRows[]): number => shared.reduce((sum, { rows }) => sum + rows, 0);

/** How the batch was mapped, as flags, unless the command says it itself: its results have the columns of its sheet. */
function mappingOf({ sheet }: BatchFile, args: readonly string[]): readonly string[] {
  const { map, set, drop, types, keyColumn, gpuColumn } = sheet.options;
  const pairs = (flag: string, all: Readonly<Record<string, string>>): readonly string[] =>
    Object.entries(all).flatMap(([name, value]) => [flag, `${name}=${value}`]);
  const groups = [
    pairs('--map', map),
    pairs('--set', set),
    drop.flatMap((column) => ['--drop', column]),
    pairs('--type', types),
    keyColumn === undefined ? [] : ['--key', keyColumn],
    gpuColumn === undefined ? [] : ['--gpu-column', gpuColumn],
  ];
  const isGiven = (flag: string): boolean =>
    args.some((word) => word === flag || word.startsWith(`${flag}=`));
  return groups.flatMap((group) => (group[0] === undefined || isGiven(group[0]) ? [] : group));
}

/** The command that was given, with these flags instead of --reuse or --again. */
function commandWith([, , name = '', ...args]: readonly string[], ...flags: readonly string[]): string {
  const others = args.filter((arg) => arg !== '--reuse' && arg !== '--again');
  return ['runsheet', name, ...flags, ...others].map(shellWord).join(' ');
}

type Counts = { readonly left: number; readonly rows: number };

/** What r, a and q mean; the user may want neither. */
const ANSWERS = { r: 'reuse', a: 'again', q: undefined } as const;

const questionOf = (what: string, { left, rows }: Counts): string =>
  `${what}\n  r  reuse their results and run ${plural(left, 'row')}\n  a  run all ${plural(rows, 'row')} again\n  q  stop\n[r/a/q] `;
