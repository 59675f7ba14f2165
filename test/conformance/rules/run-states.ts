// States and transitions, outputs, cancel: the specification names the fields; what they hold is the real service's.

import {
  answering,
  answerOf,
  changingRequest,
  inEndedRun,
  inFile,
  inOutput,
  inRun,
  isCancel,
  isGetRun,
  jsonOf,
  showing,
  changingAnswer,
  without,
  withJson,
  type Json,
} from '../violations.ts';
import { chapter, type Violation, type Rule } from '../rule.ts';

const EARLY: ReadonlySet<unknown> = new Set(['not-started', 'queued']);
const unlessEnded = (change: (run: Json) => Json): Violation =>
  inRun((run) => (run['ended_at'] === null ? change(run) : run));
const ofCancelled = (change: (run: Json) => Json): Violation =>
  inRun((run) => (run['status'] === 'cancelled' ? change(run) : run));
const A_DATE = '2026-01-01T00:00:00.000000Z';

const STATES = chapter('Real service: run states', [
  ['state.nine', 'the status is one of nine', unlessEnded((run) => ({ ...run, status: 'processing' }))],
  [
    'state.success',
    'a run that ends without an error is a `success`',
    inEndedRun((run) => ({ ...run, status: 'failed' })),
  ],
  [
    'state.not-started',
    'a run that waits for a machine is `not-started`',
    inRun((run) => (run['queued_at'] === null ? { ...run, status: 'queued' } : run)),
  ],
  [
    'state.not-started.times',
    'a run that waits has no queued_at',
    inRun((run) => (run['status'] === 'not-started' ? { ...run, queued_at: A_DATE } : run)),
  ],
  [
    'state.queued',
    'a run whose machine boots is `queued`, and has queued_at and the call',
    inRun((run) => (run['status'] === 'queued' ? { ...run, queued_at: null } : run)),
  ],
  [
    'state.queued.times',
    'a run whose machine boots has no started_at',
    inRun((run) => (run['status'] === 'queued' ? { ...run, started_at: A_DATE } : run)),
  ],
  [
    'state.running',
    'an executing run is `running`, and has started_at',
    inRun((run) => (run['status'] === 'running' ? { ...run, started_at: null } : run)),
  ],
  ['state.ended_at', 'ended_at is null until the end', unlessEnded((run) => ({ ...run, ended_at: A_DATE }))],
  [
    'state.durations',
    'durations are null until both of their times are known',
    unlessEnded((run) => ({ ...run, duration: 0, run_duration: 0 })),
  ],
  [
    'state.live_status',
    'live_status is null at first',
    inRun((run) => (EARLY.has(run['status']) ? { ...run, live_status: '' } : run)),
  ],
  [
    'state.live_status.node',
    'live_status contains `Executing` and the node',
    inRun((run) => (run['live_status'] === null ? run : { ...run, live_status: 'busy' })),
  ],
  [
    'state.progress.first',
    'progress is 0 at first',
    inRun((run) => (EARLY.has(run['status']) ? { ...run, progress: 0.01 } : run)),
  ],
  [
    'state.progress.digits',
    'progress has at most two decimals',
    inRun((run) => ({ ...run, progress: Number(run['progress']) - 0.0001 })),
  ],
  ['state.outputs.first', 'outputs are empty at first', unlessEnded((run) => ({ ...run, outputs: [{}] }))],
  [
    'state.timeout',
    'a run that takes longer than its deployment allows is a `timeout`',
    inRun((run) => (run['status'] === 'timeout' ? { ...run, status: 'failed' } : run)),
  ],
  [
    'state.sticky',
    'an ended run does not change: reading it again shows the same record',
    {
      exchange: async (received, pass, memory) => {
        const answer = await pass(received);
        const run = isGetRun(received) ? (jsonOf(answer.body) as Json) : {};
        if (run['status'] !== 'success') return answer;
        const reads = Number(memory.get(received.path) ?? 0) + 1;
        memory.set(received.path, String(reads));
        return reads > 2 ? withJson(answer, { ...run, status: 'failed' }) : answer;
      },
    },
  ],
]);

const OUTPUTS = chapter('Real service: outputs', [
  ...(['id', 'run_id', 'data', 'node_meta', 'created_at', 'updated_at', 'type', 'node_id'] as const).map(
    (name) =>
      [`output.${name}`, `an output has \`${name}\``, inOutput((output) => without(output, name))] as const,
  ),
  [
    'output.run_id.value',
    '`run_id` of an output is its run',
    inOutput((output) => ({ ...output, run_id: output['id'] })),
  ],
  [
    'output.node',
    '`node_meta.node_id` names the node as text',
    inOutput((output) => ({ ...output, node_meta: { node_id: 9 } })),
  ],
  ['output.data.lists', '`data` contains lists', inOutput((output) => ({ ...output, data: { images: {} } }))],
  ...(['url', 'type', 'filename'] as const).map(
    (name) => [`file.${name}`, `a file has \`${name}\``, inFile((file) => without(file, name))] as const,
  ),
  ['file.type.value', '`type` of a file is `output`', inFile((file) => ({ ...file, type: 'temp' }))],
  [
    'file.fetch',
    'the address of a file returns the file without a key',
    answering(({ path }) => path.startsWith('/files/'), answerOf(403, 'AccessDenied', 'application/xml')),
  ],
]);

const cancelled = (change: (answer: Json) => Json): Violation => showing(isCancel, change);

const CANCEL = chapter('Real service: cancel', [
  [
    'cancel.path',
    'POST /run/{run_id}/cancel cancels a run',
    answering(isCancel, answerOf(404, { detail: 'Not Found' })),
  ],
  ['cancel.status', 'it answers with status `success`', cancelled((answer) => ({ ...answer, status: 'ok' }))],
  [
    'cancel.message',
    'it answers with message `Function cancelled`',
    cancelled((answer) => ({ ...answer, message: '' })),
  ],
  ['cancel.cancelled', 'the run is then `cancelled`', ofCancelled((run) => ({ ...run, status: 'failed' }))],
  ['cancel.ended_at', 'a cancelled run has ended_at', ofCancelled((run) => ({ ...run, ended_at: null }))],
  [
    'cancel.waiting',
    'a waiting run can be cancelled, and then never gets a machine',
    ofCancelled((run) => ({ ...run, queued_at: run['queued_at'] ?? A_DATE })),
  ],
  [
    'cancel.again',
    'cancelling a run that has ended succeeds',
    {
      exchange: async (received, pass) => {
        if (!isCancel(received)) return pass(received);
        const read = { ...received, method: 'GET', path: received.path.replace('/cancel', ''), body: '' };
        const run = jsonOf((await pass(read)).body) as Json;
        return (run['ended_at'] ?? null) === null
          ? pass(received)
          : answerOf(409, { detail: 'Run has ended' });
      },
    },
  ],
  [
    'cancel.again.same',
    'cancelling a run that has ended changes nothing',
    {
      exchange: async (received, pass, memory) => {
        const answer = await pass(received);
        if (isCancel(received)) memory.set(received.path.replace('/cancel', ''), '');
        if (!isGetRun(received) || !memory.has(received.path)) return answer;
        const run = jsonOf(answer.body) as Json;
        return run['status'] === 'success' ? withJson(answer, { ...run, status: 'cancelled' }) : answer;
      },
    },
  ],
  [
    'cancel.unknown',
    'an unknown run cannot be cancelled',
    changingAnswer(isCancel, (answer) =>
      answer.status === 200 ? answer : answerOf(200, { status: 'success' }),
    ),
  ],
  [
    'cancel.malformed',
    'a malformed run_id is refused with the validation error shape',
    changingRequest(isCancel, (received) => ({
      ...received,
      path: received.path.replace('nonsense', '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f'),
    })),
  ],
]);

export const RUN_STATE_RULES: readonly Rule[] = [...STATES, ...OUTPUTS, ...CANCEL];
