// Pictures of this machine in the rows of a batch whose folder is in S3: by a command, by a firing, and by a program.

import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { takeS3Settings } from '../../src/host/settings/s3-settings.ts';
import { connect, isRunsheetError } from '../../src/index.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import { readToken } from '../../src/webhook/webhook-token.ts';
import { deploymentsOf, KEY, Stage, until } from '../stage/stage.ts';
import { picture } from '../batches/files/scene.ts';
import { makeBucket } from '../store/s3/buckets.ts';
import { startS3, type S3Server } from '../store/s3/s3-server.ts';

describe('pictures beside a sheet', () => {
  const stage = new Stage();
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3();
    for (const [name, value] of Object.entries(server.environment)) vi.stubEnv(name, value);
    takeS3Settings(process.env);
    stage.environment = { ...server.environment, RUNSHEET_OUT: `s3://${await makeBucket()}/batches` };
    const inputTypes = [{ name: 'photo', type: 'image', required: true }];
    await stage.startAll(deploymentsOf({ runSeconds: 0.1, inputTypes }));
    for (let at = 0; at < 6; at += 1) stage.write(`p/${at}.png`, picture(at));
  });
  afterAll(async () => {
    await stage.close();
    await server[Symbol.asyncDispose]();
    vi.unstubAllEnvs();
  });

  /** In the order of the rows, because concurrent requests may overtake each other. */
  const sent = async (since = 0): Promise<readonly Buffer[]> => {
    const placeOf = ({ webhook }: Run): number => readToken(webhook)?.place ?? 0;
    const runs = (await stage.truth()).slice(since).toSorted((a, b) => placeOf(a) - placeOf(b));
    const addresses = runs.map(({ inputs }) => String(inputs?.['photo']));
    expect(addresses.filter((address) => address.includes('sha256'))).toEqual([]);
    return Promise.all(
      addresses.map(async (address) => Buffer.from(await (await fetch(address)).arrayBuffer())),
    );
  };
  const uploads = async (): Promise<number> =>
    (await stage.ledger<{ readonly requests: Record<string, number> }>()).requests['upload'] ?? 0;

  it('are uploaded once for a batch in S3, and its rows are found again from there', async () => {
    stage.write('sheet.csv', 'sku,photo\na,p/0.png\nb,p/1.png\nc,p/0.png\n');
    const run = ['run', 'sheet.csv', '-d', 'portraits', '--key', 'sku'];
    const { code, stderr } = await stage.run(run);
    expect([code, stderr]).toEqual([0, expect.stringContaining('3 of 3 rows succeeded')]);
    expect(await sent()).toEqual([picture(0), picture(1), picture(0)]);
    expect((await stage.run(run)).code).toBe(0);
    expect([await uploads(), (await sent()).length]).toEqual([2, 3]);
  });

  it('are those of the moment at each firing, and only what has changed is bought', async () => {
    stage.write('nightly.csv', 'photo\np/2.png\np/3.png\n');
    const flags = ['-d', 'portraits', '--cron', '0 2 29 2 *', '--reuse'];
    const created = await stage.run(['schedule', 'create', 'nightly', 'nightly.csv', ...flags]);
    expect([created.code, created.stderr]).toEqual([0, expect.any(String)]);
    const fired = async (): Promise<readonly Buffer[]> => {
      const before = (await sent()).length;
      const batch = (await stage.run(['schedule', 'trigger', 'nightly'])).stdout.trim();
      await until(async () => {
        const { stdout } = await stage.run(['schedule', 'show', 'nightly', '-o', 'json']);
        const { firings } = JSON.parse(stdout) as { firings: { batch: string; state: string }[] };
        return firings.some((firing) => firing.batch === batch && firing.state === 'done');
      }, 'the firing is over');
      return sent(before);
    };
    expect(await fired()).toEqual([picture(2), picture(3)]);
    stage.write('p/3.png', picture(30));
    expect(await fired()).toEqual([picture(30)]);
  });

  it('are rows of a program only if it accepts them', async () => {
    const { TEMPORAL_ADDRESS: address = '', RUNSHEET_API_URL: url = '' } = stage.environment;
    const connection = await Connection.connect({ address });
    await using runsheet = await connect({
      client: new Client({ connection, namespace: 'stage' }),
      store: stage.environment['RUNSHEET_OUT'] ?? '',
      service: { url, apiKey: KEY },
      home: stage.path('program'),
    });
    const before = (await sent()).length;
    const rows = [{ photo: stage.path('p/4.png') }, { photo: stage.path('p/5.png') }];
    const start = (options: object) =>
      runsheet.start(rows, { deployment: 'portraits', name: 'of-a-program', ...options });
    const refused: unknown = await start({}).catch((error: unknown) => error);
    expect(isRunsheetError(refused) && refused.code).toBe('E200');
    const made = await start({ acceptFiles: true });
    expect((await made.result()).outcomes.succeeded).toBe(2);
    expect(await sent(before)).toEqual([4, 5].map((at) => readFileSync(stage.path(`p/${at}.png`))));
    await connection.close();
  });
});
