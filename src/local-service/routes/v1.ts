// The service as it was before V2: two endpoints on a base of their own. What a run shows is less, what is wrong is said in
// other shapes. V1's way of reading a run also works on the V2 base.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { parseExactly } from '../../batch/digits.ts';
import { runQuerySchema } from '../../run-service/contract/paths.ts';
import { queueAnswerToWire } from '../../run-service/contract/queue.ts';
import { runToV1Wire } from '../../run-service/contract/v1.ts';
import { V1 } from '../auth.ts';
import { recordOf } from '../records.ts';
import type { Service } from '../service.ts';
import { route } from './refusals.ts';

const order = z.object({
  deployment_id: z.uuid(),
  inputs: z.record(z.string(), z.unknown()).default({}),
  webhook: z.string().nullish(),
  gpu: z.string().nullish(),
});

export function serveV1(app: FastifyInstance, service: Service): void {
  route(app, ['POST'], `${V1}/run`, (request, reply) => {
    service.seen('queue');
    const read = order.safeParse(jsonOf(request.body));
    const spec = read.data && service.deployments.get(read.data.deployment_id.toLowerCase());
    if (!read.success) return failed(reply, 'Invalid request body');
    if (spec === undefined) return failed(reply, 'Deployment not found');
    const { inputs, webhook, gpu } = read.data;
    const asked = service.behaviour.gpus.find((name) => name === gpu);
    const run = service.runs.accept(
      {
        deploymentId: spec.id,
        inputs,
        webhook: webhook ?? undefined,
        gpu: asked,
        webhookIntermediateStatus: false,
        flags: [],
      },
      spec,
      request.owner,
    );
    return reply.send(queueAnswerToWire(run.id));
  });

  route(app, ['GET'], `${V1}/run`, (request, reply) => {
    service.seen('get');
    const query = runQuerySchema.safeParse(request.query);
    const row = query.success ? service.database.find(query.data) : undefined;
    if (row === undefined || row.owner !== request.owner)
      return reply.code(400).send({ code: '400', message: 'Workflow not found' });
    return reply.send(runToV1Wire(recordOf(row, service.clock.now(), service.origin())));
  });
}

const failed = (reply: FastifyReply, error: string): FastifyReply => reply.code(500).send({ error });

function jsonOf(body: unknown): unknown {
  try {
    return parseExactly(typeof body === 'string' ? body : '');
  } catch (error) {
    // What is no JSON fails the schema like any other wrong body.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
