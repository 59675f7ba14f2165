// Builds commands: loads a command's module when it is chosen, and prints its errors.

import {
  buildCommand,
  type Command,
  type BaseArgs,
  type BaseFlags,
  type CommandFunction,
  type TypedCommandParameters,
} from '@stricli/core';
import { EXIT, RunsheetError, withTemporalFault } from '../errors/error.ts';
import { definedOnly } from '../options/defined-only.ts';
import type { Context, Output } from './context.ts';
import { optionAliases } from './flags/flags.ts';

/** Resolves with the exit code, unless it is 0. */
type CommandWork<F, A extends BaseArgs> = (this: Context, flags: F, ...args: A) => Promise<number | void>;

const ALIASES: Readonly<Record<string, string>> = {
  ...optionAliases,
  f: 'follow',
  o: 'output',
  q: 'quiet',
  y: 'yes',
};

export const LETTERS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ALIASES).map(([letter, flag]) => [`-${letter}`, `--${flag}`]),
);

export const aliasesOf = (flags: object): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(ALIASES).filter(([, flag]) => flag in flags));

/** Prints errors with their code, never as a stack trace. `more`: lines of help below the brief. */
export function command<F extends BaseFlags, A extends BaseArgs>(
  load: () => Promise<CommandWork<F, A>>,
  described: TypedCommandParameters<NoInfer<F>, NoInfer<A>, Context>,
  brief: string,
  usage?: string,
  more?: readonly string[],
): Command<Context> {
  const loader = async (): Promise<CommandFunction<F, A, Context>> => {
    const work = await load();
    return async function (flags, ...args) {
      try {
        this.process.exitCode = (await work.call(this, flags, ...args)) ?? EXIT.ok;
      } catch (error) {
        await printAndExit(this, error, flags['output'] as Output | undefined);
      }
    };
  };
  const parameters = { ...described, aliases: aliasesOf(described.flags ?? {}) };
  const built = buildCommand<F, A, Context>({ loader, parameters, docs: { brief } });
  // Extra fields for the help page.
  return { ...built, ...definedOnly({ usage: usage?.split(' | '), more }) };
}

export async function printAndExit(
  context: Context,
  thrown: unknown,
  output: Output | undefined,
): Promise<void> {
  const { printError } = await import('./context.ts');
  const { fileFault } = await import('../errors/file-fault.ts');
  const { withCommand } = await import('./flags/correction.ts');
  const coded = withTemporalFault(thrown);
  const error = coded instanceof RunsheetError ? coded : (fileFault(thrown) ?? thrown);
  printError(context, withCommand(error, context.args ?? []), output);
  context.process.exitCode = error instanceof RunsheetError ? error.exit : EXIT.unexpected;
}
