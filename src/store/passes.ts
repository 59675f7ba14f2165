// The passes of a batch: the first one starts it; each further one rebuilds it, or sends rows again. A pass is a file
// with the next number, created once, so of two concurrent commands one is first.

import { jsonIn } from '../errors/outside-text.ts';
import { z } from 'zod';
import type { Snapshot } from '../batch/state/snapshot.ts';
import type { PassSegment } from '../batch/state/lanes.ts';
import { problem } from '../errors/error.ts';
import { lastNumber } from './batch-file.ts';
import type { StartedFile } from './started.ts';
import type { Store } from './store.ts';

const count = z.number().int().nonnegative();

const schema = z.object({
  at: z.iso.datetime(),
  kind: z.enum(['recover', 'retry', 'append']),
  by: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  /** Whether the rows of the pass have inputs that differ from the sheet. */
  isChanged: z.literal(true).exactOptional(),
  /** New rows, after all earlier ones: how many, and the folder of their pages in the layout. */
  appended: z.object({ folder: z.string(), rows: count.min(1) }).exactOptional(),
  /** The places of the rows. */
  segments: z.array(
    z.object({
      lane: count,
      gpu: z.string().exactOptional(),
      first: count.min(1),
      count: count.min(1),
      isNew: z.literal(true).exactOptional(),
    }),
  ),
});

export type PassFile = z.infer<typeof schema>;

export const FIRST_PASS = 1;
export const PASSES = 'passes';

export const passName = (pass: number): string => `${PASSES}/${numbered(pass)}.json`;

const numbered = (pass: number): string => String(pass).padStart(5, '0');

/** The newest pass; 1 for a batch that was neither rebuilt nor sent again. */
export const newestPass = async (store: Store): Promise<number> =>
  Math.max(FIRST_PASS, await lastNumber(store, PASSES));

const PASS_NAME = /^passes\/(\d{5,})\.json$/;
export const isPassName = (name: string): boolean => PASS_NAME.test(name);
export const numberOfPass = (name: string): number => Number(PASS_NAME.exec(name)?.[1]);

export const passIn = (text: string): PassFile | undefined => schema.safeParse(jsonIn(text)).data;

export const passText = (file: PassFile): string => `${JSON.stringify(file)}\n`;

/** False if another command has created this pass. */
export const createPass = (store: Store, pass: number, file: PassFile): Promise<boolean> =>
  store.create(passName(pass), passText(file));

/** Throws E504 if the file is missing or invalid. */
export async function readPass(store: Store, pass: number): Promise<PassFile> {
  const name = passName(pass);
  const content = passIn((await store.read(name)) ?? '');
  if (content !== undefined) return content;
  throw problem('E504', { what: `${store.location}/${name} is no pass of this version` });
}

/** The segments that the passes after `after` have added, up to `through`. */
export async function readSegments(
  store: Store,
  after: number,
  through: number,
): Promise<readonly PassSegment[]> {
  return (await readPasses(store, after, through)).flatMap(({ segments }) => segments);
}

export async function readPasses(store: Store, after: number, through: number): Promise<readonly PassFile[]> {
  const passes: PassFile[] = [];
  for (let pass = after + 1; pass <= through; pass += 1) passes.push(await readPass(store, pass));
  return passes;
}

/** `confirm`: called after the current file was read; throws if another worker is writing it now. */
export const writeSnapshot = (
  store: Store,
  pass: number,
  closed: Snapshot,
  confirm: () => Promise<void>,
): Promise<void> =>
  store.update(snapshotName(pass), async () => {
    await confirm();
    return `${JSON.stringify(closed)}\n`;
  });

/** The state of the batch when it ended, from which the next pass continues. */
export const snapshotName = (pass: number): string => `snapshots/${numbered(pass)}.json`;

/** The workflow run that continues the batch after it ended with this pass; created once. */
export const createContinued = (
  store: Store,
  pass: number,
  workflow: StartedFile['workflow'],
): Promise<boolean> => store.create(continuedName(pass), `${JSON.stringify(workflow)}\n`);

export async function readContinued(
  store: Store,
  pass: number,
): Promise<StartedFile['workflow'] | undefined> {
  return jsonIn((await store.read(continuedName(pass))) ?? '') as StartedFile['workflow'] | undefined;
}

/** How many times the batch was continued after an end. */
export const countContinued = async (store: Store): Promise<number> =>
  (await store.list(PASSES)).filter((name) => name.endsWith(CONTINUED)).length;

const CONTINUED = '-continued.json';
/** The file that says which workflow run continued a batch after its end. */
export const continuedName = (pass: number): string => `${PASSES}/${numbered(pass)}${CONTINUED}`;
