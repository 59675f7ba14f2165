// Connects one program or command to Temporal. Reads never start servers; closing the connection releases
// them. The Temporal client, half of a command's load time, is loaded only when needed.

import { list, problem, type RunsheetError } from '../errors/error.ts';
import type { Config } from '../host/settings/config.ts';
import { outsideCalls, unlessAborted } from '../host/call-signal.ts';
import { LOCAL } from '../host/local-address.ts';
import { allowOut } from '../store/allowed-folders.ts';
import type { Follower } from '../temporal/embedded/follower.ts';
import { checkSettings } from '../batches/batch-spec.ts';
import type { ProposalContext } from '../batches/propose.ts';
import type { LimitChange } from '../options/limits.ts';
import type { Spoken } from '../service-client/open-services.ts';
import { holderHere } from '../store/holder.ts';
import { clusterOf, configFrom, type ConnectOptions, type SessionParams } from './connect-options.ts';
import { OtherServers } from './other-servers.ts';
import { elsewhere, isUnderWay, summaryOfDone } from './start/start-or-attach.ts';
import { holderOfHome, whoHas, type Here } from './start/who-has.ts';
import type { FoundBatch } from './handle/found-batch.ts';
import type { Session } from './session.ts';
import { performance } from 'node:perf_hooks';
import type { Uploading } from '../batches/files/local-files.ts';
import type { LongComparison } from '../batches/long-comparison.ts';
import { count } from '../options/text/printed-numbers.ts';

/** Servers to ask about batches: the configured ones, if they run, and other servers of this user. */
export type ServerConnection = {
  readonly session: Session | undefined;
  /** Undefined if only the session is asked. */
  readonly otherServers?: OtherServers | undefined;
  readonly here: Here;
};

type JoinedServers = ServerConnection & { leave(): Promise<void> };

export class Servers implements AsyncDisposable {
  readonly config: Config;
  readonly options: ConnectOptions;
  /** Sessions, with and without the local run service. */
  readonly #sessions = new Map<boolean, Promise<Session>>();
  readonly #closed = new AbortController();
  #others: OtherServers | undefined;

  constructor(options: ConnectOptions, config = configFrom(options)) {
    this.options = options;
    this.config = config;
    if (options.embedded === false && !this.isCluster)
      throw problem('E602', {
        what: 'connect(): embedded is false, and neither client nor settings name a Temporal cluster',
        hint: 'give client, or set TEMPORAL_ADDRESS',
      });
  }

  get isCluster(): boolean {
    return clusterOf(this.#params(false, false)) !== undefined;
  }

  /** Aborted when the connection is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  #params(local: boolean, works: boolean): SessionParams {
    const { client, embedded = false, onNotice } = this.options;
    return { config: this.config, local, works, client, embedded, notice: onNotice ?? (() => undefined) };
  }

  /** Starts embedded servers if none are running, and keeps them until this is disposed of. All their batches continue. */
  async open(local: boolean, own?: Pick<FoundBatch, 'file'>): Promise<Session> {
    const session = await this.#session(local, true);
    if (session.work()) await this.#sayOthers(session, own);
    return session;
  }

  /** Tells the user which interrupted batches continue on these servers. */
  async #sayOthers({ batches }: Session, own: Pick<FoundBatch, 'file'> | undefined): Promise<void> {
    // A failed list must not stop a batch.
    const running = await batches.running().catch(() => []);
    const names = running.flatMap(({ batch, mark }) => (mark === own?.file.mark ? [] : batch));
    if (names.length > 0)
      this.options.onNotice?.(
        `these servers run other batches as well, unless they are paused: ${list(names)}`,
      );
  }

  /** Opens the servers to read from them; no batch continues. */
  look(local: boolean): Promise<Session> {
    return this.#session(local, false);
  }

  #session(local: boolean, works: boolean): Promise<Session> {
    if (this.closed.aborted)
      throw problem('E602', { what: 'the connection is closed', hint: 'connect() again' });
    return unlessAborted(this.#sessions.get(local) ?? this.#open(local, works));
  }

  /** Shared by all calls, so that no call closes it. */
  #open(local: boolean, works: boolean): Promise<Session> {
    const opening = outsideCalls(() => opened(this.#params(local, works)));
    this.#sessions.set(local, opening);
    opening.catch(() => this.#sessions.delete(local));
    return opening;
  }

  /** Opens the servers that a batch needs. */
  for(batchFolder: Pick<FoundBatch, 'file'>): Promise<Session> {
    return this.open(batchFolder.file.service.base === LOCAL, batchFolder);
  }

  /** Starts the local run service for a rehearsal: no other service has its runs. */
  async forRehearsal(batchFolder: Pick<FoundBatch, 'file'>): Promise<void> {
    if (batchFolder.file.service.base === LOCAL) await this.look(true);
  }

  /** The configured servers, running or not. */
  get here(): Here {
    const { config } = this;
    const cluster = clusterOf(this.#params(false, false));
    if (cluster === undefined) return { config, holder: holderOfHome(config.home) };
    const { namespace, address } = cluster;
    const isGiven = this.options.client !== undefined;
    const servers = { kind: 'cluster', namespace, ...(isGiven ? {} : { address }) } as const;
    return { config, holder: holderHere(servers) };
  }

  /** A session and the other servers it may ask. */
  asked(session: Session): ServerConnection {
    this.#others ??= new OtherServers(this.config, this.#params(false, false).notice);
    return { session, otherServers: this.#others, here: this.here };
  }

  /** Joins running servers without starting any. The caller leaves them. */
  async join(): Promise<JoinedServers> {
    const [kept] = this.#sessions.values();
    const params = this.#params(false, false);
    const session = await (kept === undefined ? living(params) : unlessAborted(kept));
    const otherServers = new OtherServers(this.config, params.notice);
    const leave = async (): Promise<void> => {
      await otherServers.leave();
      if (kept === undefined) await session?.close();
    };
    return { session, otherServers, here: this.here, leave };
  }

  /**
   * Joins the servers that run the batch: the configured ones, or others of this user. There is no session if none runs it, even if
   * they have ended with the batch while they were asked.
   */
  async joinFor(batchFolder: FoundBatch): Promise<JoinedServers> {
    try {
      return await this.#joinRunning(batchFolder);
    } catch (error) {
      if ((await summaryOfDone(batchFolder)) === undefined) throw error;
      return { session: undefined, here: this.here, leave: async () => undefined };
    }
  }

  async #joinRunning(batchFolder: FoundBatch): Promise<JoinedServers> {
    const joined = await this.join();
    try {
      const { session, otherServers, here } = joined;
      if (session !== undefined && (await isUnderWay(session, batchFolder))) return joined;
      const has = await whoHas(batchFolder, here);
      const otherSession = has.by === 'others' ? await otherServers?.reach(has.others) : undefined;
      const isTheirs = otherSession !== undefined && (await isUnderWay(otherSession, batchFolder));
      return { ...joined, session: isTheirs ? otherSession : undefined };
    } catch (error) {
      await joined.leave();
      throw error;
    }
  }

  /** Asks running servers, if any. */
  async asking<T>(ask: (session: Session | undefined, asked: ServerConnection) => Promise<T>): Promise<T> {
    const { leave, ...connection } = await this.join();
    try {
      return await ask(connection.session, connection);
    } finally {
      await leave();
    }
  }

  commanding<T>(batchFolder: FoundBatch, command: (session: Session) => Promise<T>): Promise<T> {
    return this.asking(async (session) => {
      if (session === undefined || !(await isUnderWay(session, batchFolder)))
        throw await this.notRunning(batchFolder);
      return command(session);
    });
  }

  /** E516, or E548 if other servers have the batch. */
  async notRunning(batchFolder: FoundBatch): Promise<RunsheetError> {
    return (await elsewhere(batchFolder, this.here)) ?? problem('E516', { batch: batchFolder.batch });
  }

  /** Throws, before anything is started, E548 if other servers hold an unfinished batch, E503 if they are gone. */
  async refuseElsewhere(batchFolder: FoundBatch): Promise<void> {
    const error = await elsewhere(batchFolder, this.here);
    if (error !== undefined) throw error;
  }

  /** The services that a proposal may use. */
  around({ base }: Pick<Spoken, 'base'>): ProposalContext {
    return {
      config: this.config,
      isCluster: () => this.isCluster,
      servers: () => this.look(base === LOCAL),
      onUploading: uploadNotices((text) => this.options.onNotice?.(text)),
      onComparing: (why) => this.options.onNotice?.(COMPARING[why]),
    };
  }

  /** Checks limits before a batch gets them; its pool only with a session. Throws E312, E540 and E602. */
  check(change: LimitChange, batchFolder?: Pick<FoundBatch, 'file'>, session?: Session): Promise<void> {
    return checkSettings(change, {
      config: this.config,
      isCluster: () => this.isCluster,
      ...(batchFolder && { file: batchFolder.file }),
      ...(session && { reach: async () => session }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    const closing = [...this.#sessions.values()].map(async (opening) => {
      // A session that failed to open needs no closing.
      const session = await opening.catch(() => undefined);
      await session?.close();
    });
    await Promise.all([...closing, this.#others?.leave()]);
  }
}

async function opened(params: SessionParams): Promise<Session> {
  const cluster = clusterOf(params);
  // --local starts the run service with the embedded servers, which a cluster does not have.
  if (cluster && params.local) throw localOnCluster();
  const starting = cluster === undefined ? await startStack(params) : undefined;
  const { openSession } = await import('./session.ts');
  const stack = await starting?.stack;
  return openSession(params, cluster ?? (stack as Follower).temporal, stack);
}

/**
 * Resolves once the process is started. Loading Temporal's client takes as long as the servers' start, so
 * both happen in parallel.
 */
async function startStack(params: SessionParams): Promise<{ readonly stack: Promise<Follower> }> {
  const { followStack } = await import('../temporal/embedded/follower.ts');
  // The worker does not get this command's flags, so it reads the allowed folder from a file.
  allowOut(params.config);
  const stack = followStack(stackParams(params));
  stack.catch(() => undefined);
  return { stack };
}

/** A session for a command that only reads; undefined if no embedded stack is running. */
async function living(params: SessionParams): Promise<Session | undefined> {
  const cluster = clusterOf(params);
  const { readStack } = await import('../temporal/embedded/follower.ts');
  const stack = cluster === undefined ? await readStack(stackParams(params)) : undefined;
  const at = cluster ?? stack?.temporal;
  if (at === undefined) return undefined;
  const { openSession } = await import('./session.ts');
  return openSession(params, at, stack);
}

const stackParams = ({ config, local, works, notice }: SessionParams) => ({
  config,
  service: local,
  works,
  notice,
});

const localOnCluster = () =>
  problem('E602', {
    what: '--local starts embedded servers, but the settings name a Temporal cluster',
    hint: 'start the local run service with: runsheet service; then set RUNSHEET_API_URL as it prints',
  });

const COMPARING: Readonly<Record<LongComparison, string>> = {
  slow: 'comparing the rows with those of all batches, so that none is bought twice …',
  overtaken: 'another command is about to buy some of these rows: they are compared again',
};

/** Interval between notices. */
const EVERY_MS = 2_000;

function uploadNotices(notice: (text: string) => void): (uploading: Uploading) => void {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  return ({ files, done, endsAt }) => {
    if (endsAt !== undefined)
      return notice(`The addresses of the files expire at ${new Date(endsAt).toISOString()}`);
    const isDue = done === files || performance.now() - saidAtMs >= EVERY_MS;
    if (!isDue) return;
    saidAtMs = performance.now();
    notice(`uploading files: ${count(done)} of ${count(files)}`);
  };
}
