// GPU servers that lose the answer to every request for a run, one for each guarantee, and the executor in front of them.

import { onTestFinished } from 'vitest';
import type { LiveRow } from '../../src/run-service/database.ts';
import type { ExecutorEvents, LiveRun } from '../../src/run-service/executors/executor.ts';
import { Unreachable, type Backend, type Guarantee } from '../../src/run-service/executors/backend.ts';
import { openHttp } from '../../src/run-service/executors/http.ts';
import { KeptFiles } from '../../src/run-service/executors/driving/kept-files.ts';
import { RunDispatcher } from '../../src/run-service/executors/driving/run-dispatcher.ts';
import { TIMING, type Timing } from '../../src/run-service/executors/driving/server-deps.ts';
import type { Task } from '../../src/run-service/executors/task.ts';
import { workflowOf } from '../../src/run-service/executors/workflow/workflow.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { serveForTest } from '../stage/serve.ts';

/** How the answer to a POST is lost. */
export type Loss = 'closed' | '502' | 'timeout';

const TIMEOUT_MS = 30;

/** Never shows a run. `posts` counts the requests, also those that do not arrive on a busy machine. */
export async function openDoubtful(guarantee: Guarantee, loss: Loss) {
  let posts = 0;
  const { url } = await serveForTest((request, response) => {
    request.resume();
    if (loss === 'closed') request.socket.destroy();
    if (loss === '502') response.writeHead(502).end('Bad Gateway');
  });
  const open = (): Backend => backendAt(url, guarantee, () => (posts += 1));
  return { open, posts: () => posts };
}

function backendAt(url: string, guarantee: Guarantee, posts: () => void): Backend {
  const http = openHttp(url, {});
  return {
    kind: 'comfyui',
    guarantee,
    seats: { kind: 'given', count: 2 },
    isPolled: true,
    describe: () => Promise.resolve({ version: '1', gpu: 'GPU' }),
    submit: async ({ id }) => {
      posts();
      const answer = await http
        .ask('/runs', JSON.stringify({ id }), { waitMs: TIMEOUT_MS })
        .catch((error: unknown) => String(error));
      const reason = typeof answer === 'string' ? answer : `answered ${answer.status}`;
      return { kind: 'unclear', reason };
    },
    poll: (runs) => Promise.resolve(new Map(runs.map(({ id }) => [id, { at: 'absent' }]))),
    cancel: () => Promise.resolve(),
    file: () => Promise.resolve(undefined),
    put: () => Promise.reject(new Unreachable('it takes no files')),
    close: http.close,
  };
}

const WORKFLOW = workflowOf(
  'portrait',
  { '9': { class_type: 'SaveImage', inputs: { filename_prefix: 'x' } } },
  undefined,
);

const timed = (startedMs: number | undefined): Partial<LiveRow> =>
  startedMs === undefined ? {} : { queuedMs: startedMs, startedMs };

/** An executor whose runs are kept in memory, and which can be opened again with them. */
export function openRemote(open: () => Backend, timing: Partial<Timing> = {}, task: Task = WORKFLOW) {
  const rows = new Map<string, LiveRow>();
  const change = (run: LiveRun, more: Partial<LiveRow>): void =>
    void rows.set(run.id, { ...(rows.get(run.id) as LiveRow), ...more });
  const events: ExecutorEvents = {
    took: (run, containerId, state) => change(run, { containerId, state, status: 'queued' }),
    keep: (run, state) => change(run, { state }),
    reached: (run, { status }, startedMs) => change(run, { status, ...timed(startedMs) }),
    progress: () => undefined,
    ended: (run, { status, atMs }, startedMs) => change(run, { status, endedMs: atMs, ...timed(startedMs) }),
    endUnknown: (run) => change(run, { status: 'timeout' }),
    lost: (run, ranMs, _waits, executed) => {
      const { lostMs = 0, lostRuns = 0 } = rows.get(run.id) ?? {};
      change(run, {
        containerId: null,
        state: null,
        lostMs: lostMs + ranMs,
        lostRuns: lostRuns + Number(executed),
      });
    },
  };
  const start = (): RunDispatcher => {
    const remote = new RunDispatcher({
      now: Date.now,
      commit: (work) => work(),
      commitSoon: (work) => work(),
      events,
      inputsOf: () => '{}',
      files: new KeptFiles(freshFolder()),
      putFiles: () => Promise.resolve(new Map()),
      isOver: () => false,
      keptUnder: (url) => url,
      timing: { ...TIMING, pollOnlyMs: 1, lateMs: 1, ...timing },
      say: () => undefined,
    });
    remote.addServer({ name: 'gpu', url: 'http://gpu', backend: open() });
    remote.addTask(task);
    onTestFinished(() => remote.close());
    return remote;
  };
  let remote = start();
  return {
    rows,
    queue(): string {
      const number = rows.size + 1;
      const run: LiveRow = {
        number,
        id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
        deploymentId: task.id,
        gpu: 'GPU',
        webhook: null,
        intermediate: 0,
        status: 'not-started',
        createdMs: Date.now(),
        updatedMs: Date.now(),
        queuedMs: null,
        startedMs: null,
        endedMs: null,
        containerId: null,
        state: null,
        owner: 'ann',
        faults: '',
        lostMs: 0,
        lostRuns: 0,
        servers: '',
        timeLimitMs: null,
      };
      rows.set(run.id, run);
      remote.accept(run);
      return run.id;
    },
    cancel: (id: string): void => remote.cancel(rows.get(id) as LiveRow),
    /** The service dies, and starts again. */
    async restart(): Promise<void> {
      await remote.close();
      remote = start();
      remote.resume([...rows.values()].filter(({ endedMs }) => endedMs === null));
    },
  };
}
