// Goes through each door with the sheet of a scene, with and without the answer to its question.

import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createBatch } from '../../activities/create-batch.ts';
import { createFiring } from '../../activities/create-firing.ts';
import { acceptedBy } from '../../src/batches/given-options.ts';
import { RunsheetError } from '../../src/errors/error.ts';
import { loadConfig } from '../../src/host/settings/config.ts';
import { Runsheet } from '../../src/library/runsheet.ts';
import { Servers } from '../../src/library/servers.ts';
import type { Session } from '../../src/library/session.ts';
import { SavedSheet } from '../../src/library/watched/saved-sheet.ts';
import { openDownloads } from '../../src/host/http/download.ts';
import { definitionFrom } from '../../src/schedule/schedule-definition.ts';
import { batchCallOf } from '../../workflows/run-batch.ts';
import { depsOf } from '../activities/deps.ts';
import type { Said } from '../stage/in-process.ts';
import type { Scene } from './scene.ts';
import type { Door, Question } from './table.ts';

/** The result of a door: the code of its error, if any, and its output. */
export type Done = { readonly code: string | undefined; readonly said: string };

/** The answers of a command line, and of a program. */
const FLAGS: Readonly<Partial<Record<Question, readonly string[]>>> = {
  guesses: ['--encoding', 'windows-1252'],
  earlier: ['--again'],
  open: ['--again'],
  undelivered: ['--again'],
  moved: ['--moved-files', 'keep'],
  elsewhere: ['--again'],
  changed: ['--again'],
  ofBatch: ['--again'],
  otherGpu: ['--accept-gpu'],
  manyRows: ['--limit', '27'],
  outsideFiles: ['--accept-files'],
  boughtBefore: ['--yes'],
  boughtSince: ['--yes'],
};
const OPTIONS: Readonly<Partial<Record<Question, object>>> = {
  guesses: { guess: 'accept' },
  earlier: { reuse: 'again' },
  open: { reuse: 'again' },
  undelivered: { reuse: 'again' },
  moved: { movedFiles: 'keep' },
  elsewhere: { reuse: 'again' },
  changed: { reuse: 'again' },
  ofBatch: { reuse: 'again' },
  otherGpu: { acceptGpu: true },
  manyRows: { limit: 27 },
  outsideFiles: { acceptFiles: true },
  boughtBefore: { mayBuyTwice: true },
  boughtSince: { mayBuyTwice: true },
};
/** An option that has no effect if the batch exists. */
const IN_VAIN: readonly string[] = ['--reserve', 'p99'];

type DoorInput = { readonly scene: Scene; readonly question: Question; readonly isAnswered: boolean };

const ofCommand = ({ stdout, stderr }: Said): Done => ({
  code: /error\[(E\d+)\]/.exec(stderr)?.[1],
  said: stdout + stderr,
});

function command(words: (scene: Scene, isAnswered: boolean) => readonly string[], isTerminal = false) {
  return async ({ scene, question, isAnswered }: DoorInput): Promise<Done> => {
    scene.console.isTerminal = isTerminal;
    const more = question === 'settings' ? IN_VAIN : isAnswered ? (FLAGS[question] ?? []) : [];
    return ofCommand(await scene.console.run(...words(scene, isAnswered), ...more));
  };
}

/** Errors carry codes, also those of activities. */
async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof RunsheetError) return error.code;
    if (error instanceof ApplicationFailure) return error.type ?? '';
    throw error;
  }
}

function call(use: (rs: Runsheet, scene: Scene, options: object, isAnswered: boolean) => Promise<unknown>) {
  return async ({ scene, question, isAnswered }: DoorInput): Promise<Done> => {
    const said: string[] = [];
    await using rs = new Runsheet(new Servers({ onNotice: (text) => said.push(text) }));
    const inVain = question === 'settings' ? { reuse: 'reuse', reserve: 'p99' } : {};
    const options = { ...(isAnswered ? OPTIONS[question] : {}), ...inVain };
    return { code: await codeOf(use(rs, scene, options, isAnswered)), said: said.join('\n') };
  };
}

/** A limit that does not suffice; its answer is a higher one. */
const limitOf = (isAnswered: boolean): number => (isAnswered ? 100 : 0.01);

const askedOf = (question: Question, isAnswered: boolean): object => ({
  ...(question === 'manyRows' && { repeat: 9 }),
  ...(question === 'lowBudget' && { maxCost: limitOf(isAnswered) }),
});

const noSearch = async (): Promise<[]> => [];
const makerOf = () => ({
  config: { ...loadConfig(), sheets: ['/'] },
  download: openDownloads(1),
  isEmbedded: false,
  isEncrypted: false,
  servers: { pools: { show: async () => undefined }, batches: { withContent: noSearch } },
  searchAttributes: noSearch,
});

async function inActivity(work: () => Promise<unknown>): Promise<Done> {
  return { code: await codeOf(new MockActivityEnvironment().run(work)), said: '' };
}

const firing = async ({ scene, question, isAnswered }: DoorInput): Promise<Done> => {
  const { apiUrl = '', out } = loadConfig();
  const answers = isAnswered ? acceptedBy(OPTIONS[question] ?? {}) : {};
  const definition = definitionFrom({
    name: 'nightly',
    cron: '0 2 * * *',
    sheet: scene.sheet,
    out,
    reuse: question === 'moved',
    request: {
      service: { base: apiUrl, api: 'v2' },
      deployment: 'portraits',
      options: {
        map: {},
        set: {},
        drop: [],
        types: {},
        ...(isAnswered && question === 'guesses' ? { encoding: 'windows-1252' } : {}),
        ...(question === 'manyRows' ? { repeat: { by: 9 }, ...(isAnswered && { limit: 27 }) } : {}),
      },
      settings: { deadlines: {}, webhooks: true },
      order: {},
      answers,
    },
  });
  return inActivity(() =>
    createFiring(depsOf({ maker: makerOf() }), { definition, nominalTime: Date.now() }),
  );
};

const runBatch = async ({ scene, question, isAnswered }: DoorInput): Promise<Done> => {
  const options = isAnswered ? OPTIONS[question] : {};
  const settings = { deployment: 'portraits', ...options, ...askedOf(question, isAnswered) };
  return inActivity(() =>
    createBatch(depsOf({ maker: makerOf() }), batchCallOf(scene.sheet, 'one', settings)),
  );
};

const watch = async ({ scene }: DoorInput): Promise<Done> => {
  await using servers = new Servers({});
  const sheet = new SavedSheet({
    servers,
    batchFolder: scene.batch,
    path: scene.sheet,
    deployment: 'portraits',
    copying: {},
    reading: {},
    order: {},
  });
  // A save that goes on asks Temporal.
  const session = {} as Session;
  return { code: await codeOf(sheet.take(session).catch(unlessMissing)), said: '' };
};

function unlessMissing(error: unknown): void {
  if (!(error instanceof TypeError)) throw error;
}

const SHEET = ({ sheet, question }: Scene, isAnswered: boolean): readonly string[] => [
  sheet,
  '-d',
  'portraits',
  ...(question === 'manyRows' ? ['--repeat', '9'] : []),
  ...(question === 'lowBudget' ? ['--max-cost', String(limitOf(isAnswered))] : []),
];

export const GO: Readonly<Record<Door, (given: DoorInput) => Promise<Done>>> = {
  run: command((...door) => ['run', ...SHEET(...door)], true),
  submit: command((...door) => ['submit', ...SHEET(...door)]),
  plan: command((...door) => ['plan', ...SHEET(...door)]),
  create: command((...door) => ['schedule', 'create', 'nightly', ...SHEET(...door), '--cron', '0 2 * * *']),
  into: command(({ sheet }) => ['submit', sheet, '--into', 'old']),
  retry: command(({ question }) => [
    'retry',
    'old',
    ...(question === 'otherGpu' ? ['--gpu', 'H100'] : []),
    ...(question === 'boughtBefore' ? ['--outcome', 'succeeded'] : []),
  ]),
  start: call((rs, { sheet, question }, options, isAnswered) =>
    rs.start(sheet, { deployment: 'portraits', ...options, ...askedOf(question, isAnswered) }),
  ),
  append: call((rs, { sheet }, options) => rs.getHandle('old').append(sheet, options)),
  retryCall: call((rs, { question }, options) =>
    rs.getHandle('old').retry({
      ...(question === 'otherGpu' && { gpu: 'H100' }),
      ...(question === 'boughtBefore' && { outcome: ['succeeded'] }),
      ...options,
    }),
  ),
  runBatch,
  firing,
  watch,
};
