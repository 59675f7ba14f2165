// Flags that several commands share, as the parser wants them. No command has a flag that is not described here or beside
// its name in commands.ts.

import { CONCURRENCY_MAX, RETRIES_MAX } from '../batch/bounds.ts';
import type { UnconfirmedRule } from '../batch/params.ts';
import { list, nearest, problem } from '../errors/error.ts';
import { APIS, type Api } from '../host/api-version.ts';

/** What is wrong with a value; the flag and the value are said before it. */
const fail = (what: string, hint?: string): never => {
  throw problem('E602', { what, ...(hint !== undefined && { hint }) });
};

const MOST_WHOLE = 999_999_999;

const wholeFrom =
  (least: number, most = MOST_WHOLE) =>
  (input: string): number => {
    const value = /^\d{1,10}$/.test(input) ? Number(input) : Number.NaN;
    return value >= least && value <= most
      ? value
      : fail(`is not a whole number from ${least} to ${most.toLocaleString('en-US')}`);
  };

/** Beyond it a second of life takes less than the clock can tell. */
const SPEED_MOST = 10_000;

const factor = (input: string): number => {
  const value = Number(input);
  return value > 0 && value <= SPEED_MOST
    ? value
    : fail(`is not a number above 0, up to ${SPEED_MOST.toLocaleString('en-US')}`);
};
/** An empty value is rather an unset variable of a shell. */
const text = (input: string): string => (input === '' ? fail('is empty') : input);

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `30m`, `2h`, `7d` in milliseconds; NaN for anything else. */
function msOf(input: string): number {
  const [, amount, unit = 's'] = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)?$/.exec(input) ?? [];
  return Number(amount) * (UNITS[unit] ?? 1);
}

const MOST_TIME = '365d';

const timeFrom =
  (least: string) =>
  (input: string): number =>
    msOf(input) >= msOf(least) && msOf(input) <= msOf(MOST_TIME)
      ? msOf(input)
      : fail(`is not a time from ${least} to ${MOST_TIME}`, 'say 90s, 30m, 2h or 7d');

const name = (input: string): string =>
  /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$/.test(input)
    ? input
    : fail('is no batch name', 'a name has letters, digits, dots, underlines and hyphens, at most 100');

type Kind<T> = {
  readonly kind: 'parsed';
  readonly parse: (input: string) => T;
  readonly brief: string;
  readonly placeholder: string;
};

export type UnconfirmedChoice = { readonly rule: UnconfirmedRule['rule']; readonly afterMs?: number };

const PLAIN_RULES = ['unknown', 'ask', 'fail'] as const;

const RESUBMIT = 'resubmit-after=';

const unconfirmedChoice = (input: string): UnconfirmedChoice => {
  if (input.startsWith(RESUBMIT))
    return { rule: 'resubmit', afterMs: timeFrom('1s')(input.slice(RESUBMIT.length)) };
  const rule = PLAIN_RULES.find((plain) => plain === input);
  if (rule !== undefined) return { rule };
  const values = [...PLAIN_RULES, `${RESUBMIT}2h`];
  const near = nearest(input, values);
  return fail(
    'is not one of its values',
    `${near === undefined ? '' : `did you mean ${near}? `}values: ${list(values)}`,
  );
};

const parsed =
  <T>(parse: (input: string) => T) =>
  (brief: string, placeholder: string): Kind<T> => ({ kind: 'parsed', parse, brief, placeholder });

const optional = <T>(flag: T): T & { readonly optional: true } => ({ ...flag, optional: true });
const repeatable = <T>(flag: T): T & { readonly variadic: true; readonly optional: true } => ({
  ...flag,
  variadic: true,
  optional: true,
});

export const words = parsed(text);
const number = parsed(wholeFrom(0));
export const port = parsed(wholeFrom(0, 65_535));
export const rowNumber = wholeFrom(1);
const positiveNumber = parsed(wholeFrom(1));
const concurrencyNumber = parsed(wholeFrom(1, CONCURRENCY_MAX));
const unconfirmedRule = parsed(unconfirmedChoice);
const retriesNumber = parsed(wholeFrom(0, RETRIES_MAX));
const factorNumber = parsed(factor);
export const time = parsed(timeFrom('0s'));
/** No run starts or shows anything within less than a second. */
const patience = parsed(timeFrom('1s'));

const choice = <const C extends string>(values: readonly C[], fallback: NoInfer<C>, brief: string) =>
  ({ kind: 'enum', values, default: fallback, brief }) as const;

const boolean = (brief: string) => ({ kind: 'boolean', default: false, withNegated: false, brief }) as const;

export { boolean, choice, optional, repeatable };

export const out = optional(words('folder of the batches; ./batches by itself', 'dir'));
export const quiet = boolean('say nothing but errors');
export const output = choice(['text', 'json'], 'text', 'json: one document on stdout');

/** Which API the service speaks, where the settings do not say. */
export const api = {
  kind: 'enum',
  values: APIS,
  optional: true,
  brief: 'API that the run service speaks; v2 by itself, v1 guarantees less',
} as const;

/** How a sheet is read, what is asked of the service, and how hard. */
export const sheetFlags = {
  deployment: optional(words('deployment: its id, or its name where only one has it', 'name')),
  api,
  local: boolean('rehearse on the local run service of this place, which costs nothing'),
  concurrency: optional(
    concurrencyNumber("runs outstanding at once; twice the deployment's own limit by itself", 'n'),
  ),
  retries: optional(
    retriesNumber('further attempts for a row whose run failed or timed out (default: 2)', 'n'),
  ),
  unconfirmed: optional(
    unconfirmedRule(
      'what to do with an attempt that may have started a run: unknown (default), ask, fail or resubmit-after=2h',
      'rule',
    ),
  ),
  queueTimeout: optional(
    patience(
      'cancel a run that has not started after this long, and try its row again (default: wait)',
      '24h',
    ),
  ),
  runTimeout: optional(
    patience(
      "cancel a run that made no progress for this long (default: the deployment's limit and 5 minutes)",
      '30m',
    ),
  ),
  gpu: optional(words('GPU for rows that ask for none', 'gpu')),
  gpuColumn: optional(words('column with the GPU of each row; "gpu" by itself', 'column')),
  map: repeatable(words('column that gives an input', 'input=column')),
  set: repeatable(words('value of an input in every row', 'input=value')),
  drop: repeatable(words('column that is no input', 'column')),
  type: repeatable(words('type of an input: string, int, float, bool, json', 'input=type')),
  key: optional(words('column that names rows; their content by itself', 'column')),
  limit: optional(positiveNumber('only the first rows', 'n')),
  format: {
    kind: 'enum',
    values: ['csv', 'tsv', 'jsonl', 'json'],
    optional: true,
    brief: 'format of the sheet, where its name does not tell',
  },
  delimiter: optional(words('character between the fields of a CSV', 'char')),
  encoding: optional(words('encoding of the sheet; utf-8 by itself', 'label')),
  name: optional(parsed(name)('batch id; from the content by itself', 'name')),
  again: boolean('a new batch, even where the same one was made before'),
  poll: boolean('do without webhooks: look at the runs instead'),
  out,
  quiet,
  output,
} as const;

/** How the local run service is started. */
export const serviceFlags = {
  port: { ...port('port on loopback; 0 takes any', 'port'), default: '0' },
  tokenFile: optional(
    words('file with the API keys that are accepted, one a line (default: a key that is drawn)', 'file'),
  ),
  token: { ...repeatable(words('refused: see --token-file', 'key')), hidden: true },
  speed: { ...factorNumber('divides every wait', 'x'), default: '1' },
  db: { ...words('database file; in memory by itself', 'file'), default: ':memory:' },
  deployments: optional(words('deployments and their machines, as JSON', 'file')),
  fault: repeatable(words('what goes wrong how often, from 0 to 1', 'name=rate')),
  behaviour: choice(
    ['specification', 'vendor'],
    'specification',
    'where the two differ: which of them it is like',
  ),
  only: {
    kind: 'enum',
    values: ['v1'],
    optional: true,
    brief: 'a service that was not migrated: without the base of V2',
  },
  webhooksAnywhere: boolean('call webhooks beyond this machine too'),
  seed: { ...number('faults and run times are drawn from it', 'n'), default: '1' },
  embedded: { ...boolean('as a child of the embedded servers'), hidden: true },
  output,
} as const;

export const sheetAliases = { d: 'deployment', c: 'concurrency', o: 'output', q: 'quiet' } as const;

export type SheetFlags = {
  readonly deployment?: string;
  readonly api?: Api;
  readonly local: boolean;
  readonly concurrency?: number;
  readonly retries?: number;
  readonly unconfirmed?: UnconfirmedChoice;
  readonly queueTimeout?: number;
  readonly runTimeout?: number;
  readonly gpu?: string;
  readonly gpuColumn?: string;
  readonly map?: readonly string[];
  readonly set?: readonly string[];
  readonly drop?: readonly string[];
  readonly type?: readonly string[];
  readonly key?: string;
  readonly limit?: number;
  readonly format?: 'csv' | 'tsv' | 'jsonl' | 'json';
  readonly delimiter?: string;
  readonly encoding?: string;
  readonly name?: string;
  readonly again: boolean;
  readonly poll: boolean;
  readonly out?: string;
  readonly quiet: boolean;
  readonly output: 'text' | 'json';
};
