// A Temporal that stops answering while a command follows a batch: what the command says, also at Ctrl-C.

import { expect, it } from 'vitest';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf } from '../stage/stage.ts';

const stage = freshStage();
/** Texts that only the libraries between us and Temporal produce. */
const RAW = /DEADLINE_EXCEEDED|UNAVAILABLE|LB pick|remote_addr|Failed to describe|\bat .*\.js:/;

it('is named in words of ours, and Ctrl-C leaves with the state of the batch', async () => {
  const temporal = await stage.temporal();
  await stage.service(['--deployments', stage.write('deployments.json', deploymentsOf({ runSeconds: 60 }))]);
  await stage.worker();
  const batch = await stage.submit(4, 2);
  const following = stage.start(['follow', batch]);
  await following.says(/progress state=running/);
  process.kill(temporal.pid(), 'SIGSTOP');
  try {
    await following.says(
      /the batch does not advance: Temporal: it (?:did not answer in time|cannot be reached)/,
    );
    following.child.kill('SIGINT');
    const { code, stderr } = await following.ended;
    expect([code, RAW.exec(stderr)]).toEqual([130, null]);
    expect(stderr).toContain(`no longer following ${batch}`);
    const paused = await stage.run(['pause', batch]);
    expect([paused.code, RAW.exec(paused.stderr)]).toEqual([6, null]);
  } finally {
    process.kill(temporal.pid(), 'SIGCONT');
  }
});
