// The command line does not repeat what may be secret in the address of a sheet.

import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { execute } from '../../src/cli/main.ts';

const SIGNATURE = 'X-Amz-Signature=0f3c9a77b1d2e8';

async function printed(...args: readonly string[]): Promise<string> {
  const out = new PassThrough();
  const code = await execute(args, {
    process: {
      ...process,
      argv: ['node', 'runsheet', ...args],
      stdout: out,
      stderr: out,
      env: {},
      exitCode: 0,
    } as never,
    program: 'runsheet',
  });
  return `${code} ${String(out.read())}`;
}

it.each([
  [['run', `https://127.0.0.1:1/a.csv?${SIGNATURE}`, '-d', 'x', '--concurency', '3'], '--concurrency'],
  [['plan', `https://127.0.0.1:1/a.csv?${SIGNATURE}`, '-d', 'x', '--retries', 'many'], '--retries'],
  [['rum', `https://127.0.0.1:1/a.csv?${SIGNATURE}`, '-d', 'x'], 'rum'],
  [['run', 'https://ann:zebrastripe@127.0.0.1:1/a.csv', '--deploymnt', 'x'], '--deployment'],
  [['run', `https://127.0.0.1:1/a.csv?${SIGNATURE}`, 'another', '-d', 'x', '-o', 'json'], 'another'],
])(
  'a refused command is repeated without the signature or password of its sheet: %j',
  async (args, shown) => {
    const text = await printed(...args);
    expect(text).toContain(shown);
    expect(text).not.toMatch(/0f3c9a77b1d2e8|zebrastripe/);
  },
);
