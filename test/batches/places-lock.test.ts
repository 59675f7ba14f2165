// The lock between the commands of one user that make batches of a deployment in different folders.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { lockPlaces } from '../../src/batches/places-lock.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const HOLDER = fileURLToPath(import.meta.resolve('./lock-holder.ts'));

let held: DisposableStack;
beforeEach(() => void (held = new DisposableStack()));
afterEach(() => held.dispose());

async function holder(places: string) {
  const child = fork(HOLDER, [places, 'portraits']);
  onTestFinished(() => void child.kill('SIGKILL'));
  expect((await once(child, 'message'))[0]).toBe('held');
  return child;
}

it('is free as soon as its holder is killed', async () => {
  const places = freshFolder();
  const child = await holder(places);
  const isHeld = vi.fn<() => void>();
  const next = lockPlaces(places, 'portraits').then((lock) => (isHeld(), lock));
  held.use(await lockPlaces(places, 'another deployment'));
  expect(isHeld).not.toHaveBeenCalled();
  child.kill('SIGKILL');
  held.use(await next);
  expect(isHeld).toHaveBeenCalled();
});

it('is held against other calls of the same program', async () => {
  const places = freshFolder();
  const order: string[] = [];
  const lock = await lockPlaces(places, 'portraits');
  const next = lockPlaces(places, 'portraits').then((second) => (order.push('second'), second));
  held.use(await lockPlaces(places, 'another deployment'));
  order.push('first ends');
  lock[Symbol.dispose]();
  held.use(await next);
  expect(order).toEqual(['first ends', 'second']);
});

it('names its file if a holder has stopped', async () => {
  const places = freshFolder();
  const child = await holder(places);
  child.kill('SIGSTOP');
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 20_000));
  onTestFinished(() => void vi.restoreAllMocks());
  await expect(lockPlaces(places, 'portraits')).rejects.toMatchObject({
    code: 'E602',
    message: expect.stringContaining(`${places}/`),
  });
});

it('is no obstacle where no file can be made', async () => {
  const places = join(freshFolder(), 'a file');
  writeFileSync(places, '');
  held.use(await lockPlaces(places, 'portraits'));
  expect(held.disposed).toBe(false);
});
