// A corrected failures.csv is sent again: what is typed at the question buys the same runs as the command that is printed instead.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, expect, it } from 'vitest';
import { createParams } from '../../src/batches/batch-request.ts';
import { withCopy } from '../../src/batches/copy-sheet.ts';
import { AGAIN } from '../../src/batches/questions.ts';
import { loadConfig } from '../../src/host/settings/config.ts';
import { commandsIn } from './commands-in.ts';
import { createBatch } from '../batches/create.ts';
import type { Console } from './console.ts';
import { endBatch } from './ended-batch.ts';
import { realConsole } from './real-service.ts';

const OPTIONS = {
  map: { prompt: 'text', style: 'look' },
  set: { seed: '77' },
  drop: ['note'],
  types: {},
  gpu: 'A10G',
  null: ['-'],
  decimalComma: false,
};

let console: Console;
beforeEach(async () => {
  console = await realConsole();
  const sheet = console.write('first.csv', 'text,look,note\na fox,oil,x\nan owl,-,y\na hen,oil,z\n');
  const config = loadConfig();
  const batch = await withCopy(sheet, { out: console.out, stdin: Readable.from([]) }, async (copy) =>
    createBatch(
      await createParams(config, copy, {
        service: { base: config.apiUrl ?? '', api: 'v2' as const },
        deployment: 'portraits',
        options: OPTIONS,
        settings: { deadlines: {}, webhooks: false },
        order: {},
        again: true,
        answers: { ...AGAIN, otherGpu: 'accept' as const },
        name: 'first',
      }),
    ),
  );
  await endBatch(batch);
  console.write(
    'fixed.csv',
    readFileSync(join(batch.folder, 'failures.csv'), 'utf8').replace('a hen', 'a white hen'),
  );
});

const requestsIn = async (...words: readonly string[]): Promise<unknown> => {
  const { stdout } = await console.run(...words, '-o', 'json');
  return (JSON.parse(stdout) as { readonly requests: readonly string[] }).requests.map((request) => {
    const { inputs, gpu } = JSON.parse(request) as { readonly inputs: unknown; readonly gpu?: unknown };
    return [inputs, gpu];
  });
};

it('typed at the question, a new batch has the mapping and the values of the first one', async () => {
  const sheet = join(console.folder, 'fixed.csv');
  const refused = await console.run('submit', sheet, '-d', 'portraits');
  const again = commandsIn(refused.stderr).find((words) => words.includes('--again')) ?? [];
  const wanted = await requestsIn('plan', ...again.slice(1));
  expect(wanted).toEqual([[{ prompt: 'a white hen', style: 'oil', seed: 77 }, 'A10G']]);
  Object.assign(console, { isTerminal: true, typed: 'a\n' });
  const { stderr } = await console.run('run', sheet, '-d', 'portraits');
  expect(stderr).toMatch(
    /text +→ prompt \(string\).*\n +look +→ style \(string\)[^]* set +seed = 77 \(int\)/,
  );
  expect(stderr).toContain('gpus      A10G × 1');
});
