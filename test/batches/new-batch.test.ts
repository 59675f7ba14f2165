import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { paramsOf } from '../../src/store/batch-file.ts';
import { ASKED, type CreationParams, filesBelow, Place, wholeBatch } from './creating.ts';

const AT_ONCE = 6;
const ROUNDS = 5;

let place: Place;
beforeEach(() => (place = new Place()));

describe('the same sheet given several times concurrently', () => {
  const together = (name: string): Promise<readonly PromiseSettledResult<CreatedBatch>[]> =>
    Promise.allSettled(Array.from({ length: AT_ONCE }, () => place.create(name)));

  it('is one complete batch for all of them', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const rows = Array.from({ length: 700 + round }, (_, at) => `${at}\n`).join('');
      place.write(`round-${round}.csv`, `number\n${rows}`);
      const taken = await together(`round-${round}.csv`);
      expect(taken.map(({ status }) => status)).toEqual(taken.map(() => 'fulfilled'));
      const made = taken.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
      const [{ folder, file }] = made as [CreatedBatch];
      expect(new Set(made.map((batch) => batch.folder))).toEqual(new Set([folder]));
      expect(new Set(made.map((batch) => batch.file.mark)).size).toBe(1);
      expect(made.filter(({ laidOut }) => laidOut !== undefined)).toHaveLength(1);
      expect(filesBelow(folder)).toEqual(wholeBatch(file));
    }
    expect(place.names()).toHaveLength(ROUNDS);
  });

  it('with errors is refused each time, and each refusal names its own list of problems', async () => {
    place.write('wrong.csv', 'number,number\n1,2\n');
    const taken = await together('wrong.csv');
    expect(taken.map(({ status }) => status)).toEqual(taken.map(() => 'rejected'));
    place.write('bad.csv', 'gpu\nNOPE\n');
    const bad = await together('bad.csv');
    expect(bad.map(({ status }) => status)).toEqual(bad.map(() => 'rejected'));
    expect(place.names()).toEqual(['bad-errors.csv']);
    expect(readFileSync(join(place.out, 'bad-errors.csv'), 'utf8')).toContain('NOPE');
  });

  it('with --again is a separate batch for each of them', async () => {
    place.write('sheet.csv', 'number\n1\n2\n');
    const first = await place.create('sheet.csv');
    const laterBatches = await Promise.all(
      Array.from({ length: AT_ONCE }, () => place.create('sheet.csv', { again: true })),
    );
    const batches = [first, ...laterBatches];
    expect(new Set(batches.map(({ batch }) => batch)).size).toBe(AT_ONCE + 1);
    expect(new Set(batches.map(({ file }) => file.mark)).size).toBe(AT_ONCE + 1);
    for (const { folder, file, batch } of batches) {
      expect(filesBelow(folder)).toEqual(wholeBatch(file));
      expect([file.batch, batch.startsWith(first.batch)]).toEqual([batch, true]);
    }
    expect(place.names()).toHaveLength(AT_ONCE + 1);
  });
});

const ROWS = [
  { prompt: 'a fox, red', seed: '18446744073709551615', gpu: 'A10G' },
  { prompt: 'ein Fuchs „grün“', seed: '7', gpu: '' },
] as const;
const csv = (separator: string, end: string, columns: readonly (keyof (typeof ROWS)[0])[]): string =>
  [columns, ...ROWS.map((row) => columns.map((column) => row[column]))]
    .map((cells) => cells.map((cell) => (/[,"]/.test(cell) ? `"${cell}"` : cell)).join(separator) + end)
    .join('');
const GIVEN = csv(',', '\n', ['prompt', 'seed', 'gpu']);

describe('the same rows find the same batch', () => {
  const jsonl = ROWS.map(
    ({ prompt, seed, gpu }) =>
      `{"seed": ${seed}, "prompt": ${JSON.stringify(prompt)}${gpu && `, "gpu": "${gpu}"`}}\n`,
  );
  const ways: readonly (readonly [string, string, string])[] = [
    ['in a file of another name', 'Renamed Sheet (2).csv', GIVEN],
    ['with other line ends', 'sheet.csv', csv(',', '\r\n', ['prompt', 'seed', 'gpu'])],
    ['with a byte order mark', 'sheet.csv', `\uFEFF${GIVEN}`],
    ['with its columns in another order', 'sheet.csv', csv(',', '\n', ['gpu', 'seed', 'prompt'])],
    ['without the last line end', 'sheet.csv', GIVEN.trimEnd()],
    ['with an empty line between', 'sheet.csv', GIVEN.replace('\n', '\n\n')],
    ['as TSV', 'sheet.tsv', csv('\t', '\n', ['prompt', 'seed', 'gpu'])],
    ['as JSON lines', 'sheet.jsonl', jsonl.join('')],
    ['as a JSON array', 'sheet.json', `[${jsonl.join(',')}]`],
  ];

  it.each(ways)('%s', async (_, name, content) => {
    place.write('sheet.csv', GIVEN);
    const first = await place.create('sheet.csv');
    const kept = filesBelow(first.folder);
    place.write(name, content);
    const second = await place.create(name);
    expect([second.batch, second.file]).toEqual([first.batch, first.file]);
    expect(second.laidOut).toBeUndefined();
    expect([place.names(), filesBelow(first.folder)]).toEqual([[first.batch], kept]);
  });

  it('with another delimiter and encoding, and with other columns for the inputs', async () => {
    place.write('sheet.csv', GIVEN);
    const first = await place.create('sheet.csv');
    const text = `note;words;seed;card\nx;${ROWS[0].prompt};${ROWS[0].seed};A10G\ny;${ROWS[1].prompt};7;\n`;
    place.write('other.csv', Buffer.from(text, 'utf16le'));
    const reading = { delimiter: ';', encoding: 'utf-16le', gpuColumn: 'card' };
    const options = { ...ASKED.options, map: { prompt: 'words' }, drop: ['note'], ...reading };
    expect((await place.create('other.csv', { options })).batch).toBe(first.batch);
  });

  it('with other settings', async () => {
    place.write('sheet.csv', GIVEN);
    const first = await place.create('sheet.csv');
    const settings = { concurrency: 7, retries: 5, deadlines: { runMs: 1_000 }, webhooks: false };
    expect((await place.create('sheet.csv', { settings })).file).toEqual(first.file);
  });

  it('and the oldest one if --again created a second', async () => {
    place.write('sheet.csv', GIVEN);
    const first = await place.create('sheet.csv');
    const again = await place.create('sheet.csv', { again: true });
    expect((await place.create('sheet.csv')).batch).toBe(first.batch);
    expect((await place.create('sheet.csv', { name: again.batch })).file).toEqual(again.file);
  });
});

describe('another batch is created for', () => {
  const { options, deployment, service } = ASKED;
  const otherContents: readonly (readonly [string, string, CreationParams])[] = [
    ['has another row', `${GIVEN}another,1,\n`, {}],
    ['lacks a row', GIVEN.split('\n').slice(0, 2).join('\n'), {}],
    ['has its rows in another order', [0, 2, 1].map((at) => GIVEN.split('\n')[at]).join('\n'), {}],
    ['asks for another GPU in a row', GIVEN.replace('A10G', 'T4'), {}],
    ['asks for another GPU by a flag', GIVEN, { options: { ...options, gpu: 'T4' } }],
    ['has a digit more', GIVEN.replace('615,', '616,'), {}],
    ['sets an input', GIVEN, { options: { ...options, set: { steps: '20' } } }],
    ['leaves an input out', GIVEN, { options: { ...options, drop: ['seed'] } }],
    ['takes a number for a text', GIVEN, { options: { ...options, types: { seed: 'string' } } }],
    ['names its rows by a column', GIVEN, { options: { ...options, keyColumn: 'seed' } }],
    ['stops earlier', GIVEN, { options: { ...options, limit: 1 } }],
    ['is for another deployment', GIVEN, { deployment: { ...deployment, id: randomUUID() } }],
    ['is for another service', GIVEN, { service: { ...service, base: 'https://elsewhere.example/api' } }],
  ];

  it.each(otherContents)('%s', async (_, text, params) => {
    place.write('sheet.csv', GIVEN);
    const first = await place.create('sheet.csv');
    place.write('other.csv', text);
    const otherBatch = await place.create('other.csv', params);
    expect(otherBatch.file.content).not.toBe(first.file.content);
    expect(place.names()).toEqual([first.batch, otherBatch.batch].sort());
    expect(filesBelow(otherBatch.folder)).toEqual(wholeBatch(otherBatch.file));
  });
});

describe('a batch with a limit of the cost', () => {
  const settings = { ...ASKED.settings, maxCostNano: 20e9 };

  it('is not created if the cost of a run has no known bound', async () => {
    place.write('sheet.csv', 'number\n1\n');
    await expect(place.create('sheet.csv', { settings })).rejects.toMatchObject({ code: 'E312', exit: 2 });
    expect(place.hasBatch()).toBe(false);
  });

  it('gives its workflow the limit, and the most that a run can cost on each GPU', async () => {
    place.write('sheet.csv', 'number,gpu\n1,H100\n2,\n');
    const deployment = { ...ASKED.deployment, gpu: 'T4', runTimeoutSeconds: 300 };
    const { file } = await place.create('sheet.csv', { settings, deployment });
    expect(paramsOf(file, { webhooks: true, lists: true, pass: 1 })).toMatchObject({
      maxCostNano: 20e9,
      attemptCostNano: { H100: 1_402_800_000, T4: 108_000_000 },
    });
  });
});
