import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';

const MODULE = new URL('../../src/host/state-folder.ts', import.meta.url).href;

/** Reads or creates the secrets 0, 1, … of a folder in a process that has the id 1, as in a container. */
async function secretsOfProcess(home: string, count: number): Promise<unknown> {
  const script = `
    Object.defineProperty(process, 'pid', { value: 1 });
    const { readOrCreateSecret } = await import(${JSON.stringify(MODULE)});
    const secrets = [];
    for (let at = 0; at < ${count}; at += 1) secrets.push(readOrCreateSecret(${JSON.stringify(home)} + '/' + at));
    console.log(JSON.stringify(secrets));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(await text(child.stdout));
}

it('processes that create a secret at the same moment read the same one, even if containers give all of them the id 1', async () => {
  const home = freshFolder();
  const [first, ...laterReads] = await Promise.all([0, 1, 2].map(async () => secretsOfProcess(home, 200)));
  expect(first).toHaveLength(200);
  for (const secrets of laterReads) expect(secrets).toEqual(first);
  expect(readdirSync(home)).toHaveLength(200);
});
