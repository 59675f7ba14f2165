// Commands as a user without a name and without a home, as in a container.

import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadConfig } from '../../src/host/settings/config.ts';
import { temporalBinary } from '../../src/temporal/embedded/binary.ts';
import { programFile } from '../../src/temporal/embedded/processes.ts';

const ID = 12_345;
export { ID as UID_OF_NOBODY };
const AS_NOBODY = { uid: ID, gid: ID, encoding: 'utf8', timeout: 120_000 } as const;

/** Only root can become another user, who must be able to read the sources. */
export const canBeNobody =
  process.getuid?.() === 0 &&
  spawnSync(process.execPath, ['--check', programFile()], { ...AS_NOBODY, cwd: '/', env: {} }).status === 0;

/** A folder where this user may write, and a PATH with Temporal's program, which may be in a home that the user cannot enter. */
export async function placeOfNobody(): Promise<{ readonly folder: string; readonly path: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-nobody-'));
  const { cache, environment } = loadConfig();
  const program = await temporalBinary({ cache, environment, notice: () => undefined });
  const path = join(folder, 'bin');
  mkdirSync(path);
  if (program !== 'temporal') copyFileSync(program, join(path, 'temporal'));
  chmodSync(folder, 0o777);
  return { folder, path: `${path}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin` };
}

export const runAsNobody = (cwd: string, args: readonly string[], env: Readonly<Record<string, string>>) =>
  spawnSync(process.execPath, [programFile(), ...args], { ...AS_NOBODY, cwd, env });
