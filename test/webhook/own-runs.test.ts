import { beforeEach, describe, expect, it } from 'vitest';
import { OwnRuns } from '../../src/webhook/own-runs.ts';

const B = { batch: 'b', mark: '0123456789abcdef' };

describe('what a worker knows about its runs', () => {
  let own: OwnRuns;
  beforeEach(() => {
    own = new OwnRuns();
    // The service is believed after this many ends whose start came first.
    for (let n = 0; n < 8; n += 1) finish(`before-${n}`);
  });
  const finish = (runId: string, isShown = true): void => {
    own.accepted(B, runId, 'A10G');
    if (isShown) own.started(B, runId);
    own.ended(B, runId);
  };

  it('runs wait for a machine until the service reports that one has them', () => {
    for (const runId of ['r1', 'r2', 'r3']) own.accepted(B, runId, 'A10G');
    expect(own.waiting(B)).toBe(3);
    own.started(B, 'r1');
    own.started(B, 'r2');
    own.ended(B, 'r2');
    expect(own.waiting(B)).toBe(1);
  });

  it('a run whose webhook was quicker than the response to its POST does not wait', () => {
    own.started(B, 'r1');
    own.accepted(B, 'r1', 'A10G');
    expect(own.waiting(B)).toBe(0);
  });

  it('a run whose end was quicker than the response to its POST does not wait', () => {
    own.started(B, 'r1');
    own.ended(B, 'r1');
    own.accepted(B, 'r1', 'A10G');
    expect(own.waiting(B)).toBe(0);
  });

  it('runs that came before one that has a machine do not wait: another receiver got their webhooks', () => {
    for (const runId of ['r1', 'r2', 'r3']) own.accepted(B, runId, 'A10G');
    own.started(B, 'r2');
    expect(own.waiting(B)).toBe(1);
  });

  it('tells when fewer runs wait', () => {
    const fewer: unknown[] = [];
    const telling = new OwnRuns((batch) => fewer.push(batch));
    telling.accepted(B, 'r1', 'A10G');
    telling.started(B, 'unknown');
    expect(fewer).toEqual([]);
    telling.started(B, 'r1');
    expect(fewer).toEqual([B]);
  });

  it('no run is believed to wait at a service that does not report starts', () => {
    own.accepted(B, 'r1', 'A10G');
    expect(own.waiting(B)).toBe(1);
    finish('silent', false);
    expect(own.waiting(B)).toBe(0);
  });

  it('no run is believed to wait in a batch with several GPUs: the machines of another one may be idle', () => {
    own.accepted(B, 'r1', 'A10G');
    own.accepted(B, 'r2', 'H100');
    expect(own.waiting(B)).toBe(0);
  });

  it('batches do not count for each other', () => {
    own.accepted(B, 'r1', 'A10G');
    expect(own.waiting({ ...B, mark: 'fedcba9876543210' })).toBe(0);
  });

  it('Temporal knows the runs of a result that it has accepted, until they end', () => {
    own.accepted(B, 'r1', 'A10G');
    expect(own.isTaken('r1')).toBe(false);
    own.taken(['r1', 'unknown']);
    expect([own.isTaken('r1'), own.isTaken('unknown')]).toEqual([true, false]);
    own.ended(B, 'r1');
    expect(own.isTaken('r1')).toBe(false);
  });

  it('forgets the oldest runs, so that they neither fill its memory nor wait for ever', () => {
    own.accepted(B, 'r1', 'A10G');
    for (let n = 0; n < 100_000; n += 1) own.started(B, `other-${n}`);
    expect(own.waiting(B)).toBe(0);
  });

  const endOthers = (from: number, to: number): void => {
    for (let n = from; n < to; n += 1) own.ended({ ...B, batch: `other-${n}` }, `run-${n}`);
  };

  it('forgets batches that it has not seen for long, whose ends are urgent then', () => {
    own.accepted(B, 'r1', 'A10G');
    endOthers(0, 2_000);
    expect(own.waiting(B)).toBe(0);
  });

  it('does not forget a batch that it has seen recently, however old the batch is', () => {
    own.accepted(B, 'r1', 'A10G');
    for (let n = 0; n < 2_500; n += 500) {
      endOthers(n, n + 500);
      own.accepted(B, 'r1', 'A10G');
    }
    expect(own.waiting(B)).toBe(1);
  });
});
