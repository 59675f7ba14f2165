// The three endpoints of a run: queue it, read it, cancel it.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PATHS, runPathSchema, runQuerySchema } from '../../service-client/contract/paths.ts';
import type { Service } from '../service.ts';
import { forbidden, read, Refused, route } from './refusals.ts';
import { parseExactly } from '../../host/formats/exact-json.ts';
import { errorMessage } from '../../errors/error.ts';
import {
  oversize,
  queueRequestSchemaFor,
  readQueueRequest,
  type CheckedRequest,
} from '../../service-client/contract/queue.ts';
import {
  badValue,
  brokenJson,
  emptyBody,
  nestedInputs,
  notAnObject,
  refusalsOf,
  type Refusal,
} from '../../service-client/contract/refusal.ts';
import { FAULT_INPUT, faultHint, namedFaults, type Fault, type FaultTarget } from '../faults.ts';
import { missingText } from '../executors/known-servers.ts';
import { malform } from './malformed-responses.ts';
import { type ShownRun } from '../../service-client/contract/shown.ts';
import type { Status } from '../../service-client/contract/statuses.ts';
import type { RunRow } from '../database.ts';
import { uuidOf } from '../identity.ts';

const CANCELLED = { status: 'success', message: 'Function cancelled' };

export function serveRuns(app: FastifyInstance, service: Service): void {
  let reads = 0;
  route(app, ['POST'], PATHS.queue, queueing(service));

  const readRun =
    (idIn: (request: FastifyRequest) => string) => (request: FastifyRequest, reply: FastifyReply) => {
      service.seen('get');
      const row = service.database.find(idIn(request));
      if (row === undefined) throw new Refused(404, 'Run not found');
      if (row.owner !== request.owner) throw forbidden();
      reads += 1;
      return showRun(service, row, reads, reply);
    };
  const inPath = (request: FastifyRequest): string => read(request, 'path', runPathSchema);
  const inQuery = (request: FastifyRequest): string => read(request, 'query', runQuerySchema);

  route(app, ['GET'], PATHS.run, readRun(inPath));
  route(app, ['GET'], PATHS.runByQuery, readRun(inQuery));

  route(app, ['POST'], PATHS.cancel, (request, reply) => {
    service.seen('cancel');
    const id = inPath(request);
    const row = service.database.find(id);
    if (row !== undefined && row.owner !== request.owner) throw forbidden();
    if (!service.runs.cancel(id)) throw new Refused(404, 'Run not found');
    return reply.send(CANCELLED);
  });
}

const SLOW_ANSWER_MS = 5_000;
const BUSY_MS = 2_000;

/**
 * Handles Queue Run: validates the request with the real service's errors, creates the run, and answers.
 * Injects every fault that can happen between the request and its answer.
 */
function queueing(
  service: Service,
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply> {
  const readRequest = requestReader(service);
  let requests = 0;
  return ({ headers, body, owner }, reply) => {
    service.seen('queue');
    requests += 1;
    const request = readRequest(headers['content-type'], body as string | undefined);
    const { faults } = namedFaults(request.inputs);
    const target = { number: requests, deploymentId: request.deploymentId.toLowerCase(), faults };
    return goneWrong(service, target, reply) ?? queue(service, request, owner, reply);
  };
}

async function queue(
  service: Service,
  request: CheckedRequest,
  owner: string,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const spec = service.deployments.get(request.deploymentId.toLowerCase());
  if (spec === undefined) throw new Refused(404, 'Deployment not found');
  const executor = service.executorOf(spec.id);
  // A rehearsal has no servers.
  const named = service.gpus.known.named(spec.isReal === true ? request.servers : []);
  if (named.servers === '' && named.unknown.length > 0) throw new Refused(403, missingText(named.unknown));
  const to = { deploymentId: spec.id, servers: named.servers };
  const problems = executor.refusals(to, request.inputs);
  if (problems.length > 0) throw new Refused(422, problems);
  await executor.trial(to);
  const blocked = executor.blockedBy(to);
  if (blocked !== undefined) throw new Refused(403, blocked);
  const run = await service.runs.accept(request, spec, { owner, servers: to.servers });
  service.log('run-accepted', { run: run.id, number: run.number });
  if (service.faults.shouldInject('twin', run))
    await service.runs.accept(request, spec, { owner, servers: to.servers });
  return answer(service, run, reply);
}

/** Answers with a fault before a run is created; undefined if none is injected. */
function goneWrong(
  { faults, clock }: Service,
  target: FaultTarget,
  reply: FastifyReply,
): FastifyReply | undefined {
  const malformed = faults.malformedAt('request', target);
  if (malformed !== undefined) return malform(malformed, reply, JSON.stringify({ run_id: NO_RUN }));
  if (faults.shouldInject('no-credits', target)) throw new Refused(403, NO_CREDITS);
  for (const [fault, retryAfter] of BUSY) {
    if (!faults.shouldInject(fault, target)) continue;
    return tooMany(reply, retryAfter(clock.now()));
  }
  return undefined;
}

function tooMany(reply: FastifyReply, retryAfter: string | undefined): FastifyReply {
  if (retryAfter !== undefined) void reply.header('retry-after', retryAfter);
  return reply.code(429).send({ detail: 'Too Many Requests' });
}

// A valid id for malformed responses about a run that was never created.
const NO_RUN = '00000000-0000-4000-8000-000000000000';
const NO_CREDITS = 'Insufficient your GPU credits to create run';

/** The Retry-After of each 429 fault. */
const BUSY: readonly (readonly [Fault, (nowMs: number) => string | undefined])[] = [
  ['busy', () => '1'],
  ['busy-silent', () => undefined],
  ['busy-date', (nowMs) => new Date(nowMs + BUSY_MS).toUTCString()],
  ['busy-absurd', () => '99999999'],
];

/** Answers after the run was created: correctly, late, wrongly, or never. */
function answer(
  { faults, clock }: Service,
  run: FaultTarget & { readonly id: string },
  reply: FastifyReply,
): FastifyReply {
  const body = { run_id: run.id };
  const malformed = faults.malformedAt('answer', run);
  if (malformed !== undefined) return malform(malformed, reply, JSON.stringify(body));
  if (faults.shouldInject('busy-answer', run)) return tooMany(reply, '1');
  if (!faults.shouldInject('slow-answer', run)) return reply.send(body);
  clock.at(clock.now() + SLOW_ANSWER_MS, () => void reply.send(body));
  return reply;
}

const REHEARSALS_ONLY = 'faults are for rehearsals, and this deployment runs on real GPUs';

/** Reads a body; throws in the real service's order: no body, wrong content type, invalid JSON, invalid fields. */
function requestReader({ behaviour, deployments }: Service) {
  const schema = queueRequestSchemaFor(behaviour.gpus);
  const placed = (refusal: Refusal): Refusal =>
    behaviour.numbersInLoc ? refusal : { ...refusal, loc: refusal.loc.map(String) };
  const refused = (...problems: readonly Refusal[]) => new Refused(422, problems.map(placed));
  const requestIn = (body: unknown): CheckedRequest => {
    const why = oversize(body);
    if (why !== undefined) throw refused(badValue(['body', 'inputs'], null, why));
    const request = readQueueRequest(schema, body);
    if (!request.success) throw refused(...refusalsOf(request.error, 'body', body));
    const { inputs } = request.data;
    const nested = behaviour.freeFormInputs ? [] : [...nestedInputs(inputs)];
    const { unknown } = namedFaults(inputs);
    const isReal = deployments.get(request.data.deploymentId.toLowerCase())?.isReal === true;
    const noFaults = isReal ? REHEARSALS_ONLY : unknown && faultHint(unknown);
    if (noFaults !== undefined && FAULT_INPUT in inputs)
      nested.push(badValue(['body', 'inputs', FAULT_INPUT], inputs[FAULT_INPUT], noFaults));
    if (nested.length > 0) throw refused(...nested);
    return request.data;
  };
  const parsed = (text: string): unknown => {
    try {
      return parseExactly(text);
    } catch (error) {
      const reason = errorMessage(error);
      // V8 omits the position if the text ends too early, or if it quotes the text instead.
      const position = /at position (\d+)/.exec(reason)?.[1];
      throw refused(brokenJson(position === undefined ? text.length : Number(position), reason));
    }
  };
  return (contentType: FastifyRequest['headers']['content-type'], text = ''): CheckedRequest => {
    if (text === '') throw refused(emptyBody);
    if (!isJson(contentType)) throw refused(notAnObject(text));
    const body = parsed(text);
    if (body === null) throw refused(emptyBody);
    return requestIn(body);
  };
}

const isJson = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^application\/([^;]+\+)?json\s*(;|$)/i.test(contentType.trim());

/** How late the outputs of a succeeded run appear with the `late-output` fault. */
const LATE_MS = 2_000;

/**
 * Answers Get Run for an existing, readable run, truthfully or with an injected fault. `reads` counts the
 * requests, because faults are drawn for each of them.
 */
function showRun(service: Service, row: RunRow, reads: number, reply: FastifyReply): FastifyReply {
  const { faults, behaviour } = service;
  const shouldInject = (fault: Fault): boolean => faults.shouldInject(fault, row, reads);
  if (shouldInject('vanish')) throw new Refused(404, 'Run not found');
  const { deployment_id: _, ...shown } = shownRun(service, row, shouldInject);
  const body = {
    ...shown,
    ...(shouldInject('other-run') && { id: uuidOf('other', row.id) }),
    ...(shouldInject('unknown-status') && { status: 'defragmenting' }),
    ...(shouldInject('cut-dates') && cutDates(shown)),
    ...(shouldInject('extra-fields') && { gpu_mood: 'fine', outputs_v3: [{ kind: 'hologram' }] }),
    ...(!behaviour.showsWorkflowApi && { workflow_api: undefined }),
  };
  const malformed = faults.malformedAt('read', row, reads);
  return malformed === undefined ? reply.send(body) : malform(malformed, reply, JSON.stringify(body));
}

function shownRun(service: Service, row: RunRow, shouldInject: (fault: Fault) => boolean): ShownRun {
  const run = service.show(row);
  const isEarly = service.clock.now() < (row.endedMs ?? 0) + LATE_MS;
  const status = shouldInject('backwards') ? EARLIER[run.status] : undefined;
  return {
    ...run,
    ...(status && { status, ended_at: null, duration: null, run_duration: null, outputs: [] }),
    // Drawn for the run, not for each request, so that the outputs do not disappear again.
    ...(isEarly && service.faults.shouldInject('late-output', row) && { outputs: [] }),
  };
}

const EARLIER: Readonly<Partial<Record<Status, Status>>> = {
  queued: 'not-started',
  started: 'queued',
  running: 'started',
  success: 'running',
  failed: 'running',
  timeout: 'running',
};

/** Shortens dates to `2025-01-02T03:04Z`, as the real service's serializer does for a full minute. */
function cutDates(run: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const dates = Object.entries(run).filter(
    ([name, value]) => name.endsWith('_at') && typeof value === 'string',
  );
  return Object.fromEntries(dates.map(([name, value]) => [name, `${String(value).slice(0, 16)}Z`]));
}
