import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGateway } from '../stage/gateway.ts';
import { deploymentsOf, Stage, type Ended } from '../stage/stage.ts';
import { expectOneRunPerRow, runsOf } from '../stage/truth.ts';

const ROWS = 24;
const ID = '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f';
const DEPLOYMENTS = deploymentsOf({ id: ID, concurrencyLimit: 8, runSeconds: 0.3 });

/** Only the batch carries which API is spoken: the settings of the worker do not say. */
describe('a service that speaks V1', () => {
  let stage = new Stage();
  let v2 = '';
  const speakV1 = (base: string): void => {
    stage.environment = { ...stage.environment, RUNSHEET_API_URL: base };
  };
  const folderOf = ({ stdout }: Ended): string => stdout.trim();
  const boughtBy = async (ended: Ended) => {
    return runsOf(await stage.truth(v2), stage.batchFile(folderOf(ended)));
  };
  const outcomesOf = (ended: Ended) => stage.results(folderOf(ended)).map(({ outcome }) => outcome);

  beforeEach(async () => {
    stage = new Stage();
    ({ base: v2 } = await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]));
    speakV1(v2.replace('/api', '/v1/api'));
  });
  afterEach(() => stage.close());

  it('gives every row its outcome with one run each, with webhooks and without', async () => {
    const args = ['run', stage.sheet(ROWS), '-d', ID, '-c', '8', '--api', 'v1'];
    const hooked = await stage.run(args);
    expect([hooked.code, hooked.stderr]).toEqual([0, expect.stringContaining(`${ROWS} of ${ROWS} rows`)]);
    const polled = await stage.run([...args, '--again', '--poll']);
    expect([polled.code, polled.stderr]).toEqual([0, expect.stringContaining(`${ROWS} of ${ROWS} rows`)]);
    for (const ended of [hooked, polled]) {
      expect(ended.stderr).toContain('speaks V1, which cannot guarantee what V2 does');
      expectOneRunPerRow(await boughtBy(ended), ROWS);
      for (const line of stage.results(folderOf(ended))) {
        expect(line['outputs']).toMatch(/^outputs\/[\da-f]{16}\.png$/);
        expect(Number(line['run_seconds'])).toBeGreaterThan(0);
      }
    }
    expect(hooked.stderr).toContain('waits for a webhook');
    expect(polled.stderr).toContain('because webhooks are off');
  });

  it('a run whose response was lost is found by its webhook; without webhooks its row is unknown and never sent again', async () => {
    const gateway = await openGateway(v2.replace('/api', '/v1/api'), 0, 0, (nth) => nth % 6 === 3);
    speakV1(gateway.base);
    const args = ['run', stage.sheet(6), '-d', ID, '--api', 'v1'];
    const ended = await stage.run(args);
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('6 of 6 rows succeeded')]);
    expectOneRunPerRow(await boughtBy(ended), 6);

    const polled = await stage.run([...args, '--again', '--poll']);
    await gateway.close();
    expect(polled.code).toBe(3);
    expect(outcomesOf(polled).toSorted((a = '', b = '') => a.localeCompare(b))).toEqual([
      ...Array(5).fill('succeeded'),
      'unknown',
    ]);
    expectOneRunPerRow(await boughtBy(polled), 6);
    const unknown = stage.results(folderOf(polled)).find(({ outcome }) => outcome === 'unknown');
    expect(unknown?.['reason']).toContain('may have run unseen');
  });

  it('an unknown deployment pauses the batch instead of being requested again, and a name is not accepted as an id', async () => {
    const unknownId = ID.replace('3f2b', '0000');
    const args = ['--api', 'v1', '-d'];
    const held = await stage.run(['run', stage.sheet(3), ...args, unknownId]);
    expect([held.code, held.stderr]).toEqual([8, expect.stringContaining('Deployment not found')]);
    expect(await stage.truth(v2)).toEqual([]);
    const named = await stage.run(['run', stage.sheet(3), ...args, 'portraits']);
    expect([named.code, named.stderr]).toEqual([5, expect.stringContaining('error[E303]')]);
  });

  it('plan and doctor name what V1 does not guarantee, and the wrong API is refused before anything is created', async () => {
    const planned = await stage.run(['plan', stage.sheet(3), '-d', ID, '--api', 'v1', '-o', 'json']);
    expect(JSON.parse(planned.stdout)).toMatchObject({
      service: { api: 'v1' },
      not_guaranteed: expect.arrayContaining([expect.stringContaining('cannot be cancelled')]),
    });
    const doctor = await stage.run(['doctor', '--api', 'v1']);
    expect(doctor.stdout).toMatch(/✓ run service .*no run list.*speaks V1, which cannot cancel/);
    const asV2 = await stage.run(['run', stage.sheet(3), '-d', ID]);
    expect([asV2.code, asV2.stderr]).toEqual([2, expect.stringContaining('speaks V1, but V2 was requested')]);
    speakV1(v2);
    const asV1 = await stage.run(['run', stage.sheet(3), '-d', ID], { RUNSHEET_API: 'v1' });
    expect([asV1.code, asV1.stderr]).toEqual([2, expect.stringContaining('speaks V2, but V1 was requested')]);
    expect(await stage.truth(v2)).toEqual([]);
  });
});
