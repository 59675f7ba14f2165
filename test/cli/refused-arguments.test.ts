// A refusal of the parser names an argument or a flag that the command has, and the help of this command.

import { run } from '@stricli/core';
import { describe, expect, it } from 'vitest';
import { application } from '../../src/cli/command-list.ts';
import { sheetFlags, changedLimitFlags } from '../../src/cli/flags/flags.ts';
import { parserFault } from '../../src/cli/flags/parser-faults.ts';
import type { RunsheetError } from '../../src/errors/error.ts';

async function refused(...args: readonly string[]): Promise<RunsheetError> {
  const context = { process: { stdout: process.stdout, stderr: process.stderr } };
  try {
    await run(application, args, context as never);
  } catch (error) {
    return parserFault(error, args) as RunsheetError;
  }
  throw new Error('not refused');
}

describe('a refused argument', () => {
  it.each([
    [['pool', 'set', '../x', '--size', '3'], '<pool> "../x"'],
    [['schedule', 'show', ''], '<schedule> is missing'],
    [['schedule', 'create', '../x', 'a.csv', '--cron', '0 2 * * *'], '<schedule> "../x"'],
    [['completion', 'fsh'], '<shell> "fsh" is no shell that completes: bash, zsh, fish'],
    [['completion'], '<shell> is missing'],
    [['run', 'a.csv', '--pool', '../x'], '--pool "../x"'],
    [['run', 'a.csv', '--name', '../x'], '--name "../x"'],
  ])('is named as the command has it: %j', async (args, text) => {
    expect((await refused(...args.filter(Boolean))).message).toContain(text);
  });

  it('gets no suggestion of a command that has hardly a letter of it', async () => {
    expect((await refused('portraits.xlsx')).hint).not.toContain('did you mean');
  });

  it('gets no suggestion of a flag that does something else', async () => {
    expect((await refused('retry', 'one', '--local')).hint).not.toContain('--detach');
    expect((await refused('export', '--xlsx')).hint).not.toContain('--replace');
    expect((await refused('export', '--replce')).hint).toContain('--replace');
  });

  it.each([
    [['pool', 'set', 'gpus', '--size', 'x'], 'for example 5'],
    [['pool', 'show', 'gpus', '--sise'], 'runsheet pool show --help'],
    [['scale', 'one', '-c', 'x'], 'for example --concurrency 20'],
  ])('has an example of its value, or the help of its command: %j', async (args, text) => {
    expect((await refused(...args)).hint).toContain(text);
  });

  it('leaves the limits of a batch that exists unchanged by default', () => {
    for (const { brief } of Object.values(changedLimitFlags))
      expect(brief.match(/\(default: [^)]*\)/g)).toEqual([expect.stringMatching(/^\(default: unchanged/)]);
    expect(sheetFlags.concurrency.brief).toContain("(default: twice the deployment's limit)");
  });
});
