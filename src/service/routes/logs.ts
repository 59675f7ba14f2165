// Serves the log of a run, as a whole or as an event stream that ends when the client disconnects.

import type { FastifyInstance, FastifyReply } from 'fastify';
import type { LogLine } from '../../run-service/contract/run.ts';
import type { logLineShown, logShown, Shown } from '../../run-service/contract/shown.ts';
import { PATHS, runPathSchema, streamLogsQuerySchema } from '../../run-service/contract/paths.ts';
import type { RunRow } from '../runs/run-row.ts';
import type { Service } from '../service.ts';
import { forbidden, notFound, readOrRefuse, route } from './refusals.ts';
import type { DeliveryRow } from '../database.ts';
import type { DeploymentSpec } from '../deployments.ts';
import { hasMemory, neededGb, NODES, nodeStartsMs, type RunPlan } from '../runs/planned-result.ts';
import { storedPlan } from '../runs/run-record.ts';

const POLL_MS = 1_000;

export function serveLogs(app: FastifyInstance, service: Service): void {
  const linesOf = (row: RunRow): readonly LogLine[] =>
    logOf({
      row,
      spec: service.deployments.get(row.deploymentId),
      deliveries: service.database.deliveriesOf(row.number),
      nowMs: service.clock.now(),
    });

  route(app, ['GET'], PATHS.runLogs, (request, reply) => {
    const id = readOrRefuse(reply, runPathSchema, 'path', request.params);
    if (id === undefined) return reply;
    const row = service.database.find(id);
    // The real service reads its log store, which has no runs and no owners.
    if (row === undefined || row.owner !== request.owner) return reply.send([]);
    const log: Shown<typeof logShown> = linesOf(row).map(({ atMs, level, message }) => ({
      run_id: row.id,
      timestamp: new Date(atMs).toISOString(),
      log: message,
      user_id: row.owner,
      org_id: null,
      log_type: level,
    }));
    return reply.send(log);
  });

  route(app, ['GET'], PATHS.streamLogs, (request, reply) => {
    const query = readOrRefuse(reply, streamLogsQuerySchema, 'query', request.query);
    if (query === undefined) return reply;
    const row = service.database.find(query.runId);
    if (row === undefined) return notFound(reply, 'Run not found');
    if (row.owner !== request.owner) return forbidden(reply);
    const wanted = ({ level }: LogLine): boolean => query.level === undefined || level === query.level;
    return stream(reply, () => linesOf(service.database.find(row.id) ?? row).filter(wanted));
  });
}

const shownLine = ({ atMs, level, message }: LogLine): Shown<typeof logLineShown> => ({
  message,
  level,
  timestamp: new Date(atMs).toISOString(),
});

/** Sends each line once, and checks for new ones every second. */
function stream(reply: FastifyReply, readLines: () => readonly LogLine[]): FastifyReply {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  let sent = 0;
  const sendNew = (): void => {
    const fresh = readLines().slice(sent);
    sent += fresh.length;
    for (const line of fresh) raw.write(`data: ${JSON.stringify(shownLine(line))}\n\n`);
    if (fresh.length === 0) raw.write(`data: ${JSON.stringify({ type: 'keepalive' })}\n\n`);
  };
  const timer = setInterval(sendNew, POLL_MS);
  raw.on('close', () => clearInterval(timer));
  sendNew();
  return reply;
}

// Creates the log of a run, the only place with the reason of a failure. All lines except those of webhooks are derived from the
// run's plan, up to the current time.

type Told = {
  readonly row: RunRow;
  /** undefined if the deployment no longer exists. */
  readonly spec: DeploymentSpec | undefined;
  readonly deliveries: readonly DeliveryRow[];
  readonly nowMs: number;
};

/** The lines of a run's log up to now, in chronological order. */
function logOf({ row, spec, deliveries, nowMs }: Told): readonly LogLine[] {
  const plan = storedPlan(row);
  const lived = plan === undefined ? [] : plannedLines(plan, row, spec);
  const endMs = Math.min(nowMs, row.endedMs ?? nowMs, plan?.endsMs ?? nowMs);
  return [...lived.filter(({ atMs }) => atMs <= endMs), ...deliveries.map(deliveryLine)].toSorted(
    (a, b) => a.atMs - b.atMs,
  );
}

function plannedLines(plan: RunPlan, row: RunRow, spec: DeploymentSpec | undefined): readonly LogLine[] {
  const info = (atMs: number, message: string): LogLine => ({ atMs, level: 'info', message });
  return [
    info(plan.queuedMs, `a ${row.gpu} container took the run`),
    info(plan.startsMs, 'the container has started'),
    ...nodeStartsMs(plan).map((atMs, index) => info(atMs, `Executing ${NODES[index]?.name ?? ''}`)),
    ...(plan.ending === 'failed'
      ? [{ atMs: plan.endsMs, level: 'error' as const, message: failureOf(row, spec) }]
      : []),
    ...(plan.ending === 'timeout' ? [info(plan.endsMs, 'the time limit of the machine was reached')] : []),
    ...(plan.ending === 'success' ? [info(plan.endsMs, 'Prompt executed')] : []),
  ];
}

function failureOf(row: RunRow, spec: DeploymentSpec | undefined): string {
  const needed = spec === undefined ? 0 : neededGb(spec, () => row.inputs);
  if (!hasMemory(row.gpu, needed))
    return `torch.OutOfMemoryError: CUDA out of memory: the run needs ${Number(needed.toFixed(1))} GB, which ${row.gpu} does not have`;
  return 'RuntimeError: KSampler: injected failure';
}

const deliveryLine = ({ atMs, method, outcome, tookMs, body }: DeliveryRow): LogLine => ({
  atMs,
  level: 'webhook',
  message: JSON.stringify({ method, outcome, latency_ms: tookMs, payload: JSON.parse(body) as unknown }),
});
