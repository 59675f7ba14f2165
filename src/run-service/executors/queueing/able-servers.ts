// Decides which servers can execute which task, because each server has its own kind, nodes and models.

import { errorMessage } from '../../../errors/error.ts';
import { plural } from '../../../options/text/printed-numbers.ts';
import { NO_WORK, type RunWork } from '../executor.ts';
import type { AssignedRun } from '../driving/assigned-run.ts';
import { badValue, type Refusal } from '../../../service-client/contract/refusal.ts';
import type { Backend, Graph, NodeClass } from '../backend.ts';
import type { InspectedServer } from '../driving/server-deps.ts';
import { NO_CHOICES, type Choices } from '../workflow/filled-workflow.ts';
import type { RunServer } from '../driving/run-server.ts';
import { unansweredAt } from '../driving/resend-policy.ts';
import { choicesIn, inputsOffered, isGraph, misfitIn, refusalsIn, runsAt, type Task } from '../task.ts';
import { classesOf, type InputType } from '../workflow/workflow.ts';

type Servers = readonly RunServer[];

export const isThere = ({ isInspected, away }: RunServer): boolean => isInspected && away === undefined;

export const mayServe = (server: RunServer, task: Task | undefined, choices = NO_CHOICES): boolean =>
  task !== undefined &&
  isThere(server) &&
  server.installed.has(task.id) &&
  misfitAt(server, task, choices) === undefined;

/** Why the server cannot execute the task now; undefined if it can, or may. */
function misfitAt({ backend, installed }: RunServer, task: Task, choices: Choices): string | undefined {
  const own = isGraph(task) ? undefined : backend.misfit?.(task);
  return own ?? misfitIn(task, choices, installed.get(task.id));
}

/** Why none of these servers can execute the task; undefined if at least one can or may. */
export function misfitsAt(servers: Servers, task: Task, choices: Choices): string | undefined {
  const whys = servers.map(({ name, installed }) => {
    const nodes = installed.get(task.id);
    const why = typeof nodes === 'object' ? misfitIn(task, choices, nodes) : undefined;
    return why === undefined ? undefined : `${name}: ${why}`;
  });
  return whys.length === 0 || whys.includes(undefined) ? undefined : whys.join('; ');
}

/** Like {@link misfitsAt}, but undefined until all servers have been inspected. */
export const hopelessAt: typeof misfitsAt = (servers, task, choices) =>
  servers.every(isThere) ? misfitsAt(servers, task, choices) : undefined;

/** Shows the progress of an unfinished run, or why it waits. `waiting`: how many runs of its task have no place. */
export function workAt(
  servers: Servers,
  { runId, task, waiting }: Pick<WaitingFor, 'task' | 'waiting'> & { readonly runId: string },
): RunWork {
  const server = servers.find(({ runs }) => runs.has(runId));
  const assigned = server?.runs.get(runId);
  if (server === undefined || assigned === undefined)
    return { ...NO_WORK, liveStatus: whyNone(servers, { task, waiting }) };
  return {
    ...assigned.work,
    liveStatus: absenceOf(server) ?? assigned.work.liveStatus ?? faultOf(server) ?? waitOf(assigned, server),
  };
}

const absenceOf = ({ name, away }: RunServer): string | undefined =>
  away && `${name} has not answered since ${new Date(away.sinceMs).toISOString()}: ${away.reason}`;

const faultOf = ({ name, fault }: RunServer): string | undefined => fault && `${name}: ${fault}`;

function waitOf(assigned: AssignedRun, { name, backend }: RunServer): string | null {
  const { phase, mustLook, ahead } = assigned;
  if (phase === 'placed' && mustLook) {
    const untilMs = unansweredAt(backend, [assigned])?.untilMs;
    const bound = untilMs === undefined ? '' : `; known by ${new Date(untilMs).toISOString()} at the latest`;
    return `${name} has not said yet whether it has this run${bound}`;
  }
  if (ahead === undefined) return null;
  return ahead === 0 ? `it is the next one at ${name}` : `it waits at ${name} behind ${plural(ahead, 'run')}`;
}

const WAITS = 'it waits for a free server';

type WaitingFor = { readonly task: Task | undefined; readonly waiting: number };

/** Why no server has taken the run. */
function whyNone(servers: Servers, { task, waiting }: WaitingFor): string | null {
  if (task === undefined) return null;
  if (servers.some((server) => mayServe(server, task)))
    return waiting > 1 ? `it is one of ${plural(waiting, 'run')} that wait for a free server` : WAITS;
  const whyNot = (server: RunServer): string => {
    const misfit = misfitAt(server, task, NO_CHOICES);
    return absenceOf(server) ?? faultOf(server) ?? `${server.name}: ${misfit ?? 'it is asked what it has'}`;
  };
  return servers.map(whyNot).join('; ') || null;
}

/** How many runs of each deployment the servers hold. */
export function runningAt(servers: Servers): ReadonlyMap<string, number> {
  const running = new Map<string, number>();
  for (const { runs } of servers)
    for (const { run } of runs.values())
      running.set(run.deploymentId, (running.get(run.deploymentId) ?? 0) + 1);
  return running;
}

/** The inputs of the task with the choices that the servers offer now; undefined if nothing describes them. */
export const inputsAt = (servers: Servers, task: Task): readonly InputType[] | undefined =>
  inputsOffered(
    task,
    servers.map(({ installed }) => installed.get(task.id)),
  );

/** Why every server would refuse a run with these inputs. */
export function refusalsAt(
  servers: Servers,
  task: Task,
  inputs: Readonly<Record<string, unknown>>,
): readonly Refusal[] {
  const refusals = refusalsIn(task, inputsAt(servers, task), inputs);
  if (refusals.length > 0) return refusals;
  const choices = choicesIn(task, inputs);
  const why = misfitsAt(servers, task, choices);
  if (why === undefined) return [];
  const [[name, value] = ['', task.id]] = Object.entries(choices);
  return [badValue(['body', ...(name === '' ? ['deployment_id'] : ['inputs', name])], value, why)];
}

/** Reads the version, the GPU and the node classes of a server. Returns whether the server answered everything. */
export async function inspect(server: InspectedServer, tasks: readonly Task[]): Promise<boolean> {
  const { version, gpu } = await server.backend.describe();
  server.version = version;
  if (server.gpu === '') server.gpu = gpu;
  for (const task of tasks.filter((each) => runsAt(each, server.backend))) {
    // A server that cannot describe one workflow may still execute the others.
    const nodes = isGraph(task)
      ? await classesAt(server.backend, task.graph).catch((error: unknown) => errorMessage(error))
      : undefined;
    server.installed.set(task.id, nodes);
  }
  return ![...server.installed.values()].some((nodes) => typeof nodes === 'string');
}

/** The classes of a workflow that the server has; undefined if the server does not tell. */
export async function classesAt(
  backend: Backend,
  graph: Graph,
): Promise<ReadonlyMap<string, NodeClass> | undefined> {
  const { nodeClass } = backend;
  if (nodeClass === undefined) return undefined;
  const classes = await Promise.all(
    classesOf(graph).map(async (name) => [name, await nodeClass(name)] as const),
  );
  return new Map(
    classes.flatMap(([name, description]) => (description === undefined ? [] : [[name, description]])),
  );
}

type MayServe = (server: RunServer) => boolean;

/** Why no run can execute at any of these servers until a person changes something; undefined if some run may. */
export function blockedAt(servers: Servers, task: Task | undefined, canServe: MayServe): string | undefined {
  const barredBy = ({ backend }: RunServer): string | undefined =>
    task === undefined || isGraph(task) ? undefined : backend.misfit?.(task);
  const reasons = servers
    .map((server) => ({ server, reason: server.blockedBy ?? barredBy(server) }))
    .filter(({ server, reason }) => reason !== undefined || canServe(server))
    .map(({ reason }) => reason);
  return reasons.includes(undefined) ? undefined : reasons[0];
}

/** Resolves when the trial run at these servers has been tried; undefined if the next run may start now. */
export function trialAt(servers: Servers, canServe: MayServe, trialMs: number): Promise<void> | undefined {
  const isAble = (server: RunServer): boolean =>
    server.away === undefined && (!server.isInspected || canServe(server));
  const trials = servers.filter(isAble).map(({ outbox }) => outbox.trial);
  if (trials.length === 0 || trials.some(({ isOver }) => isOver)) return undefined;
  const next = trials.find(({ isBegun }) => !isBegun);
  next?.begin(trialMs);
  return next === undefined ? Promise.race(trials.map(({ ended }) => ended)) : undefined;
}

/** Why a server cannot be removed. `choices`: for each waiting run, the servers that may take it. */
export function neededFor(server: RunServer, choices: readonly Servers[]): string | undefined {
  const here = server.runs.size + server.leaving.size;
  if (here > 0) return `${plural(here, 'run')} of yours ${here === 1 ? 'is' : 'are'} there`;
  const waiting = choices.filter((servers) => servers.length === 1 && servers[0] === server).length;
  return waiting === 0
    ? undefined
    : `${plural(waiting, 'run')} ${waiting === 1 ? 'waits' : 'wait'} for it alone`;
}
