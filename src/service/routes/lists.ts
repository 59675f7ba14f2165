// Serves the lists: runs of a workflow (complete, with webhooks) and of a deployment (light), deployments, prices, profile.

import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { DEFAULT_PRICES } from '../../options/gpu.ts';
import { deploymentsQuerySchema, deploymentToWire } from '../../run-service/contract/deployment.ts';
import {
  deploymentPathSchema,
  deploymentRunsQuerySchema,
  lightRunsQuerySchema,
  PATHS,
  workflowPathSchema,
  workflowRunsQuerySchema,
} from '../../run-service/contract/paths.ts';
import { profileToWire } from '../../run-service/contract/profile.ts';
import {
  runPageToWire,
  runToLightRow,
  runToListWire,
  type RunRecord,
} from '../../run-service/contract/run.ts';
import { deploymentRecordOf } from '../deployments.ts';
import { idsOf } from '../identity.ts';
import type { Service } from '../service.ts';
import { notFound, readOrRefuse, route } from './refusals.ts';

/** The recommended intervals for clients; they are short, because lists are always up to date here. */
export const PROFILE = profileToWire({
  rehearsal: true,
  postDeadlineMs: 10_000,
  listGapMs: 1_000,
  settleMs: 0,
  settleWithoutControlMs: 3_000,
  pollIntervalMs: 250,
});

export function serveLists(app: FastifyInstance, service: Service): void {
  serveRunLists(app, service);
  serveDeployments(app, service);
  route(app, ['GET'], PATHS.pricing, (_request, reply) => reply.send(DEFAULT_PRICES));
  route(app, ['GET'], PATHS.profile, (_request, reply) => reply.send(PROFILE));
}

const SHORT_PAGE = 100;

function serveRunLists(app: FastifyInstance, service: Service): void {
  let asked = 0;
  route(app, ['GET'], PATHS.workflowRuns, (request, reply) => {
    service.seen('list');
    const workflowId = readOrRefuse(reply, workflowPathSchema, 'path', request.params);
    if (workflowId === undefined) return reply;
    const query = readOrRefuse(reply, workflowRunsQuerySchema, 'query', request.query);
    if (query === undefined) return reply;
    const deploymentId = deploymentOf(service, workflowId);
    if (deploymentId === undefined) return notFound(reply, 'Workflow not found');
    const isShort = service.faults.shouldInject('short-page', { number: (asked += 1) });
    const limit = isShort ? Math.min(SHORT_PAGE, query.limit) : query.limit;
    const runs = pageOf(service, deploymentId, request.owner, { ...query, limit });
    return reply.send(runs.map((run) => runToListWire(run, query.also)));
  });

  route(app, ['GET'], PATHS.lightRuns, (request, reply) => {
    service.seen('list');
    const workflowId = readOrRefuse(reply, workflowPathSchema, 'path', request.params);
    if (workflowId === undefined) return reply;
    const query = readOrRefuse(reply, lightRunsQuerySchema, 'query', request.query);
    if (query === undefined) return reply;
    const deploymentId = deploymentOf(service, workflowId);
    if (deploymentId === undefined) return notFound(reply, 'Workflow not found');
    if (![undefined, deploymentId].includes(query.deploymentId)) return reply.send([]);
    return reply.send(lightRows(service, deploymentId, request.owner, query).map(runToLightRow));
  });

  route(app, ['GET'], PATHS.deploymentRuns, (request, reply) => {
    service.seen('list');
    const deploymentId = readOrRefuse(reply, deploymentPathSchema, 'path', request.params);
    if (deploymentId === undefined) return reply;
    const query = readOrRefuse(reply, deploymentRunsQuerySchema, 'query', request.query);
    if (query === undefined) return reply;
    if (!service.deployments.has(deploymentId)) return notFound(reply, 'Deployment not found');
    const runs = pageOf(service, deploymentId, request.owner, query);
    const total = service.database.count(deploymentId, request.owner);
    return reply.send(runPageToWire(runs, { total, limit: query.limit, offset: query.offset }));
  });
}

function serveDeployments(app: FastifyInstance, service: Service): void {
  route(app, ['GET'], PATHS.deployments, (request, reply) => {
    const query = readOrRefuse(reply, deploymentsQuerySchema, 'query', request.query);
    if (query === undefined) return reply;
    const specs = query.isWanted ? [...service.deployments.values()] : [];
    return reply.send(specs.map((spec) => deploymentToWire(deploymentRecordOf(spec), request.owner)));
  });

  route(app, ['GET'], PATHS.deployment, (request, reply) => {
    const deploymentId = readOrRefuse(reply, deploymentPathSchema, 'path', request.params);
    if (deploymentId === undefined) return reply;
    const spec = service.deployments.get(deploymentId);
    if (spec === undefined) return notFound(reply, 'Deployment not found');
    return reply.send(deploymentToWire(deploymentRecordOf(spec), request.owner));
  });
}

/** Filters by the shown status, which may differ from the stored one. */
function lightRows(
  service: Service,
  deploymentId: string,
  owner: string,
  query: z.output<typeof lightRunsQuerySchema>,
): readonly RunRecord[] {
  const { status, sinceMs, limit, offset } = query;
  if (status === undefined && sinceMs === 0) return pageOf(service, deploymentId, owner, query);
  const all = pageOf(service, deploymentId, owner, {
    limit: service.database.count(deploymentId, owner),
    offset: 0,
  });
  return all
    .filter((run) => run.createdAtMs >= sinceMs && (status === undefined || run.status === status))
    .slice(offset, offset + limit);
}

function pageOf(
  service: Service,
  deploymentId: string,
  owner: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): readonly RunRecord[] {
  return service.database.page(deploymentId, owner, limit, offset).map((row) => service.show(row));
}

/** Every deployment has its own workflow. */
const deploymentOf = (service: Service, workflowId: string): string | undefined =>
  [...service.deployments.keys()].find((id) => idsOf(id).workflowId === workflowId);
