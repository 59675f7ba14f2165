// The three endpoints of a run: queue it, read it, cancel it.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseExactly } from '../../batch/digits.ts';
import { reasonOf } from '../../errors.ts';
import { PATHS, runPathSchema, runQuerySchema } from '../../run-service/contract/paths.ts';
import {
  queueAnswerToWire,
  queueRequestSchemaFor,
  type QueueOrder,
} from '../../run-service/contract/queue.ts';
import {
  brokenJson,
  emptyBody,
  nestedInputs,
  notAnObject,
  refusalsOf,
  refusalToWire,
  type Refusal,
} from '../../run-service/contract/refusal.ts';
import { runToWire } from '../../run-service/contract/run.ts';
import { recordOf } from '../records.ts';
import type { Service } from '../service.ts';
import { forbidden, notFound, readOrRefuse, route, unprocessable } from './refusals.ts';

const CANCELLED = { status: 'success', message: 'Function cancelled' };

export function serveRuns(app: FastifyInstance, service: Service): void {
  const { behaviour } = service;
  const schema = queueRequestSchemaFor(behaviour.gpus);
  let asked = 0;
  const readBody = (body: unknown): Read => {
    const read = schema.safeParse(body);
    if (!read.success) return refused(...refusalsOf(read.error, 'body', body));
    const nested = behaviour.freeFormInputs ? [] : nestedInputs(read.data.inputs);
    return nested.length > 0 ? refused(...nested) : { kind: 'order', order: read.data };
  };

  route(app, ['POST'], PATHS.queue, (request, reply) => {
    service.seen('queue');
    asked += 1;
    const early = faultBefore(service.faults, asked, reply);
    if (early !== undefined) return early;
    const read = readOrder(request.headers['content-type'], request.body as string | undefined, readBody);
    return read.kind === 'refused'
      ? unprocessable(reply, read.problems)
      : queue(service, read.order, request.owner, reply);
  });

  const readRun = (id: string | undefined, owner: string, reply: FastifyReply): FastifyReply => {
    service.seen('get');
    if (id === undefined) return reply;
    const row = service.database.find(id);
    if (row === undefined) return notFound(reply, 'Run not found');
    if (row.owner !== owner) return forbidden(reply);
    const run = runToWire(recordOf(row, service));
    return reply.send(behaviour.showsWorkflowApi ? run : { ...run, workflow_api: undefined });
  };

  route(app, ['GET'], PATHS.run, (request, reply) =>
    readRun(readOrRefuse(reply, runPathSchema, 'path', request.params), request.owner, reply),
  );
  route(app, ['GET'], PATHS.runByQuery, (request, reply) =>
    readRun(readOrRefuse(reply, runQuerySchema, 'query', request.query), request.owner, reply),
  );

  route(app, ['POST'], PATHS.cancel, (request, reply) => {
    service.seen('cancel');
    const id = readOrRefuse(reply, runPathSchema, 'path', request.params);
    if (id === undefined) return reply;
    const row = service.database.find(id);
    if (row !== undefined && row.owner !== request.owner) return forbidden(reply);
    return service.runs.cancel(id) ? reply.send(CANCELLED) : notFound(reply, 'Run not found');
  });
}

function queue(service: Service, order: QueueOrder, owner: string, reply: FastifyReply): FastifyReply {
  const spec = service.deployments.get(order.deploymentId.toLowerCase());
  if (spec === undefined) return notFound(reply, 'Deployment not found');
  const run = service.runs.accept(order, spec, owner);
  service.log('run-accepted', { run: run.id, number: run.number });
  return answerWith(service, run, reply);
}

/** What goes wrong before there is a run; undefined where nothing does. */
function faultBefore(
  faults: Service['faults'],
  asked: number,
  reply: FastifyReply,
): FastifyReply | undefined {
  if (faults.strikes('drop-request', asked)) return hangUp(reply);
  if (faults.strikes('error-before', asked)) return broken(reply);
  if (faults.strikes('busy', asked))
    return reply.code(429).header('retry-after', '1').send(refusalToWire('Too Many Requests'));
  return undefined;
}

/** The run is there; whoever asked may learn so late, or never. */
function answerWith(
  { faults, clock }: Service,
  run: { readonly id: string; readonly number: number },
  reply: FastifyReply,
): FastifyReply {
  if (faults.strikes('drop-answer', run.number)) return hangUp(reply);
  if (faults.strikes('error-after', run.number)) return broken(reply);
  if (!faults.strikes('slow-answer', run.number)) return reply.send(queueAnswerToWire(run.id));
  clock.at(clock.now() + SLOW_ANSWER_MS, () => void reply.send(queueAnswerToWire(run.id)));
  return reply;
}

const SLOW_ANSWER_MS = 5_000;

const broken = (reply: FastifyReply): FastifyReply =>
  reply.code(500).type('text/plain; charset=utf-8').send('Internal Server Error');

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
function readOrder(
  contentType: FastifyRequest['headers']['content-type'],
  text: string | undefined,
  read: (body: unknown) => Read,
): Read {
  if (text === undefined || text === '') return refused(emptyBody);
  if (!isJson(contentType)) return refused(notAnObject(text));
  const body = parsed(text);
  if (body.kind === 'broken') return refused(brokenJson(body.offset, body.reason));
  if (body.value === null) return refused(emptyBody);
  return read(body.value);
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
