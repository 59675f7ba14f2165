// A run that a server has, or is to have.
//
//      placed ──sent──▶ sent ──ended──▶ storing ──files are kept──▶ (done)
//        ▲                │
//        └── forgotten ───┘    the server was restarted; what it executed then is said in the log
//
// `state` is stored with the run before anything is sent, so that a restarted service looks before it sends.

import { shortened, terminalLine } from '../../../errors/outside-text.ts';
import { withoutSecrets } from '../../../errors/redact.ts';
import { exactText, parseExactly } from '../../../host/exact-json.ts';
import type { LogLine } from '../../../run-service/contract/run.ts';
import { NO_WORK, type LiveRun, type Output } from '../executor.ts';
import type { SocketEvent, Made, PutFile, Sent } from './backend.ts';
import type { Workflow } from './workflow.ts';

export type StoredFile = {
  readonly filename: string;
  /** Below the folder of files. */
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
  /** How often a server has stopped while it executed it. */
  readonly deaths: number;
  /** How often a server was lost with it, whether it executed it or not. */
  readonly losses?: number;
  readonly placedMs?: number;
  /** When it was first sent in this try. */
  readonly askedMs?: number;
  /** How often it was to be executed, for servers whose every try has a key of its own. */
  readonly tries?: number;
  /** What the server calls it. */
  readonly ref?: string;
  /** Servers that did not answer and may still have it. */
  readonly left?: readonly string[];
  readonly startedMs?: number;
  /** Since when a server does not tell whether it has it, or how it is. */
  readonly unknownSinceMs?: number;
  /** For each time that its files could not be put on a server, the name of that. */
  readonly notPutAt?: readonly string[];
  /** How it has ended there, until its files are kept. */
  readonly made?: { readonly outputs: readonly Made[]; readonly ranMs?: number; readonly atMs: number };
  readonly outputs?: readonly StoredOutput[];
  readonly lines: readonly LogLine[];
};

export class AssignedRun {
  readonly run: LiveRun;
  readonly workflow: Workflow;
  state: RunState;
  /** `returning`: it is being taken out of its server's queue. */
  phase: 'placed' | 'sent' | 'returning' | 'storing';
  /** A server may have it already: it is looked for before it is sent. */
  mustLook: boolean;
  // By the monotonic clock.
  /** Since when it was not found there. */
  absentSince: number | undefined;
  /** How often the answer did not say whether the server accepted it. */
  unclear = 0;
  /** It is sent after this time. */
  notBefore = 0;
  /** What the server calls the files of its inputs, once they are there. */
  files: ReadonlyMap<string, PutFile> | undefined;
  /** How many come before it at its server; undefined if that is not known. */
  ahead: number | undefined;
  runningSince: number | undefined;
  /** When it was last seen to execute, by the service's clock. */
  seenMs: number | undefined;
  /** The last connection of the socket during which it was there; undefined if that is not known. */
  connection: number | undefined;
  /** The connection during which the server accepted the only request for it; undefined if that is not sure. */
  acceptedOn: number | undefined;
  /** Its server was asked to remove it from its queue. */
  isWithdrawn = false;
  work = NO_WORK;
  /** What the socket has said that it made, and whether it said that it succeeded. */
  reported = nothingReported();

  constructor(run: LiveRun, workflow: Workflow, state: RunState, isNew: boolean) {
    [this.run, this.workflow, this.state, this.mustLook] = [run, workflow, state, !isNew];
    this.phase = state.made !== undefined ? 'storing' : state.isSent ? 'sent' : 'placed';
  }

  /** It is to be sent anew, and nothing is known of what it does. */
  begin(): void {
    [this.phase, this.work, this.reported] = ['placed', NO_WORK, nothingReported()];
    [this.runningSince, this.seenMs, this.ahead] = [undefined, undefined, undefined];
  }
}

/** The state as it is kept with the run, and as it was made. */
export const keptState = (state: RunState): string => exactText(state);
export const stateIn = (text: string | null): RunState | undefined =>
  text === null ? undefined : (parseExactly(text) as RunState);

export const outputsIn = (
  state: string | null,
  { graph, titles = {} }: Pick<Workflow, 'graph' | 'titles'>,
): readonly Output[] =>
  (stateIn(state)?.outputs ?? []).map(({ node, key, files, texts }) => ({
    node,
    nodeClass: graph[node]?.class_type ?? '',
    ...(Object.hasOwn(titles, node) && { nodeTitle: titles[node] as string }),
    key,
    files: files.map(({ filename }) => ({ filename, type: 'output' })),
    texts,
  }));

export const newState = (server: string, lines: readonly LogLine[] = []): RunState => ({
  server,
  isSent: false,
  deaths: 0,
  lines,
});

/** Whether anything shows that it began to execute. */
export const hasBegun = ({ state, work, reported }: AssignedRun): boolean =>
  state.startedMs !== undefined || work !== NO_WORK || reported.made.length > 0 || reported.hasSucceeded;

/** It waits because of what it is itself: others get its place. */
export const isAside = ({ state, phase, mustLook }: AssignedRun): boolean =>
  state.unknownSinceMs !== undefined || (phase === 'placed' && !mustLook && state.notPutAt !== undefined);

/** For how long it may execute. */
export const timeLimitMs = ({ run, workflow }: AssignedRun): number =>
  run.timeLimitMs ?? workflow.runTimeoutSeconds * 1_000;

/** For how long it was seen to execute, at least. */
export const ranMsOf = ({ state: { startedMs }, seenMs = startedMs }: AssignedRun): number =>
  startedMs === undefined || seenMs === undefined ? 0 : Math.max(0, seenMs - startedMs);

/** Of a run that begins, perhaps again. */
const nothingReported = (): Reported => ({ made: [], hasSucceeded: false });
type Reported = { made: readonly Made[]; hasSucceeded: boolean };

/** `one`: undefined if only its id is known. */
export const sentOf = (id: string, one: AssignedRun | undefined): Sent => ({
  id,
  tries: one === undefined ? undefined : (one.state.tries ?? 1),
  sinceMs: one?.state.placedMs ?? 0,
  isRepeated: one?.mustLook ?? true,
  ref: one?.state.ref,
});

/** The server of a run that was moved and has no other one yet. */
export const NOWHERE = '';

/** `isGone`: its server surely does not have it. */
export function movedState({ state, mustLook }: AssignedRun, isGone: boolean): RunState {
  const { server, deaths, losses = 0, tries = 1, lines, left = [], notPutAt } = state;
  const isLoss = !isGone && (state.isSent || mustLook);
  const there = isGone ? { tries, left } : { tries: tries + 1, left: [...left, server] };
  return {
    ...newState(NOWHERE, lines),
    deaths,
    losses: losses + Number(isLoss),
    ...there,
    ...(notPutAt && { notPutAt }),
  };
}

/** Its server tells of it again. */
export function known(before: RunState): RunState {
  const { unknownSinceMs: _, ...state } = before;
  return state;
}

/** It is to be executed anew. */
export function anotherTry(before: RunState): RunState {
  const { startedMs: _, ref: __, askedMs: ___, ...state } = before;
  return { ...state, isSent: false, tries: (state.tries ?? 1) + 1 };
}

/** More outputs than a workflow has. */
const MADE_MOST = 1_000;
const LINES_MOST = 50;
const LINE_MOST = 2_000;

/** A server may say anything, at any length. */
const shownLine = (message: string): string => shortened(withoutSecrets(terminalLine(message)), LINE_MOST);

export const withLine = (
  state: RunState,
  level: LogLine['level'],
  message: string,
  atMs: number,
): RunState => ({
  ...state,
  lines: [...state.lines, { atMs, level, message: shownLine(message) }].slice(-LINES_MOST),
});

/** Notes what the socket says of a run; true if it executes another node. */
export function noteSocketEvent(
  one: AssignedRun,
  event: SocketEvent & { readonly id: string },
  nowMs: number,
): boolean {
  // Each node says once what it has made, unless it is executed again.
  if (event.kind === 'made') {
    const again = new Set(event.made.map(({ node }) => node));
    const before = one.reported.made.filter(({ node }) => !again.has(node));
    one.reported.made = [...before, ...event.made].slice(-MADE_MOST);
  }
  if (event.kind === 'success') one.reported.hasSucceeded = true;
  one.seenMs = nowMs;
  if (event.kind !== 'work') return false;
  const { node, progress } = event;
  const liveStatus =
    node === undefined ? one.work.liveStatus : `Executing ${one.workflow.graph[node]?.class_type ?? node}`;
  one.work = { liveStatus, progress: Math.round(progress * 100) / 100, sinceMs: nowMs };
  return node !== undefined;
}
