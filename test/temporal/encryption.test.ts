import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ApplicationFailure,
  defaultPayloadConverter,
  type Payload,
  type SerializationContext,
} from '@temporalio/common';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/host/settings/config.ts';
import { keepSecret } from '../../src/errors/redact.ts';
import { MockActivityEnvironment } from '@temporalio/testing';
import { ELSEWHERE, LABEL, REFUSED } from '../../src/batch/payloads/labels.ts';
import { onlyOwnInput } from '../../src/temporal/encryption/own-payloads.ts';
import { clientEncryptionWith, encryptionWith } from '../../src/temporal/encryption/codec.ts';
import { workerEncryptionWith } from '../../src/temporal/encryption/worker-codec.ts';
import { failureConverter as encryptedFailures } from '../../src/temporal/encryption/encrypted-failures.ts';
import { failureConverter as legibleFailures } from '../../src/temporal/encryption/failures.ts';
import { payloadKeys, type PayloadKeys } from '../../src/temporal/encryption/payload-keys.ts';
import { leaksIn } from '../secrets/search.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const [OLD, NEW] = [randomBytes(32).toString('hex'), randomBytes(32).toString('base64')];
const keysFrom = (key: string, more: Readonly<Record<string, string>> = {}): PayloadKeys =>
  payloadKeys(loadConfig({ ...(key ? { RUNSHEET_PAYLOAD_KEY: key } : {}), ...more }), 'cluster');

const of = (workflowId: string): SerializationContext => ({ type: 'workflow', namespace: 'n', workflowId });
const OURS = of('runsheet:ours');
const plain = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const valueOf = (payload: Payload | undefined): unknown =>
  payload && defaultPayloadConverter.fromPayload(payload);

async function encrypt(
  value: unknown,
  key = NEW,
  context: SerializationContext | undefined = OURS,
): Promise<Payload> {
  const [payload] = await encryptionWith(keysFrom(key)).encode([plain(value)], context);
  return payload ?? {};
}

const read = async (payload: Payload, keys: PayloadKeys, context: SerializationContext | undefined = OURS) =>
  valueOf((await encryptionWith(keys).decode([payload], context))[0]);

describe('an encrypted payload', () => {
  it('decrypts to its content, whatever that is, and reveals nothing of it', async () => {
    const values = fc.array(fc.oneof(fc.jsonValue(), fc.uint8Array(), fc.constant(undefined)), {
      maxLength: 3,
    });
    const codec = encryptionWith(keysFrom(NEW));
    await fc.assert(
      fc.asyncProperty(values, async (originals) => {
        const encoded = await codec.encode(originals.map(plain), OURS);
        const back = await codec.decode(encoded, OURS);
        expect(back.map(valueOf)).toEqual(originals.map((value) => valueOf(plain(value))));
      }),
    );
    const payload = await encrypt({ prompt: 'a planted prompt' });
    expect(
      leaksIn(JSON.stringify(Object.values(payload.metadata ?? {}).map(String)), { prompt: 'planted' }, ''),
    ).toEqual([]);
    expect(leaksIn(payload.data ?? '', { prompt: 'planted' }, '')).toEqual([]);
  });

  it('never has the same bytes twice', async () => {
    const payloads = await Promise.all(Array.from({ length: 100 }, () => encrypt('the same')));
    expect(
      new Set(
        payloads.map(({ data }) =>
          Buffer.from(data ?? [])
            .subarray(0, 12)
            .toString('hex'),
        ),
      ).size,
    ).toBe(100);
  });

  it('is decrypted with any of the keys, and encrypted with the first', async () => {
    const both = keysFrom(`${NEW}\n${OLD}`);
    expect(await read(await encrypt('old', OLD), both)).toBe('old');
    expect(await read(await encrypt('new', NEW), both)).toBe('new');
    const [written] = await encryptionWith(both).encode([plain('by both')], OURS);
    expect(await read(written ?? {}, keysFrom(NEW))).toBe('by both');
  });

  it('without its key is refused with E407, which names the key id and shows no key', async () => {
    const { id = '' } = keysFrom(NEW).keys[0] ?? {};
    const message = new RegExp(`${id}.* but no payload key is set here`);
    await expect(read(await encrypt('x'), keysFrom(''))).rejects.toMatchObject({
      code: 'E407',
      message: expect.stringMatching(message),
    });
    const otherKeys = keysFrom(OLD);
    await expect(read(await encrypt('x'), otherKeys)).rejects.toMatchObject({
      code: 'E407',
      message: expect.stringContaining(otherKeys.keys[0]?.id ?? 'none'),
    });
  });

  it('with any changed byte, or from another workflow, is refused with E409', async () => {
    const payload = await encrypt('x');
    const data = payload.data ?? new Uint8Array();
    for (const at of data.keys()) {
      const changed = data.map((byte, index) => (index === at ? byte ^ 1 : byte));
      await expect(read({ ...payload, data: changed }, keysFrom(NEW))).rejects.toMatchObject({
        code: 'E409',
      });
    }
    await expect(read({ ...payload, data: new Uint8Array(3) }, keysFrom(NEW))).rejects.toMatchObject({
      code: 'E409',
    });
    await expect(read(payload, keysFrom(NEW), of('runsheet:another'))).rejects.toMatchObject({
      code: 'E409',
    });
    const renamed = {
      ...payload,
      metadata: { ...payload.metadata, 'encryption-owner': Buffer.from('runsheet:another') },
    };
    await expect(read(renamed, keysFrom(NEW), of('runsheet:another'))).rejects.toMatchObject({
      code: 'E409',
    });
  });
});

describe('a plain payload', () => {
  it('is read without a key, and refused with E408 with one', async () => {
    expect(await read(plain('x'), keysFrom(''))).toBe('x');
    await expect(read(plain('x'), keysFrom(NEW))).rejects.toMatchObject({
      code: 'E408',
      hint: expect.stringContaining('RUNSHEET_PAYLOAD_PLAIN=read'),
    });
  });

  it('is read with RUNSHEET_PAYLOAD_PLAIN=read, for a batch that was started without a key; new payloads are encrypted', async () => {
    const moving = keysFrom(NEW, { RUNSHEET_PAYLOAD_PLAIN: 'read' });
    expect(await read(plain('x'), moving)).toBe('x');
    const [written] = await encryptionWith(moving).encode([plain('y')], OURS);
    await expect(read(written ?? {}, keysFrom(''))).rejects.toMatchObject({ code: 'E407' });
  });
});

describe('a payload under a label', () => {
  const activity = (activityId: string) =>
    ({ type: 'activity', namespace: 'n', workflowId: 'runsheet:ours', activityId, isLocal: false }) as const;
  const sealed = async (label: string, context: SerializationContext = OURS): Promise<Payload> => {
    const { metadata, ...payload } = plain('x');
    const labelled = { ...payload, metadata: { ...metadata, [LABEL]: Buffer.from(label) } };
    const [written = {}] = await encryptionWith(keysFrom(NEW)).encode([labelled], context);
    return written;
  };

  it('names it openly, and is refused under any other one', async () => {
    const payload = await sealed('signal pause input');
    expect(String(payload.metadata?.['encryption-label'])).toBe('signal pause input');
    const renamed = { ...payload.metadata, 'encryption-label': Buffer.from('signal resume input') };
    await expect(read({ ...payload, metadata: renamed }, keysFrom(NEW))).rejects.toMatchObject({
      code: 'E409',
    });
  });

  it('of an activity is for this call only, and no other payload is for an activity', async () => {
    const call = 'activity queueRuns result 7@run';
    expect(await read(await sealed(call, activity('7')), keysFrom(NEW), activity('7'))).toBe('x');
    for (const [label, context] of [
      [call, activity('8')],
      [call, OURS],
      ['signal pause input', activity('7')],
      ['workflow runsheetBatch input', activity('7')],
    ] as const)
      await expect(read(await sealed(label), keysFrom(NEW), context)).rejects.toMatchObject({ code: 'E409' });
  });

  it('is not read by a client if it is for a workflow or an activity', async () => {
    const { decode } = clientEncryptionWith(keysFrom(NEW));
    for (const label of ['memo progress value', 'workflow runsheetFiring result', 'other'])
      expect((await decode([await sealed(label)], OURS)).map(valueOf)).toEqual(['x']);
    await expect(decode([await sealed('signal pause input')], OURS)).rejects.toMatchObject({ code: 'E409' });
    await expect(decode([await sealed('activity a input 1')])).rejects.toMatchObject({ code: 'E409' });
  });

  it('shows no label in plain text, and nothing that plain payloads claim is believed', async () => {
    const { encode, decode } = encryptionWith(keysFrom(''));
    const claim = Buffer.from('signal pause input');
    const forged = (...names: readonly string[]): Payload => ({
      ...plain('x'),
      metadata: { ...plain('x').metadata, ...Object.fromEntries(names.map((name) => [name, claim])) },
    });
    expect(await encode([forged(LABEL)], OURS)).toEqual([plain('x')]);
    for (const names of [[LABEL], [REFUSED], [ELSEWHERE], [LABEL, REFUSED, ELSEWHERE]])
      expect(await decode([forged(...names)], OURS)).toEqual([plain('x')]);
  });
});

describe('a worker that cannot decode a payload', () => {
  const marks = ({ metadata }: Payload = {}) =>
    [REFUSED, ELSEWHERE].map((name) => String(metadata?.[name] ?? ''));

  it('marks it for the workflow, and leaves the task to another worker only if that may have the key', async () => {
    const text = await encrypt('x', OLD);
    const [cluster] = await workerEncryptionWith(keysFrom(NEW)).decode([text], OURS);
    expect(marks(cluster)).toEqual([expect.stringMatching(/^E407: .*RUNSHEET_PAYLOAD_KEY/), 'yes']);
    const [embedded] = await workerEncryptionWith({ ...keysFrom(NEW), isComplete: true }).decode(
      [text],
      OURS,
    );
    expect(marks(embedded)).toEqual([expect.stringMatching(/^E407: /), '']);
    const [unencrypted] = await workerEncryptionWith(keysFrom(NEW)).decode([plain('x')], OURS);
    expect(marks(unencrypted)).toEqual([expect.stringMatching(/^E408: /), '']);
  });

  it('fails an activity of an application as retryable, with NothingSent', async () => {
    const failed = workerEncryptionWith(keysFrom('')).decode([await encrypt('x')], of('an-application'));
    await expect(failed).rejects.toBeInstanceOf(ApplicationFailure);
    await expect(failed).rejects.toMatchObject({ type: 'NothingSent', nonRetryable: false });
  });
});

describe('an activity of an encrypted batch', () => {
  const info = {
    activityType: 'queueRuns',
    activityId: '7',
    workflowType: 'runsheetBatch',
    workflowExecution: { workflowId: 'runsheet:ours', runId: 'r' },
  };
  const ran = (...args: readonly unknown[]) =>
    new MockActivityEnvironment(info, { interceptors: [onlyOwnInput(keysFrom(NEW))] }).run(
      async (...received: readonly unknown[]) => received,
      ...args,
    );

  it('runs with the input of this call, and with no other one', async () => {
    expect(await ran({ a: 1 }, 'activity queueRuns input 7@r')).toEqual([{ a: 1 }]);
    for (const label of [
      'activity loadBatch input 7@r',
      'activity queueRuns input 8@r',
      'activity queueRuns input 7@another',
      'activity queueRuns heartbeat 7@r',
      'signal pause input',
      'several payloads',
      `${REFUSED} E408: plain`,
      undefined,
    ])
      await expect(ran({ a: 1 }, label)).rejects.toMatchObject({ type: 'NothingSent' });
    await expect(ran()).rejects.toMatchObject({ type: 'NothingSent' });
  });
});

describe('a failure', () => {
  const SECRET = 'planted-in-a-failure-77';
  const thrown = () =>
    new Error(`refused: ${keepSecret(SECRET)}`, { cause: new TypeError(`about ${SECRET}`) });

  it('contains no secret in Temporal, nor do its causes', () => {
    const failure = legibleFailures.errorToFailure(thrown(), defaultPayloadConverter);
    expect(failure.message).toBe('refused: [secret]');
    expect(failure.cause?.message).toBe('about [secret]');
    expect(leaksIn(JSON.stringify(failure), { SECRET }, '')).toEqual([]);
  });

  it('hides its message and stack if payloads are encrypted, and is decoded completely', () => {
    const failure = encryptedFailures.errorToFailure(
      new Error('a planted reason', { cause: new Error('inner') }),
      defaultPayloadConverter,
    );
    const { encodedAttributes: words, cause, ...shown } = failure;
    expect(JSON.stringify(shown)).not.toMatch(/planted|encryption\.test/);
    expect(JSON.stringify({ ...cause, encodedAttributes: undefined })).not.toMatch(/inner|encryption\.test/);
    expect(valueOf(words ?? undefined)).toMatchObject({ message: 'a planted reason' });
    expect(encryptedFailures.failureToError(failure, defaultPayloadConverter)).toMatchObject({
      message: 'a planted reason',
      cause: { message: 'inner' },
    });
  });
});

describe('the setting of the keys', () => {
  const failing = (key: string, more: Readonly<Record<string, string>> = {}) => {
    try {
      return keysFrom(key, more);
    } catch (error) {
      return error;
    }
  };

  it('accepts hex and both alphabets of base64, from the variable or a file, one or several keys', () => {
    const folder = freshFolder();
    const file = join(folder, 'keys');
    writeFileSync(file, `${NEW}\n${OLD}\n`);
    const ids = (keys: PayloadKeys): readonly string[] => keys.keys.map(({ id }) => id);
    const url = Buffer.from(NEW, 'base64').toString('base64url');
    expect(ids(keysFrom('', { RUNSHEET_PAYLOAD_KEY_FILE: file }))).toEqual(
      ids(keysFrom(`${url},${OLD.toUpperCase()}`)),
    );
  });

  it('is refused with E602 if it is invalid, and the error does not repeat it', () => {
    const short = randomBytes(20).toString('hex');
    for (const [key, words] of [
      [short, /key 1 .* has 20 bytes instead of 32/],
      [`${NEW} pass:word`, /key 2 .* is neither hex nor base64/],
      [' , ', /is empty/],
    ] as const) {
      expect(failing(key)).toMatchObject({ code: 'E602', message: expect.stringMatching(words) });
      expect(String(failing(key))).not.toContain(key.trim().slice(0, 12) || 'nothing');
    }
    expect(failing('', { RUNSHEET_PAYLOAD_KEY_FILE: '/nowhere/at/all' })).toMatchObject({ code: 'E602' });
    expect(failing(NEW, { RUNSHEET_PAYLOAD_PLAIN: 'maybe' })).toMatchObject({ code: 'E602' });
  });
});

describe('an encrypted payload of a schedule', () => {
  it('is for its firings, and for no other workflow', async () => {
    const payload = await encrypt('x', NEW, of('runsheet-firing:nightly'));
    const keys = keysFrom(NEW);
    expect(await read(payload, keys, of('runsheet-firing:nightly-2026-11-23T01:00:00Z'))).toBe('x');
    for (const owner of [
      'runsheet-firing:nightly-2',
      'runsheet-firing:nightlies-2026-11-23T01:00:00Z',
      'runsheet:nightly-2026-11-23T01:00:00Z',
    ])
      await expect(read(payload, keys, of(owner))).rejects.toMatchObject({ code: 'E409' });
    // Temporal passes the result of a firing to the next one.
    const result = await encrypt('done', NEW, of('runsheet-firing:nightly-2026-11-22T01:00:00Z'));
    expect(await read(result, keys, of('runsheet-firing:nightly-2026-11-23T01:00:00Z'))).toBe('done');
    const batchPayload = await encrypt('x');
    await expect(read(batchPayload, keys, of('runsheet:ours-2026-11-23T01:00:00Z'))).rejects.toMatchObject({
      code: 'E409',
    });
  });
});
