// The hint of an error ends in a command that works: whatever it names is a command of this version, with flags that exist.

import {
  buildApplication,
  buildRouteMap,
  run,
  type Command,
  type CommandContext,
  type RouteMapBuilderArguments,
} from '@stricli/core';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pauseHint } from '../../src/batch/pause-hint.ts';
import { PAUSE_KINDS } from '../../src/batch/pause-kinds.ts';
import { application } from '../../src/cli/command-list.ts';
import { withPlace } from '../../src/cli/correction.ts';
import { PARSER_TEXT } from '../../src/cli/parser-faults.ts';
import { errorTable } from '../../src/errors/codes.ts';
import { Console } from './console.ts';
import { endBatch } from './ended-batch.ts';

const LISTS =
  'known tried workers wrong answers missing others columns inputs allowed batches members changes keys first'.split(
    ' ',
  );

/** Facts by their names; a code may have others. */
const FACTS: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(LISTS.map((name) => [name, ['one', 'two']])),
  ...Object.fromEntries(
    ['row', 'rows', 'count', 'bytes', 'seconds', 'sinceMs', 'left', 'all'].map((name) => [name, 2]),
  ),
  batch: 'portraits-7f3a',
  pool: 'gpus',
  name: 'nightly',
  near: 'one',
  folder: '/data/batches/portraits-7f3a',
  out: '/data/batches',
  namespace: 'default',
  deadline: '2026-12-24T06:00',
  again: 'runsheet run --again sheet.csv -d portraits',
  into: 'runsheet run --into portraits-7f3a failures.csv -d portraits',
  reuse: 'runsheet run --reuse sheet.csv -d portraits',
  help: 'see: runsheet run --help',
};
const OWN_FACTS: Readonly<Record<string, object>> = {
  E101: { near: ['one.csv'] },
  E532: { near: 'one' },
  E533: { rows: ['3'] },
  E570: { by: 'key', other: 'inputs' },
};

/** What a user fills in, as a user would. */
const FILLED: Readonly<Record<string, string>> = {
  n: '3',
  sheet: 'sheet.csv',
  rule: '0_2_*_*_*',
  file: 'receipt.jsonl',
};

const factsOf = (code: string): never =>
  new Proxy(
    {},
    {
      get: (_, name: string) => (OWN_FACTS[code] as Record<string, unknown>)?.[name] ?? FACTS[name] ?? 'text',
    },
  ) as never;

/** Every command in a text, as words; "a runsheet worker" is none. */
function commandsIn(text: string): readonly (readonly string[])[] {
  const filled = text.replaceAll(/<(\w+)>/g, (_, name: string) => FILLED[name] ?? 'x');
  return [...filled.matchAll(/(?<!\ba )\brunsheet ((?:(?![;:)]| \(|\.(?:\s|$)|,\s| &&| or ).)+)/g)].map(
    ([, words = '']) => words.trim().split(/\s+/),
  );
}

type Node = Command<CommandContext> | ReturnType<typeof buildRouteMap>;

/** The real commands, without their work. */
function idle(target: Node): Node {
  if (!('getAllEntries' in target)) return { ...target, loader: async () => async () => undefined };
  const routes = Object.fromEntries(
    target.getAllEntries().map(({ name, target: inner }) => [name.original, idle(inner as Node)]),
  ) as RouteMapBuilderArguments<string, CommandContext>['routes'];
  const defaultCommand = 'list' in routes && !('run' in routes) ? { defaultCommand: 'list' } : {};
  return buildRouteMap({ routes, docs: { brief: '' }, ...defaultCommand });
}

const parser = buildApplication(idle(application.root as Node) as never, {
  name: 'runsheet',
  scanner: { caseStyle: 'allow-kebab-for-camel' },
  localization: { text: PARSER_TEXT },
});

/** Why a command is refused; undefined: it is not. */
async function refusal(words: readonly string[]): Promise<string | undefined> {
  const stream = { write: () => true };
  const process = { stdout: stream, stderr: stream, env: {}, exitCode: 0 };
  try {
    await run(parser, words, { process });
    return process.exitCode === 0 ? undefined : `exit code ${process.exitCode}`;
  } catch (error) {
    return (error as Error).message;
  }
}

async function refused(
  texts: readonly (readonly [where: string, text: string])[],
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const [where, text] of texts)
    for (const words of commandsIn(text)) {
      const why = await refusal(words);
      if (why !== undefined) wrong.push(`${where}: runsheet ${words.join(' ')}: ${why}`);
    }
  return wrong;
}

const HINTS = Object.entries(errorTable).map(
  ([code, { hint }]) => [code, hint(factsOf(code)) ?? ''] as const,
);

describe('the commands in hints', () => {
  it('are refused by this test if a flag or a command does not exist', async () => {
    expect(await refused([['a', 'try: runsheet rseume b; or runsheet retry b --bogus']])).toHaveLength(2);
    expect(commandsIn('give: runsheet wait a && runsheet wait b. Or: runsheet doctor')).toEqual([
      ['wait', 'a'],
      ['wait', 'b'],
      ['doctor'],
    ]);
  });

  it('of every error code are commands that exist, with flags that exist', async () => {
    expect(HINTS.flatMap(([, text]) => commandsIn(text)).length).toBeGreaterThan(30);
    expect(await refused(HINTS)).toEqual([]);
  });

  it('of every pause are commands that exist', async () => {
    const texts = PAUSE_KINDS.flatMap((kind) =>
      [true, false].map((ends) => [kind, pauseHint('portraits-7f3a', kind, ends, 5e9)] as const),
    );
    expect(await refused(texts)).toEqual([]);
  });

  it('name the folder of the batches if the command was given one', async () => {
    const args = ['run', 'x.csv', '--out', 'my batches'];
    expect(withPlace('continue: runsheet resume a-1.b; or runsheet doctor', args)).toBe(
      "continue: runsheet resume a-1.b --out 'my batches'; or runsheet doctor",
    );
    expect(withPlace('runsheet wait a --out b && runsheet wait c', ['--out=d'])).toBe(
      'runsheet wait a --out b && runsheet wait c --out d',
    );
    const console = await Console.open();
    const found = await console.batch(console.write('sheet.csv', 'prompt\na\nb\n'), 'done');
    await endBatch(found);
    const { stderr } = await console.run('watch', 'done', '--out', console.out);
    const [, retry = ''] = /again +runsheet (.+)/.exec(stderr) ?? [];
    expect(retry).toBe(`retry done --out ${console.out}`);
    const unknown = await console.run('show', 'done', '9', '--out', console.out);
    expect(unknown.stderr).toContain('error[E505]');
    const open = await console.batch(join(console.folder, 'sheet.csv'), 'open');
    const verify = await console.run('verify', open.batch, '--out', console.out);
    expect(verify.stderr).toContain(`runsheet wait open --out ${console.out};`);
  });

  it.each<readonly [given: string, corrected: string]>([
    ['status dine', 'status done'],
    ['statsu done', 'status done'],
    ['status done --outptu json', 'status done --output json'],
    ['rows done --outcome faild', 'rows done --outcome failed'],
  ])('of %s is the whole corrected command', async (given, corrected) => {
    const console = await Console.open();
    await endBatch(await console.batch(console.write('sheet.csv', 'prompt\na\nb\n'), 'done'));
    const { code, stderr } = await console.run(...given.split(' '));
    expect(code).toBe(2);
    expect(stderr).toContain(`  runsheet ${corrected}\n`);
    expect((await console.run(...corrected.split(' '))).code).toBe(0);
  });
});
