// Notifications reach a real HTTP server, a real mail server and a real program.

import { createHmac } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { signature } from '../../src/notices/targets/post.ts';
import { startProgram } from '../../src/notices/targets/program.ts';
import { notifySettings } from '../../src/host/settings/notify-settings.ts';
import { noticeSchema } from '../../src/notices/notice-body.ts';
import { bodyOf, noticeTo, send, SETTINGS } from './notice.ts';
import { receiver, type Request } from './receiver.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

describe('an address', () => {
  it('gets JSON that the schema describes, with an id and a signature', async () => {
    const { url, requests } = await receiver(200);
    const notice = noticeTo(`${url}/hook`, {
      news: 'paused',
      pause: { kind: 'budget', reason: 'no run fits' },
    });
    await send(notice, { secret: 'the secret of the receiver' });
    const { body, headers } = requests[0] as Request;
    expect(noticeSchema.strict().parse(JSON.parse(body))).toEqual(bodyOf(notice));
    expect(JSON.parse(body)).toMatchObject({
      event: 'paused',
      text: 'b is paused (budget): no run fits; to continue with a limit that all rows fit into: runsheet resume b --max-cost 6',
    });
    expect(headers['runsheet-notification']).toBe('0123456789abcdef-1-3');
    const [, t = '', v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['runsheet-signature'])) ?? [];
    expect(v1).toBe(createHmac('sha256', 'the secret of the receiver').update(`${t}.${body}`).digest('hex'));
    expect(Math.abs(Date.now() / 1_000 - Number(t))).toBeLessThan(60);
  });

  it('gets no signature without a secret', async () => {
    const { url, requests } = await receiver(204);
    await send(noticeTo(url));
    expect(requests[0]?.headers).not.toHaveProperty('runsheet-signature');
  });

  it.each([
    [404, true],
    [302, true],
    [500, false],
    [429, false],
  ])('that answers %i is not tried again: %s', async (status, nonRetryable) => {
    const { url, requests } = await receiver(status);
    await expect(send(noticeTo(url))).rejects.toMatchObject({
      message: `the receiver answered ${status}`,
      nonRetryable,
    });
    expect(requests).toHaveLength(1);
  });

  it('in another network than the run service is refused, unless the owner of the worker named it', async () => {
    await expect(send(noticeTo('https://10.1.2.3/x'))).rejects.toMatchObject({
      message: expect.stringMatching(/^the address leads to 10\.1\.2\.3, a private address/),
      nonRetryable: true,
    });
    const { url, requests } = await receiver(200);
    await send(noticeTo('https:ops'), { urls: new Map([['ops', `${url}/with?token=secret`]]) });
    expect(requests).toHaveLength(1);
  });

  it('whose name the worker does not know is refused with the setting for it', async () => {
    await expect(send(noticeTo('https:ops'))).rejects.toThrow('set RUNSHEET_NOTIFY_URL=ops=https://…');
    await expect(send(noticeTo('slack:'))).rejects.toThrow('set RUNSHEET_SLACK_WEBHOOK=default=https://…');
  });

  it('signs time and body', () => {
    expect(signature('{}', 'key', 5_999)).toBe(
      `t=5,v1=${createHmac('sha256', 'key').update('5.{}').digest('hex')}`,
    );
  });
});

describe('Slack', () => {
  it('gets one line of text, whose signs it does not interpret', async () => {
    const { url, requests } = await receiver(200);
    const pause = { kind: 'blocked', reason: '<!channel> & more' } as const;
    await send(noticeTo('slack:ops', { news: 'paused', pause }), { slack: new Map([['ops', url]]) });
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      text: expect.stringContaining('b is paused (blocked): &lt;!channel&gt; &amp; more; '),
      mrkdwn: false,
      parse: 'none',
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    });
  });
});

/** A mail server that keeps what it takes. */
async function mailServer(refuses = false) {
  const mails: { readonly to: readonly string[]; readonly text: string }[] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    authOptional: false,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _, done) => {
      logins.push(String(username));
      if (username === 'me@example.org' && password === 'p@ss word') done(null, { user: username });
      else done(Object.assign(new Error('wrong password'), { responseCode: 535 }));
    },
    onRcptTo: (_, __, done) =>
      done(refuses ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null),
    onData: (stream, { envelope }, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push({ to, text: Buffer.concat(parts).toString() });
        done();
      });
    },
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  onTestFinished(() => new Promise<void>((done) => void server.close(done)));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://${encodeURIComponent('me@example.org')}:p%40ss%20word@127.0.0.1:${port}`,
    mails,
    logins,
  };
}

describe('a mail', () => {
  it('arrives with its subject, its text and an id', async () => {
    const { url, mails } = await mailServer();
    await send(noticeTo('mailto:you@example.org'), { smtp: url });
    expect(mails[0]?.to).toEqual(['you@example.org']);
    const text = mails[0]?.text ?? '';
    expect(text).toContain('Subject: runsheet: b is done');
    expect(text).toContain('From: me@example.org');
    expect(text).toContain('Message-ID: <0123456789abcdef-1-3@runsheet>');
    expect(text).toContain('b is done: 0 of 3 rows succeeded');
  });

  it.each([
    ['', ''],
    ['', '?ignoreTLS=true&requireTLS=false'],
    ['', '?opportunisticTLS=true'],
    [':pass-of-hens@', ''],
    ['hen@', ''],
  ])('is not sent with a login without TLS to another machine: %s%s', async (login, query) => {
    const { url, mails, logins } = await mailServer();
    // The address of this machine in a form that looks like another one.
    const elsewhere = url.replace('127.0.0.1', '2130706433');
    const address = login === '' ? elsewhere : elsewhere.replace(/\/\/.*@/, `//${login}`);
    const RUNSHEET_SMTP_URL = `${address}${query}`;
    const { smtp } = notifySettings({ RUNSHEET_SMTP_URL }, {});
    await expect(send(noticeTo('mailto:you@example.org'), { smtp })).rejects.toMatchObject({
      nonRetryable: true,
      message: expect.stringContaining('a password is sent only over TLS'),
    });
    expect([mails, logins]).toEqual([[], []]);
  });

  it('that the server refuses is not sent again; without a server there is none', async () => {
    const { url } = await mailServer(true);
    await expect(send(noticeTo('mailto:you@example.org'), { smtp: url })).rejects.toMatchObject({
      nonRetryable: true,
      message: expect.stringContaining('no such user'),
    });
    await expect(send(noticeTo('mailto:you@example.org'))).rejects.toThrow('set RUNSHEET_SMTP_URL');
    const away = send(noticeTo('mailto:you@example.org'), { smtp: 'smtp://127.0.0.1:1' });
    await expect(away).rejects.toMatchObject({ nonRetryable: false });
  });
});

/** A program in a folder of its own. */
function program(text: string): { readonly path: string; readonly folder: string } {
  const folder = freshFolder();
  const path = join(folder, 'tell.sh');
  writeFileSync(path, `#!/bin/sh\ncd "${folder}"\n${text}\n`);
  chmodSync(path, 0o755);
  return { path, folder };
}

describe('a program', () => {
  const allowed = { mayStart: () => true, environment: { PATH: '/usr/bin:/bin' } };

  it('gets the notification on its stdin, and none of our secrets', async () => {
    const { path, folder } = program('cat > got.json; env > env.txt');
    await send(noticeTo(`exec:${path}`), allowed);
    expect(JSON.parse(readFileSync(join(folder, 'got.json'), 'utf8'))).toEqual(bodyOf(noticeTo('x')));
    expect(readFileSync(join(folder, 'env.txt'), 'utf8')).not.toContain('RUNSHEET');
  });

  it('that was not allowed here is not started', async () => {
    const { path, folder } = program('touch started');
    await expect(send(noticeTo(`exec:${path}`))).rejects.toMatchObject({
      message: `${path} may not be started here: set RUNSHEET_NOTIFY_EXEC=${path} for this worker`,
      // Another worker may start it.
      nonRetryable: false,
    });
    expect(existsSync(join(folder, 'started'))).toBe(false);
  });

  it('that is a link to a shell is not started, whoever allowed it', async () => {
    const { folder } = program('exit 0');
    const path = join(folder, 'tell');
    symlinkSync('/bin/sh', path);
    await expect(send(noticeTo(`exec:${path}`), allowed)).rejects.toMatchObject({
      message: expect.stringContaining('resolves to a shell'),
      nonRetryable: true,
    });
  });

  it('that fails is tried again; one that is missing is not', async () => {
    const { path } = program('exit 3');
    await expect(send(noticeTo(`exec:${path}`), allowed)).rejects.toMatchObject({
      message: `${path} ended with 3`,
      nonRetryable: false,
    });
    await expect(send(noticeTo(`exec:${path}.no`), allowed)).rejects.toMatchObject({ nonRetryable: true });
  });

  it('that ends while it is being killed is tried again', async () => {
    const { path, folder } = program('touch started; sleep 60');
    const kill = process.kill.bind(process);
    const gone = vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
      kill(pid, signal);
      throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
    });
    onTestFinished(() => gone.mockRestore());
    const cancelled = new AbortController();
    const settings = { ...SETTINGS, ...allowed };
    const told = startProgram(path, bodyOf(noticeTo('x')), { settings, signal: cancelled.signal });
    await vi.waitUntil(() => existsSync(join(folder, 'started')));
    cancelled.abort();
    await expect(told).rejects.toMatchObject({ nonRetryable: false });
    expect(gone).toHaveBeenCalledOnce();
  });
});
