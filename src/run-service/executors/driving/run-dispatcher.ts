// Dispatches runs to servers: the executor that owns the queue and decides which server gets the next run. The
// server does the rest.
//
//      accept ─▶ queue of its deployment ──a server is free──▶ placed (stored first) ─▶ the server
//                       ▲                                                                  │
//                       └────────────── moved: the server did not answer for long ─────────┘

import { parseExactly } from '../../../host/formats/exact-json.ts';
import { errorMessage } from '../../../errors/error.ts';
import type { Refusal } from '../../../service-client/contract/refusal.ts';
import type { LiveRow, RunRow } from '../../database.ts';
import {
  NO_WORK,
  type Census,
  type Destination,
  type Executor,
  type LiveRun,
  type Output,
} from '../executor.ts';
import {
  AssignedRun,
  keptState,
  movedState,
  newState,
  NOWHERE,
  outputsIn,
  ranMsOf,
  sentTaskOf,
  stateIn,
  withLine,
  type RunState,
} from './assigned-run.ts';
import { afterAbsence } from './resend-policy.ts';
import type { ExecutorDeps } from './executor-deps.ts';
import { runEvents } from './executor-events.ts';
import type { ServerDeps } from './server-deps.ts';
import { RunServer } from './run-server.ts';
import { betterPlaced, takenBack } from '../queueing/returned-run.ts';
import { dayOf } from './kept-files.ts';
import {
  inputsAt,
  isThere,
  mayServe,
  inspect,
  hopelessAt,
  blockedAt,
  neededFor,
  trialAt,
  refusalsAt,
  runningAt,
  workAt,
} from '../queueing/able-servers.ts';
import { NO_CHOICES, type Choices } from '../workflow/filled-workflow.ts';
import { RunQueues, type RunQueue } from '../queueing/run-queues.ts';
import { choicesIn, runsAt, workOf, type Task } from '../task.ts';
import type { InputType } from '../workflow/workflow.ts';

/** After how many idle polls a server takes a run from another one. */
const IDLES_POLLS = 2;
/** How long a server keeps its models although others wait. */
const STAYS_MS = 60_000;

export class RunDispatcher implements Executor {
  readonly #world: ExecutorDeps;
  readonly #servers = new Map<string, RunServer>();
  readonly #tasks = new Map<string, Task>();
  readonly #queues = new RunQueues((run) => this.#choicesOf(run));
  /** The states of runs from before they were moved. */
  readonly #moved = new Map<number, RunState>();
  readonly #deps: ServerDeps;
  #isServing = false;
  #isEvening = false;

  constructor(world: ExecutorDeps) {
    this.#world = world;
    this.#deps = this.#depsFor(world);
  }

  get servers(): readonly RunServer[] {
    return [...this.#servers.values()];
  }

  addServer(
    facts: Pick<RunServer, 'name' | 'url' | 'backend'> & { readonly gpu?: string | undefined },
  ): void {
    const server = new RunServer({ ...facts, gpu: facts.gpu ?? '' }, this.#deps, this.#world.timing);
    this.#servers.set(server.name, server);
    server.start();
  }

  /** Removes a server. If runs are there or wait for it alone, it stays, and the reason is returned. */
  async removeServer(server: RunServer): Promise<string | undefined> {
    const waiting = this.#queues.ahead(Number.MAX_SAFE_INTEGER);
    const needed = neededFor(
      server,
      waiting.map((run) => this.#serversOf(run)),
    );
    if (needed !== undefined) return needed;
    this.#servers.delete(server.name);
    await server.close();
    return undefined;
  }

  /** The servers of the task's kind that a run with this list may use; all of them if the list is empty. */
  among(named: string, task: Task | undefined): readonly RunServer[] {
    const servers = this.servers.filter(({ backend }) => task === undefined || runsAt(task, backend));
    if (named === '') return servers;
    const urls = new Set(named.split(' ').map(this.#world.keptUnder));
    return servers.filter(({ url }) => urls.has(url));
  }

  #serversOf = ({ deploymentId, servers }: Destination): readonly RunServer[] =>
    this.among(servers, this.#tasks.get(deploymentId));

  task(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  get tasks(): Iterable<Task> {
    return this.#tasks.values();
  }

  addTask(task: Task): void {
    this.#tasks.set(task.id, task);
    // Servers are inspected again, because the new task may not fit them.
    for (const server of this.servers) server.inspectAgain();
  }

  refusals(to: Destination, inputs: Readonly<Record<string, unknown>>): readonly Refusal[] {
    const task = this.#tasks.get(to.deploymentId);
    return task === undefined ? [] : refusalsAt(this.#serversOf(to), task, inputs);
  }

  /** The inputs with the options that these servers offer now. */
  inputsOf(task: Task, servers = this.among('', task)): readonly InputType[] | undefined {
    return inputsAt(servers, task);
  }

  blockedBy(to: Destination): string | undefined {
    const task = this.#tasks.get(to.deploymentId);
    return blockedAt(this.#serversOf(to), task, (server) => mayServe(server, task));
  }

  trial(to: Destination): Promise<void> | undefined {
    const { trialMs } = this.#world.timing;
    return trialAt(this.#serversOf(to), (server) => this.#mayServe(server, to.deploymentId), trialMs);
  }

  accept(run: LiveRun): void {
    this.#queues.join(run);
    this.#serve();
  }

  resume(rows: readonly LiveRow[]): void {
    for (const run of rows) {
      const { state: text, status } = run;
      const task = this.#tasks.get(run.deploymentId);
      // The end of this run is unknown for good.
      if (status === 'timeout' || task === undefined) continue;
      const state = stateIn(text);
      const assigned = state && new AssignedRun(run, task, state, false);
      for (const name of state?.left ?? [])
        this.#servers.get(name)?.leaving.set(run.id, sentTaskOf({ run, task }));
      if (state !== undefined && state.server === NOWHERE) this.#moved.set(run.number, state);
      if (state === undefined || assigned === undefined || state.server === NOWHERE) this.#queues.join(run);
      else this.#continue(assigned);
    }
    this.#serve();
  }

  #continue(assigned: AssignedRun): void {
    const { server: name } = assigned.state;
    const server = this.#servers.get(name);
    if (server !== undefined) return server.take(assigned);
    const why = `${name} is no server any more`;
    const next = afterAbsence(assigned, { gone: assigned.task.isPaid ? 'unknown' : 'again' });
    if (next.kind === 'move') return this.#takeBack(assigned, why);
    const text = `${why}, and this run calls a paid service`;
    assigned.state = withLine(assigned.state, 'error', text, this.#world.now());
    this.#deps.commit(() => this.#deps.endUnknown(assigned));
  }

  cancel(run: LiveRun): void {
    if (this.#queues.leave(run)) return void this.#moved.delete(run.number);
    this.servers.find(({ runs }) => runs.has(run.id))?.cancel(run.id);
  }

  view(row: RunRow): typeof NO_WORK {
    if (row.endedMs !== null)
      return { liveStatus: null, progress: row.status === 'success' ? 1 : 0, sinceMs: row.endedMs };
    if (row.status === 'timeout') return NO_WORK;
    const { id: runId, deploymentId } = row;
    const waiting = this.#queues.sizeOf(deploymentId);
    return workAt(this.#serversOf(row), { runId, task: this.#tasks.get(deploymentId), waiting });
  }

  log = ({ state }: RunRow) => stateIn(state)?.lines ?? [];

  costNano({ deploymentId, state }: Pick<RunRow, 'deploymentId' | 'state'>): number | undefined {
    return this.#tasks.get(deploymentId)?.kind === 'model' ? stateIn(state)?.costNano : undefined;
  }

  outputs({ deploymentId, state }: Pick<RunRow, 'deploymentId' | 'state'>): readonly Output[] {
    return outputsIn(state, this.#tasks.get(deploymentId));
  }

  file({ state }: RunRow, filename: string) {
    const files = (stateIn(state)?.outputs ?? []).flatMap((output) => output.files);
    const file = files.find((candidate) => candidate.filename === filename);
    return file === undefined ? undefined : this.#world.files.open(file);
  }

  census(): ReadonlyMap<string, Census> {
    const running = runningAt(this.servers);
    const of = (id: string): Census => {
      const idle = this.among('', this.#tasks.get(id)).filter(
        (server) => server.load === 0 && this.#mayServe(server, id),
      ).length;
      return { waiting: this.#queues.sizeOf(id), busy: running.get(id) ?? 0, idle };
    };
    return new Map([...this.#tasks.keys()].map((id) => [id, of(id)]));
  }

  ahead = (most: number): readonly number[] => this.#queues.ahead(most).map(({ number }) => number);

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()));
  }

  #serve(): void {
    // Placing a run calls this method again.
    if (this.#isServing) return;
    this.#isServing = true;
    try {
      for (let isPlaced = true; isPlaced;) {
        const queues = this.#queues.inOrder(runningAt(this.servers));
        isPlaced = queues.some((queue) => this.#place(queue));
      }
      this.#endHopeless();
      this.#evenOut().catch((error: unknown) =>
        this.#world.say('server-fault', { reason: errorMessage(error) }),
      );
    } finally {
      this.#isServing = false;
    }
  }

  #place({ owner, deploymentId, runs }: RunQueue): boolean {
    const task = this.#tasks.get(deploymentId);
    const hasRoom = this.servers.some((candidate) => isThere(candidate) && candidate.load < candidate.places);
    if (task === undefined || !hasRoom) return false;
    const next = runs.next((choices, run) => this.#serverFor(run, choices));
    if (next === undefined) return false;
    this.#queues.served(owner);
    const { run, server } = next;
    const moved = this.#moved.get(run.number) ?? newState(server.name);
    this.#moved.delete(run.number);
    const { now, commit, events } = this.#world;
    const left = (moved.left ?? []).filter((name) => name !== server.name);
    const placed = { ...moved, left, server: server.name, placedMs: now() };
    const state = withLine(placed, 'info', `goes to ${server.name}`, now());
    commit(() => events.took({ ...run, gpu: server.gpu }, server.name, keptState(state), now(), true));
    server.take(new AssignedRun({ ...run, gpu: server.gpu }, task, state, true));
    return true;
  }

  /** An idle server that has the models loaded, else the longest idle one, else the one that is expected to be free first. */
  #serverFor(run: LiveRun, choices: Choices): RunServer | undefined {
    const { deploymentId } = run;
    const able = this.#ableFor(run, choices, this.#moved.get(run.number)?.notPutAt);
    const idle = able.filter((server) => server.load === 0 && !this.#mustStay(server, deploymentId));
    const warm = idle.find(({ serves }) => serves?.deploymentId === deploymentId);
    if (warm !== undefined) return warm;
    if (idle.length > 0) return idle.toSorted((a, b) => a.idleSinceMs - b.idleSinceMs)[0];
    // A server that is being inspected may be idle.
    if (this.#serversOf(run).some(({ isInspected, away }) => !isInspected && away === undefined))
      return undefined;
    const next = able.filter(
      (server) => server.load < server.places && !this.#mustStay(server, deploymentId),
    );
    return next.toSorted((a, b) => a.freeAtMs - b.freeAtMs)[0];
  }

  /** Servers that could not take the run's files come into question only if there is no other. */
  #ableFor(run: LiveRun, choices: Choices, notPutAt: readonly string[] = []) {
    // A server that the run left must let go of it first.
    const able = this.#serversOf(run).filter(
      (server) => !server.leaving.has(run.id) && this.#mayServe(server, run.deploymentId, choices),
    );
    const fresh = able.filter(({ name }) => !notPutAt.includes(name));
    return fresh.length > 0 ? fresh : able;
  }

  #mayServe = (server: RunServer, deploymentId: string, choices?: Choices): boolean =>
    mayServe(server, this.#tasks.get(deploymentId), choices);

  /** Runs that no server can execute any more end instead of waiting forever. */
  #endHopeless(): void {
    for (const { deploymentId, runs } of this.#queues.waiting) {
      const task = this.#tasks.get(deploymentId);
      if (task === undefined) continue;
      const why = (choices: Choices, run: LiveRun): string | undefined =>
        hopelessAt(this.#serversOf(run), task, choices);
      for (const { run, reason } of runs.removed(why)) this.#endUnplaced(run, `failed validation: ${reason}`);
    }
  }

  /** An idle server takes a run from the queue of another server, if the run certainly has not begun there. */
  async #evenOut(): Promise<void> {
    const { now, timing } = this.#world;
    const better = betterPlaced(
      this.servers,
      now(),
      timing.pollMs * IDLES_POLLS,
      (idle, waiting) =>
        this.#serversOf(waiting.run).includes(idle) &&
        mayServe(idle, waiting.task, this.#choicesOf(waiting.run)),
    );
    if (better === undefined || this.#isEvening) return;
    const { idle, holder, assigned } = better;
    this.#isEvening = true;
    const isGone = await takenBack(assigned, holder).finally(() => (this.#isEvening = false));
    if (isGone) this.#takeBack(assigned, `${idle.name} idles`, true);
    this.#serve();
  }

  #endUnplaced(run: LiveRun, reason: string): void {
    const { now, commit, events } = this.#world;
    const state = withLine(this.#moved.get(run.number) ?? newState(NOWHERE), 'error', reason, now());
    this.#moved.delete(run.number);
    commit(() => {
      events.keep(run, keptState(state));
      events.ended(run, { status: 'failed', atMs: now(), work: NO_WORK });
    });
  }

  #choicesOf({ id, deploymentId }: LiveRun): Choices {
    const task = this.#tasks.get(deploymentId);
    return task === undefined ? NO_CHOICES : choicesIn(task, this.#inputsOf(id));
  }

  #inputsOf = (runId: string): Readonly<Record<string, unknown>> =>
    parseExactly(this.#world.inputsOf(runId)) as Readonly<Record<string, unknown>>;

  /** The server keeps the models of another task, whose runs wait and which it has not served for long. */
  #mustStay({ serves }: RunServer, deploymentId: string): boolean {
    if (serves === undefined || serves.deploymentId === deploymentId) return false;
    return this.#queues.sizeOf(serves.deploymentId) > 0 && this.#world.now() - serves.sinceMs < STAYS_MS;
  }

  /** Moves the run back to the queue. Returns false if no server outside of `servers` may take it. */
  #leaves(assigned: AssignedRun, why: string, servers: readonly string[], isGone: boolean): boolean {
    const { run } = assigned;
    const able = this.#ableFor(run, this.#choicesOf(run), servers);
    if (!able.some(({ name }) => !servers.includes(name))) return false;
    this.#takeBack(assigned, why, isGone);
    setImmediate(() => this.#serve());
    return true;
  }

  /** The run waits for another server. */
  #takeBack(assigned: AssignedRun, why: string, isGone = false): void {
    const { run, state: before } = assigned;
    const { now, commit, events } = this.#world;
    const text = `${why}; the run goes to another server`;
    const state = withLine(movedState(assigned, isGone), 'info', text, now());
    this.#moved.set(run.number, state);
    commit(() => {
      events.lost(run, isGone ? 0 : ranMsOf(assigned), true, !isGone && (before.isSent || assigned.mustLook));
      events.keep(run, keptState(state));
    });
    this.#queues.join(run);
  }

  #depsFor({ now, commit, commitSoon, events, files, say, isOver, putFiles }: ExecutorDeps): ServerDeps {
    return {
      now,
      commit,
      commitSoon,
      say,
      ...runEvents(events, now),
      put: ({ run, task }, backend) => putFiles(task, this.#inputsOf(run.id), backend),
      workOf: ({ run, task, state: { tries = 1 } }, put) => {
        const webhookUrl = this.#world.webhookUrl?.(task, run.id, tries);
        return workOf(task, this.#inputsOf(run.id), { id: run.id, day: dayOf(now()), webhookUrl }, put);
      },
      store: ({ run }, made, backend) => files.store(run.id, dayOf(now()), made, backend),
      inspect: (server) => inspect(server, [...this.#tasks.values()]),
      free: () => this.#serve(),
      handBack: (assigned, why) => this.#leaves(assigned, why, assigned.state.notPutAt ?? [], true),
      move: (assigned, why) => this.#leaves(assigned, why, [assigned.state.server], false),
      isOver,
    };
  }
}
