// Checks the options that multiply rows against the sheet and the deployment, and settles the source of seeds.

import { correctionOf, hintAmong, problem, RunsheetError } from '../../errors/error.ts';
import { MAX_REPEAT } from '../../options/batch-kinds.ts';
import { GPUS } from '../../options/facts/gpu.ts';
import type { InputType } from '../../service-client/contract/deployment.ts';
import { constantOf, indexOf } from '../column-mapping.ts';
import { namesInTemplates } from '../templates.ts';
import { or, plainName, said, toConfirm, type Guess, type Settled } from '../guesses/guess.ts';
import { areOneSetting, nameProper } from '../guesses/input-names.ts';
import { gpuNamed } from '../gpu-names.ts';
import { kindOf } from '../parse-cell.ts';
import { inputNamed, nearestInput } from '../named-inputs.ts';
import { ownColumns } from '../result-columns.ts';
import { sheetColumns } from '../read-records.ts';
import type { SheetSource, SheetOptions } from '../sheet-source.ts';
import { isExpanded, whereOf } from './expanded-rows.ts';

type DeclaredInputs = readonly InputType[] | undefined;
type Refused = { readonly what: string; readonly hint: string };

/** Throws E550 for a bad condition, E206 and E602 for bad multipliers. The layout reports an unreadable sheet. */
export async function settleRows(
  source: SheetSource,
  options: SheetOptions,
  inputTypes: DeclaredInputs,
): Promise<Settled> {
  if (!isExpanded(options)) return { options, guesses: [] };
  const columns = await sheetColumns(source, options).catch(unlessRefused);
  if (columns === undefined) return { options, guesses: [] };
  const own = columns.map(({ name }) => name);
  const { split = [], grid, repeat } = options;
  whereOf(options, own);
  for (const column of split) indexOf(own, column, '--split');
  if (grid !== undefined) refuseAxes(grid, options, own, inputTypes);
  if (ownColumns(own).length < own.length && (split.length > 0 || (grid ?? repeat) !== undefined))
    throw refused({
      what: 'the sheet is a file of results, which has each of its rows already',
      hint: 'leave out --grid, --repeat and --split, or give the sheet that the batch was made of',
    });
  if (repeat === undefined) return { options, guesses: [] };
  const counted = typeof repeat.by === 'string' ? withoutCount(options, repeat.by, own, inputTypes) : options;
  const isSettled = repeat.isSame === true || repeat.seed !== undefined;
  return isSettled ? { options: counted, guesses: [] } : withSeed(counted, own, inputTypes);
}

/** The number of runs is no input, unless the deployment has one of its name. */
function withoutCount(
  options: SheetOptions,
  by: string,
  own: readonly string[],
  inputTypes: DeclaredInputs,
): SheetOptions {
  indexOf(own, by, '--repeat');
  const isUsed = [...options.drop, ...Object.values(options.map)].includes(by);
  return isUsed || inputTypes?.some(({ name }) => name === by)
    ? options
    : { ...options, drop: [...options.drop, by] };
}

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof RunsheetError)) throw error;
}

const refused = (facts: Refused): RunsheetError => problem('E602', facts);

const isAlike = (name: string, input: string): boolean =>
  plainName(name) === plainName(input) ||
  nameProper(name) === nameProper(input) ||
  areOneSetting(name, input);

/** An axis without effect would buy identical runs. */
function refuseAxes(
  grid: NonNullable<SheetOptions['grid']>,
  options: SheetOptions,
  own: readonly string[],
  inputTypes: DeclaredInputs,
): void {
  const axes = Object.keys(grid);
  const inTemplates = namesInTemplates(options.set, axes);
  for (const [axis, values] of Object.entries(grid)) {
    const by = `--grid ${axis}`;
    const column = own.find((name) => isAlike(name, axis));
    if (column !== undefined)
      throw refused({
        what: `${by}: the sheet has the column "${column}" too`,
        hint: `leave ${by} out to use the column, or rename the column; for several values in its cells: --split ${column}`,
      });
    // A further sheet of the batch is mapped as the batch was.
    const rival = (['set', 'map'] as const).find(
      (flag) => Object.hasOwn(options[flag], axis) && options[flag][axis] !== axis,
    );
    if (rival !== undefined)
      throw refused({
        what: `${by} and --${rival} ${axis} both provide the input`,
        hint: 'remove one of them',
      });
    const input =
      (inputTypes && inputNamed(inputTypes, axis)) ?? inputTypes?.find(({ name }) => isAlike(axis, name));
    // An empty value leaves the input out.
    const texts = values.filter((value) => value !== '');
    if (input !== undefined)
      for (const text of texts) constantOf(`${by}=${text}`, text, kindOf(input.type), input);
    else if (plainName(axis) === 'gpu') for (const value of values) refuseGpu(`${by}=${value}`, value);
    else if (inputTypes !== undefined && !inTemplates.has(axis)) throw noInput(axis, inputTypes);
  }
}

function noInput(axis: string, inputTypes: readonly InputType[]): RunsheetError {
  const names = inputTypes.map(({ name }) => name);
  const near = nearestInput(axis, inputTypes);
  return problem(
    'E602',
    {
      what: `--grid ${axis}: the deployment has no input "${axis}", and no template takes it`,
      hint: hintAmong(axis, 'inputs', names, { near }),
    },
    { correction: correctionOf(axis, near) },
  );
}

function refuseGpu(by: string, value: string): void {
  if (gpuNamed(value) !== undefined) return;
  throw refused({
    what: `${by} is not a GPU of this service`,
    hint: hintAmong(value, 'allowed', GPUS, { between: ' ' }),
  });
}

/** Drawn seeds stay below this, so that every service can read them. */
const DRAWN_BELOW = 2 ** 31;

function withSeed(options: SheetOptions, own: readonly string[], inputTypes: DeclaredInputs): Settled {
  const { repeat, set, map, drop } = options;
  const by = repeat?.by ?? 1;
  const candidates = inputTypes?.filter(({ type }) => kindOf(type) === 'int').map(({ name }) => name) ?? [
    ...Object.keys(map),
    ...Object.keys(set),
    ...own.filter((name) => !drop.includes(name)),
  ];
  const input = seedAmong(candidates);
  if (input === undefined)
    return { options: { ...options, repeat: { by, isSame: true } }, guesses: [allSame(by)] };
  const isSeed = (name: string): boolean =>
    isAlike(name, input) || (inputTypes && inputNamed(inputTypes, name)?.name) === input;
  if (Object.keys(options.grid ?? {}).some(isSeed))
    throw refused({
      what: `--grid and --repeat both count the input ${input}`,
      hint: `leave --repeat out, and give all seeds to the grid: --grid ${input}=1..4`,
    });
  const drawing = drawnWithin(
    inputTypes?.find(({ name }) => name === input),
    by,
  );
  const column = Object.hasOwn(map, input)
    ? map[input]
    : own.find((name) => isSeed(name) && !drop.includes(name));
  if (column !== undefined)
    return { options: { ...options, repeat: { by, seed: { column, ...drawing } } }, guesses: [] };
  if (own.includes(input))
    throw refused({
      what: `--repeat counts the input ${input}, and --drop ${input} drops it`,
      hint: 'leave --drop out',
    });
  const { [input]: first, ...otherInputs } = set;
  if (first !== undefined && !/^-?\d{1,20}$/.test(first))
    throw refused({
      what: `--set ${input}=${first}: --repeat cannot count it on`,
      hint: `give the first seed: --set ${input}=1`,
    });
  const seed = {
    column: input,
    isAdded: true,
    ...drawing,
    ...(first === undefined ? {} : { first }),
  } as const;
  const drawn = said(
    'rows',
    `${input} is drawn from each row, and is in the results`,
    {},
    or('for seeds of your own', { set: { [input]: '1' } }),
  );
  return {
    options: { ...options, set: otherInputs, repeat: { by, seed } },
    guesses: first === undefined ? [drawn] : [],
  };
}

/** Limits drawn seeds so that all runs stay in the input's range, if the range is large enough. */
function drawnWithin(
  { min = 0, max = Number.POSITIVE_INFINITY }: Pick<InputType, 'min' | 'max'> = {},
  by: number | string,
): { readonly from?: number; readonly below: number } {
  const from = Math.ceil(min);
  const most = typeof by === 'number' ? by : MAX_REPEAT;
  const last = Math.floor(Math.min(max, Number.MAX_SAFE_INTEGER)) - most + 1;
  const below = Math.max(from + 1, Math.min(Math.max(DRAWN_BELOW, from + DRAWN_BELOW), last + 1));
  return { ...(from === 0 ? {} : { from }), below };
}

/** The input called seed, else the only one whose name is a seed. */
function seedAmong(names: readonly string[]): string | undefined {
  const exact = names.find((name) => plainName(name) === 'seed');
  const alike = names.filter((name) => areOneSetting(name, 'seed') || /(?:^|[^a-z])seed$/i.test(name));
  return exact ?? (new Set(alike).size === 1 ? alike[0] : undefined);
}

function allSame(by: number | string): Guess {
  const often = typeof by === 'number' ? `${by} times` : `as often as "${by}" says`;
  const text = `each row runs ${often} with the same inputs: the deployment has no integer input called seed`;
  return toConfirm('rows', text, { repeat: { by, isSame: true } });
}
