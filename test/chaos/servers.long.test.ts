import { createServer, type Server } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readRecord } from '../../src/temporal/embedded/stack-file.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until, type Running } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 200;
/** Enough rows that the batch still runs when the command is repeated on a slow machine. */
const MORE_ROWS = 500;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 12, runSeconds: 0.5, runSpread: 0.2 });

describe('a server killed in the middle of a batch', () => {
  const stage = freshStage();

  const deployments = (): readonly string[] => [
    '--deployments',
    stage.write('deployments.json', DEPLOYMENTS),
  ];
  const halfWay = (): Promise<void> =>
    until(async () => (await stage.truth()).length >= 50, 'a quarter of the rows was sent');
  const expectSuccess = async (command: Running, rows = ROWS): Promise<void> => {
    expect((await command.ended).stderr).toContain(`${rows} of ${rows} rows succeeded`);
    expectOneRunPerRow(await stage.truth(), rows);
  };

  type Killed = () => Promise<{
    readonly kill: () => Promise<unknown>;
    readonly restart: () => Promise<unknown>;
  }>;
  const service: Killed = async () => {
    const running = await stage.service(deployments());
    const port = Number(new URL(running.base).port);
    return { kill: () => running.kill(), restart: () => stage.service(deployments(), port) };
  };
  const temporal: Killed = async () => {
    const server = await stage.temporal();
    await stage.service(deployments());
    await stage.worker();
    return server;
  };

  it.each([
    ['the run service', service],
    ['Temporal', temporal],
  ])('%s: the batch continues automatically after its restart, with one run per row', async (_, open) => {
    const { kill, restart } = await open();
    const command = stage.start(['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '12']);
    await halfWay();
    await kill();
    await wait(3_000);
    await restart();
    expect((await command.ended).code).toBe(0);
    await expectSuccess(command);
  });

  it('only the command: when repeated, it finds its servers still running, and each server is restarted automatically', async () => {
    await stage.service(deployments());
    const args = ['run', stage.sheet(MORE_ROWS), '-d', 'portraits', '-c', '12'];
    const killed = stage.start(args);
    await halfWay();
    const record = readRecord(stage.path('.runsheet'));
    expect(record?.temporal?.pid).toBeDefined();
    await killed.kill('SIGKILL');
    const command = stage.start(args);
    await command.says(/Attached/);
    expect(readRecord(stage.path('.runsheet'))?.temporal?.pid).toBe(record?.temporal?.pid);
    process.kill(record?.temporal?.pid ?? 0, 'SIGKILL');
    await until(async () => (await stage.truth()).length >= 100, 'half of the rows was sent');
    process.kill(record?.worker?.pid ?? 0, 'SIGKILL');
    await expectSuccess(command, MORE_ROWS);
  });

  it('the parent of the embedded servers with its server: the command finds the new server on another port', async () => {
    await stage.service(deployments());
    const command = stage.start(['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '12']);
    await halfWay();
    const record = readRecord(stage.path('.runsheet'));
    process.kill(record?.pid ?? 0, 'SIGKILL');
    process.kill(record?.temporal?.pid ?? 0, 'SIGKILL');
    const stranger = await takePort(Number(new URL(`tcp://${record?.temporal?.address}`).port));
    await expectSuccess(command);
    stranger.close();
    expect(command.stderr).toContain('the embedded servers were lost');
  });
});

/** Starts a silent server on Temporal's port as soon as that is free. */
async function takePort(port: number): Promise<Server> {
  const stranger = createServer((socket) => socket.on('error', () => undefined)).unref();
  let isTaken = false;
  stranger.on('error', () => undefined).on('listening', () => (isTaken = true));
  await until(() => {
    if (!isTaken) stranger.listen(port, '127.0.0.1');
    return isTaken;
  }, 'the port is taken');
  return stranger;
}
