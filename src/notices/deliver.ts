// Sends the body of a notification to its target.

import { Context } from '@temporalio/activity';
import { readTarget } from '../options/notify-target.ts';
import type { NotifySettings } from '../host/settings/notify-settings.ts';
import type { AnyNoticeBody } from './notice-body.ts';
import { mailNotice } from './targets/mail.ts';
import { post, signed } from './targets/post.ts';
import { slackText } from './targets/slack.ts';
import { startProgram, type ProgramSettings } from './targets/program.ts';
import { undeliverable, undelivered } from './undelivered.ts';

export type NoticeSettings = NotifySettings & ProgramSettings;

export type Delivery = {
  readonly to: string;
  readonly within: string;
  readonly settings: NoticeSettings;
};

export async function deliver({ to, within, settings }: Delivery, body: AnyNoticeBody): Promise<void> {
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
