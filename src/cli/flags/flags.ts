// Flags that several commands share, as the parser wants them. A flag of a single command is described in
// command-list.ts.

import { CANARY_ROWS_MAX } from '../../options/bounds.ts';
import { FAILURE_KINDS } from '../../options/failure-kind.ts';
import { OUTCOMES } from '../../batch/outcome.ts';
import { APIS, type Api } from '../../host/api-version.ts';
import {
  name,
  gpuName,
  rowRanges,
  tag,
  choicesFrom,
  text,
  timeFrom,
  timeWithUnit,
  unconfirmedChoice,
  wholeFrom,
  type UnconfirmedChoice,
} from './flag-values.ts';
import { optional, parsed, repeatable } from './flag-kinds.ts';
import { readingFlags, type ReadingFlags } from './reading-flags.ts';
import { limitFlags, type LimitFlags } from './limit-flags.ts';
import { proposing } from '../completion/propose.ts';

export const textFlag = parsed(text);
export const port = parsed(wholeFrom(0, 65_535));
const canaryNumber = parsed(wholeFrom(1, CANARY_ROWS_MAX));
export const gpuFlag = parsed(gpuName);
export const rowList = parsed(rowRanges);
export const outcomeList = parsed(choicesFrom(OUTCOMES, 'outcome'));
export const failureList = parsed(choicesFrom(FAILURE_KINDS, 'kind of failure'));
export const keyList = parsed((input: string): readonly string[] => text(input).split(','));
const positiveNumber = parsed(wholeFrom(1));
export const attemptNumber = positiveNumber;
const workerTag = parsed(tag);
const unconfirmedRule = parsed(unconfirmedChoice);
export const time = parsed(timeFrom('0s'));
export const age = parsed(timeWithUnit);
/** A deadline below one second would cancel every run. */
const deadline = parsed(timeFrom('1s'));

const choice = <const C extends string>(values: readonly C[], fallback: NoInfer<C>, brief: string) =>
  ({ kind: 'enum', values, default: fallback, brief }) as const;

const boolean = (brief: string) => ({ kind: 'boolean', default: false, withNegated: false, brief }) as const;

export { boolean, choice, optional, parsed, repeatable };

export const out = optional(
  textFlag('dir', 'folder of the batches, or s3://bucket/folder (default: RUNSHEET_OUT, else ./batches)'),
);
export const quiet = boolean('print errors only');
export const output = choice(['text', 'json'], 'text', 'json prints one document on stdout');
export const outputOfRows = choice(
  ['text', 'json', 'jsonl'],
  'text',
  'json prints the batch when it has ended, jsonl its rows as they end, one a line',
);

/** The API version of the run service. It wins over the settings. */
export const api = {
  kind: 'enum',
  values: APIS,
  optional: true,
  brief: 'API version of the run service; v1 guarantees less (default: RUNSHEET_API, else v2)',
} as const;

/** For commands that control a batch. */
export const controlFlags = {
  reason: optional(textFlag('text', 'why; the log of the batch names it')),
  timeout: optional(
    time('time', 'how long to wait until the command is in force, with exit code 7 after it (default: 20s)'),
  ),
} as const;

/** How to read the sheet, what to request from the service, and how many runs at the same time. */
export const sheetFlags = {
  deployment: proposing(
    optional(textFlag('name', 'deployment: its id, or its name if the name is unique (required)')),
    'deployments',
  ),
  api,
  local: boolean('rehearse on the local run service, which costs nothing'),
  ...limitFlags,
  unconfirmed: optional(
    unconfirmedRule(
      'rule',
      'what to do with an attempt that may have started a run: unknown, ask, fail, resubmit-after=2h (default: unknown)',
    ),
  ),
  queueTimeout: optional(
    deadline(
      'time',
      'cancel a run that has not started after this long, such as 24h, and retry its row (default: no limit)',
    ),
  ),
  runTimeout: optional(
    deadline(
      'time',
      "cancel a run that made no progress for this long, such as 30m (default: the deployment's limit + 5 min)",
    ),
  ),
  canary: optional(
    canaryNumber(
      'n',
      'send n rows first that differ as much as possible, and the others only if all of them succeed (default: 0)',
    ),
  ),
  reserve: {
    kind: 'enum',
    values: ['most', 'p99'],
    optional: true,
    brief:
      'what --max-cost reserves for a run: the most that it can cost, or an estimate from the runs before it (default: most)',
  },
  yes: boolean('with --canary, send the others without asking on a terminal'),
  shuffle: boolean('send the rows in a random order that is the same each time'),
  orderBy: optional(
    textFlag(
      'column',
      'send the rows in the order of this column, smallest first (default: as in the sheet)',
    ),
  ),
  priority: optional(textFlag('column', 'send the rows with the highest number in this column first')),
  gpu: proposing(
    optional(textFlag('gpu', "GPU for rows that name none (default: the deployment's GPU)")),
    'gpus',
  ),
  acceptGpu: boolean(
    'accept that the service may use the GPU of the deployment instead of the one that rows ask for',
  ),
  ladder: optional(
    textFlag('gpu,…', 'GPUs that rows without one climb when memory or time runs out, such as T4,A10G,H100'),
  ),
  gpuColumn: optional(textFlag('column', 'column that names the GPU of each row (default: gpu)')),
  map: repeatable(
    textFlag(
      'input=column',
      'fill an input from this column (default: the column with the same name, whatever its case)',
    ),
  ),
  set: repeatable(textFlag('input=value', 'set an input to this value in every row')),
  drop: repeatable(textFlag('column', 'this column is data, not an input')),
  type: repeatable(
    textFlag(
      'input=type',
      'type of an input: string, int, float, bool, json (default: as the deployment says)',
    ),
  ),
  key: optional(
    textFlag(
      'column',
      "column whose value names each row (default: a column such as sku or id with unique values, else a hash of the row's inputs)",
    ),
  ),
  outputName: optional(
    textFlag(
      'template',
      "names of output files from columns, {row} and {key}, such as '{sku}-{seed}' (default: the key)",
    ),
  ),
  limit: optional(positiveNumber('n', 'use only the first n rows (default: all)')),
  ...readingFlags,
  name: optional(parsed(name)('name', 'batch id (default: from the file name and the content)')),
  again: boolean('make a new batch and run all its rows, also those that earlier batches have done'),
  into: proposing(
    optional(
      textFlag(
        'batch',
        'add the rows to this batch: new keys are appended, failed rows get new inputs, others are left out',
      ),
    ),
    'batches',
  ),
  reuse: boolean('keep the results of rows that succeeded in earlier batches; run only the others'),
  poll: boolean('poll the runs instead of using webhooks'),
  workerTag: optional(
    workerTag('tag', 'only workers with this tag in RUNSHEET_WORKER_TAGS work on the batch (default: any)'),
  ),
  out,
  quiet,
  output,
} as const;

export const sheetAliases = { d: 'deployment', c: 'concurrency', o: 'output', q: 'quiet', y: 'yes' } as const;

export type SheetFlags = LimitFlags &
  ReadingFlags & {
    readonly deployment?: string;
    readonly api?: Api;
    readonly local: boolean;
    readonly unconfirmed?: UnconfirmedChoice;
    readonly queueTimeout?: number;
    readonly runTimeout?: number;
    readonly canary?: number;
    readonly reserve?: 'most' | 'p99';
    readonly yes: boolean;
    readonly shuffle: boolean;
    readonly orderBy?: string;
    readonly priority?: string;
    readonly gpu?: string;
    readonly acceptGpu: boolean;
    readonly ladder?: string;
    readonly gpuColumn?: string;
    readonly map?: readonly string[];
    readonly set?: readonly string[];
    readonly drop?: readonly string[];
    readonly type?: readonly string[];
    readonly key?: string;
    readonly outputName?: string;
    readonly limit?: number;
    readonly name?: string;
    readonly again: boolean;
    readonly into?: string;
    readonly from?: string;
    readonly where?: string;
    readonly pick?: string;
    readonly each?: 'row' | 'file';
    readonly reuse: boolean;
    readonly poll: boolean;
    readonly workerTag?: string;
    readonly out?: string;
    readonly quiet: boolean;
    readonly output: 'text' | 'json' | 'jsonl';
  };

/** The flags of `run`. */
export type RunFlags = SheetFlags & {
  readonly watch?: boolean;
  /** The batch is removed after the command. */
  readonly demo?: boolean;
};
