import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig, VARIABLES } from '../../src/host/config.ts';
import { refusal } from '../console/commands-in.ts';
import { ROOT } from './manifests.ts';

const read = (name: string): string => readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8');
/** The values of a name in a unit or a file of variables. */
const valuesOf = (text: string, name: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
const variablesIn = (pairs: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
const shared = variablesIn(read('runsheet.env').match(/^[A-Z].*$/gm) ?? []);

describe.each(['runsheet-worker.service', 'runsheet-receiver.service'])('deploy/systemd/%s', (name) => {
  const unit = read(name);
  const environment = { ...variablesIn(valuesOf(unit, 'Environment')), ...shared };

  it('is started with a command and settings that the program takes, and with time to end', async () => {
    const [program = '', ...args] = valuesOf(unit, 'ExecStart')[0]?.split(' ') ?? [];
    expect(program).toBe('/usr/local/bin/runsheet');
    expect(await refusal(args)).toBeUndefined();
    const names = Object.keys(environment).filter((one) => one.startsWith('RUNSHEET_'));
    expect(names.filter((one) => !VARIABLES.includes(one))).toEqual([]);
    const { member, out } = loadConfig(environment);
    expect(Number(valuesOf(unit, 'TimeoutStopSec')[0]) * 1_000).toBeGreaterThan(member.drainMs);
    expect(valuesOf(unit, 'ReadWritePaths')).toEqual([out]);
  });

  it('reads its secrets as credentials of systemd', () => {
    const credentials = valuesOf(unit, 'LoadCredential').map((one) => one.split(':')[0]);
    const files = Object.entries(environment).filter(([variable]) => variable.endsWith('_FILE'));
    expect(files.map(([, path]) => path)).toEqual(credentials.map((one) => `%d/${one}`));
    expect(read('runsheet-worker.service')).toContain(`-D ${credentials.join(' ')} -t /etc/runsheet`);
  });

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
  it.runIf(hasSystemd)('is what systemd takes for right', () => {
    const folder = mkdtempSync(join(tmpdir(), 'runsheet-unit-'));
    // systemd looks whether the program exists.
    writeFileSync(join(folder, name), unit.replace('/usr/local/bin/runsheet', process.execPath));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', join(folder, name)], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect([status, stderr]).toEqual([0, '']);
  });
});
