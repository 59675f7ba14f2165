// One entry of the table: how an error is provoked, and where each command that it prints leads.

import { expect } from 'vitest';
import type { Code } from '../../src/errors/error.ts';
import { commandsIn } from './printed-commands.ts';

/** 0: it works. A code: this error comes next. A pattern: the command ends otherwise, and prints this. */
export type Lead = 0 | Code | RegExp | Prints;

/** It keeps running, and prints this. */
export type Prints = { readonly prints: RegExp };

export type Said = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type Provocation<Ground> = {
  readonly code: Code;
  /** What is wrong. */
  readonly name: string;
  /** Makes it so. */
  readonly arrange?: (ground: Ground) => unknown;
  /** The words of the command. */
  readonly args: readonly string[] | ((ground: Ground) => readonly string[]);
  readonly env?: Readonly<Record<string, string>> | ((ground: Ground) => Readonly<Record<string, string>>);
  /** Where the printed commands lead, in their order. Without any, `says` has the place and what is right there. */
  readonly leads: readonly Lead[];
  readonly says?: RegExp;
  /** Mends what the text names; the same command then works. */
  readonly mend?: (ground: Ground) => unknown;
  /** Makes it right again for others. */
  readonly undo?: (ground: Ground) => unknown;
};

export type Run<Ground> = {
  readonly ground: Ground;
  readonly run: (args: readonly string[], env: Readonly<Record<string, string>>) => Promise<Said>;
  /** Runs the text that was printed. */
  readonly paste: (command: string, lead: Lead, env: Readonly<Record<string, string>>) => Promise<Said>;
};

const printed = ({ stdout, stderr }: Said): string => `${stdout}\n${stderr}`;
const codeIn = (said: Said): string | undefined =>
  /error\[(E\d{3})\]|"code": ?"(E\d{3})"/.exec(printed(said))?.slice(1).find(Boolean);

/** The hints, without the lines between them. */
export function hintIn(said: Said): string {
  const json = [...said.stdout.matchAll(/"hint": ?("(?:[^"\\]|\\.)+")/g)];
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

/** What differs from the table; nothing if the error is the one and each of its commands leads where it should. */
export async function differences<Ground>(
  one: Provocation<Ground>,
  { ground, run, paste }: Run<Ground>,
): Promise<readonly string[]> {
  await one.arrange?.(ground);
  const args = typeof one.args === 'function' ? one.args(ground) : one.args;
  const env = (typeof one.env === 'function' ? one.env(ground) : one.env) ?? {};
  const said = await run(args, env);
  const wrong: string[] = [];
  if (codeIn(said) !== one.code) return [`not ${one.code}, but: ${printed(said)}`];
  const hint = hintIn(said);
  if (one.says !== undefined && !one.says.test(printed(said)))
    wrong.push(`not ${one.says}: ${printed(said)}`);
  const commands = commandsIn(hint);
  if (commands.length !== one.leads.length)
    wrong.push(
      `${commands.length} commands instead of ${one.leads.length}: ${commands.join(' | ')}\n${printed(said)}`,
    );
  if (commands.length === 0 && one.says === undefined)
    wrong.push('neither a command nor a text that is looked for');
  for (const [at, command] of commands.entries()) {
    const lead = one.leads[at];
    if (lead === undefined) continue;
    if (/<[a-z|]+>/.test(command)) wrong.push(`a placeholder in ${command}`);
    else wrong.push(...wayOff(command, lead, await paste(command, lead, env)));
  }
  if (one.mend !== undefined) {
    await one.mend(ground);
    wrong.push(...wayOff('the same command', 0, await run(args, env)));
  }
  await one.undo?.(ground);
  return wrong;
}

function wayOff(command: string, lead: Lead, said: Said): readonly string[] {
  const isSo =
    lead === 0
      ? said.code === 0
      : typeof lead === 'string'
        ? codeIn(said) === lead
        : (lead instanceof RegExp ? lead : lead.prints).test(printed(said));
  return isSo ? [] : [`${command}\n  does not lead to ${String(lead)}: ${said.code} ${printed(said)}`];
}

/** Codes that no entry of these tables has. */
export const missingIn = (
  all: readonly string[],
  tables: readonly (readonly { readonly code: string }[])[],
): readonly string[] => {
  const has = new Set(tables.flat().map(({ code }) => code));
  return all.filter((code) => !has.has(code));
};

export const expectNone = (wrong: readonly string[]): void => expect(wrong.join('\n\n')).toBe('');
