// Serves the lists: runs of a workflow (complete, with webhooks) and of a deployment (light), deployments,
// prices, profile.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { DEFAULT_PRICES } from '../../options/facts/gpu.ts';
import { isVendor } from '../../options/facts/server-kind.ts';
import {
  deploymentPathSchema,
  deploymentQuerySchema,
  deploymentRunsQuerySchema,
  deploymentsQuerySchema,
  lightRunsQuerySchema,
  PATHS,
  workflowPathSchema,
  workflowRunsQuerySchema,
} from '../../service-client/contract/paths.ts';
import {
  lightRowShown,
  lightRunShown,
  type profileShown,
  type AnswerOf,
  type ShownRun,
} from '../../service-client/contract/shown.ts';
import { shownDeployment, type Deployment } from '../service-deployments.ts';
import { idsOf } from '../identity.ts';
import type { Service } from '../service.ts';
import { read, Refused, route } from './refusals.ts';
import { usdOf } from '../../options/text/printed-numbers.ts';

/** The recommended poll intervals for clients. They are short, because lists are always up to date here. */
export const profileOf = (
  { database }: Service,
  deployment: Deployment | undefined,
): AnswerOf<typeof profileShown> => ({
  id: database.id,
  rehearsal: deployment?.isReal !== true,
  consistent: true,
  post_deadline_ms: 10_000,
  list_gap_ms: 1_000,
  settle_ms: 0,
  settle_without_control_ms: 3_000,
  poll_interval_ms: 250,
});

export function serveLists(app: FastifyInstance, service: Service): void {
  serveRunLists(app, service);
  serveDeployments(app, service);
  const deploymentAt = ({ query }: FastifyRequest): Deployment | undefined => {
    const { deployment_id } = query as { readonly deployment_id?: unknown };
    return describedAt(service, String(deployment_id).toLowerCase());
  };
  route(app, ['GET'], PATHS.pricing, (request, reply) =>
    reply.send(pricesOf(service, deploymentAt(request))),
  );
  route(app, ['GET'], PATHS.profile, (request, reply) =>
    reply.send(profileOf(service, deploymentAt(request))),
  );
}

/** A planned workflow is described too, but takes no runs. */
const describedAt = ({ gpus }: Service, id: string, servers?: readonly string[]): Deployment | undefined =>
  gpus.described(id, servers);

/** Own GPUs cost nothing here, and may have the same names as simulated ones. */
function pricesOf({ gpus }: Service, deployment: Deployment | undefined): Readonly<Record<string, number>> {
  // An unknown price is never 0.
  if (deployment?.isBilled === true) return pricesOfVendor(deployment);
  const own = gpus.executor.servers
    .filter(({ backend }) => !isVendor(backend.kind))
    .map(({ gpu }) => gpu)
    .filter((gpu) => gpu !== '');
  const free = (names: readonly string[]): Readonly<Record<string, number>> =>
    Object.fromEntries(names.map((name) => [name, 0]));
  if (deployment?.isReal === true) return free([...Object.keys(DEFAULT_PRICES), ...own]);
  return { ...free(own), ...DEFAULT_PRICES };
}

/** The vendor stands in the place of a GPU. */
const pricesOfVendor = ({ gpu, price }: Deployment): Readonly<Record<string, number>> =>
  price?.per === 'second' ? { [gpu]: usdOf(price.nano) } : {};

const SHORT_PAGE = 100;

function serveRunLists(app: FastifyInstance, service: Service): void {
  let reads = 0;
  route(app, ['GET'], PATHS.workflowRuns, (request, reply) => {
    service.seen('list');
    const workflowId = read(request, 'path', workflowPathSchema);
    const query = read(request, 'query', workflowRunsQuerySchema);
    const deploymentId = deploymentOf(service, workflowId);
    const isShort = service.faults.shouldInject('short-page', { number: (reads += 1), deploymentId });
    const limit = isShort ? Math.min(SHORT_PAGE, query.limit) : query.limit;
    const runs = pageOf(service, deploymentId, request.owner, { ...query, limit });
    return reply.send(runs.map((run) => listedRun(run, query.also)));
  });

  route(app, ['GET'], PATHS.lightRuns, (request, reply) => {
    service.seen('list');
    const workflowId = read(request, 'path', workflowPathSchema);
    const query = read(request, 'query', lightRunsQuerySchema);
    const deploymentId = deploymentOf(service, workflowId);
    if (![undefined, deploymentId].includes(query.deploymentId)) return reply.send([]);
    const rows = lightRows(service, deploymentId, request.owner, query);
    return reply.send(rows.map((run) => shownBy(lightRowShown, { ...run, batch_id: null })));
  });

  route(app, ['GET'], PATHS.deploymentRuns, (request, reply) => {
    service.seen('list');
    const deploymentId = read(request, 'path', deploymentPathSchema);
    const query = read(request, 'query', deploymentRunsQuerySchema);
    if (!service.deployments.has(deploymentId)) throw new Refused(404, 'Deployment not found');
    const runs = pageOf(service, deploymentId, request.owner, query);
    const total = service.database.count(deploymentId, request.owner);
    return reply.send({
      data: runs.map(lightRun),
      meta: { total, limit: query.limit, offset: query.offset },
    });
  });
}

function serveDeployments(app: FastifyInstance, service: Service): void {
  route(app, ['GET'], PATHS.deployments, (request, reply) => {
    const query = read(request, 'query', deploymentsQuerySchema);
    // A changed workflow replaces the one of the same name; runs of the earlier one still find it by its id.
    const named = new Map(
      [...service.deployments.values()].map((deployment) => [deployment.name, deployment]),
    );
    const specs = query.isWanted ? [...named.values()] : [];
    return reply.send(specs.map((spec) => shownDeployment(spec, request.owner)));
  });

  route(app, ['GET'], PATHS.deployment, (request, reply) => {
    const { servers } = read(request, 'query', deploymentQuerySchema);
    const spec = describedAt(service, read(request, 'path', deploymentPathSchema), servers);
    if (spec === undefined) throw new Refused(404, 'Deployment not found');
    return reply.send(shownDeployment(spec, request.owner));
  });
}

/** Filters by the shown status, which may differ from the stored one. */
function lightRows(
  service: Service,
  deploymentId: string,
  owner: string,
  query: z.output<typeof lightRunsQuerySchema>,
): readonly ShownRun[] {
  const { status, sinceMs, limit, offset } = query;
  if (status === undefined && sinceMs === 0) return pageOf(service, deploymentId, owner, query);
  const page = pageOf(service, deploymentId, owner, {
    limit: service.database.count(deploymentId, owner),
    offset: 0,
  });
  return page
    .filter((run) => Date.parse(run.created_at) >= sinceMs && (status === undefined || run.status === status))
    .slice(offset, offset + limit);
}

function pageOf(
  service: Service,
  deploymentId: string,
  owner: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): readonly ShownRun[] {
  return service.database.page(deploymentId, owner, limit, offset).map((row) => service.show(row));
}

/** Every deployment has its own workflow. */
function deploymentOf({ deployments }: Service, workflowId: string): string {
  const deploymentId = [...deployments.keys()].find((id) => idsOf(id).workflowId === workflowId);
  if (deploymentId === undefined) throw new Refused(404, 'Workflow not found');
  return deploymentId;
}

/** Keeps only the fields of the schema. */
export const shownBy = <Fields extends z.ZodRawShape>(
  { shape }: z.ZodObject<Fields>,
  run: Readonly<Record<keyof Fields, unknown>>,
): object => Object.fromEntries(Object.keys(shape).map((name) => [name, run[name]]));

/** Inputs and outputs appear only on request. */
const listedRun = (
  { workflow_inputs, outputs, ...light }: ShownRun,
  also: { readonly inputs: boolean; readonly outputs: boolean },
): object => ({ ...light, ...(also.inputs && { workflow_inputs }), ...(also.outputs && { outputs }) });

/** `duration` is a text here, as the real service writes it. */
const lightRun = (run: ShownRun): object =>
  shownBy(lightRunShown, { ...run, duration: run.duration === null ? null : String(run.duration) });
