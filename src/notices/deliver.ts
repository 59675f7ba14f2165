// Sends the body of a notification to its target.

import { Context } from '@temporalio/activity';
import { readTarget } from '../options/notify-target.ts';
import { undeliverable } from './fault.ts';
import { mailNotice } from './mail-notice.ts';
import type { AnyBody } from './any-body.ts';
import { postNotice, postToSlack } from './post-notice.ts';
import type { NoticeSettings } from './settings.ts';
import { startProgram } from './start-program.ts';

export type Delivery = {
  readonly to: string;
  /** The run service whose networks are allowed. */
  readonly within: string;
  readonly settings: NoticeSettings;
};

export async function deliver({ to, within, settings }: Delivery, body: AnyBody): Promise<void> {
  const target = readTarget(to);
  const { cancellationSignal: signal } = Context.current();
  if ('wrong' in target) throw undeliverable(`the target ${target.wrong}`);
  switch (target.kind) {
    case 'https':
      return postNotice({ url: target.url, signal, within }, body, settings.secret);
    case 'named':
      return postNotice(
        named(settings.urls, 'RUNSHEET_NOTIFY_URL', target.name, signal),
        body,
        settings.secret,
      );
    case 'slack':
      return postToSlack(named(settings.slack, 'RUNSHEET_SLACK_WEBHOOK', target.name, signal), body);
    case 'mailto':
      return mailNotice(target.address, body, settings);
    case 'exec':
      return startProgram(target.path, body, { settings, signal });
  }
}

function named(
  addresses: ReadonlyMap<string, string>,
  variable: string,
  name: string,
  signal: AbortSignal,
): { readonly url: string; readonly signal: AbortSignal; readonly within: undefined } {
  const url = addresses.get(name);
  if (url === undefined)
    throw undeliverable(`this worker has no address of the name ${name}: set ${variable}=${name}=https://…`);
  return { url, signal, within: undefined };
}
