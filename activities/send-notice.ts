// Sends one notification. Temporal tries it again for a minute; receivers recognise a repeated one by its id.

import { Context } from '@temporalio/activity';
import type { BatchRef } from '../src/batch/batch-ref.ts';
import type { Notice } from '../src/batch/notice.ts';
import { readTarget } from '../src/batch/notify-target.ts';
import type { Progress } from '../src/batch/progress.ts';
import { noticeBody } from '../src/store/notice-body.ts';
import type { Deps } from './deps.ts';
import { undeliverable } from './notices/fault.ts';
import { mailNotice } from './notices/mail-notice.ts';
import { postNotice, postToSlack } from './notices/post-notice.ts';
import { startProgram } from './notices/start-program.ts';

export type NoticeInput = BatchRef & { readonly notice: Notice; readonly progress: Progress };

export async function notify(deps: Deps, { notice, progress, ...ref }: NoticeInput): Promise<void> {
  const { file, service } = await deps.open(ref);
  const { notices: settings } = deps;
  const body = noticeBody(file, notice, progress);
  const target = readTarget(notice.to);
  const { cancellationSignal: signal } = Context.current();
  if ('wrong' in target) throw undeliverable(`the target ${target.wrong}`);
  switch (target.kind) {
    case 'https':
      return postNotice({ url: target.url, signal, within: service.base }, body, settings.secret);
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
