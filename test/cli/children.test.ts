// The user's environment as the children of the embedded servers see it in /proc, and who can read their files.

import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readRecord, type StackRecord } from '../../src/temporal/embedded/stack-file.ts';
import { sharedStage } from '../stage/shared-stage.ts';

const KEY = 'ab'.repeat(32);
const SECRETS = {
  RUNSHEET_API_KEY: 'planted-api-key-1234',
  RUNSHEET_PAYLOAD_KEY: KEY,
  RUNSHEET_WEBHOOK_SECRET: 'planted-webhook-secret-1234',
  AWS_SECRET_ACCESS_KEY: 'planted-s3-secret-1234',
};
const FOREIGN = {
  NPM_CONFIG_REGISTRY: 'https://planted-foreign',
  GITHUB_TOKEN: 'planted-foreign-secret',
  PIP_INDEX_URL: 'https://u:planted@index',
};

describe('the children of the embedded servers', () => {
  const stage = sharedStage();
  let record: StackRecord | undefined;

  beforeAll(async () => {
    const environment = { ...SECRETS, ...FOREIGN, RUNSHEET_API_URL: 'http://127.0.0.1:1/api' };
    const before = process.umask(0o022);
    const dev = stage.start(['dev'], environment);
    process.umask(before);
    await dev.says(/service +http/);
    record = readRecord(stage.path('.runsheet'));
  });

  const environmentOf = (pid: number | undefined): Readonly<Record<string, string>> =>
    Object.fromEntries(
      readFileSync(join('/proc', String(pid), 'environ'), 'utf8')
        .split('\0')
        .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    );
  const commandOf = (pid: number | undefined): string =>
    readFileSync(join('/proc', String(pid), 'cmdline'), 'utf8');
  const planted = (values: Readonly<Record<string, string>>): readonly string[] =>
    Object.entries(values)
      .filter(([, value]) => /planted|abababab/.test(value))
      .map(([name]) => name);

  it('contain no secret in their environment if they are Temporal or the local run service', () => {
    expect(planted(environmentOf(record?.temporal?.pid))).toEqual([]);
    expect(planted(environmentOf(record?.service?.pid))).toEqual([]);
  });

  it('have the keys in their environment if they are workers, and no variables of other programs', () => {
    const { pid } = record?.worker ?? {};
    expect(environmentOf(pid)).toMatchObject(SECRETS);
    expect(planted(environmentOf(pid)).toSorted()).toEqual(Object.keys(SECRETS).toSorted());
  });

  it('have private files whatever the umask of the user, which the worker keeps for batches', () => {
    const home = stage.path('.runsheet');
    const open = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
      (name) => (statSync(join(home, name)).mode & 0o077) !== 0,
    );
    expect(open).toEqual([]);
    expect(readFileSync(`/proc/${record?.worker?.pid}/status`, 'utf8')).toMatch(/^Umask:\s+0022$/m);
  });

  it('have no secret in their arguments, which every user can list', () => {
    const token = readFileSync(stage.path('.runsheet', 'local-service-token'), 'utf8');
    for (const part of [record, record?.temporal, record?.service, record?.worker]) {
      expect(commandOf(part?.pid)).not.toMatch(/planted|abababab/);
      expect(commandOf(part?.pid)).not.toContain(token);
    }
  });
});

describe('the keys of the local run service', () => {
  const stage = sharedStage();

  it('are refused on the command line, which every user can list', async () => {
    const { code, stdout, stderr } = await stage.runHere(['service', '--token', 'planted-token']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/error\[E610\].*hint: .*--token-file <file>.*RUNSHEET_SERVICE_TOKEN/s);
  });

  it('are read from a file, and are not printed', async () => {
    const file = stage.write('tokens', 'planted-token-1\n\n ann:planted-token-2 \n');
    const service = stage.start(['service', '--token-file', file]);
    const [, base = ''] = await service.says(/RUNSHEET_API_URL=(\S+)\n/);
    for (const token of ['planted-token-1', 'planted-token-2', 'ann:planted-token-2', 'another']) {
      const answer = await fetch(`${base}/deployments`, { headers: { authorization: `Bearer ${token}` } });
      expect([token, answer.status]).toEqual([token, token.startsWith('planted') ? 200 : 401]);
    }
    expect(service.stdout + service.stderr).not.toContain('planted');
  });

  it.each([
    ['is not there', 'missing', undefined],
    ['is empty', 'empty', '\n'],
  ])('are requested with E611 if their file %s', async (_what, name, text) => {
    const file = text === undefined ? stage.path(name) : stage.write(name, text);
    const { code, stderr } = await stage.runHere(['service', '--token-file', file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`error[E611]: --token-file ${file}`)]);
  });
});
