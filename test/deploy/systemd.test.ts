import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig, VARIABLES } from '../../src/host/settings/config.ts';
import { refusal } from '../console/commands-in.ts';
import { ROOT } from './manifests.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

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
    const names = Object.keys(environment).filter((variable) => variable.startsWith('RUNSHEET_'));
    expect(names.filter((variable) => !VARIABLES.includes(variable))).toEqual([]);
    const { member, out } = loadConfig(environment);
    expect(Number(valuesOf(unit, 'TimeoutStopSec')[0]) * 1_000).toBeGreaterThan(member.drainMs);
    // Batches in S3 have no folder.
    expect(valuesOf(unit, 'ReadWritePaths')).toEqual([`-${out}`]);
    // The cache is where systemd creates a folder.
    expect(environment['XDG_CACHE_HOME']).toBe('%C');
    expect(valuesOf(unit, 'CacheDirectory')).toEqual(['runsheet']);
  });

  it('lets no other user of the machine read the batches', () => {
    expect(valuesOf(unit, 'UMask')).toEqual(['0077']);
    const { out } = loadConfig(environment);
    expect(read('runsheet-worker.service')).toContain(`install -o runsheet -m 700 -d ${out}\n`);
  });

  it('reads its secrets as credentials of systemd', () => {
    const credentials = valuesOf(unit, 'LoadCredential').map((value) => value.split(':')[0]);
    const files = Object.entries(environment).filter(([variable]) => variable.endsWith('_FILE'));
    expect(files.map(([, path]) => path)).toEqual(credentials.map((credential) => `%d/${credential}`));
    expect(read('runsheet-worker.service')).toContain(`-D ${credentials.join(' ')} -t /etc/runsheet`);
  });
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
it.runIf(hasSystemd).each(['worker', 'receiver', 'service'])(
  'deploy/systemd/runsheet-%s.service is what systemd takes for right',
  (name) => {
    const file = join(freshFolder(), `runsheet-${name}.service`);
    // systemd looks whether the program exists.
    const unit = read(`runsheet-${name}.service`);
    writeFileSync(file, unit.replaceAll('/usr/local/bin/runsheet', process.execPath));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  },
);

describe('deploy/systemd/rs', () => {
  const unit = read('runsheet-worker.service');

  it('gives a command with the user, the settings and the secrets of the worker', () => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'sudo'), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
    chmodSync(join(folder, 'sudo'), 0o755);
    const { stdout, stderr } = spawnSync(join(ROOT, 'deploy/systemd/rs'), ['show', 'a $b'], {
      encoding: 'utf8',
      env: { PATH: `${folder}:${process.env['PATH']}` },
    });
    expect(stderr).toBe('');
    const words = stdout.trimEnd().split('\n');
    expect([words[0], ...words.slice(-3)]).toEqual([
      'systemd-run',
      '/usr/local/bin/runsheet',
      'show',
      'a $$b',
    ]);
    const after = (flag: string): readonly string[] => words.filter((_, at) => words[at - 1] === flag);
    const same = [
      'User',
      'EnvironmentFile',
      'UMask',
      'LoadCredential',
      'StateDirectory',
      'StateDirectoryMode',
    ];
    const properties = [...same, 'CacheDirectory', 'CacheDirectoryMode'];
    expect(after('-p')).toEqual(
      properties.flatMap((name) => valuesOf(unit, name).map((value) => `${name}=${value}`)),
    );
    const name = words.find((word) => word.startsWith('--unit='))?.slice('--unit='.length);
    const places = { '%S': '/var/lib', '%C': '/var/cache', '%d': `/run/credentials/${name}.service` };
    const own = valuesOf(unit, 'Environment').filter(
      (value) => !value.startsWith('RUNSHEET_WEBHOOK_LISTEN='),
    );
    const filled = own.map((value) =>
      value.replace(/%[SCd]/, (place) => places[place as keyof typeof places]),
    );
    expect([...after('-E')].sort()).toEqual(filled.sort());
  });
});
