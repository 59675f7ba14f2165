// The service's lists hold runs of strangers with webhooks of every kind, and give at most 100 runs a page; one answer in
// twenty is lost. A batch of many rows ends true all the same, also when Temporal loses its memory half way.

import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../src/service-client/contract/run.ts';
import type { Summary } from '../../src/results/summary.ts';
import { openGateway, type Gateway } from '../stage/gateway.ts';
import { IS_LONG } from '../stage/outage.ts';
import { deploymentsOf, KEY, Stage, until } from '../stage/stage.ts';
import { expectOneRunPerRow, runsOf } from '../stage/truth.ts';

const ROWS = IS_LONG ? 3_000 : 250;
const ALL = `${ROWS.toLocaleString('en-US')} of ${ROWS.toLocaleString('en-US')} rows succeeded`;
const MAX_LISTED = 100;
const STRANGERS = 130;
const ID = '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f';
const DEPLOYMENTS = deploymentsOf({ id: ID, concurrencyLimit: 60, runSeconds: 0.4 });
const MAC = '0'.repeat(32);

/** Webhooks of others, some of which look like ours. */
const webhooksOf = (batch: string): readonly (string | null)[] => [
  null,
  '',
  '%',
  'no address',
  'http://[',
  'http://there.invalid/%zz',
  `http://there.invalid/hook/2/%zz/0123456789abcdef/1/1/${MAC}`,
  `http://there.invalid/hook/2/${batch}/0123456789abcdef/1/1/${MAC}`,
  `http://there.invalid/hook/2/${batch}/0123456789abcdef/999999999/999999/${MAC}`,
  `http://there.invalid/hook/2/${batch}/1/1/${MAC}`,
  `http://there.invalid/hook/1/${batch}/1/1/${MAC}`,
  `http://there.invalid/${'x'.repeat(20_000)}`,
];

describe('many rows among the runs of other users', () => {
  let stage = new Stage();
  let gateway: Gateway;

  beforeEach(async () => {
    stage = new Stage();
    const { base } = await stage.service([
      '--deployments',
      stage.write('deployments.json', DEPLOYMENTS),
      '--fault',
      'reset-request=0.03',
    ]);
    gateway = await openGateway(base, 0, 0, (nth) => nth % 20 === 7, MAX_LISTED);
    stage.environment = { ...stage.environment, RUNSHEET_API_URL: gateway.base };
  });
  afterEach(async () => {
    await stage.close();
    await gateway.close();
  });

  const buyAsStrangers = async (batch: string): Promise<void> => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const webhooks = webhooksOf(batch);
    for (let number = 0; number < STRANGERS; number += 1) {
      const webhook = webhooks[number % webhooks.length];
      const body = JSON.stringify({ deployment_id: ID, inputs: { prompt: 'strange', number }, webhook });
      // Some are reset, as they are for us.
      await fetch(`${gateway.service}/run/deployment/queue`, { method: 'POST', headers, body }).catch(
        () => undefined,
      );
    }
  };
  const args = (): readonly string[] => ['run', stage.path('sheet.csv'), '-d', 'portraits', '-c', '60'];

  const expectTrue = async (): Promise<Summary> => {
    const runs = await stage.truth(gateway.service);
    const own = runsOf(runs, stage.batchFile());
    expectOneRunPerRow(own, ROWS);
    const results = stage.results();
    const byId = new Map(own.map((run) => [run.id, run]));
    expect(results.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(ROWS);
    expect(new Set(results.map(({ run_id = '' }) => byId.get(run_id)?.inputs?.['prompt']))).toEqual(
      new Set(results.map(({ prompt }) => prompt)),
    );
    const strange = runs.filter((run: Run) => run.inputs?.['prompt'] === 'strange');
    expect(strange.length).toBeGreaterThan(2 * STRANGERS - 30);
    expect(strange.filter(({ status }) => status === 'cancelled')).toEqual([]);
    const summary = JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;
    expect([summary.lists, summary.duplicates.runs, summary.unseen_runs_at_most]).toEqual(['complete', 0, 0]);
    const verified = await stage.run(['verify']);
    expect([verified.code, verified.stdout]).toEqual([0, expect.not.stringContaining('NOT')]);
    return summary;
  };

  it('end with one run each: lost runs are found page by page behind the runs of others', async () => {
    stage.sheet(ROWS);
    await buyAsStrangers('sheet');
    const running = stage.start([...args(), '--poll']);
    await running.says(/progress state=running done=[1-9]/);
    await buyAsStrangers(stage.batchFile().batch);
    const ended = await running.ended;
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining(ALL)]);
    const { requests } = await expectTrue();
    expect(requests.adopted.list).toBeGreaterThan(ROWS / 40);
    expect(requests.absent).toBeGreaterThan(0);
  });

  it('end with one run each also after they are rebuilt from the lists and parts because Temporal lost its data', async () => {
    stage.sheet(ROWS);
    await buyAsStrangers('sheet');
    const running = stage.start(args());
    await running.says(/progress state=/);
    await until(async () => {
      const parts = join(stage.batch(), 'parts');
      const own = runsOf(await stage.truth(gateway.service), stage.batchFile());
      return existsSync(parts) && readdirSync(parts).length > 0 && own.length > ROWS / 3;
    }, 'some rows are done');
    await running.killTree();
    expect(existsSync(join(stage.batch(), 'summary.json'))).toBe(false);
    await buyAsStrangers(stage.batchFile().batch);
    for (const name of readdirSync(stage.path('.runsheet')).filter((entry) => entry.startsWith('temporal')))
      rmSync(stage.path('.runsheet', name), { recursive: true });

    const refused = await stage.run(args());
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('error[E503]')]);
    let recovered = refused;
    await until(async () => {
      recovered = await stage.run(['resume', '--recover']);
      return !recovered.stderr.includes('error[E511]');
    }, 'the lists are old enough');
    expect([recovered.code, recovered.stderr]).toEqual([0, expect.stringContaining('is rebuilt')]);
    await expectTrue();
  });
});
