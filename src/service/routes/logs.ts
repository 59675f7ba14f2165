// Serves the log of a run, as a whole or as an event stream that ends when the client disconnects.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { KEEPALIVE, lineToWire, logToWire, type LogLine } from '../../run-service/contract/log-entry.ts';
import { PATHS, runPathSchema, streamLogsQuerySchema } from '../../run-service/contract/paths.ts';
import { logOf } from '../logs.ts';
import type { RunRow } from '../runs/run-row.ts';
import type { Service } from '../service.ts';
import { forbidden, notFound, readOrRefuse, route } from './refusals.ts';

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
    return reply.send(logToWire(linesOf(row), row));
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

/** Sends each line once, and checks for new ones every second. */
function stream(reply: FastifyReply, readLines: () => readonly LogLine[]): FastifyReply {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  let sent = 0;
  const sendNew = (): void => {
    const fresh = readLines().slice(sent);
    sent += fresh.length;
    for (const line of fresh) raw.write(`data: ${JSON.stringify(lineToWire(line))}\n\n`);
    if (fresh.length === 0) raw.write(`data: ${JSON.stringify(KEEPALIVE)}\n\n`);
  };
  const timer = setInterval(sendNew, POLL_MS);
  raw.on('close', () => clearInterval(timer));
  sendNew();
  return reply;
}
