import { Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { createMember, type WorkerMember } from '../../activities/describe-member.ts';
import type { checkSchema } from '../../src/cli/json/documents.ts';
import { version } from '../../src/host/package-version.ts';
import { openStore } from '../../src/store/open-store.ts';
import { membersQueueOf, TASK_QUEUE } from '../../workflows/task-queues.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { until, type Running } from '../stage/stage.ts';
import { freeAddress } from '../stage/free-port.ts';

type MemberEnvironment = Readonly<Record<string, string>>;
type Check = z.infer<typeof checkSchema>;

const SECRET = { RUNSHEET_WEBHOOK_SECRET: 'the-secret-of-the-fleet' };
const CLOCK_OFF = new URL('../stage/clock-off.ts', import.meta.url).href;

describe('doctor --cluster', () => {
  const stage = sharedStage();
  let url: string;
  let receiver: Running;
  let members: Running[] = [];

  beforeAll(async () => {
    await stage.temporal();
    await stage.service();
    const listen = await freeAddress();
    url = `http://${listen}`;
    stage.environment = { ...stage.environment, RUNSHEET_WEBHOOK_URL: url };
    receiver = stage.start(['worker', '--receiver-only'], { ...SECRET, RUNSHEET_WEBHOOK_LISTEN: listen });
    await receiver.says(/webhooks at/);
    await worker();
  });
  afterEach(async () => {
    await Promise.all(members.map((member) => member.kill('SIGTERM')));
    members = [];
  });

  async function worker(environment: MemberEnvironment = {}): Promise<Running> {
    const member = stage.start(['worker', '--no-receiver'], { ...SECRET, ...environment });
    await member.says(/no receiver/);
    return member;
  }
  const another = async (environment: MemberEnvironment): Promise<Running> => {
    const member = await worker(environment);
    members.push(member);
    return member;
  };
  const nameOf = ({ child }: Running): RegExp => new RegExp(`^${child.pid}@`);

  async function ask(): Promise<{ readonly code: number | null; readonly checks: readonly Check[] }> {
    const { code, stdout } = await stage.run(['doctor', '--cluster', '-o', 'json']);
    return { code, checks: JSON.parse(stdout) as readonly Check[] };
  }
  /** The failed checks once doctor has printed `text`. A member may begin to poll a moment after it reports that it is ready. */
  async function faults(text: RegExp): Promise<readonly Check[]> {
    let failed: readonly Check[] = [];
    await until(async () => {
      const { checks } = await ask();
      failed = checks.filter(({ ok }) => !ok);
      return failed.some(({ message }) => text.test(message));
    }, `doctor says ${text}`);
    return failed;
  }

  it('lists every worker and receiver with its release, clock and batches, and ends with 0', async () => {
    const { code, checks } = await ask();
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(code).toBe(0);
    const facts = `runsheet ${version}, clock 0.`;
    expect(checks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ part: 'members', message: '1 worker, 1 receiver' }),
        expect.objectContaining({
          part: expect.stringMatching(nameOf(receiver)),
          message: expect.stringMatching(`^receiver, ${facts}.*batches in ${stage.path('batches')}$`),
        }),
        expect.objectContaining({
          part: expect.stringMatching(/@/),
          message: expect.stringMatching(`^worker, ${facts}`),
        }),
        expect.objectContaining({ part: 'webhook secret', message: 'the same everywhere' }),
        expect.objectContaining({ part: 'receivers', message: `${url} answers` }),
      ]),
    );
  });

  it('names a member with another webhook secret', async () => {
    const odd = await another({ RUNSHEET_WEBHOOK_SECRET: 'another-secret' });
    await odd.says(/these members have another webhook secret/);
    const checks = await faults(/a different one from/);
    expect(checks).toMatchObject([
      { part: 'webhook secret', hint: expect.stringContaining('RUNSHEET_WEBHOOK_SECRET') },
    ]);
    expect(checks[0]?.message).toContain(`${odd.child.pid}@`);
  });

  it('is not needed for a member that generated its own secret: it does not start', async () => {
    const own = stage.start(['worker', '--no-receiver'], { RUNSHEET_HOME: stage.path('own') });
    const { code, stderr } = await own.ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining('error[E412]')]);
  });

  it('names a member whose clock is off', async () => {
    const file = stage.write('clock', '41000');
    const odd = await another({ NODE_OPTIONS: `--import ${CLOCK_OFF}?file=${file}` });
    expect(await faults(/clock is 4[0-9] s ahead/)).toMatchObject([
      { part: expect.stringMatching(nameOf(odd)), hint: expect.stringContaining('timedatectl') },
    ]);
  });

  it('names a member with batches in another place', async () => {
    const odd = await another({ RUNSHEET_OUT: stage.path('elsewhere') });
    expect(await faults(/keeps its batches in/)).toMatchObject([
      {
        part: expect.stringMatching(nameOf(odd)),
        hint: expect.stringContaining(`RUNSHEET_OUT=${stage.path('batches')} runsheet worker`),
      },
    ]);
  });

  it('names a member with another payload key', async () => {
    const odd = await another({ RUNSHEET_PAYLOAD_KEY: 'ab'.repeat(32) });
    const checks = await faults(/payload keys that differ/);
    expect(checks.find(({ part }) => part === 'payload keys')?.message).toContain(`${odd.child.pid}@`);
  });

  it('shows a member with a malformed answer as such, and all others, without what a terminal would obey', async () => {
    const { TEMPORAL_ADDRESS: address = '' } = stage.environment;
    const connection = await NativeConnection.connect({ address });
    const identity = '7@stranger\u001b[2J runsheet/9.9.9';
    const stranger = await Worker.create({
      connection,
      namespace: 'stage',
      identity,
      taskQueue: membersQueueOf(TASK_QUEUE),
      maxConcurrentActivityTaskExecutions: 1,
      activities: createMember(
        { identity, version: '\u001b[2J9', works: true } as unknown as WorkerMember,
        openStore(stage.path('batches')),
      ),
    });
    try {
      await stranger.runUntil(async () => {
        const checks = await faults(/cannot be read/);
        // Temporal lists the member of an earlier test for a minute.
        expect(checks.filter(({ part }) => part.startsWith('7@'))).toMatchObject([
          { part: '7@stranger', message: expect.stringContaining('receives: ') },
        ]);
        const { code, stdout } = await stage.run(['doctor', '--cluster']);
        expect(code).not.toBe(0);
        expect(stdout).not.toContain('\u001b[2J');
        expect(stdout).toMatch(/✓ members +1 worker, 1 receiver/);
      });
    } finally {
      await connection.close();
    }
  });

  it('shows all members although somebody polls for a deployment that there is not', async () => {
    const { TEMPORAL_ADDRESS: address = '' } = stage.environment;
    const connection = await Connection.connect({ address });
    try {
      void connection
        .withDeadline(Date.now() + 30_000, () =>
          connection.workflowService.pollWorkflowTaskQueue({
            namespace: 'stage',
            taskQueue: { name: TASK_QUEUE },
            identity: '8@stranger',
            deploymentOptions: { deploymentName: 'ghost', buildId: '1', workerVersioningMode: 1 },
          }),
        )
        .catch(() => undefined);
      let checks: readonly Check[] = [];
      await until(async () => {
        ({ checks } = await ask());
        return checks.some(({ part }) => part.startsWith('8@stranger'));
      }, 'doctor sees who polls');
      expect(checks.find(({ part }) => part === 'members')?.ok).toBe(true);
      expect(checks.filter(({ part }) => part.startsWith('deployment'))).toEqual([]);
    } finally {
      await connection.close();
    }
  });

  it('says that a killed member gives no answer, which is no fault after an upgrade', async () => {
    const odd = await another({});
    const findCheck = async (): Promise<Check | undefined> =>
      (await ask()).checks.find(({ part }) => nameOf(odd).test(part));
    await until(async () => (await findCheck())?.message.startsWith('worker') === true, 'it is a member');
    await odd.kill('SIGKILL');
    expect(await findCheck()).toMatchObject({
      ok: true,
      message: expect.stringContaining('gives no answer'),
    });
  });

  it('shows what it has found although Temporal does not answer', async () => {
    const away = { TEMPORAL_ADDRESS: await freeAddress() };
    const { code, stdout } = await stage.run(['doctor', '--cluster', '-o', 'json'], away);
    const checks = JSON.parse(stdout) as readonly Check[];
    expect(code).not.toBe(0);
    expect(checks[0]).toMatchObject({ part: 'node', ok: true });
    expect(checks.at(-1)).toMatchObject({ part: 'members', ok: false, hint: expect.any(String) });
  });

  it('needs a cluster', async () => {
    const { code, stderr } = await stage.run(['doctor', '--cluster'], { TEMPORAL_ADDRESS: '' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('set TEMPORAL_ADDRESS')]);
  });
});
