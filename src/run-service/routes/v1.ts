// Serves V1: two endpoints on a separate base path, whose runs have fewer fields and whose errors have other
// formats. V1's form of Get Run also works on the V2 base.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseExactly } from '../../host/formats/exact-json.ts';
import { PATHS, runQuerySchema } from '../../service-client/contract/paths.ts';
import { oversize, queueRequestSchemaFor, readQueueRequest } from '../../service-client/contract/queue.ts';
import { v1RunShown } from '../../service-client/contract/shown.ts';
import { V1 } from '../auth.ts';
import type { Service } from '../service.ts';
import { profileOf, shownBy } from './lists.ts';
import { route } from './refusals.ts';

type RequestSchema = ReturnType<typeof queueRequestSchemaFor>;

export function serveV1(app: FastifyInstance, service: Service): void {
  const schema = queueRequestSchemaFor(service.behaviour.gpus);
  route(app, ['GET', 'POST'], `${V1}/run`, (request, reply) =>
    request.method === 'POST' ? queueV1(service, schema, request, reply) : readV1(service, request, reply),
  );
  // Either API shows the profile, which reveals that this is a rehearsal.
  route(app, ['GET'], `${V1}${PATHS.profile}`, (_request, reply) =>
    reply.send(profileOf(service, undefined)),
  );
}

async function queueV1(
  service: Service,
  schema: RequestSchema,
  { body, owner }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  service.seen('queue');
  const wire = jsonOf(body);
  const request = oversize(wire) === undefined ? readQueueRequest(schema, wire) : undefined;
  if (request?.success !== true) return failed(reply, 'Invalid request body');
  const spec = service.deployments.get(request.data.deploymentId.toLowerCase());
  if (spec === undefined) return failed(reply, 'Deployment not found');
  if (
    service.executorOf(spec.id).refusals({ deploymentId: spec.id, servers: '' }, request.data.inputs).length >
    0
  )
    return failed(reply, 'Invalid inputs');
  const { id } = await service.runs.accept(request.data, spec, { owner });
  return reply.send({ run_id: id });
}

function readV1(service: Service, { query, owner }: FastifyRequest, reply: FastifyReply): FastifyReply {
  service.seen('get');
  const id = runQuerySchema.safeParse(query);
  const row = id.success ? service.database.find(id.data) : undefined;
  if (row === undefined || row.owner !== owner)
    return reply.code(400).send({ code: '400', message: 'Workflow not found' });
  const run = service.show(row);
  const outputs = run.outputs.map(({ data }) => ({ data }));
  return reply.send(shownBy(v1RunShown, { ...run, outputs, run_log: null }));
}

const failed = (reply: FastifyReply, error: string): FastifyReply => reply.code(500).send({ error });

function jsonOf(body: unknown): unknown {
  try {
    return parseExactly(typeof body === 'string' ? body : '');
  } catch (error) {
    // Invalid JSON fails the schema like any other invalid body.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
