import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RuleFinding } from '../../src/service-client/migration/rules.ts';
import { Stage, until } from '../stage/stage.ts';
import { listen } from '../stage/free-port.ts';

const quick = { coldStartSeconds: 0, runSeconds: 0.1 };
const DEPLOYMENTS = JSON.stringify([
  { name: 'hosted', ...quick },
  { name: 'provider', ...quick, machineType: 'provider-serverless', machineVersion: 'v2.0.3' },
  { name: 'silent', ...quick, machineType: null, machineVersion: null },
  { name: 'needy', ...quick, inputTypes: [{ name: 'seed', type: 'int', required: true }] },
  { name: 'endless', coldStartSeconds: 0, runSeconds: 250 },
]);

describe('migrate-check', () => {
  const stage = new Stage();
  const legacy = new Stage();
  let stranger: Server;
  let strangerUrl = '';

  beforeAll(async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    await legacy.service(['--only', 'v1']);
    stranger = createServer((_, response) => response.end('<html>a page for every address</html>'));
    strangerUrl = `http://127.0.0.1:${await listen(stranger)}/api`;
  });
  afterAll(async () => {
    stranger.close();
    await Promise.all([stage.close(), legacy.close()]);
  });

  const check = (deployment: string, ...more: readonly string[]) =>
    stage.runHere(['migrate-check', '-d', deployment, ...more]);
  const at = (url: string, more: Readonly<Record<string, string>> = {}) =>
    stage.runHere(['migrate-check', '-d', 'hosted'], { RUNSHEET_API_URL: url, ...more });
  const base = (): string => stage.environment['RUNSHEET_API_URL'] ?? '';

  it('against V2: announces that it buys one run, buys it, and ends with 0', async () => {
    const before = (await stage.truth()).length;
    const ended = await check('hosted');
    expect(ended.stderr).toContain('buys one run of hosted, with the flag provider_v2');
    expect(ended.stdout).toMatch(/✓ 1 base address +V2 answers at/);
    expect(ended.stdout).toMatch(/✓ 2 node component +v2\.3\.10/);
    expect(ended.stdout).toMatch(/✓ 3 hosted machines .*nothing to do/);
    expect(ended.stdout).toMatch(/✓ 5 verification run +run \S+ with the flag succeeded/);
    expect(ended.stdout).toContain('6 of 7 rules are kept, 0 broken, 1 for you to look at');
    expect(ended.code).toBe(0);
    expect(await stage.truth()).toHaveLength(before + 1);
  });

  it('against V1 only: distinguishes it from V2, buys nothing, and ends with 3', async () => {
    const url = legacy.environment['RUNSHEET_API_URL'] ?? '';
    const ended = await at(url);
    expect([ended.code, ended.stdout]).toEqual([3, expect.stringMatching(/✗ 1 base address +V1 answers at/)]);
    expect(ended.stdout).toContain('use the V2 base address instead');
    expect(ended.stdout).toMatch(/5 verification run +not checked: V1 has no flags; no run was bought/);
    expect(ended.stderr).not.toContain('buys');
    expect(await legacy.ledger()).toMatchObject({ requests: { queue: 0 } });
  });

  it('against a wrong base address: says what answered there, and ends with 2', async () => {
    for (const url of [base().replace('/api', ''), base().replace('/api', '/apis'), strangerUrl]) {
      const ended = await at(url);
      expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('not as a run service does')]);
    }
  });

  it('with a wrong token: ends with 4, on V2 and on V1', async () => {
    for (const url of [base(), legacy.environment['RUNSHEET_API_URL'] ?? '']) {
      const ended = await at(url, { RUNSHEET_API_KEY: 'not-this-key-0' });
      expect([ended.code, ended.stderr]).toEqual([4, expect.stringContaining('error[E301]')]);
    }
  });

  it('against a dead address: ends with 6', async () => {
    const ended = await at('http://127.0.0.1:1/api');
    expect([ended.code, ended.stderr]).toEqual([6, expect.stringContaining('cannot be reached')]);
  });

  it('a provider’s machine with an old node: names the worker image, and ends with 3', async () => {
    const ended = await check('provider', '-o', 'json');
    expect(ended.code).toBe(3);
    const { sound, rules } = JSON.parse(ended.stdout) as { sound: boolean; rules: readonly RuleFinding[] };
    expect(sound).toBe(false);
    expect(rules.map(({ rule, verdict }) => [rule, verdict])).toEqual([
      [1, 'holds'],
      [2, 'broken'],
      [3, 'does-not-apply'],
      [4, 'broken'],
      [5, 'holds'],
      [6, 'broken'],
      [7, 'yours'],
    ]);
    expect(rules[3]?.todo).toContain('worker image');
  });

  it('a machine without these facts is reported as not revealed', async () => {
    const ended = await check('silent');
    expect(ended.stdout).toMatch(/\? 2 node component +not revealed: the run does not show the version/);
    expect(ended.code).toBe(0);
  });

  it('with --no-run: buys nothing, and reads the machine from the last run if there is one', async () => {
    await check('provider');
    const before = (await stage.truth()).length;
    const ended = await check('provider', '--no-run');
    expect([ended.code, ended.stdout]).toEqual([3, expect.stringMatching(/✗ 2 node component +v2\.0\.3/)]);
    expect(ended.stdout).toMatch(/5 verification run +not checked: --no-run/);
    expect(await stage.truth()).toHaveLength(before);
  });

  it('asks for a required input of the deployment before it buys a run, and sends it with its declared type', async () => {
    const before = (await stage.truth()).length;
    const missing = await check('needy');
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('--set seed=<value>')]);
    const misspelt = await check('needy', '--set', 'seed=many');
    expect([misspelt.code, misspelt.stderr]).toEqual([2, expect.stringContaining('not an integer')]);
    expect(await stage.truth()).toHaveLength(before);
    expect((await check('needy', '--set', 'seed=18446744073709551615')).code).toBe(0);
    const [run] = (await stage.truth()).slice(before);
    expect(JSON.stringify(run?.inputs)).toBe('{"seed":18446744073709551615}');
  });

  it('Ctrl-C cancels the verification run, and ends with 130', async () => {
    const running = stage.start(['migrate-check', '-d', 'endless']);
    const [, runId = ''] = await running.says(/run (\S+) is queued/);
    const ended = await running.kill('SIGINT');
    expect([ended.code, ended.stdout]).toEqual([130, expect.stringContaining('it was cancelled')]);
    await until(
      async () => (await stage.truth()).find(({ id }) => id === runId)?.status === 'cancelled',
      'the run is cancelled',
    );
  });
});
