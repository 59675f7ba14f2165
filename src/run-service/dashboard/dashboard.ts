// The data of the dashboard: the machines of each deployment, the user's GPU servers, and the active, next
// and recently ended runs.

import { parseExactly } from '../../host/formats/exact-json.ts';
import { shownKindOf } from '../../host/formats/media-types.ts';
import type { RunRow } from '../database.ts';
import { promptOf } from '../executors/rehearsal/pictures/pictures.ts';
import type { Service } from '../service.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PageLogin } from '../../host/page-login.ts';
import { sendDashboard } from './dashboard-page.ts';
import { isLoopback } from '../../options/loopback.ts';
import { fileAt, sendFile } from '../routes/output-files.ts';
import { notFound, route } from '../routes/refusals.ts';

const MAX_NEXT = 4;
const MAX_ENDED = 24;
const MAX_WORKING = 24;
const MAX_WORDS = 160;

function dashboardOf(service: Service) {
  const pools = poolsOf(service);
  const busy = pools.reduce((sum, pool) => sum + pool.busy, 0);
  const most = { busy: Math.min(busy, MAX_WORKING), ended: MAX_ENDED };
  const dashboardRuns = service.database.dashboardRuns(most, service.ahead(MAX_NEXT));
  const nowMs = service.clock.now();
  const shown = (row: RunRow) => shownRun(service, row, nowMs);
  return {
    behaviour: service.behaviour.name,
    runs: dashboardRuns.runs,
    pools,
    servers: serversOf(service, nowMs),
    atWork: dashboardRuns.atWork.map(shown),
    next: dashboardRuns.next.map(shown),
    ended: dashboardRuns.ended.map(shown),
  };
}
export type Dashboard = ReturnType<typeof dashboardOf>;

/** Deployments appear even before their first run. */
function poolsOf({ deployments, executorOf }: Service) {
  return [...deployments.values()].map(({ id, name, gpu, concurrencyLimit }) => {
    const { busy = 0, idle = 0, waiting = 0 } = executorOf(id).census().get(id) ?? {};
    return { name, gpu, limit: concurrencyLimit, busy, idle, waiting };
  });
}

type ServerState = 'away' | 'asked' | 'busy' | 'idle';

/** The user's GPU servers: what each one does, and for how many seconds. */
function serversOf({ gpus, deployments }: Service, nowMs: number) {
  return gpus.executor.servers.map(({ name, gpu, version, away, runs, load, idleSinceMs }) => {
    const running = [...runs.values()].find(({ phase, state }) => phase === 'sent' && state.startedMs);
    const state: ServerState = away ? 'away' : version === '' ? 'asked' : load > 0 ? 'busy' : 'idle';
    const sinceMs = { away: away?.sinceMs, asked: 0, busy: running?.state.startedMs, idle: idleSinceMs }[
      state
    ];
    return {
      name,
      gpu,
      version,
      state,
      seconds: sinceMs ? (nowMs - sinceMs) / 1000 : null,
      /** Why the server is away. */
      reason: away?.reason ?? '',
      run: running
        ? {
            number: running.run.number,
            deployment: deployments.get(running.run.deploymentId)?.name ?? running.run.deploymentId,
            doing: running.work.liveStatus ?? '',
            progress: running.work.progress,
          }
        : null,
    };
  });
}

/** The true state, without injected faults. This read does not count as a request. */
function shownRun(service: Service, row: RunRow, nowMs: number) {
  const { id, status, live_status, progress } = service.show(row, true);
  return {
    id,
    number: row.number,
    deployment: service.deployments.get(row.deploymentId)?.name ?? row.deploymentId,
    status,
    doing: live_status ?? '',
    progress,
    gpu: row.gpu,
    /** Time in the queue, at work, or from queue to end, depending on the status. */
    seconds: ((row.endedMs ?? nowMs) - (row.queuedMs ?? row.createdMs)) / 1000,
    words: textOf(row.inputs),
    /** The address of the run's first picture; empty if it has none. */
    picture: pictureOf(service, row),
  };
}

/** The text by which a person recognises the run: its prompt, else all of its inputs. */
function textOf(inputs: string): string {
  const prompt = promptOf(parseExactly(inputs) as Record<string, unknown>);
  return (typeof prompt === 'string' ? prompt : inputs).slice(0, MAX_WORDS);
}

function pictureOf({ executorOf }: Service, row: RunRow): string {
  const outputs = row.status === 'success' ? executorOf(row.deploymentId).outputs(row) : [];
  const first = outputs.flatMap(({ files }) => files).find(({ filename }) => isShownPicture(filename));
  return first === undefined ? '' : `/live/runs/${row.id}/${encodeURIComponent(first.filename)}`;
}

/** SVG is sent without its type, because it is markup. */
const isShownPicture = (name: string): boolean => shownKindOf(name) === 'picture' && !/\.svg$/i.test(name);

const ELSEWHERE =
  'This page shows the runs of all owners, so it is available only on this machine: the service must listen on a loopback address, and the request must use one.\n';
const CLOSED =
  'This page shows the runs of all owners, so it needs a secret: open the dashboard address that the service printed at its start.\n';

/** `listensHere` is false if other machines can connect. */
export function serveDashboard(
  app: FastifyInstance,
  service: Service,
  { listensHere, pageLogin }: { readonly listensHere: boolean; readonly pageLogin: PageLogin },
): void {
  type PageHandler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;
  const serve = (url: string, answer: PageHandler): void =>
    route(app, ['GET'], url, (request, reply) => {
      if (!listensHere || !isLoopback(hostOf(request))) return refuse(reply, ELSEWHERE);
      const opened = pageLogin.opens(request.raw);
      if (opened !== undefined)
        return reply
          .code(303)
          .headers({ ...opened, 'cache-control': 'no-store' })
          .send();
      return pageLogin.isOpen(request.raw) ? answer(request, reply) : refuse(reply, CLOSED);
    });

  serve('/open/:secret', (_request, reply) => refuse(reply, CLOSED));
  serve('/', (_request, reply) => sendDashboard(reply));
  serve('/live', (_request, reply) =>
    reply
      .headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
      .send(dashboardOf(service)),
  );
  // Requests for dashboard pictures are not counted and trigger no faults.
  serve('/live/runs/:run/:file', (request, reply) => {
    const { file } = fileAt(service, request.params) ?? {};
    return file === undefined ? notFound(reply) : sendFile(reply, file);
  });
}

const refuse = (reply: FastifyReply, sentence: string): FastifyReply =>
  reply.code(403).type('text/plain; charset=utf-8').send(sentence);

const hostOf = ({ headers }: FastifyRequest) => URL.parse(`http://${headers.host ?? ''}`)?.hostname ?? '';
