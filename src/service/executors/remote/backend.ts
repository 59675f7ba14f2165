// The port to one kind of GPU server. Everything else (places, restarts, tries, files) is the same for all kinds, so a further
// vendor is one file. All calls throw Unreachable if the server did not answer. Numbers may be of any kind and size:
// withWholeNumbers in numbers.ts makes them whole.

import type { Readable } from 'node:stream';

/** The server did not answer, or not as one does; nothing is known. */
export class Unreachable extends Error {
  override readonly name: string = 'Unreachable';
  /** What it answered instead. */
  readonly answer: OtherAnswer | undefined;

  constructor(
    message: string,
    { answer, ...options }: ErrorOptions & { readonly answer?: OtherAnswer } = {},
  ) {
    super(message, options);
    this.answer = answer;
  }
}

export type OtherAnswer = {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

/** The server refuses everything until a person changes something: its key, its credits, its address. */
export class Blocked extends Unreachable {
  override readonly name: string = 'Blocked';
}

/** The nodes of a workflow in the API format, by id. */
export type Graph = Readonly<
  Record<string, { readonly class_type: string; readonly inputs: Readonly<Record<string, unknown>> }>
>;

/** A run as a server is asked about it. */
export type Sent = {
  readonly id: string;
  /** Grows whenever it is to be executed anew; undefined if any of them is meant. */
  readonly tries: number | undefined;
  /** When it got its place; it was not sent before. */
  readonly sinceMs: number;
  /** Whether it may have been sent already. */
  readonly isRepeated: boolean;
  /** What the server calls it, once that is known. */
  readonly ref: string | undefined;
};

/**
 * `full`: it has as many as it can have. `starting`: it will be ready by itself. `blocked`: only a person can change it (its key, its
 * credits, its address).
 */
export type BusyWhy = 'full' | 'starting' | 'blocked';

export type Submitted =
  | { readonly kind: 'accepted'; readonly ref?: string }
  /** It will never run. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Surely not accepted; later it may be. `why`, if that concerns every run, so that none is sent until then. */
  | {
      readonly kind: 'busy';
      readonly afterMs: number;
      readonly reason: string;
      readonly why?: BusyWhy;
    }
  /** Its key is used up, and what came of it is not there. `isAbsent`: all runs that it has were looked through. */
  | { readonly kind: 'spent'; readonly reason: string; readonly isAbsent?: true }
  /** It may have been accepted. */
  | { readonly kind: 'unclear'; readonly reason: string };

export type FileRef = {
  readonly filename: string;
  readonly subfolder: string;
  readonly type: string;
  /** Instead of a place, for servers that name their files. */
  readonly asset?: string;
};

/** What a node has made: files, or texts. */
export type Made = {
  readonly node: string;
  readonly key: string;
  readonly files: readonly FileRef[];
  readonly texts: readonly string[];
};

/** `ranMs`: undefined for a server that does not say. */
export type End = { readonly ranMs: number | undefined } & (
  | { readonly status: 'success'; readonly made: readonly Made[] }
  | { readonly status: 'failed'; readonly reason: string }
  | { readonly status: 'interrupted' }
);

/** What a server knows of a run; `absent`: nothing, which is no end. */
export type Seen = { readonly ref?: string } &
  /** `ahead`: how many come before it, also those of other clients; absent where the server does not say. */
  (
    | { readonly at: 'waiting'; readonly ahead?: number }
    | { readonly at: 'running' }
    | { readonly at: 'ended'; readonly end: End }
    | { readonly at: 'absent' }
    /** The server answers, but not about this run. */
    | { readonly at: 'unread'; readonly reason: string }
  );

/** One run of which a server cannot tell must not keep the others from being polled. */
export function unread(error: unknown): Seen {
  if (error instanceof Unreachable) return { at: 'unread', reason: error.message };
  throw error;
}

/** `work` only hastens and decorates; `poll` decides. */
export type SocketEvent =
  | { readonly kind: 'connected' }
  | { readonly kind: 'disconnected' }
  | { readonly kind: 'changed' }
  | {
      readonly kind: 'work';
      readonly id: string;
      readonly node: string | undefined;
      readonly progress: number;
    }
  | { readonly kind: 'made'; readonly id: string; readonly made: readonly Made[] }
  | { readonly kind: 'success'; readonly id: string };

/** An input of a node class: its type, and what it may be. */
export type ClassInput = {
  readonly type: string;
  readonly default?: unknown;
  /** With all digits: a seed may have 64 bits. */
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  readonly options?: readonly string[] | undefined;
  /** Whether ComfyUI refuses a node without it. */
  readonly isRequired?: boolean | undefined;
  /** Whether it names a file that a user uploads. */
  readonly isFile: boolean;
  /** The kind of that file, if the class tells it. */
  readonly upload?: 'image' | 'video' | 'audio' | 'file' | undefined;
};

export type NodeClass = {
  readonly inputs: Readonly<Record<string, ClassInput>>;
  /** The title that nodes of this class have unless their owner gives another one. */
  readonly displayName?: string | undefined;
  /** Its outputs, in the order of their positions. */
  readonly outputs?: readonly { readonly name: string; readonly type: string }[] | undefined;
  /** Whether its results are outputs of the workflow. */
  readonly isOutput: boolean;
  /** Whether it calls a paid service elsewhere. */
  readonly isPaid: boolean;
};

/** How a workflow names a file that was put on a server. */
export type PutFile = string | { readonly __type: 'core/ASSET'; readonly info: { readonly id: string } };

export type Listening = {
  /** Whether the server answers on it; a connection without an answer is over, and another one is made. */
  isAlive(): Promise<boolean>;
  close(): void;
};

/**
 * What is certain about a run whose request or whose server was lost. repetition.ts decides by it alone what is sent or executed
 * again.
 *
 *   asked            the server shows every run that it has: what it does not show is sent again
 *   same-key         a request with the key of before buys nothing for `ms`: it is sent again, later never. `provesAbsence`: if the
 *                    key is used up, the server shows whether anything came of it
 *   told-or-unknown  only news of the run tell: it is never sent again, and unknown if none came within `boundMs`
 *   again            nothing tells, and a run costs nothing but time: it is sent again
 *
 * `gone`: whether a run that the server had and lost (it stopped, or does not answer for long) is executed again, which is said,
 * or has an unknown end.
 */
export type Guarantee = { readonly gone: 'again' | 'unknown' } & (
  | { readonly lost: 'asked' }
  | { readonly lost: 'same-key'; readonly ms: number; readonly provesAbsence: boolean }
  | { readonly lost: 'told-or-unknown'; readonly boundMs: number }
  | { readonly lost: 'again' }
);

/**
 * How many runs a server gets at the same time: `count` of them; from `first` on one more whenever all seats are taken, until it
 * is `full`; or one that executes, and some ahead, which wait there so that it never idles.
 */
export type Seats =
  | { readonly kind: 'given'; readonly count: number }
  | { readonly kind: 'grown'; readonly first: number }
  | { readonly kind: 'ahead' };

export type Backend = {
  /** Read anew whenever it is needed, because a server may be known better by then. */
  readonly guarantee: Guarantee;
  readonly seats: Seats;
  /** It sends no events, so it has to be polled. */
  readonly isPolled?: true;
  /** The server may refuse every run (its key, its credits), so its first run is tried alone. */
  readonly mayBlock?: true;
  /** Its version, and its GPU as a person calls it. */
  describe(): Promise<{ readonly version: string; readonly gpu: string }>;
  /** The ids of runs that it has and had, also those of other clients; absent if it does not tell. */
  recent?(): Promise<ReadonlySet<string>>;
  /** undefined for a class that it does not have; absent if it does not tell its classes. */
  nodeClass?(name: string): Promise<NodeClass | undefined>;
  /** Throws only if nothing was sent. */
  submit(run: Sent, graph: Graph): Promise<Submitted>;
  /** What it knows of these, and of all others that wait or run there, also those of other clients. */
  poll(runs: readonly Sent[]): Promise<ReadonlyMap<string, Seen>>;
  /** Asks; the run is gone when `poll` says so. */
  cancel(id: string, seen: Seen['at']): Promise<void>;
  /** Whether its folders of files have one that a workflow names; absent if it does not tell. */
  hasFile?(name: string): Promise<boolean>;
  /** undefined if it is not there. */
  file(ref: FileRef): Promise<Readable | undefined>;
  /** Returns the name by which a workflow reads it. */
  put(file: { readonly name: string; readonly content: Blob }): Promise<PutFile>;
  listen(on: (event: SocketEvent) => void): Listening;
  close(): Promise<void>;
};
