// Asks all workers and receivers of a task queue to describe themselves. Each takes one question at a time and keeps it for longer
// than a question waits, so as many questions as members reach each of them once.

import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { MemberActivities, MemberAnswer, MemberQuestion } from '../activities/describe-member.ts';
import { membersQueueOf } from './task-queues.ts';

export type { MemberAnswer };

export type MembersInput = MemberQuestion & {
  readonly members: number;
};

/** Those that answered. */
export async function runsheetMembers({ members, file }: MembersInput): Promise<readonly MemberAnswer[]> {
  const { describeMember } = proxyActivities<MemberActivities>({
    taskQueue: membersQueueOf(workflowInfo().taskQueue),
    scheduleToStartTimeout: '2500ms',
    startToCloseTimeout: '10s',
    retry: { maximumAttempts: 1 },
  });
  const asked = Array.from({ length: members }, () => describeMember({ file }));
  const answers = await Promise.allSettled(asked);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
}
