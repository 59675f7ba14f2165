import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../receiver.ts';
import { finished, problemsOf, type Answer, type Service } from '../service.ts';
import { isNewestFirst } from './lists.ts';

const CONTENT = 'a picture, more or less';
const NOBODY_ELSE = { authorization: undefined } as const;

/** Sends a form with one file under a name. */
function sendForm(service: Service, name: string): Promise<Answer> {
  const boundary = 'end-of-part';
  const body = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="${name}"; filename="cat.png"`,
    'Content-Type: image/png',
    '',
    CONTENT,
    `--${boundary}--`,
    '',
  ].join('\r\n');
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  return service.ask('POST', '/file/upload', { body, headers });
}

const V1 = { needs: ['legacy base'] } as const;

const place = (service: Service, bytes = CONTENT.length): Promise<Answer> =>
  service.ask('GET', `/upload-url?type=image/png&file_size=${bytes}`, { base: service.legacyBase ?? '' });

const FILES: readonly Case[] = [
  free(
    'POST /file/upload takes a form with `file`, and answers with texts; the address of an uploaded file returns the file',
    async (service) => {
      const { status, json, text } = await sendForm(service, 'file');
      assert.equal(status, 200, text);
      for (const name of ['message', 'file_id', 'file_name', 'file_url'])
        assert.equal(typeof json[name], 'string', name);
      const answer = await service.ask('GET', '', { base: String(json['file_url']), headers: NOBODY_ELSE });
      assert.equal(answer.text, CONTENT);
    },
  ),
  free('a form without `file` is a validation failure', async (service) => {
    problemsOf(await sendForm(service, 'picture'));
  }),
  free(
    'V1: GET /upload-url?type=&file_size= answers with addresses; a file is PUT at its address and fetched from there',
    V1,
    async (service) => {
      const { json } = await place(service);
      for (const name of ['upload_url', 'file_id', 'download_url'])
        assert.equal(typeof json[name], 'string', name);
      const headers = { ...NOBODY_ELSE, 'content-type': 'image/png' };
      const put = await service.ask('PUT', '', { base: String(json['upload_url']), body: CONTENT, headers });
      assert.equal(put.status, 200, put.text);
      const got = await service.ask('GET', '', { base: String(json['download_url']), headers: NOBODY_ELSE });
      assert.equal(got.text, CONTENT);
    },
  ),
  free('V1: a file has at most 50 MB', V1, async (service) => {
    const { status } = await place(service, 60 * 1024 * 1024);
    assert.ok(status >= 400, String(status));
  }),
];

const OF_ALL_KINDS = { needs: ['deployments of all kinds'] } as const;

const logOf = async (service: Service, { id }: Json): Promise<readonly Json[]> => {
  const answer = await service.ask('GET', `/v2/clickhouse-run-logs/${String(id)}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as unknown as readonly Json[];
};

const LOGS: readonly Case[] = [
  buys('GET /v2/clickhouse-run-logs/{run_id} returns the log of a run', async (service) => {
    const rows = await logOf(service, await finished(service));
    assert.ok(rows.length > 0);
  }),
  buys(
    'the record of a failed run has no outputs and no reason, which the log contains',
    OF_ALL_KINDS,
    async (service) => {
      const run = await service.ended(await service.queue({ deployment_id: service.deployments?.failing }));
      assert.deepEqual([run['status'], run['outputs']], ['failed', []]);
      assert.ok((await logOf(service, run)).some((row) => row['log_type'] === 'error'));
    },
  ),
  buys(
    'the log has the tries of each webhook',
    { needs: ['webhooks that reach this machine'] },
    async (service) => {
      const inbox = service.inboxes.open();
      const id = await service.queue({ webhook: inbox.url });
      await inbox.until((received) => received.length > 0);
      const deadlineMs = Date.now() + service.patienceMs;
      // A try is written down when it has been answered.
      while (!(await logOf(service, { id })).some((row) => row['log_type'] === 'webhook')) {
        assert.ok(Date.now() < deadlineMs, 'the log never has a webhook');
        await pause(service.pauseMs);
      }
    },
  ),
];

const lightly = async (service: Service, query: string): Promise<readonly Json[]> => {
  const { workflow_id: workflow } = await finished(service);
  const answer = await service.ask('GET', `/v2/workflow/${String(workflow)}/runs?${query}`);
  assert.equal(answer.status, 200, answer.text);
  assert.ok(Array.isArray(answer.json));
  return answer.json as readonly Json[];
};

const LIGHT: readonly Case[] = [
  buys(
    'GET /v2/workflow/{workflow_id}/runs lists runs with few fields; the newest run comes first in the light list',
    async (service) => {
      await finished(service);
      await service.ended(await service.queue());
      const rows = await lightly(service, 'limit=100');
      assert.ok(rows.length > 1);
      isNewestFirst(rows);
      for (const row of rows)
        for (const name of ['id', 'status', 'created_at', 'gpu']) assert.ok(name in row, JSON.stringify(row));
    },
  ),
  buys('status= omits runs with another status', async (service) => {
    assert.deepEqual(await lightly(service, 'status=uploading&limit=20'), []);
  }),
];

export const FILE_CASES: readonly Case[] = [...FILES, ...LOGS, ...LIGHT];
