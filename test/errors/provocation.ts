// An entry of the table: how an error is provoked, and where each command that it prints leads.

import { stripVTControlCharacters } from 'node:util';
import type { Code } from '../../src/errors/error.ts';
import { errorText } from '../../src/cli/format.ts';
import type { Recorded } from '../printed/recorded.ts';
import { commandsIn } from './printed-commands.ts';

/** The command keeps running and prints this. */
type Prints = { readonly prints: RegExp };

/** 0: it works; another number: it ends so. A code: this error comes next. A pattern: it fails, and prints this. */
export type Lead = number | Code | RegExp | Prints;

export type Said = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
type CommandEnvironment = Readonly<Record<string, string>>;

export type Provocation<Ground> = {
  readonly code: Code;
  /** The fault, in words. */
  readonly name: string;
  /** Makes it so. */
  readonly arrange?: (ground: Ground) => unknown;
  /** The words of the command. */
  readonly args?: readonly string[] | ((ground: Ground) => readonly string[]);
  /** Instead of a command, what a program does with the library. */
  readonly throws?: (ground: Ground) => Promise<unknown>;
  readonly env?: CommandEnvironment | ((ground: Ground) => CommandEnvironment);
  /** Runs as soon as the command has printed its text. */
  readonly meanwhile?: Meanwhile<Ground>;
  /** Where the printed commands lead, in their order (default: there is none, and `says` has the place and what is right there). */
  readonly leads?: readonly Lead[];
  readonly says?: RegExp;
  /** Mends what the text names; the same command then works. */
  readonly mend?: (ground: Ground) => unknown;
  /** Makes it right again for others. */
  readonly undo?: (ground: Ground) => unknown;
};

export type Meanwhile<Ground> = { readonly once: RegExp; readonly does: (ground: Ground) => unknown };

export type Run<Ground> = {
  readonly ground: Ground;
  readonly run: (
    args: readonly string[],
    env: CommandEnvironment,
    meanwhile?: Meanwhile<Ground>,
  ) => Promise<Said>;
  /** Runs the text that was printed. */
  readonly paste: (command: string, lead: Lead, env: CommandEnvironment) => Promise<Said>;
  /** Takes the lines whose commands were pasted. */
  readonly recorded?: Recorded;
};

/** Without the colours of a terminal. */
const printed = ({ stdout, stderr }: Said): string => stripVTControlCharacters(`${stdout}\n${stderr}`);

/** The code as an error, in JSON, in a check of doctor, or as the reason of a firing. */
const CODES = [/error\[(E\d{3})\]/, /"code": ?"(E\d{3})"|\((E\d{3})\)|(?:"|error: )(E\d{3}): /];
const codeIn = (said: Said): string | undefined =>
  CODES.flatMap((code) => code.exec(printed(said))?.slice(1) ?? []).find(Boolean);

/** The hints, without the lines between them. */
function hintIn(said: Said): string {
  const json = [...said.stdout.matchAll(/"(?:hint|reason)": ?("(?:[^"\\]|\\.)+")/g)];
  if (json.length > 0) return json.map(([, hint = '']) => JSON.parse(hint) as string).join('\n');
  let isHint = false;
  return printed(said)
    .split('\n')
    .flatMap((line) => {
      const [, begun] = /^ *hint: (.*)$/.exec(line) ?? [];
      isHint = begun !== undefined || (isHint && !/^$|^error|^refused|^ +-->|^…/.test(line));
      return isHint ? [begun ?? line] : [];
    })
    .join('\n');
}

/** The differences from the table as a text; empty if the error is the expected one and each of its commands leads where it should. */
export async function differences<Ground>(
  provocation: Provocation<Ground>,
  { ground, run, paste, recorded }: Run<Ground>,
): Promise<string> {
  await provocation.arrange?.(ground);
  const { leads = [] } = provocation;
  const args = (typeof provocation.args === 'function' ? provocation.args(ground) : provocation.args) ?? [];
  const env = (typeof provocation.env === 'function' ? provocation.env(ground) : provocation.env) ?? {};
  const said =
    provocation.throws === undefined
      ? await run(args, env, provocation.meanwhile)
      : await thrownBy(provocation.throws(ground));
  const wrong = unlike(provocation, said);
  if (codeIn(said) === provocation.code)
    for (const [at, command] of commandsIn(hintIn(said)).entries()) {
      const lead = leads[at];
      if (lead === undefined) continue;
      wrong.push(...pastedOff(command, lead, await paste(command, lead, env)));
      recorded?.add(hintIn(said), command);
    }
  if (provocation.mend !== undefined) {
    await provocation.mend(ground);
    wrong.push(...pastedOff('the same command', 0, await run(args, env)));
  }
  await provocation.undo?.(ground);
  return wrong.join('\n\n');
}

/** The differences in the error itself. */
function unlike(provocation: Pick<Provocation<never>, 'code' | 'says' | 'leads'>, said: Said): string[] {
  const { leads = [] } = provocation;
  if (codeIn(said) !== provocation.code)
    return [`not ${provocation.code}, but: ${said.code} ${printed(said)}`];
  const commands = commandsIn(hintIn(said));
  const filledIn = commands.filter((command) => /<[\w| ]+>/.test(command));
  return [
    ...(provocation.says?.test(printed(said)) === false ? [`not ${provocation.says}: ${printed(said)}`] : []),
    ...(commands.length === leads.length
      ? []
      : [`${commands.length} commands, not ${leads.length}: ${commands.join(' | ')}\n${printed(said)}`]),
    ...(commands.length === 0 && provocation.says === undefined
      ? ['neither a command nor a text to look for']
      : []),
    ...filledIn.map((command) => `a placeholder in ${command}`),
  ];
}

/** The text that a program would print for the error. */
async function thrownBy(work: Promise<unknown>): Promise<Said> {
  const stderr = await work.then(
    () => 'no error',
    (error: unknown) => errorText(error, (_, text) => text),
  );
  return { code: 1, stdout: '', stderr };
}

/** The differences from where a pasted command should lead; empty if there are none. */
export function pastedOff(command: string, lead: Lead, said: Said): readonly string[] {
  const pattern = typeof lead === 'object' ? ('prints' in lead ? lead.prints : lead) : undefined;
  const isSo =
    typeof lead === 'number' ? said.code === lead : (pattern?.test(printed(said)) ?? codeIn(said) === lead);
  return isSo
    ? []
    : [
        `${command}\n  does not lead to ${pattern?.source ?? (lead as number | string)}: ${said.code} ${printed(said)}`,
      ];
}
