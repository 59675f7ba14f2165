// Errors of batches that run, wait or are paused.

import type { LongGround } from '../long-ground.ts';
import { cancelled, inLibrary, runOf } from '../running-batches.ts';
import type { Provocation } from '../provocation.ts';

/** Each limit that pauses a batch, with the commands that lead on. */
const PAUSES: readonly Provocation<LongGround>[] = [
  {
    code: 'E501',
    name: 'too many rows fail',
    arrange: (ground) => ground.sheet('fails.csv', 'prompt,runsheet_faults\nx,fail\ny,fail\nz,\nw,\n'),
    args: runOf('fails', '--fail-after', '1', '--retries', '0', '-c', '1'),
    // The next row fails as well.
    leads: [0, 'E501'],
  },
  {
    code: 'E501',
    name: 'the deadline is over',
    arrange: (ground) => ground.sheet('late.csv', 'prompt\nl1\nl2\nl3\nl4\nl5\nl6\n'),
    args: runOf('late', '--deadline', '1s', '-c', '1'),
    leads: [0],
  },
  {
    code: 'E501',
    name: 'the next row may cost more than is left',
    arrange: (ground) => ground.sheet('dear.csv', 'prompt\nd1\nd2\nd3\n'),
    // The budget fits one run and leaves no room for the next.
    args: runOf('dear', '--max-cost', '0.20225', '-c', '1'),
    leads: [0],
  },
  {
    code: 'E501',
    name: 'the canary fails',
    arrange: (ground) => ground.sheet('bird.csv', 'prompt,runsheet_faults\nb1,fail\nb2,fail\nb3,fail\n'),
    args: runOf('bird', '--canary', '1', '--retries', '0'),
    leads: [0, 0, 0],
  },
  {
    code: 'E501',
    name: 'all rows fail for one reason',
    arrange: (ground) => ground.sheet('alike.csv', 'prompt,runsheet_faults\nk1,fail\nk2,fail\nk3,fail\n'),
    // Failed rows are tried again after the resume, long enough that there is something to stop.
    args: ['run', 'alike.csv', '-d', 'brief', '--name', 'alike', '--retries', '5'],
    leads: [0, 0],
  },
  {
    code: 'E501',
    name: 'a row was sent three times and started no run',
    // The passing are answered meanwhile, or the pause would be one for unclear answers.
    arrange: (ground) => {
      const passing = Array.from({ length: 400 }, (_, at) => `w${at},`).join('\n');
      ground.sheet('vanished.csv', `prompt,runsheet_faults\nv,drop-request\n${passing}\n`);
    },
    args: runOf('vanished', '-c', '3', '--rate', '60/min'),
    leads: [0, 0],
  },
];

export const RUNNING: readonly Provocation<LongGround>[] = [
  ...PAUSES,
  {
    code: 'E501',
    name: 'a batch is paused',
    arrange: async (ground) => {
      // Long enough that a busy machine pauses it before its end.
      const rows = Array.from({ length: 6 }, (_, at) => `held ${at}`).join('\n');
      const sheet = ground.sheet('held.csv', `prompt\n${rows}\n`);
      await ground.must('submit', sheet, '-d', 'brief', '--name', 'held', '-c', '1');
      await ground.must('pause', 'held');
    },
    args: ['follow', 'held'],
    leads: [0],
  },
  {
    code: 'E517',
    name: 'a batch has no room for so many runs',
    arrange: (ground) => ground.running('full'),
    args: ['scale', 'full', '-c', '3000', '--retries', '20'],
    leads: [0],
  },
  {
    code: 'E518',
    name: 'a batch does not confirm a command in time',
    // A worker that is stopped meanwhile confirms nothing.
    args: ({ worker }) => [
      'bash',
      `kill -STOP ${worker?.child.pid}; runsheet pause full --timeout 100ms; code=$?; kill -CONT ${worker?.child.pid}; exit $code`,
    ],
    leads: [0],
  },
  {
    code: 'E521',
    name: 'a batch does not end in time',
    throws: (ground) =>
      inLibrary(ground, (runsheet) => runsheet.getHandle('full').result({ timeoutMs: 200 })),
    leads: [0],
    undo: cancelled('full'),
  },
  {
    code: 'E509',
    name: 'a batch has not ended',
    arrange: (ground) => ground.running('soon', 'brief'),
    args: ['verify', 'soon'],
    leads: [0, 0],
  },
  {
    code: 'E551',
    name: 'the other batch has not ended',
    arrange: (ground) => ground.running('source', 'brief'),
    args: ['plan', '--from', 'source', '-d', 'Porträts'],
    leads: [0, 0],
  },
];
