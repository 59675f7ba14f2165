// Flags that several commands share. Flags of single commands are in batch-flags.ts and server-flags.ts.

import type { FlagParametersForType } from '@stricli/core';
import { choice as choiceOf, span, rowRanges, text, texts } from '../../options/batch-kinds.ts';
import { FAILURE_KINDS } from '../../options/facts/failure-kind.ts';
import { GPUS } from '../../options/facts/gpu.ts';
import { count } from '../../options/kinds.ts';
import { OUTCOMES } from '../../batch/outcome.ts';
import { APIS } from '../../host/api-version.ts';
import { hintAmong, errorMessage } from '../../errors/error.ts';
import type { Context } from '../context.ts';
import {
  boolean,
  choice,
  fail,
  kindFlag,
  optional,
  optionalChoice,
  parsed,
  repeatable,
  valueFrom,
  inGroup,
  type FlagsOf,
  proposing,
  negatable,
  orNone,
} from './flag-kinds.ts';
import { readPlainFile } from '../../host/plain-file.ts';
import { LIMITS, type LimitName } from '../../options/limits.ts';
import { formOf } from '../../options/read.ts';
import {
  isPaired,
  isRepeated,
  OPTIONS,
  optionsOf,
  type AnyOption,
  type OptionValues,
  type OptionKind,
  type OptionName,
} from '../../options/table.ts';
import { absoluteTarget } from '../../notices/absolute-target.ts';

export { boolean, choice, optional, optionalChoice, parsed, repeatable, type FlagsOf };

/** `failed,timed-out`: one or more of these words. */
const choicesFrom =
  <const W extends string>(words: readonly W[], noun: string) =>
  (input: string): readonly W[] =>
    input.split(',').map((part) => {
      const chosen = words.find((word) => word === part);
      if (chosen !== undefined) return chosen;
      return fail(`has no ${noun} with ${part}`, hintAmong(part, 'values', words));
    });

/** Requires a unit, because these times delete things: 30 could be seconds or days. */
const timeWithUnit = (input: string): number =>
  /^[\d.]+$/.test(input)
    ? fail('has no unit', `for days: ${input}d; for hours: ${input}h; for minutes: ${input}m`)
    : valueFrom(ANY_TIME)(input);

const ANY_TIME = span('0s', 0);

export const textFlag = kindFlag(text('text', 'a'));
export const wholeFlag = (least: number, most?: number) => kindFlag(count(least, most));
export const port = wholeFlag(0, 65_535);
export const gpuFlag = kindFlag(choiceOf(GPUS));
export const rowList = kindFlag(rowRanges);
export const outcomeList = parsed(choicesFrom(OUTCOMES, 'outcome'));
export const failureList = parsed(choicesFrom(FAILURE_KINDS, 'kind of failure'));
export const keyList = kindFlag(texts('a,b', 'sku-1,sku-2', true));
export const attemptNumber = wholeFlag(1);
export const time = kindFlag(ANY_TIME);
export const age = parsed(timeWithUnit);

export const out = optional(
  textFlag('dir', 'folder of the batches, or s3://bucket/folder (default: RUNSHEET_OUT, else ./batches)'),
);
export const quiet = boolean('print errors only');
export const output = choice(['text', 'json'], 'text', 'json prints one document on stdout');
export const shownFlags = { out, output } as const;
export type ShownFlags = FlagsOf<typeof shownFlags>;
export const outputOfRows = choice(
  ['text', 'json', 'jsonl'],
  'text',
  'json prints the batch when it has ended, jsonl its rows as they end, one a line',
);

/** The API version of the run service; overrides the settings. */
export const api = optionalChoice(
  APIS,
  'API version of the run service; v1 guarantees less (default: RUNSHEET_API, else v2)',
);

export const namedService = optional(
  textFlag(
    'name',
    'the run service of this name in the settings, [service.production] (default: RUNSHEET_SERVICE)',
  ),
);

export const controlFlags = {
  reason: optional(textFlag('text', 'why; the log of the batch names it')),
  timeout: optional(
    time('time', 'how long to wait until the command is in force, with exit code 7 after it (default: 20s)'),
  ),
  ...shownFlags,
} as const;
export type ControlFlags = FlagsOf<typeof controlFlags>;

/** Options of the library without a flag of the same name: commands ask, or have flags of their own. */
type NotOfCommands = 'guess' | 'reuse';
type Flag = Exclude<OptionName, NotOfCommands>;
type TypeOf<N extends Flag> = (typeof OPTIONS)[N]['kind']['type'];
type NamesOf<Type> = { [N in Flag]: TypeOf<N> extends Type ? N : never }[Flag];
type Repeated = NamesOf<'pairs' | 'axes' | 'targets'> | 'drop' | 'split' | 'fillDown';

/** The parsed flags. A repeatable flag keeps its raw texts. */
export type OptionFlags = { readonly [N in Exclude<NamesOf<'flag'>, 'unique'>]: boolean } & {
  readonly unique?: boolean;
} & {
  readonly [N in Repeated]?: readonly string[];
} & { readonly [N in Exclude<Flag, NamesOf<'flag'> | Repeated>]?: Exclude<OptionValues[N], undefined> };

export type LimitFlags = Pick<OptionFlags, LimitName>;

/** `fallback`: the default that help shows. */
function flagFor(option: string, row: AnyOption, fallback = row.usual): object {
  const { kind, help, removable, form = formOf(kind).form(kind), proposes } = row;
  const brief = fallback === undefined ? help : `${help} (default: ${fallback})`;
  if (kind.type === 'flag') return row.negatable ? negatable(brief) : boolean(brief);
  if (kind.type === 'choice') return { kind: 'enum', values: kind.words, optional: true, brief };
  const parse = isRepeated(kind) ? textOf(kind, option) : valueFrom<OptionKind>(kind, option);
  const flag = parsed<unknown>(removable ? orNone(parse) : parse)(form, brief);
  const parameter = isRepeated(kind) ? repeatable(flag) : optional(flag);
  return proposes === undefined ? parameter : proposing(parameter, proposes);
}

/** Checks each value of a repeatable flag early; the values are read together once all are known. */
const textOf =
  (kind: OptionKind, option: string) =>
  (input: string): string => {
    const value =
      kind.type === 'targets' ? absoluteTarget(input) : kind.type === 'axes' ? withLines(input) : input;
    valueFrom<OptionKind>(isPaired(kind) ? OPTIONS.deployment.kind : kind, option)(value);
    return value;
  };

/** Replaces `prompt=@prompts.txt` by the lines of the file. Throws the fault of the file. */
function withLines(input: string): string {
  const [, name, path] = /^([^=]+)=@(.+)$/s.exec(input) ?? [];
  return name === undefined || path === undefined ? input : `${name}=${JSON.stringify(linesOf(path))}`;
}

const LINES = { mostBytes: 64 * 1024 * 1024, mayBePipe: true };

function linesOf(path: string): readonly string[] {
  try {
    const lines = new TextDecoder('utf-8', { fatal: true }).decode(readPlainFile(path, LINES).bytes);
    return lines.split(/\r?\n/).filter((line) => line.trim() !== '');
  } catch (error) {
    return fail(
      `names a file that cannot be read: ${errorMessage(error)}`,
      `for values that begin with @: --grid 'name=["@…"]'`,
    );
  }
}

const optionFlags = Object.fromEntries(
  optionsOf('command').map(([option, row]) => [option, { ...flagFor(option, row), group: row.group }]),
) as unknown as FlagParametersForType<OptionFlags, Context>;

export const changedLimitFlags = Object.fromEntries(
  Object.keys(LIMITS).map((option) => {
    const row: AnyOption = OPTIONS[option as LimitName];
    const none = row.removable && row.usual === 'none' ? '; none removes it' : '';
    return [option, flagFor(option, row, `unchanged${none}`)];
  }),
) as unknown as FlagParametersForType<LimitFlags, Context>;

export const optionAliases = Object.fromEntries(
  optionsOf('command').flatMap(([option, { alias }]) => (alias === undefined ? [] : [[alias, option]])),
);

const { deployment, ...options } = optionFlags;
export const workflowFlag = textFlag(
  '[name=]file',
  'run this ComfyUI workflow on your own GPUs, or at RunPod with --model runpod:<endpoint>: an API export, or media that ComfyUI saved; "wf.json#$.workflows[1]" picks one of several graphs; name= names the deployment (default: the file name without _api)',
);
export const ownFlags = inGroup('your own GPUs', {
  workflow: optional(workflowFlag),
  comfyui: repeatable(
    textFlag('[gpu=]url', 'a ComfyUI of your own, such as http://127.0.0.1:8188; repeat it for more'),
  ),
  comfyuiHeaders: optional(
    textFlag('file', "file of HTTP headers for --comfyui, one 'Name: value' per line"),
  ),
  comfyApi: repeatable(
    textFlag(
      '[Nx=]url',
      'address of a Comfy API v2 server: Comfy Cloud, your own deployment, or comfy-api-proxy; Nx= limits it to N runs at a time (default: as many as it takes), such as "20x=https://dep-1.run.comfy.app"; repeatable',
    ),
  ),
  comfyApiKeyFile: optional(textFlag('file', 'a file with the key for it')),
  program: optional(
    textFlag(
      'command',
      "run this program once for each row, such as 'python generate.py': it reads the inputs as JSON on stdin and writes files into the folder where it starts (docs/programs.md)",
    ),
  ),
  stays: boolean(
    'with --program, keep one process for each GPU, which loads its model once: it reads a line of JSON for each row and appends its answer to $RUNSHEET_ANSWERS (docs/programs.md)',
  ),
  model: optional(
    textFlag(
      '[usd/run=|usd/s=]vendor:model',
      "run this hosted model, such as replicate:black-forest-labs/flux-schnell, or the one in your Cog container, cog:http://127.0.0.1:5000; a vendor's key comes from --key-file, or from the variable that the vendor names; what the vendor asks, for --max-cost: 0.025/run=fal:fal-ai/flux/dev, or 0.0003/s=… (docs/where-rows-run.md)",
    ),
  ),
  keyFile: optional(textFlag('file', 'with --model, a file with your key at the vendor alone')),
  gpus: optional(
    textFlag(
      'n|ids',
      'with --program, how many GPUs of this machine run it, or which: 2, or 0,3 (default: all that nvidia-smi lists, else 1)',
    ),
  ),
});
export type OwnFlags = FlagsOf<typeof ownFlags>;

const service = {
  ...inGroup('service', {
    api,
    service: namedService,
    local: boolean('rehearse on the local run service, which costs nothing'),
  }),
  ...ownFlags,
};
const making = inGroup('batch', {
  yes: boolean(
    'answer yes. With --canary: send the remaining rows if the canary succeeds. With --into: also add rows that another batch has already paid for',
  ),
  again: boolean('make a new batch and run all its rows, even those that earlier batches have done'),
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
  ...inGroup('output', { out, quiet }),
});

export const sheetFlags: FlagParametersForType<Omit<SheetFlags, keyof typeof fromFlags>, Context> = {
  deployment,
  ...service,
  ...options,
  ...making,
  output,
};

export const fromFlags = inGroup('results as the sheet', {
  from: proposing(
    optional(
      textFlag('batch', 'instead of a sheet: the results of this batch, which has ended; --map image=output'),
    ),
    'batches',
  ),
  pick: optional(
    textFlag(
      'file',
      'with --from, only the rows in this file, in its order, by its column key or row; its other columns are added',
    ),
  ),
  each: optionalChoice(
    ['row', 'file'],
    'with --from, one row for each row, or for each of its files (default: row)',
  ),
});

export type SheetFlags = OptionFlags &
  FlagsOf<typeof service & typeof making & typeof fromFlags & { readonly output: typeof outputOfRows }>;

const rarely = { kind: 'boolean', optional: true, withNegated: false } as const;

export const runFlags = {
  watch: {
    ...rarely,
    brief: 'follow the sheet too: each save sends the rows that it adds or changes, until Ctrl-C',
  },
  output: outputOfRows,
} as const;
export type RunFlags = SheetFlags & FlagsOf<typeof runFlags>;
