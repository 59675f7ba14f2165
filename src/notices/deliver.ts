// Sends the body of a notification to its target.

import { Context } from '@temporalio/activity';
import { readTarget } from '../options/notify-target.ts';
import { createHmac } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import { errorMessage } from '../errors/error.ts';
import { spawnOnLifeline } from '../host/lifeline.ts';
import type { NotifySettings } from '../host/notify-settings.ts';
import type { NoticeBody, ScheduleNoticeBody } from './notice-body.ts';
import { leadsToInterpreter } from './prepare-targets.ts';
import { ApplicationFailure } from '@temporalio/common';
import { request } from 'undici';
import { FileFault } from '../service-client/download-faults.ts';
import { guardFor } from '../service-client/networks.ts';
import { openFileTransport, openTransport } from '../service-client/transport.ts';

/** A failure that another try cannot help. */
const undeliverable = (reason: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(reason, 'NotNotified');

/** A failure that another try may help, also because another worker with other settings takes it. */
const undelivered = (reason: string): ApplicationFailure =>
  ApplicationFailure.retryable(reason, 'NotNotified');

type AnyBody = NoticeBody | ScheduleNoticeBody;

export type NoticeSettings = NotifySettings & {
  /** Whether the user of this machine allowed the program. */
  readonly mayStart: (path: string) => boolean;
  /** The environment of programs, without our secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

const WITHIN_MS = 15_000;

export async function startProgram(
  path: string,
  body: AnyBody,
  { settings, signal }: { readonly settings: NoticeSettings; readonly signal: AbortSignal },
): Promise<void> {
  if (!settings.mayStart(path))
    throw undelivered(`${path} may not be started here: set RUNSHEET_NOTIFY_EXEC=${path} for this worker`);
  if (leadsToInterpreter(path))
    throw undeliverable(`${path} resolves to a shell, which would execute the text of the notification`);
  const cannotStart = (error: unknown): Error =>
    undeliverable(`${path} cannot be started: ${errorMessage(error)}`);
  await access(path, constants.X_OK).catch((error: unknown) => {
    throw cannotStart(error);
  });
  // The program runs in a process group of its own, so that its children end with it.
  const child = spawnOnLifeline(path, [], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: settings.environment,
  });
  const kill = (): void => killGroup(child.pid);
  const within = AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]);
  const ended = new Promise<string | undefined>((resolve, reject) => {
    child.once('error', (error) => reject(cannotStart(error)));
    child.once('exit', (code, by) => resolve(code === 0 ? undefined : `${path} ended with ${code ?? by}`));
  });
  within.addEventListener('abort', kill);
  // A program need not read its input.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(`${JSON.stringify(body)}\n`);
  try {
    const wrong = await ended;
    if (within.aborted) throw undelivered(`${path} took longer than ${WITHIN_MS / 1_000} s`);
    if (wrong !== undefined) throw undelivered(wrong);
  } finally {
    within.removeEventListener('abort', kill);
  }
}

/** Kills the group, which may have ended this very moment; an error in a listener would end the worker. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const signed = (body: AnyBody, secret: string | undefined) => {
  const text = JSON.stringify(body);
  const signatures = secret && { 'runsheet-signature': signature(text, secret, Date.now()) };
  return { text, headers: { 'runsheet-notification': body.id, ...signatures } };
};

/**
 * The text for an incoming webhook. Slack interprets <, > and &, and unless told otherwise `*`, `_`, names and
 * addresses.
 */
const slackText = ({ text }: AnyBody): string =>
  JSON.stringify({ text: text.replace(/[&<>]/g, (character) => ENTITIES[character] as string), ...PLAIN });

const PLAIN = { mrkdwn: false, parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false };

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** `t=<seconds since 1970>,v1=<HMAC-SHA256 of "<t>.<body>" in hexadecimal>`. */
export function signature(body: string, secret: string, nowMs: number): string {
  const t = Math.floor(nowMs / 1_000);
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
}

/** Statuses that ask for another try. */
const BUSY = new Set([408, 425, 429]);

type Posted = {
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** The run service whose networks are allowed, as for files; undefined: every address is. */
  readonly within?: string | undefined;
};

const SILENCE = { headersMs: 10_000, idleMs: 10_000 };

/** Posts without following redirects. */
export async function post(url: string, { text, headers, signal, within }: Posted): Promise<void> {
  const guard = within === undefined ? undefined : guardFor(within, 'the address');
  const dispatcher = guard === undefined ? openTransport(1) : openFileTransport(1, guard.lookup, SILENCE);
  try {
    await guard?.admit(new URL(url));
    const { statusCode, body } = await request(url, {
      method: 'POST',
      dispatcher,
      signal: AbortSignal.any([signal, AbortSignal.timeout(SILENCE.headersMs)]),
      headers: { 'content-type': 'application/json', 'user-agent': 'runsheet', ...headers },
      body: text,
    });
    await body.dump();
    if (statusCode >= 200 && statusCode < 300) return;
    const reason = `the receiver answered ${statusCode}`;
    throw statusCode >= 500 || BUSY.has(statusCode) ? undelivered(reason) : undeliverable(reason);
  } catch (error) {
    throw error instanceof FileFault ? undeliverable(error.message) : error;
  } finally {
    await dispatcher.close();
  }
}

const WAIT_MS = 10_000;

async function mailNotice(to: string, body: AnyBody, settings: NoticeSettings): Promise<void> {
  const { smtp, mailFrom } = settings;
  if (smtp === undefined)
    throw undelivered('this worker has no mail server: set RUNSHEET_SMTP_URL=smtps://user:password@host:465');
  const { createTransport } = await import('nodemailer');
  const limits = { connectionTimeout: WAIT_MS, greetingTimeout: WAIT_MS, socketTimeout: WAIT_MS };
  const transport = createTransport({ url: smtp, ...limits });
  try {
    await transport.sendMail({
      from: mailFrom ?? senderIn(smtp),
      to,
      // Most mail programs show only one of two mails with the same id.
      messageId: `<${body.id}@runsheet>`,
      subject: `runsheet: ${'schedule' in body ? body.schedule : body.batch} ${SUBJECTS[body.event]}`,
      text: `${body.text}\n\n${JSON.stringify(body, undefined, 2)}\n`,
    });
  } catch (error) {
    throw faultOf(error as Error & { responseCode?: number; code?: string });
  } finally {
    transport.close();
  }
}

const SUBJECTS: Readonly<Record<AnyBody['event'], string>> = {
  done: 'is done',
  failures: 'has many failed rows',
  'half-budget': 'has spent half of its budget',
  paused: 'is paused',
  'firing-failed': 'made no batch',
};

/** The user of the mail server, if it is an address. */
function senderIn(smtp: string): string {
  const { username, hostname } = new URL(smtp);
  const user = decodeURIComponent(username);
  return user.includes('@') ? user : `runsheet@${hostname}`;
}

/** Codes from 500 on are permanent. */
function faultOf({ message, responseCode, code }: Error & { responseCode?: number; code?: string }): Error {
  const reason = `the mail server: ${message}`;
  if (code === 'ETLS')
    return undeliverable(
      `${reason}; a password is sent only over TLS: set RUNSHEET_SMTP_URL=smtps://user:password@host:465, or another port with STARTTLS`,
    );
  return responseCode !== undefined && responseCode >= 500 ? undeliverable(reason) : undelivered(reason);
}

export type Delivery = {
  readonly to: string;
  readonly within: string;
  readonly settings: NoticeSettings;
};

export async function deliver({ to, within, settings }: Delivery, body: AnyBody): Promise<void> {
  const target = readTarget(to);
  const { cancellationSignal: signal } = Context.current();
  if ('wrong' in target) throw undeliverable(`the target ${target.wrong}`);
  const { urls, slack, secret } = settings;
  switch (target.kind) {
    case 'https':
      return post(target.url, { ...signed(body, secret), signal, within });
    case 'named':
      return post(named(urls, 'RUNSHEET_NOTIFY_URL', target.name), { ...signed(body, secret), signal });
    case 'slack':
      return post(named(slack, 'RUNSHEET_SLACK_WEBHOOK', target.name), { text: slackText(body), signal });
    case 'mailto':
      return mailNotice(target.address, body, settings);
    case 'exec':
      return startProgram(target.path, body, { settings, signal });
  }
}

function named(addresses: ReadonlyMap<string, string>, variable: string, name: string): string {
  const url = addresses.get(name);
  if (url === undefined)
    throw undelivered(`this worker has no address of the name ${name}: set ${variable}=${name}=https://…`);
  return url;
}
