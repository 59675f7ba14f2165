// The port to one kind of server that runs tasks: a ComfyUI, a GPU of this machine, a vendor. Seats, restarts,
// tries and files are handled outside, so a further vendor is one file, its facts in server-kind.ts and a row in
// open-backend.ts. All calls throw Unreachable if the
// server did not answer. Numbers may have any kind and size: withWholeNumbers in numbers.ts makes them whole.

import type { Readable } from 'node:stream';
import type { ServerKind } from '../../options/facts/server-kind.ts';
import type { TaskTarget } from './target.ts';

/** The server did not answer, or answered with something foreign: nothing is known. */
export class Unreachable extends Error {
  override readonly name: string = 'Unreachable';
  /** The foreign answer. */
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

/** The part of a run that its server gets: a filled graph, or the inputs of a program or a model. */
export type SentWork =
  | { readonly kind: 'graph'; readonly graph: Graph }
  | {
      readonly kind: 'inputs';
      readonly inputs: Readonly<Record<string, unknown>>;
      /** The address at which the server may tell about the run; absent without a public address. */
      readonly webhookUrl?: string | undefined;
    };

/** The graph of a run; only servers of ComfyUI get one. */
export function graphIn(work: SentWork): Graph {
  if (work.kind !== 'graph') throw new Error('a server of ComfyUI was given a run without a graph');
  return work.graph;
}

/** The inputs of a run of a program or a model. */
export function inputsIn(work: SentWork): Extract<SentWork, { kind: 'inputs' }> {
  if (work.kind !== 'inputs') throw new Error('a server that runs no graphs was given one');
  return work;
}

/** Identifies a run to the server that it was sent to. */
export type Sent = {
  readonly id: string;
  /** Increases whenever the run is to be executed again; undefined matches every try. */
  readonly tries: number | undefined;
  /** When the run got its place. The run was not sent before that time. */
  readonly sinceMs: number;
  /** Whether the run may have been sent already. */
  readonly isRepeated: boolean;
  /** The server's id of the run, once known. */
  readonly ref: string | undefined;
  /** Absent for a graph, and for a run that has left the service before it was restarted. */
  readonly task?: SentTask | undefined;
};

/** The model or the program of a run, and the time after which its server has to end the run by itself. */
export type SentTask = { readonly target: TaskTarget; readonly timeLimitMs: number };

/** The task of a run, at a server that runs such targets only. */
export function taskIn<Kind extends TaskTarget['kind']>(kind: Kind, { task }: Sent) {
  if (task?.target.kind !== kind) throw new Error(`a server of a ${kind} was given a run without one`);
  return task as SentTask & { readonly target: Extract<TaskTarget, { kind: Kind }> };
}

/**
 * `full`: the server is at capacity. `starting`: the server will be ready by itself. `blocked`: only a person
 * can unblock it (key, credits, address).
 */
export type BusyWhy = 'full' | 'starting' | 'blocked';

export type Submitted =
  | { readonly kind: 'accepted'; readonly ref?: string }
  /** The server will never execute the run. */
  | { readonly kind: 'refused'; readonly reason: string }
  /**
   * Certainly not accepted, but a later try may be. `why` is set if the reason concerns every run, so that
   * none is sent before `afterMs`.
   */
  | {
      readonly kind: 'busy';
      readonly afterMs: number;
      readonly reason: string;
      readonly why?: BusyWhy;
    }
  /** The idempotency key is used up, and no job of it is visible. `isAbsent`: all runs of the server were searched. */
  | { readonly kind: 'spent'; readonly reason: string; readonly isAbsent?: true }
  /** The run may have been accepted. */
  | { readonly kind: 'unclear'; readonly reason: string };

export type FileRef = {
  readonly filename: string;
  readonly subfolder: string;
  readonly type: string;
  /** Replaces the folder for servers that name their files themselves. */
  readonly asset?: string;
  /** A file on this machine that nobody writes any more: it is linked instead of copied. */
  readonly path?: string;
};

/** The files or texts that a node produced. */
export type MadeOutput = {
  readonly node: string;
  readonly key: string;
  readonly files: readonly FileRef[];
  readonly texts: readonly string[];
};

/** `ranMs` is undefined for a server that does not tell. `costNano`: what the run cost, in nano-dollars, if the server tells. */
export type RunEnd = { readonly ranMs: number | undefined; readonly costNano?: number | undefined } & (
  | { readonly status: 'success'; readonly made: readonly MadeOutput[] }
  | { readonly status: 'failed'; readonly reason: string }
  | { readonly status: 'interrupted' }
  /** The server itself ended the run at its time limit. */
  | { readonly status: 'timeout' }
  /** The run did nothing and asks to be sent again after `afterMs`. */
  | { readonly status: 'postponed'; readonly reason: string; readonly afterMs: number }
);

/** A server's knowledge of a run. `absent` means that the server does not know the run, which is not an end. */
export type Seen = { readonly ref?: string } &
  /** `ahead`: how many runs are ahead, including those of other clients; undefined if the server does not tell. */
  (
    | { readonly at: 'waiting'; readonly ahead?: number }
    | { readonly at: 'running' }
    | { readonly at: 'ended'; readonly end: RunEnd }
    /** `hasBegun`: the server knows that the run had begun to execute before it was lost. */
    | { readonly at: 'absent'; readonly hasBegun?: true }
    /** The server answers, but not about this run. */
    | { readonly at: 'unread'; readonly reason: string }
  );

/** A run that cannot be read must not keep the server's other runs from being polled. */
export function unread(error: unknown): Seen {
  if (error instanceof Unreachable) return { at: 'unread', reason: error.message };
  throw error;
}

/** `work` is only a hint and a decoration; `poll` decides. */
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
  | { readonly kind: 'made'; readonly id: string; readonly made: readonly MadeOutput[] }
  | { readonly kind: 'success'; readonly id: string };

/** An input of a node class: its type and its bounds. */
export type ClassInput = {
  readonly type: string;
  readonly default?: unknown;
  /** A text that keeps all digits, because a seed may have 64 bits. */
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  readonly options?: readonly string[] | undefined;
  /** Whether ComfyUI refuses a node without this input. */
  readonly isRequired?: boolean | undefined;
  /** Whether the input names a file that a user uploads. */
  readonly isFile: boolean;
  /** The kind of file, if the class tells it. */
  readonly upload?: 'image' | 'video' | 'audio' | 'file' | undefined;
};

export type NodeClass = {
  readonly inputs: Readonly<Record<string, ClassInput>>;
  /** The default title of nodes of this class. */
  readonly displayName?: string | undefined;
  /** The outputs, by position. */
  readonly outputs?: readonly { readonly name: string; readonly type: string }[] | undefined;
  /** Whether the node's results are outputs of the workflow. */
  readonly isOutput: boolean;
  /** Whether the node calls a paid service elsewhere. */
  readonly isPaid: boolean;
};

/** How a workflow refers to a file on the server. */
export type PutFile = string | { readonly __type: 'core/ASSET'; readonly info: { readonly id: string } };

export type Listening = {
  /** Whether the server answers on this connection. A connection without an answer is closed and replaced. */
  isAlive(): Promise<boolean>;
  close(): void;
};

/**
 * The guarantee of a server for a run whose request or whose server was lost. resend-policy.ts decides by it
 * alone what is sent or executed again.
 *
 *   asked            the server shows every run that it holds: a run that it does not show is sent again. `isSlow`: a run may
 *                    take a while to show; `forMs`: how long it is shown
 *   same-key         repeating a key buys nothing for `ms`: until then the run is sent again, later never. `provesAbsence`: if the
 *                    key is used up, the server shows whether a job came of it
 *   told-or-unknown  only the server's messages reveal the run: it is never sent again, and unknown if none came within `boundMs`
 *                    (`isAfterLimit`: counted from the time limit of the run;
 *                    `isOtherAccount`: the account that was asked differs from the one known now)
 *   again            nothing reveals the run, and a run costs nothing but time: it is sent again
 *
 * `gone`: whether a run that the server held and lost (it stopped, or does not answer for long) is executed
 * again, with a line in its log, or has an unknown end.
 */
export type Guarantee = { readonly gone: 'again' | 'unknown' } & (
  | { readonly lost: 'asked'; readonly isSlow?: true; readonly forMs?: number }
  | { readonly lost: 'same-key'; readonly ms: number; readonly provesAbsence: boolean }
  | {
      readonly lost: 'told-or-unknown';
      readonly boundMs: number;
      readonly isAfterLimit?: true;
      readonly isOtherAccount?: true;
    }
  | { readonly lost: 'again' }
);

/**
 * How many runs a server gets at the same time: `count`; or from `first` on one more whenever all seats are
 * taken, until the server is `full`; or one that executes and a few ahead, which wait at the server so that
 * it never idles.
 */
export type Seats =
  | { readonly kind: 'given'; readonly count: number }
  | { readonly kind: 'grown'; readonly first: number }
  | { readonly kind: 'ahead' };

export type DescribedModel = {
  /** The name that later always means the same. */
  readonly model: string;
  readonly schema?: unknown;
  readonly document?: unknown;
  /** In nano-dollars, if the vendor says it before a run. */
  readonly price?: { readonly per: 'run' | 'second' | 'output'; readonly nano: number } | undefined;
};

/** A webhook of the server about a run of a model. */
export type VendorWebhook = {
  readonly id: string;
  readonly model: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
};

/** Read again for each use. `seats`: how many runs the server executes at the same time, if the user set it. */
export type ServerSettings = {
  readonly headers: Readonly<Record<string, string>>;
  readonly seats?: number | undefined;
};

export type Backend = {
  readonly kind: ServerKind;
  /** The address of a server whose only model is named by it. */
  readonly address?: string;
  /** Read again for each use, because the server may have become better known. */
  readonly guarantee: Guarantee;
  readonly seats: Seats;
  /** The server has to be asked, because it sends no events or only some. */
  readonly isPolled?: true;
  /** Stands for the account that pays; undefined without a key. The list of one account proves nothing about another. */
  account?(): string | undefined;
  /** The server may refuse every run (key, credits), so its first run is tried alone. */
  readonly mayBlock?: true;
  /** The model of this name as it will run, and the JSON Schema of its inputs within its document. */
  model?(name: string): Promise<DescribedModel>;
  /** Why no run of it may be sent here until a person changes something; undefined if it may. */
  misfit?(target: TaskTarget): string | undefined;
  /** Whatever the server stores of a run is no longer needed. */
  forget?(runId: string): void;
  /** The version, and the GPU's common name. */
  describe(): Promise<{ readonly version: string; readonly gpu: string }>;
  /** The ids of current and past runs, including those of other clients; undefined if the server does not tell. */
  recent?(): Promise<ReadonlySet<string>>;
  /** Resolves to undefined for an unknown class. The method is absent if the server does not tell its classes. */
  nodeClass?(name: string): Promise<NodeClass | undefined>;
  /** Throws only if nothing was sent. */
  submit(run: Sent, work: SentWork): Promise<Submitted>;
  /**
   * The state of these runs, and of all others that wait or execute there, including those of other clients. A run
   * without a ref whose request may have arrived is sent again once it is `absent`, and counts as accepted with any other answer:
   * a search that failed throws.
   */
  poll(runs: readonly Sent[]): Promise<ReadonlyMap<string, Seen>>;
  /** The server's id of the run; undefined if the message is not genuine. */
  refIn?(message: VendorWebhook): Promise<string | undefined>;
  /** Requests a cancellation; the run is gone once `poll` says so. */
  cancel(id: string, seen: Seen['at']): Promise<void>;
  /** Whether the server has the file that a workflow names; absent if the server does not tell. */
  hasFile?(name: string): Promise<boolean>;
  /** undefined if the server does not have the file. */
  file(ref: FileRef): Promise<Readable | undefined>;
  /** Returns the name by which a workflow reads the file. */
  put(file: { readonly name: string; readonly content: Blob }): Promise<PutFile>;
  /** Absent if the server sends no events. */
  listen?(on: (event: SocketEvent) => void): Listening;
  close(): Promise<void>;
};
