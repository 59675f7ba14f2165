import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorMessage } from '../../src/errors/error.ts';
import { keyFromEnvironment } from '../../src/host/settings/api-key.ts';
import { keepSecret, withoutSecrets } from '../../src/errors/redact.ts';
import { webhookUrl } from '../../src/webhook/webhook-token.ts';
import { messageOf } from '../../src/service-client/calls.ts';
import { leaksBelow, leaksIn } from './search.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const KEY = 'planted+key/with=odd&letters-77';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');
const hex = (text: string): string => Buffer.from(text).toString('hex');

/** The encodings in which the tests hide a secret. */
const HIDDEN: readonly ((text: string) => string)[] = [
  (text) => text,
  encodeURIComponent,
  (text) => JSON.stringify({ deep: { key: text } }),
  base64,
  (text) => base64(`x${text}y`),
  (text) => base64(`xy${text}`),
  (text) => base64url(`Basic user:${text}`),
  hex,
  (text) => hex(`a${text}`).toUpperCase(),
];

describe('the searcher', () => {
  it.each(HIDDEN.map((hide, index) => [index, hide] as const))('finds a secret in form %i', (_, hide) => {
    expect(leaksIn(`before ${hide(KEY)} after`, { KEY }, 'here')).toMatchObject([
      { secret: 'KEY', where: 'here' },
    ]);
  });

  it('finds nested encodings, and secrets in binary data', () => {
    expect(leaksIn(base64(JSON.stringify({ data: base64(KEY) })), { KEY }, 'here')).not.toEqual([]);
    const bytes = Buffer.concat([Buffer.from([0, 255, 1]), Buffer.from(KEY), Buffer.from([200, 0])]);
    expect(leaksIn(bytes, { KEY }, 'here')).not.toEqual([]);
  });

  it('finds the only file in a folder that leaks, and skips the file that may contain the secret', () => {
    const folder = freshFolder();
    mkdirSync(join(folder, 'deep'));
    writeFileSync(join(folder, 'key'), KEY);
    writeFileSync(join(folder, 'harmless.log'), 'nothing');
    writeFileSync(join(folder, 'deep', 'leak.db'), base64(`{"key":"${KEY}"}`));
    const { leaks, files } = leaksBelow(folder, { KEY }, [join(folder, 'key')]);
    expect([files, leaks.map(({ where }) => where)]).toEqual([2, [join(folder, 'deep', 'leak.db')]]);
  });

  it('finds nothing in data without the secret', () => {
    expect(
      leaksIn(`${base64('something else')} ${KEY.slice(1)} ${hex(KEY.slice(2))}`, { KEY }, 'here'),
    ).toEqual([]);
  });
});

describe('a redacted text', () => {
  it('contains no secret in any encoding, whatever the text around it', () => {
    const secrets = fc.string({ minLength: 8, maxLength: 60, unit: 'grapheme-ascii' });
    const around = fc.string({ maxLength: 7 });
    fc.assert(
      fc.property(secrets, around, around, fc.constantFrom(...HIDDEN), (secret, before, after, hide) => {
        keepSecret(secret);
        const clean = withoutSecrets(`"${before}${hide(`${before}${secret}${after}`)}${after}"`);
        expect(leaksIn(clean, { secret }, '')).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('keeps text that is no secret, and words that are too short for one', () => {
    keepSecret('seven77');
    const text = 'seven77 rows of bearer authentication: no token';
    expect(withoutSecrets(text)).toBe(text);
  });

  it('contains no bearer token and no MAC of a webhook address, whether registered or not', () => {
    const url = webhookUrl(
      { batch: 'a-batch', mark: '0123456789abcdef', place: 3, attempt: 1 },
      'the secret of another place',
      'https://hooks.example',
    );
    const mac = url.slice(-32);
    for (const text of [
      url,
      encodeURIComponent(url),
      url.replaceAll('/', String.raw`\/`),
      `{"webhook":"${url}"}`,
    ]) {
      expect(text).toContain(mac);
      expect(withoutSecrets(text)).not.toContain(mac);
    }
    expect(withoutSecrets('authorization: Bearer abc.d3f-0123, twice')).toBe(
      'authorization: Bearer [secret], twice',
    );
  });
});

describe('a reason', () => {
  it('contains no key, although the service quotes the request', () => {
    const { value } = keyFromEnvironment(KEY, 'RUNSHEET_API_KEY');
    const answers = [
      `502 bad gateway: authorization: Bearer ${value}`,
      JSON.stringify({ detail: `no such key ${value}` }),
    ];
    for (const text of answers)
      expect(leaksIn(messageOf({ status: 502, headers: {}, text }), { KEY }, '')).toEqual([]);
    const thrown = new AggregateError(
      [new Error(`connect ${base64(value)}`), new TypeError(encodeURIComponent(value))],
      '',
    );
    expect(leaksIn(errorMessage(thrown), { KEY }, '')).toEqual([]);
  });

  it('contains no part of a key after it was shortened', () => {
    keepSecret(KEY);
    const text = messageOf({ status: 500, headers: {}, text: `${'x'.repeat(490)} ${KEY}` });
    expect(text).not.toContain(KEY.slice(0, 6));
  });
});

describe('a log', () => {
  it('contains none of twelve planted secrets, wherever they are', () => {
    const program = `
      import { openLog } from ${JSON.stringify(join(import.meta.dirname, '../../src/host/log.ts'))};
      import { keepSecret } from ${JSON.stringify(join(import.meta.dirname, '../../src/errors/redact.ts'))};
      const key = process.argv[1];
      if (process.argv[2] === 'kept') keepSecret(key);
      const log = openLog('debug', 'test');
      const error = Object.assign(new Error('refused ' + key, { cause: new Error(key) }), { config: { headers: { Authorization: 'Bearer ' + key } } });
      log.info({ token: key, a: { b: { c: { token: key } } }, headers: { Authorization: key } }, 'the key is ' + key);
      log.warn({ err: error, error, url: 'https://x/?key=' + encodeURIComponent(key) }, 'with an error');
      log.error({ json: JSON.stringify({ key }), base64: Buffer.from(key).toString('base64'), list: [[key]] }, 'twelve');
      log.debug(key);
    `;
    const outputOf = (kept: string): string =>
      spawnSync(process.execPath, ['--input-type=module', '-e', program, KEY, kept], { encoding: 'utf8' })
        .stderr;
    const lines = outputOf('kept').trim().split('\n');
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(leaksIn(lines.join('\n'), { KEY }, 'log')).toEqual([]);
    // The same program with an unregistered key: the search finds it, so it would have found the registered one.
    expect(leaksIn(outputOf('not kept'), { KEY }, 'log').length).toBeGreaterThan(3);
  });
});
