// A server that executes runs, of any kind: sends its runs, polls them, and notices when the server is away, was
// restarted, or is used by other clients.
//
//      inspected ──no answer, three times──▶ away ──an answer──▶ inspected again: runs that it forgot were lost with its memory

import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { errorMessage } from '../../../errors/error.ts';
import { NO_WORK } from '../executor.ts';
import {
  anotherTry,
  hasBegun,
  isAside,
  shownAgain,
  noteSocketEvent,
  ranMsOf,
  sentOf,
  sentTaskOf,
  timeLimitMs,
  withLine,
  type AssignedRun,
  type RunState,
} from './assigned-run.ts';
import { Blocked, Unreachable, type Backend, type RunEnd, type Seen, type SentTask } from '../backend.ts';
import type { InstalledNodes } from '../workflow/filled-workflow.ts';
import { withWholeNumbers } from '../numbers.ts';
import { afterAbsence, afterLoss, guaranteeFor, isNotedFirst, type LossCounts } from './resend-policy.ts';
import { SeatCount } from '../queueing/seats.ts';
import { ServerSocket, type Reported } from '../comfyui/server-socket.ts';
import type { ServerDeps, InspectedServer, Timing } from './server-deps.ts';
import { Outbox } from './outbox.ts';
import { Rounds } from './rounds.ts';
import { RunEnds } from './run-ends.ts';
import { UsualTimes } from '../queueing/usual-times.ts';

const MAX_FAILURES = 3;
/** How many runs may be set aside for faults of their own. More point to a fault of the server. */
const MAX_ASIDE = 4;

export class RunServer implements InspectedServer {
  readonly name: string;
  /** The address under which the server is stored. */
  readonly url: string;
  readonly backend: Backend;
  gpu: string;
  version = '';
  readonly runs = new Map<string, AssignedRun>();
  /** Runs that ended for the service or were moved, and may still be on the server. */
  readonly leaving = new Map<string, SentTask | undefined>();
  /** The workflow whose models are loaded, and since when the server executes it. */
  serves: { readonly deploymentId: string; readonly sinceMs: number } | undefined;
  idleSinceMs = 0;
  readonly installed = new Map<string, InstalledNodes>();
  away: { readonly sinceMs: number; readonly began: number; readonly reason: string } | undefined;
  /** Why the last round failed; undefined if it did not. */
  fault: string | undefined;
  isInspected = false;
  readonly usual = new UsualTimes();
  readonly seats: SeatCount;
  readonly socket = new ServerSocket();
  readonly outbox: Outbox;
  readonly ends: RunEnds;
  readonly #deps: ServerDeps;
  readonly #timing: Timing;
  readonly #rounds = new Rounds();
  #failures = 0;
  #refusal: string | undefined;
  #inspection = 0;
  #isKnown = false;
  readonly #unreadSince = new Map<string, number>();

  constructor(facts: Pick<RunServer, 'name' | 'url' | 'gpu' | 'backend'>, deps: ServerDeps, timing: Timing) {
    [this.name, this.url, this.gpu] = [facts.name, facts.url, facts.gpu];
    this.backend = withWholeNumbers(facts.backend);
    this.seats = new SeatCount(() => this.backend.seats, this.usual);
    [this.#deps, this.#timing] = [deps, timing];
    this.ends = new RunEnds(this, deps, timing);
    this.outbox = new Outbox(this, deps, timing);
  }

  start(): void {
    this.socket.listen(this.backend, {
      reported: (event) => this.#reported(event),
      opened: () => this.wake(),
      lost: () => this.#lostSight(),
    });
    this.#rounds.start(
      () => this.#round(),
      () => this.#restMs(),
    );
  }

  async close(): Promise<void> {
    this.#rounds.close();
    this.socket.close();
    // A request in flight may buy a run, so its answer is awaited and stored.
    await Promise.race([this.outbox.sent(), wait(this.#timing.closeMs, undefined, { ref: false })]);
    await nextTurn();
    await this.backend.close();
    await Promise.all([this.#rounds.ended(), this.outbox.ended()]);
  }

  get load(): number {
    const here = [...this.runs.values()].filter(({ phase }) => phase !== 'storing');
    return this.leaving.size + here.length - Math.min(here.filter(isAside).length, MAX_ASIDE);
  }

  /** How many runs the server may hold. */
  get places(): number {
    return this.outbox.isHeld ? 1 : this.seats.count;
  }

  isClosed = (): boolean => this.#rounds.isClosed();

  /** When the current run is expected to end. */
  get freeAtMs(): number {
    const started = [...this.runs.values()]
      .map(({ state }) => state.startedMs)
      .find((ms) => ms !== undefined);
    return (started ?? this.#deps.now()) + this.usual.runMs;
  }

  /** Forces a new inspection, because the server may have changed or a workflow was added. */
  inspectAgain(): void {
    this.#inspection += 1;
    this.isInspected = false;
    this.wake();
  }

  /** Records that runs were seen up to this moment, and inspects the server again. */
  #lostSight(): void {
    for (const run of this.runs.values()) if (run.runningSince !== undefined) run.seenMs = this.#deps.now();
    this.inspectAgain();
  }

  wake(): void {
    this.#rounds.wake();
  }

  take(assigned: AssignedRun): void {
    const { run, state } = assigned;
    this.runs.set(run.id, assigned);
    // The request is noted before it is sent, so a missing note proves that nothing was sent.
    if (isNotedFirst(this.backend.guarantee) && state.askedMs === undefined) assigned.mustLook = false;
    if (this.serves?.deploymentId !== run.deploymentId)
      this.serves = { deploymentId: run.deploymentId, sinceMs: this.#deps.now() };
    if (assigned.phase === 'storing') this.ends.store(assigned);
    // After the transaction in which the run got its place.
    setImmediate(() => this.wake());
  }

  cancel(runId: string): void {
    const assigned = this.runs.get(runId);
    this.runs.delete(runId);
    if (assigned !== undefined && assigned.phase !== 'storing') this.leaving.set(runId, sentTaskOf(assigned));
    this.wake();
  }

  #restMs(): number {
    const { pollMs, pollWithSocketMs, pollOnlyMs } = this.#timing;
    if (this.backend.isPolled === true) return pollOnlyMs;
    if (this.away !== undefined || [...this.runs.values()].some(({ phase }) => phase === 'placed'))
      return pollMs;
    return this.socket.isOpen || this.load === 0 ? pollWithSocketMs : pollMs;
  }

  /** Why no run can execute until a person changes something; undefined if some run may. */
  get blockedBy(): string | undefined {
    return this.#refusal ?? this.outbox.blockedBy;
  }

  async #round(): Promise<void> {
    let isSeen = false;
    try {
      await this.#poll();
      isSeen = true;
      await this.#inspect();
      this.outbox.start();
      if (this.outbox.trouble !== undefined) throw this.outbox.trouble;
      this.#failures = 0;
      [this.away, this.fault, this.#refusal] = [undefined, undefined, undefined];
      this.#deps.free();
    } catch (error) {
      if (this.isClosed()) return;
      // A server that did not answer has told nothing, and a fault of ours must not stop the other servers.
      this.#failures += 1;
      const reason = errorMessage(error);
      this.fault = reason;
      this.#refusal = error instanceof Blocked ? `${this.name} refuses everything: ${reason}` : undefined;
      if (!(error instanceof Unreachable)) this.#deps.say('server-fault', { server: this.name, reason });
      if (this.#failures >= MAX_FAILURES) this.#noteAbsence(reason, isSeen);
    }
  }

  /** Inspects the server; whatever it could not tell is asked again in the next round. */
  async #inspect(): Promise<void> {
    const inspection = this.#inspection;
    if (this.isInspected && this.#isKnown) return;
    this.#isKnown = await this.#deps.inspect(this);
    this.isInspected = inspection === this.#inspection;
    if (!this.isInspected) this.wake();
  }

  /** `isSeen`: the server only refuses new runs, and the runs that it holds are still polled. */
  #noteAbsence(reason: string, isSeen: boolean): void {
    this.away ??= { sinceMs: this.#deps.now(), began: performance.now(), reason };
    this.isInspected = false;
    const { sinceMs, began } = this.away;
    if (performance.now() - began < this.#timing.moveAfterMs) return;
    const why = `${this.name} has not answered since ${new Date(sinceMs).toISOString()}: ${reason}`;
    for (const [id, assigned] of this.runs) {
      if (isSeen && assigned.phase !== 'placed') continue;
      const next = afterAbsence(assigned, guaranteeFor(this.backend, assigned));
      if (next.kind === 'failed') this.ends.failed(assigned, `${why}; ${next.reason}`);
      else if (next.kind === 'stay' || !this.#deps.move(assigned, why)) continue;
      this.runs.delete(id);
      // When the server is back, the run is deleted or interrupted there, unless it has ended.
      this.leaving.set(id, sentTaskOf(assigned));
    }
  }

  /** Notes that the server holds the run. */
  accepted(assigned: AssignedRun, connection: number | undefined, ref: string | undefined): void {
    // A run that was cancelled while it was sent is in `leaving`.
    if (this.runs.get(assigned.run.id) !== assigned) return;
    if (!assigned.mustLook || assigned.unclear === 0)
      this.usual.delivered(this.#deps.now() - (assigned.state.placedMs ?? 0));
    assigned.phase = 'sent';
    assigned.acceptedOn =
      (assigned.state.tries ?? 1) === 1 && assigned.unclear === 0 ? connection : undefined;
    [assigned.mustLook, assigned.connection] = [false, connection];
    this.keep(assigned, { ...shownAgain(assigned.state), isSent: true, ...(ref !== undefined && { ref }) });
    this.seats.took(this.load);
    this.wake();
  }

  keep(assigned: AssignedRun, state: RunState): void {
    assigned.state = state;
    this.#deps.commitSoon(() => {
      if (this.runs.get(assigned.run.id) === assigned) this.#deps.keep(assigned);
    });
  }

  /** How long nothing has been known of the run, including the time before a restart of the service. */
  unknownForMs(assigned: AssignedRun): number {
    const now = this.#deps.now();
    const { unknownSinceMs = now } = assigned.state;
    if (assigned.state.unknownSinceMs === undefined)
      this.keep(assigned, { ...assigned.state, unknownSinceMs });
    return now - unknownSinceMs;
  }

  async #poll(): Promise<void> {
    const sent = [...this.runs.values()].filter(({ phase }) => phase === 'sent');
    const connection = this.socket.connection();
    const sightings = await this.backend.poll([
      ...sent.map((assigned) => sentOf(assigned.run.id, assigned)),
      ...[...this.leaving].map(([id, task]) => sentOf(id, undefined, task)),
    ]);
    for (const assigned of sent) {
      const at = sightings.get(assigned.run.id);
      if (at === undefined || this.runs.get(assigned.run.id) !== assigned || assigned.phase !== 'sent')
        continue;
      if (connection !== undefined && (at.at === 'waiting' || at.at === 'running'))
        assigned.connection = connection;
      await this.#saw(assigned, at);
    }
    for (const [id, at] of sightings) await this.#clear(id, at);
  }

  /** Removes a run that is over for the service, even if an earlier process of the service sent it. */
  async #clear(id: string, seen: Seen): Promise<void> {
    if (this.runs.has(id) || !(this.leaving.has(id) || this.#deps.isOver(id))) return;
    if (seen.at === 'waiting' || seen.at === 'running') {
      this.leaving.set(id, this.leaving.get(id));
      return this.backend.cancel(id, seen.at);
    }
    // The run may still be there, or its request may be in flight.
    if ((seen.at === 'unread' && !this.#staysUnread(id)) || this.outbox.posting === id) return;
    this.leaving.delete(id);
    this.#unreadSince.delete(id);
    this.backend.forget?.(id);
    this.freed();
  }

  /** Notes when the run was first unread; true once that is long ago: a run that the server never reveals must not keep a seat forever. */
  #staysUnread(id: string): boolean {
    const since = this.#unreadSince.get(id) ?? performance.now();
    this.#unreadSince.set(id, since);
    return performance.now() - since >= this.#timing.moveAfterMs;
  }

  freed(): void {
    if (this.load === 0) this.idleSinceMs = this.#deps.now();
    this.#deps.free();
  }

  #saw(assigned: AssignedRun, seen: Seen): void | Promise<void> {
    if (seen.at !== 'unread' && assigned.state.unknownSinceMs !== undefined)
      this.keep(assigned, shownAgain(assigned.state));
    assigned.ahead = seen.at === 'waiting' ? seen.ahead : undefined;
    if (seen.at === 'running') return this.#runs(assigned);
    if (seen.at === 'ended') return this.#endedThere(assigned, seen.end);
    const { startedMs = this.#deps.now() } = assigned.state;
    const { made, hasSucceeded } = assigned.reported;
    if (seen.at !== 'waiting' && hasSucceeded)
      return this.ends.made(assigned, made, { ranMs: this.#deps.now() - startedMs });
    if (seen.at === 'absent') return this.#loseRun(assigned, seen.hasBegun);
    if (seen.at === 'unread') return this.#noteUnread(assigned, seen.reason);
  }

  #runs(assigned: AssignedRun): void {
    const now = this.#deps.now();
    const { startedMs = now } = assigned.state;
    assigned.seenMs = now;
    assigned.runningSince ??= performance.now() - Math.max(0, now - startedMs);
    if (assigned.state.startedMs === undefined) {
      this.#deps.commitSoon(() => {
        if (this.runs.get(assigned.run.id) !== assigned || assigned.state.startedMs !== undefined) return;
        assigned.state = { ...assigned.state, startedMs: now };
        this.#deps.keep(assigned);
        this.#deps.reached(assigned, { status: 'started', atMs: now, work: NO_WORK });
        this.#deps.reached(assigned, { status: 'running', atMs: now, work: assigned.work });
      });
    } else if (performance.now() - assigned.runningSince > timeLimitMs(assigned)) {
      this.leaving.set(assigned.run.id, sentTaskOf(assigned));
      this.ends.timedOut(assigned);
    }
  }

  #endedThere(assigned: AssignedRun, end: RunEnd): void {
    const reported = { ranMs: end.ranMs, costNano: end.costNano };
    if (end.status === 'success') return this.ends.made(assigned, end.made, reported);
    if (end.status === 'failed') return this.ends.failed(assigned, end.reason, reported);
    if (end.status === 'timeout') return this.ends.timedOut(assigned, reported);
    if (end.status === 'postponed') return this.#postpone(assigned, end);
    return this.ends.cancelled(assigned, `another client interrupted it on ${this.name}`, reported);
  }

  /** The run did nothing, so no death and no execution count. */
  #postpone(assigned: AssignedRun, { reason, afterMs }: Extract<RunEnd, { status: 'postponed' }>): void {
    assigned.begin();
    const state = withLine(anotherTry(assigned.state), 'info', `${this.name}: ${reason}`, this.#deps.now());
    [assigned.mustLook, assigned.unclear] = [false, 0];
    assigned.notBefore = performance.now() + afterMs;
    assigned.work = { ...NO_WORK, liveStatus: `${this.name}: ${reason}` };
    this.keep(assigned, state);
  }

  async #loseRun(assigned: AssignedRun, isBegun?: true): Promise<void> {
    // A restart of the server would have closed the socket.
    const neverStopped = this.socket.isOpen && assigned.connection === this.socket.connection();
    // A socket that does not answer is closed now, and the next poll decides.
    if (neverStopped && !(await this.socket.isAlive())) return;
    if (this.runs.get(assigned.run.id) !== assigned) return;
    const facts = { name: this.name, guarantee: guaranteeFor(this.backend, assigned), neverStopped };
    const loss = afterLoss(assigned, { ...facts, hasBegun: isBegun });
    if (loss.kind === 'removed') this.ends.cancelled(assigned, `another client removed it from ${this.name}`);
    if (loss.kind === 'end-unknown') this.ends.unknown(assigned, loss.reason);
    if (loss.kind === 'failed') this.ends.failed(assigned, loss.reason);
    if (loss.kind === 'again') this.#sendAgain(assigned, loss.reason, loss.counts, isBegun);
  }

  /** The server answers, but not about this run, and continues with other runs. */
  #noteUnread(assigned: AssignedRun, why: string): void {
    const reason = `does not report the state of this run: ${why}`;
    assigned.work = { ...assigned.work, liveStatus: `${this.name} ${reason}` };
    if (this.unknownForMs(assigned) < this.#timing.moveAfterMs) return;
    if (guaranteeFor(this.backend, assigned).gone === 'unknown') return this.ends.unknown(assigned, reason);
    this.ends.failed(assigned, `${this.name} ${reason}`);
  }

  #sendAgain(assigned: AssignedRun, reason: string, counts: LossCounts, isBegun = false): void {
    const [wasExecuted, ranMs] = [isBegun || hasBegun(assigned), ranMsOf(assigned)];
    assigned.begin();
    const state = { ...anotherTry(assigned.state), ...counts };
    // The next request has no note yet.
    if (isNotedFirst(this.backend.guarantee)) assigned.mustLook = false;
    assigned.state = withLine(state, 'info', `${this.name} ${reason}`, this.#deps.now());
    this.#deps.commit(() => (wasExecuted ? this.#deps.lost(assigned, ranMs) : this.#deps.keep(assigned)));
    this.wake();
  }

  /** The run was never created, and its key is used up. */
  sendAnew(assigned: AssignedRun, reason: string): void {
    if (this.runs.get(assigned.run.id) !== assigned) return;
    const { deaths, losses } = (assigned.state = shownAgain(assigned.state));
    [assigned.mustLook, assigned.unclear, assigned.work] = [false, 0, NO_WORK];
    this.#sendAgain(assigned, reason, { deaths, ...(losses !== undefined && { losses }) });
  }

  #reported(event: Reported): void {
    if (event.kind === 'changed') return this.wake();
    const assigned = this.runs.get(event.id);
    if (assigned === undefined) return;
    const isNews = noteSocketEvent(assigned, event, this.#deps.now());
    if (assigned.state.startedMs === undefined) this.wake();
    else if (isNews && assigned.run.intermediate === 1)
      this.#deps.commit(() => this.#deps.progress(assigned));
  }
}
