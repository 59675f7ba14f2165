import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { createMember, type WorkerMember, type MemberAnswer } from '../../activities/describe-member.ts';
import { openStore } from '../../src/store/open-store.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const FILE = '.doctor-0190a5b2-7c11-4f6e-8d2a-5b1c9e3f7a60';
const MEMBER: WorkerMember = {
  identity: '7@node-a',
  version: '0.1.0',
  works: true,
  receives: false,
  webhookSecret: '01234567',
  out: '/batches',
  programs: [],
};

describe('a member that is asked', () => {
  let folder = '';
  beforeEach(() => {
    folder = freshFolder();
  });

  const ask = (file: string, out = join(folder, 'batches')): Promise<MemberAnswer> =>
    new MockActivityEnvironment({ currentAttemptScheduledTimestampMs: Date.now() - 200 }).run(
      createMember(MEMBER, openStore(out), 0).describeMember,
      { file },
    );

  it('says what it is, how far its clock is off, and whether it has the file; it leaves nothing', async () => {
    const out = join(folder, 'batches');
    const absent = await ask(FILE);
    expect(absent).toMatchObject({ ...MEMBER, sees: false });
    expect(absent.storeFault).toBeUndefined();
    expect(absent.clockMs).toBeGreaterThanOrEqual(200);
    expect(absent.clockMs).toBeLessThan(2_000);
    writeFileSync(join(out, FILE), '');
    expect(await ask(FILE)).toMatchObject({ sees: true });
    expect(readdirSync(out)).toEqual([FILE]);
  });

  it('says why it cannot write', async () => {
    writeFileSync(join(folder, 'file'), '');
    const { sees, storeFault } = await ask(FILE, join(folder, 'file', 'batches'));
    expect([sees, storeFault]).toEqual([false, expect.stringMatching(/./)]);
  });

  it.each(['../outside', '.doctor-../../outside', '/tmp/outside', `${FILE}/../x`])(
    'touches no file with the name %j, which only a stranger would give',
    async (file) => {
      const { sees, storeFault } = await ask(file);
      expect([sees, storeFault]).toEqual([false, 'the question names another file']);
      expect(readdirSync(folder)).toEqual([]);
      expect(existsSync(join(folder, 'outside'))).toBe(false);
    },
  );
});
