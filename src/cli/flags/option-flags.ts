// The flags of the options in the table.

import { readFileSync } from 'node:fs';
import type { FlagParametersForType } from '@stricli/core';
import { errorMessage } from '../../errors/error.ts';
import { LIMITS, type LimitName } from '../../options/limits.ts';
import { formOf } from '../../options/read.ts';
import {
  OPTIONS,
  optionsOf,
  type AnyOption,
  type Given,
  type Kind,
  type OptionName,
} from '../../options/table.ts';
import { isPaired, isRepeated } from '../../create-batch/repeated-flags.ts';
import { absoluteTarget } from '../../notices/absolute-target.ts';
import {
  boolean,
  fail,
  negatable,
  optional,
  orNone,
  parsed,
  repeatable,
  valueFrom,
  proposing,
} from './flag-kinds.ts';
import type { Context } from '../context.ts';

/** Options that only programs have: commands have flags of their own for them, or ask. */
type NotOfCommands = 'guess' | 'reuse';
type Flag = Exclude<OptionName, NotOfCommands>;
type TypeOf<N extends Flag> = (typeof OPTIONS)[N]['kind']['type'];
type NamesOf<Type> = { [N in Flag]: TypeOf<N> extends Type ? N : never }[Flag];
type Repeated = NamesOf<'pairs' | 'axes' | 'targets'> | 'drop' | 'split' | 'fillDown';

/** The values of the flags, as the parser reads them: a flag that may be repeated has its texts. */
export type OptionFlags = { readonly [N in Exclude<NamesOf<'flag'>, 'unique'>]: boolean } & {
  readonly unique?: boolean;
} & {
  readonly [N in Repeated]?: readonly string[];
} & { readonly [N in Exclude<Flag, NamesOf<'flag'> | Repeated>]?: Exclude<Given[N], undefined> };

export type LimitFlags = Pick<OptionFlags, LimitName>;

/** `fallback`: what help calls the default. */
function flagFor(option: string, row: AnyOption, fallback = row.usual): object {
  const { kind, help, removable, form = formOf(kind).form(kind), proposes } = row;
  const brief = fallback === undefined ? help : `${help} (default: ${fallback})`;
  if (kind.type === 'flag') return row.negatable ? negatable(brief) : boolean(brief);
  if (kind.type === 'choice') return { kind: 'enum', values: kind.words, optional: true, brief };
  const one = isRepeated(kind) ? textOf(kind, option) : valueFrom<Kind>(kind, option);
  const flag = parsed<unknown>(removable ? orNone(one) : one)(form, brief);
  const given = isRepeated(kind) ? repeatable(flag) : optional(flag);
  return proposes === undefined ? given : proposing(given, proposes);
}

/** One of several values; together they are read when all of them are known. */
const textOf =
  (kind: Kind, option: string) =>
  (input: string): string => {
    const given =
      kind.type === 'targets' ? absoluteTarget(input) : kind.type === 'axes' ? withLines(input) : input;
    valueFrom<Kind>(isPaired(kind) ? OPTIONS.deployment.kind : kind, option)(given);
    return given;
  };

/** `prompt=@prompts.txt` with the lines of the file as values; everything else as it is. Throws what is wrong with the file. */
function withLines(input: string): string {
  const [, name, path] = /^([^=]+)=@(.+)$/s.exec(input) ?? [];
  return name === undefined || path === undefined ? input : `${name}=${JSON.stringify(linesOf(path))}`;
}

function linesOf(path: string): readonly string[] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    return text.split(/\r?\n/).filter((line) => line.trim() !== '');
  } catch (error) {
    return fail(
      `names a file that cannot be read: ${errorMessage(error)}`,
      `for values that begin with @: --grid 'name=["@…"]'`,
    );
  }
}

export const optionFlags = Object.fromEntries(
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
