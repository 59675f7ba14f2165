// The hint of an error ends in a command that works: whatever it names is a command of this version, with flags that exist.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pauseHint } from '../../src/batch/pausing/pause-hints.ts';
import { PAUSE_KINDS } from '../../src/batch/pausing/pause-kinds.ts';
import { shownService } from '../../src/cli/flags/batch-options.ts';
import { withPlace } from '../../src/cli/flags/correction.ts';
import { errorTable } from '../../src/errors/codes.ts';
import type { Config } from '../../src/host/settings/config.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { Console } from './console.ts';
import { commandsIn, refusal } from './commands-in.ts';
import { endBatch } from './ended-batch.ts';

const LISTS =
  'known tried workers wrong answers missing others columns inputs allowed batches members changes keys first fetch commands'.split(
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
  E548: { are: 'away' },
  E570: { by: 'key', other: 'inputs' },
};

const factsOf = (code: string): never =>
  new Proxy(
    {},
    {
      get: (_, name: string) => (OWN_FACTS[code] as Record<string, unknown>)?.[name] ?? FACTS[name] ?? 'text',
    },
  ) as never;

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
  ([code, { text }]) => [code, text(factsOf(code))[1] ?? ''] as const,
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
      [true, false].map((ends) => [kind, pauseHint('portraits-7f3a', { kind }, ends, 5e9)] as const),
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
    const batchFolder = await console.batch(console.write('sheet.csv', 'prompt\na\nb\n'), 'done');
    await endBatch(batchFolder);
    const { stderr } = await console.run('follow', 'done', '--out', console.out);
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
    ['ls', 'list'],
    ['status done --outptu json', 'status done --output json'],
    ['rows done --outcome faild', 'rows done --outcome failed'],
  ])('of %s is the whole corrected command', async (mistaken, corrected) => {
    const console = await Console.open();
    await endBatch(await console.batch(console.write('sheet.csv', 'prompt\na\nb\n'), 'done'));
    const { code, stderr } = await console.run(...mistaken.split(' '));
    expect(code).toBe(2);
    expect(stderr).toContain(`  runsheet ${corrected}\n`);
    expect((await console.run(...corrected.split(' '))).code).toBe(0);
  });
});

it('doctor names itself again with the flags that it was given', async () => {
  const console = await Console.open();
  const { stderr } = await console.run('doctor', '--comfyui', 'http://127.0.0.1:1');
  expect(stderr).toContain('  again     runsheet doctor --comfyui http://127.0.0.1:1\n');
});

it('runs on GPUs of the user are no rehearsal in a list', () => {
  const config = { serviceAt: () => undefined } as unknown as Config;
  const shown = [true, false].map((rehearsal) =>
    shownService(config, { base: 'local', rehearsal } as BatchFile['service']),
  );
  expect(shown).toEqual(['rehearsal', 'own GPUs']);
});
