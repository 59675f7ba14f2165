// Two workers and two receivers on machines that share nothing but Temporal, a bucket and secrets. Each of them is killed, and the
// workers are upgraded to another build in the middle of the batch.
//
//   RUNSHEET_FLEET_ROWS=20000 RUNSHEET_FLEET_POSTGRES=1   the large size, with Temporal on PostgreSQL

import { execFileSync } from 'node:child_process';
import type { Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTemporalOnPostgres } from '../../bench/postgres.ts';
import { loadConfig } from '../../src/host/settings/config.ts';
import { takeS3Settings } from '../../src/host/settings/s3-settings.ts';
import { temporalBinary } from '../../src/temporal/embedded/binary.ts';
import { openForward } from '../stage/forward.ts';
import { openMachine, withoutMachines, type Machine } from '../stage/machines.ts';
import { deploymentsOf, Stage, until, type Running } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';
import { freeAddress } from '../stage/free-port.ts';
import { makeBucket } from '../store/s3/buckets.ts';
import { startS3, type S3Server } from '../store/s3/s3-server.ts';

const ROWS = Number(process.env['RUNSHEET_FLEET_ROWS'] ?? 3_000);
const onPostgres = process.env['RUNSHEET_FLEET_POSTGRES'] === '1';
const OUTSTANDING = ROWS < 10_000 ? 60 : 150;
const PATIENCE_MS = 30_000 + ROWS * 100;
const DEPLOYMENTS = deploymentsOf({
  concurrencyLimit: OUTSTANDING,
  runSeconds: 1,
  runSpread: 0.3,
});
const BUILD = '--deployment-name fleet --build-id';
const why = withoutMachines();

describe.skipIf(why !== undefined)(
  `a fleet without a common folder${why === undefined ? '' : ` (left out: ${why})`}`,
  () => {
    const stage = new Stage();
    const machines: Machine[] = [];
    const closers: (() => Promise<unknown>)[] = [];
    let s3: S3Server;
    let balancer: Server;
    let program: string;
    let shared: Readonly<Record<string, string>> = {};

    beforeAll(async () => {
      s3 = await startS3();
      takeS3Settings(s3.environment);
      const bucket = await makeBucket();
      if (onPostgres) await usePostgres();
      else await stage.cluster(DEPLOYMENTS);
      const balanced = await freeAddress();
      shared = {
        ...stage.environment,
        ...s3.environment,
        RUNSHEET_OUT: `s3://${bucket}/fleet`,
        RUNSHEET_WEBHOOK_URL: `http://${balanced}`,
        RUNSHEET_WEBHOOK_SECRET: 'the-secret-of-the-fleet',
        RUNSHEET_PAYLOAD_KEY: '7'.repeat(64),
        RUNSHEET_METRICS: '0.0.0.0:9464',
        RUNSHEET_WEBHOOK_LISTEN: '0.0.0.0:8480',
        RUNSHEET_WORKER_DEPLOYMENT: 'fleet',
      };
      stage.environment = shared;
      const reaches = [
        shared['TEMPORAL_ADDRESS'] ?? '',
        hostOf(shared['RUNSHEET_API_URL']),
        hostOf(s3.endpoint),
        balanced,
      ];
      for (const number of [1, 2, 3, 4]) machines.push(await openMachine(number, reaches));
      balancer = await balance(balanced, [machineAt(2), machineAt(3)]);
      const { cache, environment } = loadConfig();
      program = await temporalBinary({ cache, environment, notice: () => undefined });
    });
    afterAll(async () => {
      balancer?.close();
      await Promise.all(machines.map((machine) => machine.close()));
      // PostgreSQL has its files in the stage's folder.
      for (const close of closers) await close();
      await stage.close();
      await s3?.[Symbol.asyncDispose]();
    });

    async function usePostgres(): Promise<void> {
      const { at, stop } = await startTemporalOnPostgres(stage.path());
      closers.push(stop);
      stage.environment = {
        ...stage.environment,
        TEMPORAL_ADDRESS: at.address,
        TEMPORAL_NAMESPACE: at.namespace,
      };
    }
    function machineAt(at: number): Machine {
      const machine = machines[at];
      if (machine === undefined) throw new Error(`there is no machine ${at}`);
      return machine;
    }
    async function startWorker(at: number, build: string): Promise<Running> {
      const worker = machineAt(at).start(['worker', '--no-receiver'], {
        ...shared,
        RUNSHEET_WORKER_BUILD: build,
      });
      await worker.says(/no receiver/);
      return worker;
    }
    async function startReceiver(at: number): Promise<Running> {
      const receiver = machineAt(at).start(['worker', '--receiver-only'], shared);
      await receiver.says(/webhooks at/);
      return receiver;
    }
    const setCurrent = async (build: string): Promise<void> => {
      const args = `worker deployment set-current-version ${BUILD} ${build} --yes`.split(' ');
      const env = { ...process.env, ...shared };
      await until(() => {
        try {
          execFileSync(program, args, { env, stdio: 'ignore' });
          return true;
        } catch {
          // Temporal does not know the queues of the build yet.
          return false;
        }
      }, `build ${build} is current`);
    };
    const bought = async (): Promise<number> => (await stage.truth()).length;
    const reached = (share: number): Promise<void> =>
      until(async () => (await bought()) >= ROWS * share, `${share} of the rows are sent`, PATIENCE_MS);
    const webhooksAt = async (at: number): Promise<number> => {
      const text = await (await fetch(`http://${machineAt(at).address}:9464/metrics`)).text();
      return Number(/^runsheet_webhooks_total\{status="200"\} (\d+)/m.exec(text)?.[1] ?? 0);
    };

    it(
      'brings each row to one run, although each member is killed and the workers are upgraded meanwhile',
      async () => {
        let [first, second] = [await startWorker(0, '1'), await startWorker(1, '1')];
        let [left, right] = [await startReceiver(2), await startReceiver(3)];
        await setCurrent('1');
        const args = ['submit', stage.sheet(ROWS), '-d', 'portraits', '-c', String(OUTSTANDING)];
        const submitted = await stage.run(args);
        expect([submitted.code, submitted.stderr]).toEqual([0, expect.any(String)]);
        const batch = submitted.stdout.trim();

        await reached(0.15);
        await first.kill('SIGKILL');
        first = await startWorker(0, '1');
        await reached(0.3);
        expect(await webhooksAt(2)).toBeGreaterThan(0);
        await left.kill('SIGKILL');
        await reached(0.4);
        left = await startReceiver(2);
        await reached(0.5);
        // Half of the workers are of the next build; then it gets the batch.
        expect((await first.kill('SIGTERM')).code).toBe(0);
        first = await startWorker(0, '2');
        await setCurrent('2');
        await reached(0.65);
        // The service keeps its connections, so all of them may lead to this one since the other was killed.
        expect(await webhooksAt(3)).toBeGreaterThan(0);
        await right.kill('SIGKILL');
        right = await startReceiver(3);
        await reached(0.75);
        await second.kill('SIGKILL');
        second = await startWorker(1, '2');
        await reached(0.85);
        const doctor = await stage.run(['doctor', '--cluster']);
        expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringContaining('2 workers, 2 receivers')]);

        const waited = await stage.run(['wait', batch]);
        expect([waited.code, waited.stderr]).toEqual([0, expect.any(String)]);
        expectOneRunPerRow(await stage.truth(), ROWS);
        const verified = await stage.run(['verify', batch]);
        expect([verified.code, verified.stdout]).toEqual([0, expect.any(String)]);
        for (const member of [first, second, left, right])
          expect((await member.kill('SIGTERM')).code).toBe(0);
      },
      PATIENCE_MS + 300_000,
    );
  },
);

const hostOf = (url: string | undefined): string => new URL(url ?? '').host;

const CHECK_MS = 300;

/** Round robin over the receivers that say that they are ready. */
async function balance(at: string, receivers: readonly Machine[]): Promise<Server> {
  let ready: readonly string[] = [];
  let turn = 0;
  const isReady = async (address: string): Promise<boolean> => {
    const answer = await fetch(`http://${address}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(
      () => undefined,
    );
    return answer?.ok ?? false;
  };
  const addresses = receivers.map(({ address }) => `${address}:8480`);
  const timer = setInterval(() => {
    void Promise.all(addresses.map(isReady)).then((areReady) => {
      ready = addresses.filter((_, index) => areReady[index]);
    });
  }, CHECK_MS);
  const server = await openForward(at, () => ready[(turn += 1) % Math.max(1, ready.length)]);
  server.once('close', () => clearInterval(timer));
  return server;
}
