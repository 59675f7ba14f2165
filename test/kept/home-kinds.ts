// The kinds that are stored in the state folder of a user, and in Temporal.

import fc from 'fast-check';
import { join } from 'node:path';
import { restore, snapshot } from '../../src/batch/state/snapshot.ts';
import type { State } from '../../src/batch/state/state.ts';
import { UploadMemory } from '../../src/batches/files/file-addresses.ts';
import { placesElsewhere, rememberPlace, type Place } from '../../src/batches/known-places.ts';
import { keepLine, keptLines } from '../../src/host/kept-lines.ts';
import { keepProgram, keptProgram, type NamedProgram } from '../../src/host/settings/named-program.ts';
import { isTrusted, trust, trustNotes, type TrustSubject } from '../../src/host/settings/trust-notes.ts';
import { allowedPrograms, allowProgram } from '../../src/notices/prepare-targets.ts';
import { keepLocalService, localService } from '../../src/host/local-address.ts';
import type { ScheduleDefinition } from '../../src/schedule/schedule-definition.ts';
import { openTickets } from '../../src/schedule/tickets.ts';
import { allowOut, keptOuts } from '../../src/store/allowed-folders.ts';
import { choosePorts, type Ports } from '../../src/temporal/embedded/ports.ts';
import { readRecord, writeRecord, type StackRecord } from '../../src/temporal/embedded/stack-file.ts';
import { payloadConverter } from '../../src/temporal/encryption/labelled.ts';
import { lostOnTheWay } from '../batch/invariants.ts';
import { World } from '../batch/world.ts';
import { definitionOf } from '../schedule/definition.ts';
import { FILE } from '../store/batch-facts.ts';
import { kind } from './kind.ts';
import { count, date, dictionary, hex, list, ms, nested, recordOf, text } from './shapes.ts';

const pid = fc.option(count, { nil: undefined });
const stack = recordOf<StackRecord>(
  {
    pid: count,
    startedAt: date,
    version: text,
    reads: count,
    followers: list(count),
    control: fc.record({ port: count, word: text, answer: text }),
    temporal: fc.record({ pid, address: text, namespace: text }),
    worker: fc.record({ pid, receiver: fc.option(text, { nil: undefined }) }),
    service: fc.record({ pid, base: fc.option(text, { nil: undefined }) }),
  },
  ['version', 'reads', 'followers', 'temporal', 'worker', 'service'],
);

const path = text.map((any) => join('/tmp', any.replaceAll('\u0000', '')));

const definition: fc.Arbitrary<ScheduleDefinition> = fc
  .record({
    name: fc.constantFrom('nightly', 'a.b-c'),
    sheet: path,
    out: path,
    deployment: text,
    set: dictionary(text),
    map: dictionary(text),
    drop: list(text),
    deadlineMs: fc.option(ms, { nil: undefined }),
    reuse: fc.boolean(),
  })
  .map(({ deployment, set, map, drop, deadlineMs, ...more }) => {
    const { request, ...stored } = definitionOf({ ...more, cron: '* * * * *', timezone: 'Etc/UTC' });
    const options = { ...request.options, set, map, drop };
    return {
      ...stored,
      request: { ...request, deployment, options },
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    };
  });

/** The minute of now, which is on the rule. */
const firingOf = (now: number) => ({ nominalTime: now - (now % 60_000), run: 'r' });

/** A batch in the middle of its work: each number is an act. */
const state: fc.Arbitrary<State> = fc
  .array(fc.nat({ max: 1_000 }), { maxLength: 40 })
  .map((acts) => {
    const world = new World({ rows: 40, concurrency: 8, retries: 2 });
    for (const act of acts) {
      const planned = (['accepted', 'dropped', 'throttled', 'rejected'] as const)[act % 4] ?? 'accepted';
      if (act % 3 === 0) world.answer(act, [planned, 'accepted'], act % 5 === 0);
      else if (act % 3 === 1) world.finish(`run-${act % 20}`, act % 2 === 0 ? 'succeeded' : 'failed');
      else world.pass(act * 10);
    }
    while (world.sends.length > 0) world.answer(0, ['accepted', 'dropped']);
    return world.state;
  })
  .filter(({ groups, closing }) => groups.size === 0 && !closing);

const named = fc.string({ unit: fc.constantFrom('a', 'Z', '7', '_'), minLength: 1, maxLength: 20 });
const namedProgram = recordOf<NamedProgram>(
  {
    name: named,
    command: text.map((any) => `echo ${any}`),
    stays: fc.constant(true),
    folder: path,
    environment: dictionary(text),
    secrets: list(named),
    files: dictionary(text),
    inputs: fc.option(fc.dictionary(named, nested, { noNullPrototype: true })),
    runTimeoutSeconds: fc.integer({ min: 1, max: 1e6 }),
  },
  ['stays'],
);

export const HOME_KINDS = [
  kind<NamedProgram>({
    name: 'program of a user',
    made: namedProgram,
    restored: (original, folder) => keptProgram(folder, keepProgram(folder, original)),
  }),
  kind<StackRecord>({
    name: 'record of the stack',
    made: stack,
    restored: (record, folder) => {
      writeRecord(folder, record);
      return readRecord(folder) as StackRecord;
    },
  }),
  kind<{ readonly base: string; readonly token: string }>({
    name: 'address of the local service',
    made: fc.record({ base: text, token: hex(64) }),
    restored: (address, folder) => {
      keepLocalService(folder, address);
      const { base = '', key } = localService(folder) ?? {};
      return { base, token: key?.value ?? '' };
    },
  }),
  kind<readonly string[]>({
    name: 'folders of batches',
    made: fc.uniqueArray(path, { maxLength: 4 }),
    restored: (outs, folder) => {
      for (const out of outs) allowOut({ home: folder, out });
      return keptOuts(folder);
    },
  }),
  kind<readonly string[]>({
    name: 'programs of notifications',
    made: fc.uniqueArray(path, { maxLength: 4 }),
    restored: (programs, folder) => {
      for (const program of programs) allowProgram(folder, program);
      return allowedPrograms(folder);
    },
  }),
  kind<readonly string[]>({
    name: 'any text in a list',
    made: fc.uniqueArray(text, { maxLength: 6 }),
    restored: (texts, folder) => {
      for (const line of texts) keepLine(join(folder, 'list'), line);
      return keptLines(join(folder, 'list'));
    },
  }),
  kind<TrustSubject>({
    name: 'trusted file',
    made: fc.record({ path, content: nested }),
    restored: (program, folder) => {
      trust(folder, program);
      const { path: kept = '' } = trustNotes(folder)[0] ?? {};
      return { path: kept, content: isTrusted(folder, program) ? program.content : 'not trusted' };
    },
  }),
  kind<Pick<Place, 'out' | 'home' | 'batch' | 'mark'>>({
    name: 'known place',
    made: fc.record(
      { out: path, home: path, batch: text, mark: hex(16) },
      { requiredKeys: ['out', 'batch', 'mark'] },
    ),
    restored: async ({ out, home, batch, mark }, folder) => {
      const file = { ...FILE, batch, mark };
      rememberPlace(folder, { out, home, file });
      const [{ path: _, ...place } = { path: '', out: '', batch: '', mark: '' }] = await placesElsewhere(
        folder,
        {
          out: 'elsewhere',
          file,
        },
      );
      return place;
    },
  }),
  kind<{ readonly base: string; readonly sha256: string; readonly address: string }>({
    name: 'address of an upload',
    made: fc.record({ base: text, sha256: hex(64), address: text }),
    restored: ({ base, sha256, address }, folder) => {
      {
        using before = new UploadMemory(folder, base);
        before.add(sha256, address, undefined);
      }
      using after = new UploadMemory(folder, base);
      return { base, sha256, address: after.get(sha256) ?? '' };
    },
  }),
  kind<ScheduleDefinition>({
    name: 'schedule, and its ticket',
    made: definition,
    restored: (original, folder) => {
      openTickets(folder).write(original);
      const fromTemporal = payloadConverter.fromPayload<ScheduleDefinition>(
        payloadConverter.toPayload(original),
      );
      const now = Date.now();
      const refusal = openTickets(folder).refusal(fromTemporal, firingOf(now), now);
      const isLast = openTickets(folder).isLast(original, firingOf(now));
      if (refusal !== undefined || !isLast) throw new Error(`the ticket is lost: ${refusal}`);
      return fromTemporal;
    },
  }),
  kind<State>({
    name: 'snapshot',
    made: state,
    restored: (before) => {
      const travels = payloadConverter.fromPayload<ReturnType<typeof snapshot>>(
        payloadConverter.toPayload(snapshot(before)),
      );
      const lost = lostOnTheWay(before, restore(travels));
      if (lost.length > 0) throw new Error(`${lost.join()} of the state is lost`);
      return before;
    },
  }),
  kind<null>({
    name: 'ports',
    made: fc.constant(null),
    runs: 1,
    restored: async (_, folder) => {
      const ports: Ports = await choosePorts(folder);
      const again = await choosePorts(folder);
      if (JSON.stringify(again) !== JSON.stringify(ports))
        throw new Error(`other ports: ${JSON.stringify(again)}`);
      return null;
    },
  }),
];
