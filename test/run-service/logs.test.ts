import { describe, expect, it } from 'vitest';
import { openService, TOKEN } from './asking.ts';
import { openReceiver } from './receiver.ts';

type LogLine = { readonly log: string; readonly log_type: string; readonly run_id: string };

describe('the log of a run', () => {
  const logOf = async (opened: Awaited<ReturnType<typeof openService>>, id: string): Promise<LogLine[]> => {
    const { text } = await opened.ask('GET', `/api/v2/clickhouse-run-logs/${id}`);
    return JSON.parse(text) as LogLine[];
  };

  it('shows the steps of the run in chronological order', async () => {
    const opened = await openService({ runSeconds: 1 });
    const id = await opened.queue();
    await opened.ended(id);
    const words = (await logOf(opened, id)).map(({ log }) => log);
    expect([words[0], words.at(-1)]).toEqual(['a A10G container took the run', 'Prompt executed']);
    expect(words).toContain('Executing KSampler');
  });

  it.each([
    ['has the fault "fail"', { runsheet_faults: 'fail' }, /injected failure/],
    ['had too little memory', {}, /CUDA out of memory: the run needs 500 GB, which T4 does not have/],
  ])('is the only place with the reason of a failure: the run %s', async (_why, inputs, words) => {
    const opened = await openService({ runSeconds: 1, vramGb: 'runsheet_faults' in inputs ? 0 : 500 });
    const id = await opened.queue({ inputs, gpu: 'T4' });
    await opened.ended(id);
    expect(JSON.stringify(await opened.wire(id))).not.toMatch(words);
    expect(await logOf(opened, id)).toContainEqual(
      expect.objectContaining({ log_type: 'error', log: expect.stringMatching(words) as string }),
    );
  });

  it('has every try of a webhook, with its result', async () => {
    const receiver = await openReceiver((nth) => (nth === 1 ? 500 : 200));
    const opened = await openService({ runSeconds: 1 });
    const id = await opened.queue({ webhook: receiver.url });
    await receiver.until((webhooks) => webhooks.length === 5);
    const tries = async (): Promise<string[]> =>
      (await logOf(opened, id)).filter(({ log_type }) => log_type === 'webhook').map(({ log }) => log);
    await expect.poll(async () => (await tries()).length).toBe(5);
    const told = (await tries()).map((log) => JSON.parse(log) as { method: string; outcome: string });
    expect(told.filter(({ outcome }) => outcome === 'answered 500')).toHaveLength(1);
    expect(told.filter(({ method }) => method === 'GET')).toMatchObject([{ outcome: 'delivered' }]);
  });

  it('can be streamed by level while the run continues', async () => {
    const opened = await openService({ runSeconds: 200 });
    const id = await opened.queue({ inputs: { runsheet_faults: 'fail' } });
    const url = `${opened.service.url}/api/v2/stream-logs?run_id=${id}&log_level=error`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    let text = '';
    for await (const part of answer.body ?? []) {
      text += Buffer.from(part).toString();
      if (text.includes('injected failure')) break;
    }
    expect(text).toContain('keepalive');
    expect(text).not.toContain('Executing');
  });

  it('is empty for a run that does not exist', async () => {
    const opened = await openService();
    expect(await logOf(opened, '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f')).toEqual([]);
  });
});

describe('target_events', () => {
  it('does not treat an encoded comma as a separator', async () => {
    const receiver = await openReceiver();
    const opened = await openService({ runSeconds: 1 });
    const id = await opened.queue({ webhook: `${receiver.url}/?target_events=run.updated%2Crun.output` });
    await opened.ended(id);
    const webhooks = await receiver.until((received) => received.length === 4);
    expect(webhooks.every(({ body }) => body['event_type'] === 'run.updated')).toBe(true);
  });
});
