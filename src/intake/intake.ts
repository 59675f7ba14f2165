// A sheet and its options become a batch: copied, named after their content, laid out, frozen. Nothing is sent here.

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { capMost, UNCERTAIN_MS } from '../batch/limits.ts';
import { DEFAULT_TIMING, type Timing, type UncertainRule } from '../batch/order.ts';
import { problem } from '../errors.ts';
import type { Api } from '../run-service/api.ts';
import { LOCAL } from '../run-service/local.ts';
import type { Deployment } from '../run-service/contract/deployment.ts';
import type { SheetOptions } from '../sheet/options.ts';
import { ERRORS_FILE } from '../sheet/refusal.ts';
import { layOut, type LaidOut } from '../sheet/sheet.ts';
import { BATCH_FILE, readBatchFile, writeBatchFile, type BatchFile } from '../store/batch-file.ts';
import { folderStore } from '../store/folder.ts';
import { COPY, stemOf, type SheetCopy } from './copy.ts';
import { isLeft } from './leavings.ts';

/** How the sheet is read, but for its format, which the copy tells. */
type IntakeOptions = Omit<SheetOptions, 'format'>;

export type IntakeOrder = {
  readonly copy: SheetCopy;
  /** Where batch folders lie. */
  readonly out: string;
  /** The batch id, where the user gave one. */
  readonly name?: string;
  /** A new batch even where the same one was made before. */
  readonly again: boolean;
  readonly options: IntakeOptions;
  readonly deployment: Deployment;
  readonly service: {
    /** The API's base address, or `local`. */
    readonly base: string;
    readonly api: Api;
    readonly rehearsal: boolean;
    readonly timing: Timing | undefined;
    readonly prices: Readonly<Record<string, number>>;
  };
  /** Runs outstanding at once; by the deployment's own limit where not given. */
  readonly cap?: number;
  readonly retries: number;
  /** Without a time of its own, the rule's is the service's. */
  readonly onUncertain: { readonly rule: UncertainRule['rule']; readonly afterMs?: number };
  readonly deadlines: { readonly queueMs: number; readonly runMs?: number };
  readonly webhooks: boolean;
};

export type Intake = {
  readonly batch: string;
  readonly folder: string;
  readonly file: BatchFile;
  /** What was laid out; undefined where this batch was made before. */
  readonly laidOut: LaidOut | undefined;
};

/** Throws what is wrong with the sheet, with all of its places in errors.csv. The copy becomes part of the batch. */
export async function takeIn(order: IntakeOrder): Promise<Intake> {
  const { deployment, service } = order;
  const named = { ...order, base: service.base, deploymentId: deployment.id };
  const id = idOf(named);
  const batch = order.again ? nextFree(order.out, id) : id;
  const folder = join(order.out, batch);
  const known = order.again ? undefined : await knownBatch(folder, contentOf(named));
  return known ? { batch, folder, file: known, laidOut: undefined } : makeBatch(order, batch);
}

/** What a batch is named after; see {@link idOf}. */
export type Named = Pick<IntakeOrder, 'copy' | 'name' | 'retries'> & {
  readonly options: IntakeOptions;
  readonly base: string;
  readonly deploymentId: string;
};

/**
 * The batch of this sheet, where it was made before, found without asking the service: by a deployment of that id or name.
 */
export async function findMade(
  out: string,
  named: Omit<Named, 'deploymentId'>,
  wanted: string,
): Promise<{ readonly batch: string; readonly folder: string; readonly file: BatchFile } | undefined> {
  const names = existsSync(out)
    ? readdirSync(out).filter((name) => existsSync(join(out, name, BATCH_FILE)))
    : [];
  for (const batch of names) {
    const folder = join(out, batch);
    // One that this version cannot read was not made by this command.
    const file = await readBatchFile(folderStore(folder)).catch(() => undefined);
    const { id = '', name } = file?.deployment ?? {};
    // Elsewhere a name may stand for another deployment by now, and only the service knows.
    const isMeant = id === wanted || (named.base === LOCAL && name === wanted);
    const asked = { ...named, deploymentId: id };
    if (file && isMeant && idOf(asked) === batch && file.content === contentOf(asked))
      return { batch, folder, file };
  }
  return undefined;
}

/** The same batch made before. A name that stands for anything else is refused. */
async function knownBatch(folder: string, content: string): Promise<BatchFile | undefined> {
  const file = existsSync(folder) ? await readBatchFile(folderStore(folder)) : undefined;
  if (file === undefined || file.content === content) return file;
  throw problem('E602', {
    what: `the batch "${file.batch}" was made of another sheet, deployment or options (${file.sheet.name}, ${file.createdAt})`,
    hint: 'give another --name, or --again for a new batch beside it',
  });
}

/** Laid out where nobody looks, and then put in its place at once: two commands may be making the same batch. */
async function makeBatch(order: IntakeOrder, batch: string): Promise<Intake> {
  const { copy } = order;
  const options: SheetOptions = { ...order.options, format: copy.format };
  const folder = join(order.out, batch);
  await makeRoom(folder);
  await rename(join(copy.folder, COPY), join(copy.folder, copy.file));
  // Problems name the place in which they will be found.
  const store = { ...folderStore(copy.folder), location: folderStore(folder).location };
  const { inputTypes } = order.deployment;
  const source = { name: copy.name, open: () => store.open(copy.file) };
  try {
    const laidOut = await layOut({ source, options, inputTypes, store });
    const file = frozen(order, options, batch, laidOut);
    await writeBatchFile(store, file);
    const other = await putInPlace(copy.folder, folder, file.content);
    return { batch, folder, file: other ?? file, laidOut: other === undefined ? laidOut : undefined };
  } catch (error) {
    // What is wrong with a sheet is listed beside its copy.
    if (await store.exists(ERRORS_FILE)) await putInPlace(copy.folder, folder, '');
    throw error;
  }
}

/** undefined where it stands there now; the same batch where another command was quicker. */
async function putInPlace(made: string, folder: string, content: string): Promise<BatchFile | undefined> {
  // The copy was nobody else's business; workers and readers of results may be other users.
  await chmod(made, 0o777 & ~process.umask());
  for (;;) {
    try {
      await rename(made, folder);
      return undefined;
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
    const other = await knownBatch(folder, content);
    if (other !== undefined) return other;
    await makeRoom(folder);
  }
}

/** Takes away a sheet that was refused, or a laying out that was interrupted. Throws E602 for any other folder. */
async function makeRoom(folder: string): Promise<void> {
  const aside = join(dirname(folder), `.left-${randomUUID()}`);
  try {
    if (!existsSync(folder) || existsSync(join(folder, BATCH_FILE))) return;
    if (readdirSync(folder).length > 0 && !isLeft(folder))
      throw problem('E602', {
        what: `${folder} is there already, and it is no batch`,
        hint: 'give another --name or another --out',
      });
    await rename(folder, aside);
  } catch (error) {
    // Another command made room at the same time.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  // It was put there between the look and the taking.
  if (existsSync(join(aside, BATCH_FILE))) await rename(aside, folder);
  else await rm(aside, { recursive: true, force: true });
}

function frozen(order: IntakeOrder, options: SheetOptions, batch: string, laidOut: LaidOut): BatchFile {
  const { copy, deployment, service } = order;
  const { inputTypes: _, ...known } = deployment;
  const timing = service.timing ?? DEFAULT_TIMING;
  return {
    format: 1,
    batch,
    content: contentOf({ ...order, base: service.base, deploymentId: deployment.id }),
    createdAt: new Date().toISOString(),
    sheet: {
      name: copy.name,
      file: copy.file,
      sha256: copy.sha256,
      bytes: copy.bytes,
      options: { ...options, drop: [...options.drop] },
      columns: [...laidOut.columns],
      inputs: [...laidOut.inputs],
      rows: laidOut.rows,
      pages: laidOut.pages,
      repeats: laidOut.repeats.count,
    },
    deployment: { id: deployment.id, ...definedOnly(known) },
    service: { ...service, timing, prices: { ...service.prices } },
    cap: capOf(order),
    retries: order.retries,
    uncertain: uncertainRule(order, timing),
    deadlines: {
      queueMs: order.deadlines.queueMs,
      runMs: order.deadlines.runMs ?? runDeadlineMs(deployment),
    },
    webhooks: order.webhooks,
    seed: Number.parseInt(copy.sha256.slice(0, 7), 16),
  };
}

// A deployment that does not tell its limit, and what a run may take beyond one: it is only ended when nobody else does.
const RUN_DEADLINE_MS = 2 * 3_600_000;
const RUN_MARGIN_MS = 300_000;

/** On a rehearsal nobody waits for a day; nor does who has decided that the row shall fail. */
function uncertainRule({ onUncertain, service }: IntakeOrder, timing: Timing): UncertainRule {
  const soonMs = timing.postDeadlineMs + timing.settleWithoutControlMs;
  const usualMs = service.rehearsal || onUncertain.rule === 'fail' ? soonMs : UNCERTAIN_MS;
  return { rule: onUncertain.rule, afterMs: onUncertain.afterMs ?? usualMs };
}

/** The machine ends a run by itself at its limit; later than that nobody does. */
const runDeadlineMs = ({ runTimeoutSeconds }: Deployment): number =>
  runTimeoutSeconds === undefined ? RUN_DEADLINE_MS : runTimeoutSeconds * 1000 + RUN_MARGIN_MS;

const definedOnly = <T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as ReturnType<
    typeof definedOnly<T>
  >;

/** Twice the deployment's own limit keeps its machines busy; a service that does not tell gets few. */
function capOf({ cap, deployment, retries }: Pick<IntakeOrder, 'cap' | 'deployment' | 'retries'>): number {
  return Math.min(
    capMost(retries),
    cap ?? (deployment.concurrencyLimit === undefined ? 4 : 2 * deployment.concurrencyLimit),
  );
}

/** Whatever changes which runs are bought is part of the name; how fast and where results go is not. */
function idOf(named: Named): string {
  return named.name ?? `${stemOf(named.copy.name)}-${contentOf(named).slice(0, 12)}`;
}

function contentOf({ copy, options, base, deploymentId, retries }: Named): string {
  const { sha256, format } = copy;
  const content = { sheet: sha256, deployment: deploymentId, base, options: { ...options, format }, retries };
  return createHash('sha256')
    .update(JSON.stringify(sorted(content)))
    .digest('hex');
}

/** The same words in another order are the same order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}

function nextFree(out: string, id: string): string {
  for (let number = 2; ; number += 1) {
    const name = `${id}-${number}`;
    if (!existsSync(join(out, name))) return name;
  }
}
