// Injects every fault at a low rate: the results, the costs and the summary must agree for every single run.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RequestLedger } from '../../src/batch/accounting/request-ledger.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import { readToken } from '../../src/webhook/webhook-token.ts';
import { finished, IS_LONG } from '../stage/outage.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf } from '../stage/stage.ts';

const ROWS = IS_LONG ? 5_000 : 500;
const CAP = 40;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: CAP, runSeconds: 0.4, runSpread: 0.5 });
const FAULTS = {
  'lose-webhook': 0.1,
  'repeat-webhook': 0.1,
  'drop-answer': 0.02,
  'drop-request': 0.02,
  'error-answer': 0.01,
  busy: 0.03,
};

type Summary = {
  readonly seconds: number;
  readonly requests: RequestLedger;
  readonly gpus: Readonly<Record<string, { readonly runs: number; readonly seconds: number }>>;
  readonly duplicates: { readonly runs: number };
};
/** The service's own counts. */
type Sold = {
  readonly requests: Readonly<Record<string, number>>;
  readonly runs: Readonly<Record<string, number>>;
  readonly sold: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
};

const stage = freshStage();

it(
  'lost and repeated webhooks, lost requests and responses, 500 and 429: every row has its true outcome, and the requests match the counts of the service',
  async () => {
    await stage.temporal();
    const faults = Object.entries(FAULTS).flatMap(([name, rate]) => ['--fault', `${name}=${rate}`]);
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS), ...faults]);
    await stage.worker();
    const batch = await stage.submit(ROWS, CAP);
    expect((await finished(stage, batch)).code).toBe(0);

    const runs = await stage.truth();
    const { requests, duplicates, seconds, gpus } = JSON.parse(
      readFileSync(join(stage.batch(), 'summary.json'), 'utf8'),
    ) as Summary;
    const service = await stage.ledger<Sold>();
    if (IS_LONG)
      console.info(
        `${ROWS} rows in ${seconds} s, ${(ROWS / seconds).toFixed(1)} a second`,
        requests,
        service,
      );
    expectEachRowsOwnRun(runs);
    expect(duplicates.runs).toBe(0);

    const injected = (name: keyof typeof FAULTS): number => service.faults[name] ?? 0;
    const lostAfter = injected('drop-answer') + injected('error-answer');
    const turnedAway = injected('busy') + injected('drop-request');
    expect(Math.min(lostAfter, injected('busy'), injected('drop-request'))).toBeGreaterThan(0);
    const { sent, accepted, throttled, unconfirmed, absent, adopted: by, ...otherCounts } = requests;
    const adopted = by.webhook + by.list;
    expect({ sent, runs: accepted + adopted, none: throttled + absent }).toEqual({
      sent: service.requests['queue'],
      runs: ROWS,
      none: turnedAway,
    });
    expect(sent).toBe(ROWS + turnedAway);
    // Only bounds: a webhook may arrive before its response is lost, and a slow worker may lose a group that was sent.
    expect(unconfirmed).toBe(adopted + absent);
    const none = { rejected: 0, blocked: 0, unknown: 0, resubmitted: 0, failed: 0, duplicates: 0 };
    expect(otherCounts).toEqual(none);
    expect(service.runs).toEqual({ success: ROWS });
    for (const [gpu, { seconds: paid }] of Object.entries(gpus))
      expect(paid).toBeCloseTo(service.sold[gpu] ?? 0, 1);
    const verified = await stage.run(['verify']);
    expect([verified.code, verified.stdout]).toEqual([0, expect.not.stringContaining('NOT')]);
  },
  IS_LONG ? 1_800_000 : 180_000,
);

/** Expects that each row succeeded with exactly the run that the service made for it. */
function expectEachRowsOwnRun(runs: readonly Run[]): void {
  const rows = stage.results();
  expect(rows.map(({ row, outcome }) => [Number(row), outcome])).toEqual(
    Array.from({ length: ROWS }, (_, at) => [at + 1, 'succeeded']),
  );
  const wanted = new Map(runs.map((run) => [readToken(run.webhook)?.place, run.id]));
  expect(runs).toHaveLength(ROWS);
  expect(rows.map((row) => row['run_id'])).toEqual(rows.map(({ row }) => wanted.get(Number(row))));
}
