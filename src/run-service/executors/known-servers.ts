// The known GPU servers: each is stored under one address and can be named by the other addresses that lead
// to it.
//
//      given ──answers, or was known──▶ kept ──▶ takes runs ──no run needs it──▶ forgotten

import { errorMessage, problem, type RunsheetError } from '../../errors/error.ts';
import { withScheme } from '../../host/http/web-address.ts';
import { identityOf } from '../../host/service-address.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { isModelHost, isVendor } from '../../options/facts/server-kind.ts';
import type { Database, ServerRow } from '../database.ts';
import { stateIn, timeLimitMs, type AssignedRun } from './driving/assigned-run.ts';
import { Unreachable, type Backend } from './backend.ts';
import type { RunDispatcher } from './driving/run-dispatcher.ts';
import { isSameAddress } from './same-server.ts';
import { unusableAt } from './unusable-server.ts';
import {
  addressOf,
  isSeat,
  openServer,
  type GivenServer,
  type OpenedServer,
  type OpenSeat,
} from './server-address.ts';
import type { Settings } from './open-backend.ts';
import { unansweredAt, type Unanswered } from './driving/resend-policy.ts';

/** A server of a command, after a first request. `fault` says why it cannot be used now. */
export type TriedServer = {
  readonly url: string;
  readonly backend: Backend;
  readonly gpu: string | null;
  readonly keep: () => void;
  readonly drop: () => Promise<void>;
  readonly isKnown: boolean;
  readonly fault?: RunsheetError;
};

/** Servers that a run or a batch names: their stored addresses, separated by spaces, and the names that are unknown. */
type NamedServers = { readonly servers: string; readonly unknown: readonly string[] };

export type ShownServer = {
  readonly url: string;
  readonly kind: ServerRow['kind'];
  readonly gpu: string | null;
  /** Alternative addresses of the server. */
  readonly also: readonly string[];
  readonly runs: number;
  /** How long its runs may still execute; null if none does. */
  readonly busyMs: number | null;
  /** Why the server takes no runs now. */
  readonly away: string | null;
  /** Runs whose request it may have taken without a word, and cannot be asked about. */
  readonly unanswered: Unanswered | null;
};

type KnownServersWorld = {
  readonly database: Pick<
    Database,
    'servers' | 'keepServer' | 'forgetServer' | 'serverNames' | 'nameServer' | 'beDurable' | 'find'
  >;
  readonly now: () => number;
  readonly say: (event: string, facts: Record<string, unknown>) => void;
  readonly executor: () => RunDispatcher;
  readonly openSeat: OpenSeat;
};

export class KnownServers {
  readonly #world: KnownServersWorld;
  readonly #backends = new Map<string, Backend>();
  readonly #settings = new Map<string, Settings>();
  #names: ReadonlyMap<string, string> = new Map();

  constructor(world: KnownServersWorld) {
    this.#world = world;
  }

  /** Restores the stored servers, whether they answer or not. */
  restore(): void {
    const { database } = this.#world;
    this.#names = database.serverNames();
    for (const row of database.servers()) this.#restored(row);
  }

  get backends(): ReadonlyMap<string, Backend> {
    return this.#backends;
  }

  #opened = (server: GivenServer): OpenedServer => openServer(server, this.#world.openSeat);

  keptUnder = (url: string): string => this.#names.get(url) ?? url;

  named(names: readonly string[]): NamedServers {
    const urls = names.map((name) => [name, this.#find(name)] as const);
    return {
      servers: [...new Set(urls.flatMap(([, url]) => url ?? []))].join(' '),
      unknown: urls.flatMap(([name, url]) => (url === undefined ? [name] : [])),
    };
  }

  #find(name: string): string | undefined {
    const text = isSeat(name) ? name : withScheme(name);
    const url = this.keptUnder(URL.canParse(text) ? addressOf(text) : text);
    return [...this.#backends.keys()].find((kept) => kept === url || identityOf(kept) === identityOf(url));
  }

  list(): readonly ShownServer[] {
    const { database, executor, now } = this.#world;
    const names = [...this.#names];
    return database.servers().map(({ url, kind, gpu }) => {
      const server = executor().servers.find((current) => current.url === url);
      return {
        url,
        kind,
        gpu: server?.gpu || gpu,
        also: names.flatMap(([name, kept]) => (kept === url ? [name] : [])),
        runs: server?.runs.size ?? 0,
        busyMs: longestOf(server?.runs.values() ?? [], now()),
        away: server?.away?.reason ?? server?.fault ?? null,
        unanswered: server === undefined ? null : unansweredAt(server.backend, server.runs.values()),
      };
    });
  }

  /** Forgets a server, or replaces it by another known one. Throws E602 if runs need it. */
  async forget(name: string, instead?: string): Promise<void> {
    const { database, executor } = this.#world;
    const url = this.#find(name);
    const next = instead === undefined ? undefined : this.#find(instead);
    if (url === undefined && next === undefined) throw noServer(name);
    if (instead !== undefined && (next === undefined || next === url)) throw noOther(instead, next);
    const server = executor().servers.find((current) => current.url === url);
    const needed = server && (await executor().removeServer(server));
    if (needed !== undefined && url !== undefined) throw inUse(url, needed);
    const names = url === undefined ? [addressOf(withScheme(name))] : [url, ...this.#namesOf(url)];
    if (url !== undefined) {
      database.forgetServer(url);
      this.#backends.delete(url);
      this.#settings.delete(url);
    }
    if (next !== undefined) for (const alias of names) database.nameServer(alias, next);
    this.#names = database.serverNames();
  }

  #namesOf = (url: string): readonly string[] =>
    [...this.#names].flatMap(([name, kept]) => (kept === url ? [name] : []));

  /** Connects to a server of a command; `beside` are the other servers of the command. */
  async take(request: GivenServer & { readonly gpu?: string | undefined }, beside: readonly TriedServer[]) {
    const { database } = this.#world;
    const at = addressOf(request.url);
    const opened = this.#opened({ ...request, url: at });
    const { kind = 'comfyui' } = request;
    this.#refuseOtherKind(at, kind);
    // Hosts behind one proxy share IP addresses, and a key goes to the address that its owner chose only. A Cog
    // container is named by its address.
    const address = isModelHost(kind)
      ? undefined
      : await this.#sameAddress(at, [
          ...database.servers().flatMap((row) => (row.kind === kind ? [row.url] : [])),
          ...beside.flatMap(({ url, backend }) => (backend.kind === kind ? [url] : [])),
        ]);
    const described = await answerOf(opened.backend);
    const isSilent = described instanceof Unreachable;
    const url = address ?? (isSilent ? undefined : await this.#sameRuns(opened.backend, beside)) ?? at;
    const before = database.servers().find((row) => row.url === url);
    const row: ServerRow = {
      url,
      kind,
      gpu: request.gpu ?? before?.gpu ?? null,
      // A key of this command replaces the file of an earlier one.
      headersFile: request.headersFile ?? (request.key === undefined ? before?.headersFile : null) ?? null,
      seats: request.seats ?? before?.seats ?? null,
    };
    const gpu = row.gpu ?? (isSilent ? null : described.gpu);
    const tried = {
      url,
      backend: opened.backend,
      gpu,
      keep: (): void => this.#keep(at, { ...row, gpu }, opened),
      drop: (): Promise<void> => opened.backend.close(),
      isKnown: before !== undefined,
    };
    return isSilent ? { ...tried, fault: await unusableAt(at, row.kind, described) } : tried;
  }

  /** Headers of one kind must not go to a server of another kind. */
  #refuseOtherKind(url: string, kind: ServerRow['kind']): void {
    const row = this.#world.database.servers().find((stored) => stored.url === this.keptUnder(url));
    if (row !== undefined && row.kind !== kind)
      throw problem('E602', {
        what: `${url} is known as ${row.kind}, and not as ${kind}`,
        hint: 'if another kind of server answers there now, forget the earlier one first',
      });
  }

  #keep(address: string, row: ServerRow, opened: Pick<OpenedServer, 'backend' | 'settings'>) {
    const { database } = this.#world;
    database.keepServer(row);
    if (address !== row.url) {
      database.nameServer(address, row.url);
      this.#names = database.serverNames();
    }
    const settings = this.#settings.get(row.url);
    if (settings === undefined) return this.#open(row, opened);
    Object.assign(settings.headers, opened.settings.headers);
    settings.seats = opened.settings.seats;
    void opened.backend.close();
  }

  async #sameAddress(at: string, addresses: readonly string[]): Promise<string | undefined> {
    const named = this.keptUnder(at);
    if (addresses.includes(named)) return named;
    if (isSeat(at)) return undefined;
    for (const url of addresses) if (!isSeat(url) && (await isSameAddress(at, url))) return url;
    return undefined;
  }

  /** Two addresses that show the same newest runs lead to one server: prompt ids are random, and only one process has them. */
  async #sameRuns(backend: Backend, beside: readonly TriedServer[]): Promise<string | undefined> {
    const own = await recentOf(backend);
    const ids = [...own].filter((id) => !this.#hasMoved(id));
    if (ids.length === 0) return undefined;
    const candidates = new Map([
      ...beside.map((tried) => [tried.url, tried.backend] as const),
      ...this.#backends,
    ]);
    for (const [url, candidate] of candidates) {
      const candidateRuns = await recentOf(candidate);
      if (ids.some((id) => candidateRuns.has(id))) return url;
    }
    return undefined;
  }

  /** Whether two servers may have executed the run. */
  #hasMoved(id: string): boolean {
    const { tries = 1, left = [] } = stateIn(this.#world.database.find(id)?.state ?? null) ?? {};
    return tries > 1 || left.length > 0;
  }

  /** A server is named after its host, or after its whole address if another server has that host. */
  #open(
    { url, kind, gpu }: ServerRow,
    { backend, settings }: Pick<OpenedServer, 'backend' | 'settings'>,
  ): void {
    const executor = this.#world.executor();
    const host = nameOf(kind, url);
    const isTaken = executor.servers.some(({ name }) => name === host);
    this.#backends.set(url, backend);
    this.#settings.set(url, settings);
    executor.addServer({ name: isTaken ? url : host, url, gpu: gpu ?? undefined, backend });
    this.#world.database.beDurable();
  }

  /** A missing headers file must not keep the service from starting: its server is away and says why. */
  #restored(row: ServerRow): void {
    try {
      this.#open(row, this.#opened(row));
    } catch (error) {
      this.#world.say('server-without-headers', { server: row.url, reason: errorMessage(error) });
      this.#open(row, this.#opened({ ...row, headersFile: null }));
    }
  }
}

const nameOf = (kind: ServerRow['kind'], url: string): string => {
  if (isSeat(url)) return `GPU ${url.slice('gpu:'.length)}`;
  return isVendor(kind) ? kind : new URL(url).host;
};

/** The longest time that one of these runs may still execute, by its limit; null if none has begun. */
function longestOf(runs: Iterable<AssignedRun>, nowMs: number): number | null {
  const leftMs = [...runs].flatMap((run) =>
    run.state.startedMs === undefined ? [] : [run.state.startedMs + timeLimitMs(run) - nowMs],
  );
  return leftMs.length === 0 ? null : Math.max(0, ...leftMs);
}

const answerOf = (backend: Backend) =>
  backend.describe().catch((error: unknown) => {
    if (error instanceof Unreachable) return error;
    throw error;
  });

async function recentOf(backend: Backend): Promise<ReadonlySet<string>> {
  return (await backend.recent?.().catch(() => undefined)) ?? new Set();
}

/** Why a run that names only unknown servers cannot be sent. */
export const missingText = (unknown: readonly string[]): string =>
  `${plural(unknown.length, 'server')} of this batch ${unknown.length === 1 ? 'is' : 'are'} not known any more: ${unknown.join(', ')}. ${againText(unknown[0] ?? '')}`;

const againText = (url: string): string =>
  isSeat(url)
    ? 'Programs run there: give the command again with --program and --gpus'
    : `To make it known again, give --comfyui ${url}; to put another one in its place: service servers --moved ${url}=<url>`;

const noServer = (name: string): RunsheetError =>
  problem('E602', { what: `no GPU server is known as ${name}`, hint: 'list them: runsheet service servers' });

const noOther = (name: string, url: string | undefined): RunsheetError =>
  url === undefined
    ? problem('E602', {
        what: `no GPU server is known as ${name}`,
        hint: `make it known first: runsheet deployments --comfyui ${name}`,
      })
    : problem('E602', { what: `${name} is the same server`, hint: 'list them: runsheet service servers' });

const inUse = (url: string, needed: string): RunsheetError =>
  problem('E602', {
    what: `${url} is needed: ${needed}`,
    hint: 'wait for them, or cancel their batch',
  });
