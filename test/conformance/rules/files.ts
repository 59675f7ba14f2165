// Beside the runs: files that clients give, the log of a run, and the light list. All of it is the real service's.

import {
  answering,
  answerOf,
  changingRequest,
  at,
  inRun,
  isV1,
  showing,
  changingAnswer,
  without,
  withJson,
  jsonOf,
  type Json,
} from '../violations.ts';
import { chapter, type ReceivedRequest, type Violation, type Rule } from '../rule.ts';

const upload = at(/^\/api\/file\/upload$/, 'POST');
const uploadUrl = (received: ReceivedRequest): boolean =>
  isV1(received) && received.path.includes('/upload-url');
const log = at(/clickhouse-run-logs/);
const light = at(/^\/api\/v2\/workflow\/[^/]+\/runs$/);
const NOT_FOUND = answerOf(404, { detail: 'Not Found' });

const inRows = (when: (received: ReceivedRequest) => boolean, change: (rows: Json[]) => unknown): Violation =>
  changingAnswer(
    (received, { status }) => when(received) && status === 200,
    (answer) => withJson(answer, change(jsonOf(answer.body) as Json[])),
  );

const UPLOADED = ['message', 'file_id', 'file_name', 'file_url'] as const;
const PLACE = ['upload_url', 'file_id', 'download_url'] as const;
const LIGHT_ROW = ['id', 'status', 'created_at', 'gpu'] as const;

const FILES = chapter('Real service: file upload', [
  ...UPLOADED.map(
    (name) =>
      [
        `upload.${name}`,
        `POST /file/upload takes a form with \`file\`, and answers with \`${name}\``,
        showing(upload, (answer) => without(answer, name)),
      ] as const,
  ),
  [
    'upload.fetch',
    'the address of an uploaded file returns the file',
    answering(({ method, path }) => method === 'GET' && path.startsWith('/files/'), NOT_FOUND),
  ],
  [
    'upload.missing',
    'a form without `file` is a validation failure',
    changingAnswer(upload, (answer) => (answer.status === 422 ? answerOf(200, {}) : answer)),
  ],
  ...PLACE.map(
    (name) =>
      [
        `v1.upload-url.${name}`,
        `V1: GET /upload-url?type=&file_size= answers with \`${name}\``,
        showing(uploadUrl, (answer) => without(answer, name)),
      ] as const,
  ),
  [
    'v1.upload-url.put',
    'V1: a file is PUT at its address and fetched from there',
    answering(({ method }) => method === 'PUT', answerOf(403, 'AccessDenied', 'application/xml')),
  ],
  [
    'v1.upload-url.size',
    'V1: a file has at most 50 MB',
    changingRequest(uploadUrl, (received) => ({
      ...received,
      path: received.path.replace(/file_size=\d+/, 'file_size=1'),
    })),
  ],
]);

const LOGS = chapter('Real service: logs', [
  ['logs.path', 'GET /v2/clickhouse-run-logs/{run_id} returns the log of a run', answering(log, NOT_FOUND)],
  [
    'logs.reason',
    'the log contains the reason of a failed run',
    inRows(log, (rows) => rows.filter((row) => row['log_type'] !== 'error')),
  ],
  [
    'logs.reason.only',
    'the record of a failed run has no outputs and no reason',
    inRun((run) => (run['status'] === 'failed' ? { ...run, outputs: [{ data: { error: [] } }] } : run)),
  ],
  [
    'logs.webhooks',
    'the log has the tries of each webhook',
    inRows(log, (rows) => rows.filter((row) => row['log_type'] !== 'webhook')),
  ],
]);

const LIGHT = chapter('Real service: run lists', [
  [
    'list.light',
    'GET /v2/workflow/{workflow_id}/runs lists runs with few fields',
    answering(light, NOT_FOUND),
  ],
  ...LIGHT_ROW.map(
    (name) =>
      [
        `list.light.${name}`,
        `each run in it shows \`${name}\``,
        inRows(light, (rows) => rows.map((row) => without(row, name))),
      ] as const,
  ),
  ['list.light.newest', 'the newest run comes first in it', inRows(light, (rows) => rows.toReversed())],
  [
    'list.light.filter',
    'status= omits runs with another status',
    changingRequest(light, (received) => ({ ...received, path: received.path.replace(/status=[^&]*/, '') })),
  ],
]);

export { LIGHT_ROW, PLACE, UPLOADED };
export const FILE_RULES: readonly Rule[] = [...FILES, ...LOGS, ...LIGHT];
