// Two services of one user with state folders of their own share the GPUs of the machine.

import { expect, it } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';
import { NOTE, PICTURE, ProgramService, untilFile } from './program-service.ts';

it('a GPU runs one program at a time, whichever state folder it belongs to', async () => {
  const locks = freshFolder();
  const [first, second] = [await ProgramService.open({}, locks), await ProgramService.open({}, locks)];
  for (const scene of [first, second]) await scene.script([NOTE, untilFile('go-on'), PICTURE]);
  const held = await first.own.queue({});
  await first.begun();
  const waiting = await second.own.queue({});
  await second.own.until(
    waiting,
    ({ live_status }) => live_status?.includes('another state folder') === true,
  );
  expect(second.executions).toBe(0);
  second.allow('go-on');
  first.allow('go-on');
  expect((await first.own.until(held)).status).toBe('success');
  expect((await second.own.until(waiting)).status).toBe('success');
  expect([first.executions, second.executions]).toEqual([1, 1]);
});

it('a lock ends with the processes of its holder, although no service releases it', async () => {
  const locks = freshFolder();
  const [first, second] = [await ProgramService.open({}, locks), await ProgramService.open({}, locks)];
  await first.script([NOTE, untilFile('never')]);
  await second.script([NOTE, PICTURE]);
  await first.own.queue({});
  await first.begun();
  await first.own.close();
  const waiting = await second.own.queue({});
  await second.own.until(
    waiting,
    ({ live_status }) => live_status?.includes('another state folder') === true,
  );
  first.killAll();
  expect((await second.own.until(waiting)).status).toBe('success');
});
