// Serves the log of a run, as a whole or as an event stream that ends when the client disconnects.

import type { FastifyInstance, FastifyReply } from 'fastify';
import type { LogLine } from '../../service-client/contract/run.ts';
import type { logLineShown, logShown, AnswerOf } from '../../service-client/contract/shown.ts';
import { PATHS, runPathSchema, streamLogsQuerySchema } from '../../service-client/contract/paths.ts';
import type { RunRow, DeliveryRow } from '../database.ts';
import type { Service } from '../service.ts';
import { forbidden, read, Refused, route } from './refusals.ts';

const POLL_MS = 1_000;

export function serveLogs(app: FastifyInstance, service: Service): void {
  /** The log in chronological order, the only place that gives the reason of a failure. */
  const linesOf = (row: RunRow): readonly LogLine[] =>
    [
      ...service.executorOf(row.deploymentId).log(row, service.clock.now()),
      ...service.database.deliveriesOf(row.number).map(deliveryLine),
    ].toSorted((a, b) => a.atMs - b.atMs);

  route(app, ['GET'], PATHS.runLogs, (request, reply) => {
    const row = service.database.find(read(request, 'path', runPathSchema));
    // The real service reads its log store, which knows neither runs nor owners.
    if (row === undefined || row.owner !== request.owner) return reply.send([]);
    const log: AnswerOf<typeof logShown> = linesOf(row).map(({ atMs, level, message }) => ({
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
    const query = read(request, 'query', streamLogsQuerySchema);
    const row = service.database.find(query.runId);
    if (row === undefined) throw new Refused(404, 'Run not found');
    if (row.owner !== request.owner) throw forbidden();
    const wanted = ({ level }: LogLine): boolean => query.level === undefined || level === query.level;
    return stream(reply, () => linesOf(service.database.find(row.id) ?? row).filter(wanted));
  });
}

const shownLine = ({ atMs, level, message }: LogLine): AnswerOf<typeof logLineShown> => ({
  message,
  level,
  timestamp: new Date(atMs).toISOString(),
});

/** Sends each line once and polls for new ones every second. */
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

const deliveryLine = ({ atMs, method, outcome, tookMs, body }: DeliveryRow): LogLine => ({
  atMs,
  level: 'webhook',
  message: JSON.stringify({ method, outcome, latency_ms: tookMs, payload: JSON.parse(body) as unknown }),
});
