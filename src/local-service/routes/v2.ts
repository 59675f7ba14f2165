// The three endpoints of a run: queue it, read it, cancel it.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseExactly } from '../../batch/digits.ts';
import { reasonOf } from '../../errors.ts';
import { PATHS, runPathSchema } from '../../run-service/contract/paths.ts';
import { queueAnswerToWire, queueRequestSchema, type QueueOrder } from '../../run-service/contract/queue.ts';
import {
  brokenJson,
  emptyBody,
  notAnObject,
  refusalsOf,
  type Refusal,
} from '../../run-service/contract/refusal.ts';
import { runToWire } from '../../run-service/contract/run.ts';
import { recordOf } from '../records.ts';
import type { Service } from '../service.ts';
import { notFound, readOrRefuse, route, unprocessable } from './refusals.ts';

const CANCELLED = { status: 'success', message: 'Function cancelled' };

export function serveRuns(app: FastifyInstance, service: Service): void {
  route(app, ['POST'], PATHS.queue, (request, reply) => {
    service.seen('queue');
    const read = readOrder(request.headers['content-type'], request.body as string | undefined);
    return read.kind === 'refused' ? unprocessable(reply, read.problems) : queue(service, read.order, reply);
  });

  route(app, ['GET'], PATHS.run, (request, reply) => {
    service.seen('get');
    const id = readOrRefuse(reply, runPathSchema, 'path', request.params);
    if (id === undefined) return reply;
    const row = service.database.find(id);
    if (row === undefined) return notFound(reply, 'Run not found');
    return reply.send(runToWire(recordOf(row, service.clock.now(), service.origin())));
  });

  route(app, ['POST'], PATHS.cancel, (request, reply) => {
    service.seen('cancel');
    const id = readOrRefuse(reply, runPathSchema, 'path', request.params);
    if (id === undefined) return reply;
    return service.runs.cancel(id) ? reply.send(CANCELLED) : notFound(reply, 'Run not found');
  });
}

function queue(service: Service, order: QueueOrder, reply: FastifyReply): FastifyReply {
  const spec = service.deployments.get(order.deploymentId.toLowerCase());
  if (spec === undefined) return notFound(reply, 'Deployment not found');
  const run = service.runs.accept(order, spec);
  service.log('run-accepted', { run: run.id, number: run.number });
  if (!service.faults.strikes('drop-answer', run.number)) return reply.send(queueAnswerToWire(run.id));
  return hangUp(reply);
}

/** The connection ends without a word. */
function hangUp(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.destroy();
  return reply;
}

type Read =
  | { readonly kind: 'order'; readonly order: QueueOrder }
  | { readonly kind: 'refused'; readonly problems: readonly Refusal[] };

const refused = (...problems: readonly Refusal[]): Read => ({ kind: 'refused', problems });

/** Reads a Queue Run body, refusing in the real service's order: no body, no JSON by its type, broken JSON, wrong fields. */
function readOrder(contentType: FastifyRequest['headers']['content-type'], text: string | undefined): Read {
  if (text === undefined || text === '') return refused(emptyBody);
  if (!isJson(contentType)) return refused(notAnObject(text));
  const body = parsed(text);
  if (body.kind === 'broken') return refused(brokenJson(body.offset, body.reason));
  if (body.value === null) return refused(emptyBody);
  const read = queueRequestSchema.safeParse(body.value);
  if (!read.success) return refused(...refusalsOf(read.error, 'body', body.value));
  return { kind: 'order', order: read.data };
}

const isJson = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^application\/([^;]+\+)?json\s*(;|$)/i.test(contentType.trim());

type Parsed =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'broken'; readonly offset: number; readonly reason: string };

function parsed(text: string): Parsed {
  try {
    return { kind: 'value', value: parseExactly(text) };
  } catch (error) {
    const reason = reasonOf(error);
    // V8 leaves the position out where the text ends too early, and where it quotes the text instead.
    const position = /at position (\d+)/.exec(reason)?.[1];
    return { kind: 'broken', offset: position === undefined ? text.length : Number(position), reason };
  }
}
