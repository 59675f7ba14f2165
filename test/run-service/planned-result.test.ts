import { describe, expect, it } from 'vitest';
import { deploymentSpecSchema } from '../../src/run-service/server.ts';
import {
  planRun,
  stepsOf,
  workAt,
  type RunPlan,
} from '../../src/run-service/executors/rehearsal/planned-result.ts';

function plan(spec: object, facts: Partial<Parameters<typeof planRun>[0]> = {}): RunPlan {
  return planRun({
    spec: deploymentSpecSchema.parse({ name: 'd', runSeconds: 6, coldStartSeconds: 5, ...spec }),
    speed: 1,
    neededGb: 0,
    gpu: 'A10G',
    cold: true,
    plannedResult: 'none',
    draw: 0.5,
    atMs: 1_000_000,
    outputs: 1,
    ...facts,
  });
}

describe('a plan', () => {
  it('starts after the cold start and ends after the run time', () => {
    expect(plan({})).toEqual({
      queuedMs: 1_000_000,
      startsMs: 1_005_000,
      runMs: 6000,
      endsMs: 1_011_000,
      ending: 'success',
      outputs: 1,
    });
  });

  it('has no cold start in a warm container', () => {
    expect(plan({ warmStartSeconds: 0.05 }, { cold: false }).startsMs).toBe(1_000_050);
    expect(plan({}, { cold: false }).startsMs).toBe(1_000_010);
  });

  it.each([
    [0, 4800],
    [0.5, 6000],
    [0.999999, 7200],
  ])('with the draw %f and a spread of 20 %% runs for %i ms', (draw, runMs) => {
    expect(plan({ runSpread: 0.2 }, { draw }).runMs).toBe(runMs);
  });

  it('counts the run time-out from queued, boot included', () => {
    const slow = plan({ runTimeoutSeconds: 4 });
    expect(slow).toMatchObject({ endsMs: 1_004_000, ending: 'timeout' });
    expect(stepsOf(slow, { progress: true })).toEqual([
      { kind: 'status', atMs: 1_004_000, status: 'timeout' },
    ]);
  });

  it('has three progress steps on request, in chronological order', () => {
    const steps = stepsOf(plan({}), { progress: true });
    expect(steps.filter((step) => step.kind === 'progress').length).toBe(3);
    expect(steps.map((step) => step.atMs)).toEqual(steps.map((step) => step.atMs).sort((a, b) => a - b));
  });

  it('passes through every status even when it takes no time', () => {
    const instant = plan({ runSeconds: 0, coldStartSeconds: 0 });
    expect(stepsOf(instant, { progress: false }).length).toBe(3);
  });
});

describe('progress', () => {
  it('is 0 before the first node and 1 at the end, never decreases, and has two decimals', () => {
    const whole = plan({});
    expect(workAt(whole, whole.startsMs)).toEqual({ liveStatus: null, progress: 0, sinceMs: 0 });
    let before = 0;
    for (let atMs = whole.startsMs; atMs <= whole.endsMs; atMs += 10) {
      const { progress } = workAt(whole, atMs);
      expect(progress).toBeGreaterThanOrEqual(before);
      expect(String(progress)).toMatch(/^(0|1|0\.\d{1,2})$/);
      before = progress;
    }
    expect(workAt(whole, whole.endsMs)).toMatchObject({ liveStatus: 'Executing SaveImage', progress: 1 });
  });
});
