// The servers of a batch end while a command that reads connects to them.

import { expect, it, vi } from 'vitest';
import { problem } from '../../src/errors/error.ts';
import { Servers } from '../../src/library/servers.ts';
import { endBatch } from './ended-batch.ts';
import { realConsole } from './real-service.ts';

it('wait reports the end of the batch, or the lost connection if the batch has not ended', async () => {
  const console = await realConsole();
  const batch = await console.batch(console.write('old.csv', 'prompt\na fox\n'), 'old', 'portraits');
  const join = vi.spyOn(Servers.prototype, 'join');
  const lost = problem('E401', { address: '127.0.0.1:1', from: '', reason: 'the server has ended' });
  join.mockRejectedValueOnce(lost);
  expect(await console.run('wait', 'old')).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('E401'),
  });
  join.mockImplementationOnce(async () => {
    await endBatch(batch);
    throw lost;
  });
  const ended = await console.run('wait', 'old');
  expect([ended.stderr, ended.stdout]).toEqual([expect.stringMatching(/1 row/), expect.anything()]);
  expect(ended.code).not.toBe(6);
});
