// SIGKILL of each process of embedded servers: what it leaves behind ends by itself.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRecord } from '../../src/temporal/embedded/stack-file.ts';
import { familyOf, isAlive, killQuietly, strays } from '../stage/processes.ts';
import { Stage, until, type Running } from '../stage/stage.ts';

const WITHIN = { timeout: 30_000, interval: 200 };

describe('embedded servers', () => {
  let stage = new Stage();
  let command: Running;

  beforeEach(async () => {
    stage = new Stage();
    command = stage.start(['run', stage.sheet(200), '-d', 'portraits', '--local', '-c', '4']);
    await command.says(/progress state=running/);
  });
  afterEach(() => stage.close());

  const left = (): readonly number[] => strays(stage.folder).filter(isAlive);
  const partsOf = () => {
    const record = readRecord(stage.path('.runsheet'));
    const parts = [record?.pid, record?.temporal?.pid, record?.worker?.pid, record?.service?.pid];
    if (parts.includes(undefined)) throw new Error(`not all parts run: ${JSON.stringify(record)}`);
    const [stack = 0, temporal = 0, worker = 0, service = 0] = parts;
    return { stack, temporal, worker, service };
  };
  const kill = (...pids: readonly number[]): void => pids.forEach(killQuietly);
  it('leave nothing within 30 s of SIGKILL of the process that holds them and of its command', async () => {
    kill(command.child.pid ?? 0, partsOf().stack);
    await expect.poll(left, WITHIN).toEqual([]);
  });

  it('leave nothing within 30 s of SIGKILL of each Node of this user', async () => {
    const { stack, worker, service } = partsOf();
    kill(...familyOf(command.child.pid), stack, worker, service);
    await expect.poll(left, WITHIN).toEqual([]);
  });

  it('restart each of their parts after its SIGKILL, and leave nothing within 30 s of SIGKILL of the command', async () => {
    for (const name of ['temporal', 'worker', 'service'] as const) {
      const { [name]: victim } = partsOf();
      kill(victim);
      await until(() => partsOf()[name] !== victim, `${name} runs again`);
    }
    kill(command.child.pid ?? 0);
    await expect.poll(left, WITHIN).toEqual([]);
  });
});
