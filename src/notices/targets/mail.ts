// Sends a notification as a mail.

import type { NotifySettings } from '../../host/settings/notify-settings.ts';
import type { AnyNoticeBody } from '../notice-body.ts';
import { undeliverable, undelivered } from '../undelivered.ts';

const WAIT_MS = 10_000;

export async function mailNotice(to: string, body: AnyNoticeBody, settings: NotifySettings): Promise<void> {
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

const SUBJECTS: Readonly<Record<AnyNoticeBody['event'], string>> = {
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
