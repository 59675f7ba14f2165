// Asks all workers and receivers of a task queue to describe themselves. Each takes one question at a time and keeps
// it for longer than a question waits, so as many questions as there are members reach each of them once.

import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { MemberActivities, MemberAnswer, MemberQuestion } from '../activities/describe-member.ts';
import { membersQueueOf } from './task-queues.ts';

export type { MemberAnswer };

export type MembersInput = MemberQuestion & {
  readonly members: number;
};

/** Returns the answers of the members that answered. */
export async function runsheetMembers({ members, file }: MembersInput): Promise<readonly MemberAnswer[]> {
  const { describeMember } = proxyActivities<MemberActivities>({
    taskQueue: membersQueueOf(workflowInfo().taskQueue),
    scheduleToStartTimeout: '2500ms',
    startToCloseTimeout: '10s',
    retry: { maximumAttempts: 1 },
  });
  const questions = Array.from({ length: members }, () => describeMember({ file }));
  const answers = await Promise.allSettled(questions);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
}
