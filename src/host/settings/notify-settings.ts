// Reads the settings of notifications. Secret addresses have names here, so that a batch stores only the name.

import { keepSecret } from '../../errors/redact.ts';
import { problem } from '../../errors/error.ts';
import { UNNAMED } from '../../options/notify-target.ts';
import { isThisMachine } from './proxies.ts';
import type { Environment } from '../user-folders.ts';

/** Throws E602 for invalid addresses. */
export function notifySettings(
  environment: Environment,
  { notify_exec: programs = '', smtp_from: mailFrom }: { notify_exec?: string; smtp_from?: string },
) {
  const { RUNSHEET_NOTIFY_SECRET: secret, RUNSHEET_SMTP_URL: smtp } = environment;
  return {
    secret: secret ? keepSecret(secret) : undefined,
    urls: addressesIn('RUNSHEET_NOTIFY_URL', environment),
    slack: addressesIn('RUNSHEET_SLACK_WEBHOOK', environment),
    smtp: smtp ? smtpAddress(smtp) : undefined,
    mailFrom,
    programs: programs.split(/[:,]/).filter(Boolean),
  };
}

export type NotifySettings = ReturnType<typeof notifySettings>;

/** Parses `ops=https://…,team=https://…`, or one address without a name. */
function addressesIn(variable: string, environment: Environment): ReadonlyMap<string, string> {
  const words = (environment[variable] ?? '').split(/[\s,]+/).filter(Boolean);
  return new Map(
    words.map((word) => {
      const [, name = UNNAMED, address = ''] = /^(?:([\w-]+)=)?(https?:\/\/.+)$/.exec(word) ?? [];
      const url = URL.parse(address);
      if (url === null)
        throw problem('E602', {
          what: `${variable} has an entry that is no address`,
          hint: `write it as ${variable}=https://…, or with names: ops=https://…,team=https://…`,
        });
      keepSecret(address);
      keepSecret(`${url.pathname}${url.search}`);
      return [name, address];
    }),
  );
}

function smtpAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^smtps?:$/.test(url.protocol))
    throw problem('E602', {
      what: 'RUNSHEET_SMTP_URL is no address of a mail server',
      hint: 'write it as smtps://user:password@host:465 or smtp://host:25',
    });
  keepSecret(text);
  keepSecret(decodeURIComponent(url.password));
  return encryptedIfNamed(url);
}

/** A login is only sent over an encrypted connection, whatever the address says, except on this machine. */
function encryptedIfNamed(url: URL): string {
  const isNamed = url.username !== '' || url.password !== '';
  if (url.protocol === 'smtps:' || !isNamed || isThisMachine(url.hostname)) return url.href;
  for (const name of ['ignoreTLS', 'opportunisticTLS', 'secure']) url.searchParams.delete(name);
  url.searchParams.set('requireTLS', 'true');
  return url.href;
}
