import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Dispatcher } from 'undici';
import { connectRunService } from '../../src/service-client/client.ts';
import { postOnce, withDeadline } from '../../src/service-client/calls.ts';
import { answer, scriptedAt, type Act } from './scripted.ts';

const RUN = '0b3f1c1e-5a55-4c0e-9d3e-6a8f0f2f7a11';
const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, failed) => signal.addEventListener('abort', () => failed(signal.reason as Error)));

describe('a deadline', () => {
  it('ends work that takes longer, with the error of a timeout', async () => {
    const platform = await never(AbortSignal.timeout(10)).catch((error: unknown) => error as DOMException);
    const own = await withDeadline(10, never).catch((error: unknown) => error as DOMException);
    expect([own.name, own.message]).toEqual([platform.name, platform.message]);
  });

  it('passes on the error of the work', async () => {
    await expect(withDeadline(10_000, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  });
});

/** A service, and the signals of the calls to it. */
async function observed(act: Act) {
  const { at } = await scriptedAt(act);
  const signals: AbortSignal[] = [];
  const note: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    signals.push((options as { signal?: AbortSignal }).signal as AbortSignal);
    return dispatch(options, handler);
  };
  return { at: { ...at, transport: at.transport.compose(note) }, signals };
}

describe('the deadline of a call', () => {
  const limits = (deadlineMs: number) => ({ beforeSend: () => undefined, deadlineMs });

  it('is no longer measured once the call has ended', async () => {
    const { at, signals } = await observed((socket) => socket.write(answer(200, `{"run_id":"${RUN}"}`)));
    expect(await postOnce(at, '/queue', {}, limits(300))).toMatchObject({ status: 200, runId: RUN });
    await once(AbortSignal.timeout(400), 'abort');
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });

  it('ends a call without an answer, and one whose answer stops', async () => {
    const silent = await observed(() => undefined);
    const stopping = await observed((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'),
    );
    for (const { at } of [silent, stopping])
      expect(await postOnce(at, '/queue', {}, limits(200))).toEqual({
        begun: true,
        error: expect.stringContaining('aborted due to timeout'),
      });
  });

  it('belongs to readings too', async () => {
    const { at, signals } = await observed((socket) => socket.write(answer(503, '{"detail":"away"}')));
    await expect(connectRunService(at).getRun(RUN)).rejects.toMatchObject({ code: 'E304' });
    expect(signals).toEqual([expect.any(AbortSignal)]);
  });
});
