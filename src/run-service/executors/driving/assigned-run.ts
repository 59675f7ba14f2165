// A run that is assigned to a server, from the moment before it is sent.
//
//      placed ──sent──▶ sent ──ended──▶ storing ──files are kept──▶ (done)
//        ▲                │
//        └── forgotten ───┘    the server was restarted; the log says what it executed before
//
// `state` is stored with the run before anything is sent, so that a restarted service looks for the run
// before it sends.

import { shortened, terminalLine } from '../../../errors/outside-text.ts';
import { withoutSecrets } from '../../../errors/redact.ts';
import { exactText, parseExactly } from '../../../host/formats/exact-json.ts';
import type { LogLine } from '../../../service-client/contract/run.ts';
import { NO_WORK, type LiveRun, type Output } from '../executor.ts';
import type { SocketEvent, MadeOutput, PutFile, Sent, SentTask } from '../backend.ts';
import type { Price } from '../vendor-price.ts';
import { isGraph, nodeIn, type Task } from '../task.ts';

export type StoredFile = {
  readonly filename: string;
  /** Relative to the folder of files. */
  readonly path: string;
  readonly type: string;
  readonly bytes: number;
};
export type StoredOutput = {
  readonly node: string;
  readonly key: string;
  readonly files: readonly StoredFile[];
  readonly texts: readonly string[];
};

export type RunState = {
  readonly server: string;
  readonly isSent: boolean;
  /** How often a server stopped while it executed the run. */
  readonly deaths: number;
  /** How often a server was lost with the run, whether or not it executed. */
  readonly losses?: number;
  readonly placedMs?: number;
  /** When the run was first sent in this try. */
  readonly askedMs?: number;
  /** The account that was asked, as the backend stands for it. */
  readonly account?: string;
  /** The price of the model when it was asked. */
  readonly price?: Price;
  /** The number of the current try, for servers that want a new key for each try. */
  readonly tries?: number;
  /** The server's id of the run. */
  readonly ref?: string;
  /** Servers that did not answer and may still hold the run. */
  readonly left?: readonly string[];
  readonly startedMs?: number;
  /** Since when the server has not told whether it holds the run or how the run is doing. */
  readonly unknownSinceMs?: number;
  /** The name of the server, for each time that the run's files could not be put on one. */
  readonly notPutAt?: readonly string[];
  /** The outputs of the ended run, until its files are kept. */
  readonly made?: {
    readonly outputs: readonly MadeOutput[];
    readonly ranMs?: number;
    readonly costNano?: number;
    readonly atMs: number;
  };
  /** The cost of the ended run in nano-dollars, if that is known. */
  readonly costNano?: number;
  readonly outputs?: readonly StoredOutput[];
  readonly lines: readonly LogLine[];
};

export class AssignedRun {
  readonly run: LiveRun;
  readonly task: Task;
  state: RunState;
  /** `returning`: the run is being taken out of its server's queue. */
  phase: 'placed' | 'sent' | 'returning' | 'storing';
  /** The server may hold the run already, so the run is looked for before it is sent. */
  mustLook: boolean;
  // The next times are read from the monotonic clock.
  /** Since when the server has not shown the run. */
  absentSince: number | undefined;
  /** How many answers of this try left open whether the server accepted the run. */
  unclear = 0;
  /** The run is sent after this time. */
  notBefore = 0;
  /** The server's names for the run's input files, once they are uploaded. */
  files: ReadonlyMap<string, PutFile> | undefined;
  /** How many runs are ahead of this one at its server; undefined if unknown. */
  ahead: number | undefined;
  runningSince: number | undefined;
  /** When the run was last seen to execute, by the service's clock. */
  seenMs: number | undefined;
  /** The last socket connection during which the server held the run; undefined if unknown. */
  connection: number | undefined;
  /** The connection during which the server accepted the only request for the run; undefined if uncertain. */
  acceptedOn: number | undefined;
  /** The server was asked to remove the run from its queue, with or without success. */
  withdrawalAsked = false;
  work = NO_WORK;
  /** Outputs that the socket reported, and whether it reported a success. */
  reported = nothingReported();

  constructor(run: LiveRun, task: Task, state: RunState, isNew: boolean) {
    [this.run, this.task, this.state, this.mustLook] = [run, task, state, !isNew];
    this.phase = state.made !== undefined ? 'storing' : state.isSent ? 'sent' : 'placed';
  }

  /** Prepares the run to be sent again; nothing is known of its progress. */
  begin(): void {
    [this.phase, this.work, this.reported] = ['placed', NO_WORK, nothingReported()];
    [this.runningSince, this.seenMs, this.ahead] = [undefined, undefined, undefined];
  }
}

export const keptState = (state: RunState): string => exactText(state);
export const stateIn = (text: string | null): RunState | undefined =>
  text === null ? undefined : (parseExactly(text) as RunState);

export const outputsIn = (state: string | null, task: Task | undefined): readonly Output[] =>
  (stateIn(state)?.outputs ?? []).map(({ node, key, files, texts }) => {
    const { class: nodeClass, title } = nodeIn(task, node);
    return {
      node,
      nodeClass,
      ...(title !== undefined && { nodeTitle: title }),
      key,
      files: files.map(({ filename }) => ({ filename, type: 'output' })),
      texts,
    };
  });

export const newState = (server: string, lines: readonly LogLine[] = []): RunState => ({
  server,
  isSent: false,
  deaths: 0,
  lines,
});

/** Whether anything shows that the run began to execute. */
export const hasBegun = ({ state, work, reported }: AssignedRun): boolean =>
  state.startedMs !== undefined || work !== NO_WORK || reported.made.length > 0 || reported.hasSucceeded;

/** The run itself is the reason that it waits, so other runs may use its place. */
export const isAside = ({ state, phase, mustLook }: AssignedRun): boolean =>
  state.unknownSinceMs !== undefined || (phase === 'placed' && !mustLook && state.notPutAt !== undefined);

/** How long the run may execute. */
export const timeLimitMs = ({ run, task }: Pick<AssignedRun, 'run' | 'task'>): number =>
  run.timeLimitMs ?? task.runTimeoutSeconds * 1_000;

/** How long the run was seen to execute, which is a lower bound. */
export const ranMsOf = ({ state: { startedMs }, seenMs = startedMs }: AssignedRun): number =>
  startedMs === undefined || seenMs === undefined ? 0 : Math.max(0, seenMs - startedMs);

const nothingReported = (): Reported => ({ made: [], hasSucceeded: false });
type Reported = { made: readonly MadeOutput[]; hasSucceeded: boolean };

export const sentTaskOf = (assigned: Pick<AssignedRun, 'run' | 'task'>): SentTask | undefined =>
  isGraph(assigned.task) ? undefined : { target: assigned.task, timeLimitMs: timeLimitMs(assigned) };

/** `assigned` is undefined if only the run's id, and perhaps its task, is known. */
export const sentOf = (
  id: string,
  assigned: AssignedRun | undefined,
  task = assigned && sentTaskOf(assigned),
): Sent => ({
  id,
  tries: assigned === undefined ? undefined : (assigned.state.tries ?? 1),
  sinceMs: assigned?.state.placedMs ?? 0,
  isRepeated: assigned?.mustLook ?? true,
  ref: assigned?.state.ref,
  task,
});

/** The server of a moved run that has no new server yet. */
export const NOWHERE = '';

/** `isGone`: the server certainly does not hold the run. */
export function movedState({ state, mustLook }: AssignedRun, isGone: boolean): RunState {
  const { server, deaths, losses = 0, tries = 1, lines, left = [], notPutAt } = state;
  const isLoss = !isGone && (state.isSent || mustLook);
  const next = isGone ? { tries, left } : { tries: tries + 1, left: [...left, server] };
  return {
    ...newState(NOWHERE, lines),
    deaths,
    losses: losses + Number(isLoss),
    ...next,
    ...(notPutAt && { notPutAt }),
  };
}

/** The server shows the run again. */
export function shownAgain(before: RunState): RunState {
  const { unknownSinceMs: _, ...state } = before;
  return state;
}

/** The run is to be executed again. */
export function anotherTry(before: RunState): RunState {
  const { startedMs: _, ref: __, askedMs: ___, account: ____, price: _____, ...state } = before;
  return { ...state, isSent: false, tries: (state.tries ?? 1) + 1 };
}

/** A bound above the number of outputs of any task. */
const MAX_MADE = 1_000;
const MAX_LINES = 50;
const MAX_LINE = 2_000;

/** A server may send any text of any length. */
const shownLine = (message: string): string => shortened(withoutSecrets(terminalLine(message)), MAX_LINE);

export const withLine = (
  state: RunState,
  level: LogLine['level'],
  message: string,
  atMs: number,
): RunState => ({
  ...state,
  lines: [...state.lines, { atMs, level, message: shownLine(message) }].slice(-MAX_LINES),
});

/** Applies a socket event to a run. Returns true if the run moved to another node. */
export function noteSocketEvent(
  assigned: AssignedRun,
  event: SocketEvent & { readonly id: string },
  nowMs: number,
): boolean {
  // A node reports its outputs once, unless it is executed again.
  if (event.kind === 'made') {
    const again = new Set(event.made.map(({ node }) => node));
    const before = assigned.reported.made.filter(({ node }) => !again.has(node));
    assigned.reported.made = [...before, ...event.made].slice(-MAX_MADE);
  }
  if (event.kind === 'success') assigned.reported.hasSucceeded = true;
  assigned.seenMs = nowMs;
  if (event.kind !== 'work') return false;
  const { node, progress } = event;
  const liveStatus =
    node === undefined ? assigned.work.liveStatus : `Executing ${nodeIn(assigned.task, node).class || node}`;
  assigned.work = { liveStatus, progress: Math.round(progress * 100) / 100, sinceMs: nowMs };
  return node !== undefined;
}
