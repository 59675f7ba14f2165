// Sends one notification of a batch. Temporal tries it again for a minute; receivers recognise a repeated one by its id.

import type { BatchRef } from '../src/batch/batch-ref.ts';
import type { Notice } from '../src/batch/notices/notice.ts';
import type { Progress } from '../src/batch/shown/progress.ts';
import { reasonWithRows } from '../src/results/reason-with-rows.ts';
import { noticeBody } from '../src/notices/notice-body.ts';
import type { Deps } from './deps.ts';
import { deliver } from '../src/notices/deliver.ts';

export type NoticeInput = BatchRef & { readonly notice: Notice; readonly progress: Progress };

export async function notify(deps: Deps, { notice, progress, ...ref }: NoticeInput): Promise<void> {
  const { file, service, store } = await deps.open(ref);
  const delivery = { to: notice.to, within: service.base, settings: deps.notices };
  const pause = notice.pause && (await reasonWithRows(store, file, notice.pause));
  const named = pause === undefined ? notice : { ...notice, pause };
  await deliver(delivery, noticeBody(file, named, progress));
}
