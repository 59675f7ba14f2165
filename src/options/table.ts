// The table of options: one row for each setting of a batch, at every door. Flags with their help, the types and
// readers of programs, the fields of batch.json, the tables of the documentation and shell completion are derived
// from it.

import { MAX_CANARY_ROWS } from './bounds-and-defaults.ts';
import { axes, choice, flag, pairs, repeat, span, text, texts, unconfirmed } from './batch-kinds.ts';
import type * as batchKinds from './batch-kinds.ts';
import { count, named } from './kinds.ts';
import type * as kinds from './kinds.ts';
import { LIMITS, type KeptOf } from './limits.ts';
import { READING } from './reading-table.ts';

export type Door = 'command' | 'program' | 'workflow' | 'schedule';

const column = text('column', 'sku');

/** A run that may live for less than a second would always be cancelled. */
const timeout = span('1s', 1_000);

/**
 * `scope`: the part of a request that contains the option. `live`: the option may change while the batch runs; `own`:
 * a request treats it separately. `kept`: its name in a request and in batch.json, if it differs. `not`: doors
 * without it. `form`: the placeholder of its value, if it differs from that of its kind.
 */
export const OPTIONS = {
  deployment: {
    kind: text('name', 'portraits'),
    scope: 'request',
    group: 'batch',
    help: 'what runs the rows: its id, or its name if the name is unique',
    usual: 'required',
    alias: 'd',
    proposes: 'deployments',
  },
  name: {
    kind: named,
    scope: 'request',
    group: 'batch',
    help: 'batch id',
    usual: 'from the file name and the content',
    not: ['schedule'],
  },
  ...LIMITS,
  unconfirmed: {
    kind: unconfirmed(timeout),
    scope: 'own',
    group: 'failures',
    help: 'what to do with an attempt that may have started a run: unknown, ask, fail, resubmit-after=2h',
    usual: 'unknown',
  },
  queueTimeout: {
    kind: timeout,
    scope: 'own',
    group: 'failures',
    help: 'cancel a run that has not started after this long, such as 24h, and retry its row',
    usual: 'no limit',
  },
  runTimeout: {
    kind: timeout,
    scope: 'own',
    group: 'failures',
    help: 'cancel a run that made no progress for this long, such as 30m',
    usual: "the deployment's limit + 5 min",
  },
  timeLimit: {
    kind: timeout,
    kept: 'timeLimitMs',
    scope: 'own',
    group: 'failures',
    help: 'end a run on GPUs of your own after this long, such as 3h',
    usual: '1h, or what a deployments file says',
  },
  canary: {
    kind: count(1, MAX_CANARY_ROWS),
    scope: 'own',
    group: 'money',
    help: 'send n rows first that differ as much as possible, and the others only if all of them succeed',
    usual: '0',
  },
  acceptCost: {
    kind: flag,
    scope: 'request',
    group: 'money',
    help: 'start although all rows are forecast to cost more than --max-cost: the batch pauses when that is spent',
    usual: 'asked',
  },
  movedFiles: {
    kind: choice(['keep', 'again']),
    scope: 'request',
    group: 'money',
    help: 'rows already done whose input file now has another address: keep their results, or run them again',
    usual: 'asked',
  },
  reserve: {
    kind: choice(['most', 'p99']),
    scope: 'own',
    group: 'money',
    help: 'what --max-cost reserves for a run: the most that it can cost, or an estimate from the runs before it',
    usual: 'most',
  },
  shuffle: {
    kind: flag,
    scope: 'order',
    group: 'order',
    help: 'send the rows in a random order that is the same each time',
  },
  orderBy: {
    kind: column,
    scope: 'order',
    group: 'order',
    help: 'send the rows in the order of this column, smallest first',
    usual: 'as in the sheet',
  },
  priority: {
    kind: column,
    scope: 'order',
    group: 'order',
    help: 'send the rows with the highest number in this column first',
  },
  gpu: {
    kind: text('gpu', 'A10G'),
    scope: 'sheet',
    group: 'GPUs',
    help: 'GPU for rows that name none',
    usual: "the deployment's GPU",
    proposes: 'gpus',
  },
  ladder: {
    kind: texts('gpu,…', 'T4,A10G,H100', true),
    scope: 'sheet',
    group: 'GPUs',
    help: 'GPUs that rows without one climb when memory or time runs out, such as T4,A10G,H100',
  },
  acceptGpu: {
    kind: flag,
    scope: 'request',
    group: 'GPUs',
    help: 'accept that the service may use the GPU of the deployment instead of the one that rows ask for',
  },
  gpuColumn: {
    kind: column,
    scope: 'sheet',
    group: 'columns',
    help: 'column that names the GPU of each row',
    usual: 'gpu',
  },
  map: {
    kind: pairs('column', 'image=output'),
    scope: 'sheet',
    group: 'columns',
    help: 'fill an input from this column',
    usual: 'the column with the same name, whatever its case',
  },
  set: {
    kind: pairs('value', 'steps=30'),
    scope: 'sheet',
    group: 'columns',
    help: 'set an input to this value in every row; {column} takes the cell of the row, such as prompt="a photo of {product}"',
  },
  drop: {
    kind: texts('column', 'notes'),
    scope: 'sheet',
    group: 'columns',
    help: 'this column is data, not an input',
  },
  type: {
    kind: pairs('type', 'steps=int', ['string', 'int', 'float', 'bool', 'json', 'file', 'files']),
    scope: 'sheet',
    kept: 'types',
    group: 'columns',
    help: 'type of an input, such as steps=int: string, int, float, bool, json, file (a URL or a local file to upload) or files (a list of those)',
    usual: 'as the deployment says',
  },
  key: {
    kind: column,
    scope: 'sheet',
    kept: 'keyColumn',
    group: 'columns',
    help: 'column whose value names each row',
    usual: "a column such as sku or id with unique values, else a hash of the row's inputs",
  },
  acceptFiles: {
    kind: flag,
    scope: 'request',
    group: 'columns',
    help: 'also upload files that rows name outside the folder of the sheet, and hidden ones',
    usual: 'asked',
  },
  repeat: {
    kind: repeat,
    scope: 'sheet',
    stays: 'rows',
    group: 'rows',
    help: 'run each row this many times (4), or as many times as a column says (count). Repeats use seed, seed + 1, …; a row without a seed gets one derived from its content. same:4 keeps all inputs equal',
  },
  split: {
    kind: texts('column', 'seed'),
    scope: 'sheet',
    stays: 'rows',
    group: 'rows',
    help: 'make a row of each value in the cells of this column: 1,2,3 or 100-103 or ["a","b"]',
  },
  grid: {
    kind: axes,
    scope: 'sheet',
    stays: 'rows',
    group: 'rows',
    help: 'run each row with every combination of these values, such as style=oil,ink and seed=1..4, or prompt=@prompts.txt with the lines of a file; works without a sheet too',
  },
  outputName: {
    kind: text('template', '{sku}-{seed}'),
    scope: 'own',
    group: 'results',
    help: "names of output files from columns, {row} and {key}, such as '{sku}-{seed}'",
    usual: 'the key',
  },
  ...READING,
  poll: { kind: flag, scope: 'own', group: 'service', help: 'poll the runs instead of using webhooks' },
  servers: {
    kind: texts('url', 'http://gpu-1:8188'),
    scope: 'own',
    group: 'service',
    help: 'the only GPU servers of your own that may run the rows',
    usual: 'all that the local run service knows',
    not: ['command'],
  },
  guess: {
    kind: choice(['refuse', 'accept']),
    scope: 'request',
    group: 'batch',
    help: 'guesses about the sheet that could spend money wrongly: refuse them, or accept them',
    usual: 'refuse',
    not: ['command', 'schedule'],
  },
  reuse: {
    kind: choice(['refuse', 'reuse', 'again']),
    scope: 'request',
    group: 'batch',
    help: 'rows that earlier batches have done: refuse the sheet, reuse their results and run only the others, or run all of them again',
    usual: 'refuse',
    not: ['command', 'schedule'],
  },
} as const;

export type OptionName = keyof typeof OPTIONS;
type OptionRow<N extends OptionName> = (typeof OPTIONS)[N];

/** The values of options in their stored form; `none` removes a limit. */
export type OptionValues = {
  readonly [N in OptionName]?:
    | KeptOf<OptionRow<N>['kind']>
    | (OptionRow<N> extends { readonly removable: true } ? 'none' : never)
    | (N extends 'concurrency' ? { readonly auto: number } : never);
};

/** A kind with any bounds and words. */
export type OptionKind =
  | ReturnType<
      | typeof kinds.count
      | typeof kinds.concurrency
      | typeof kinds.money
      | typeof kinds.countBy<string>
      | typeof batchKinds.span
      | typeof batchKinds.choice<string>
      | typeof batchKinds.text
      | typeof batchKinds.texts
      | typeof batchKinds.pairs<string>
      | typeof batchKinds.unconfirmed
    >
  | (typeof kinds)['rowsOrShare' | 'moment' | 'named' | 'targets']
  | (typeof batchKinds)['flag' | 'rowOrNone' | 'rowRanges' | 'axes' | 'repeat'];

/** The shape that all options share. */
export type AnyOption = {
  readonly kind: OptionKind;
  readonly scope: (typeof OPTIONS)[OptionName]['scope'];
  readonly group: (typeof OPTIONS)[OptionName]['group'];
  readonly help: string;
  readonly usual?: string;
  readonly kept?: string;
  readonly removable?: true;
  readonly stays?: Stays;
  /** Whether false is a meaningful value too. */
  readonly negatable?: true;
  readonly alias?: string;
  readonly form?: string;
  readonly proposes?: 'deployments' | 'gpus' | 'pools';
  readonly not?: readonly Door[];
};

export const optionsOf = (door: Door): readonly (readonly [OptionName, AnyOption])[] =>
  Object.entries<AnyOption>(OPTIONS)
    .filter(([, { not = [] }]) => !not.includes(door))
    .map(([option, row]) => [option as OptionName, row]);

type KeptName<N extends OptionName> = OptionRow<N> extends { readonly kept: infer S extends string } ? S : N;
type NamesIn<Scope> = { [N in OptionName]: OptionRow<N>['scope'] extends Scope ? N : never }[OptionName];

/** The options of a scope, as a request and batch.json have them. */
export type KeptIn<Scope extends AnyOption['scope']> = {
  readonly [N in NamesIn<Scope> as KeptName<N>]?: KeptOf<OptionRow<N>['kind']>;
};

type Stays = true | 'rows' | 'shape';

/** The options of a batch that also apply to its further sheets: those that stay in one of these ways. */
export function stayingOf<Options extends KeptIn<'reading' | 'sheet'>>(
  options: Options,
  ways: readonly Stays[],
): Partial<Options> {
  const names = new Set<string>(
    Object.entries<AnyOption>(OPTIONS).flatMap(([option, { stays, kept = option }]) =>
      stays !== undefined && ways.includes(stays) ? [kept] : [],
    ),
  );
  const staying = Object.entries(options).filter(([name, value]) => names.has(name) && value !== undefined);
  return Object.fromEntries(staying) as Partial<Options>;
}

/** Moves the options of a scope to their stored names. */
export function keptIn<Scope extends AnyOption['scope']>(scope: Scope, options: object): KeptIn<Scope> {
  const values: Readonly<Record<string, unknown>> = { ...options };
  const isGiven = (option: string, { negatable }: AnyOption): boolean =>
    values[option] !== undefined && (values[option] !== false || negatable === true);
  return Object.fromEntries(
    Object.entries<AnyOption>(OPTIONS)
      .filter(([option, row]) => row.scope === scope && isGiven(option, row))
      .map(([option, { kept = option }]) => [kept, values[option]]),
  ) as KeptIn<Scope>;
}

export const isPaired = ({ type }: OptionKind): boolean => type === 'pairs' || type === 'axes';

/** Whether the option takes one flag for each value. */
export const isRepeated = (kind: OptionKind): boolean =>
  isPaired(kind) || kind.type === 'targets' || (kind.type === 'texts' && !kind.joined);
