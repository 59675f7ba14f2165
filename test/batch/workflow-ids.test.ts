import { describe, expect, it } from 'vitest';
import {
  batchNameOf,
  firingIdOf,
  nominalTimeOf,
  pipelineIdOf,
  scheduleIdOf,
  scheduleOf,
  scheduleOfFiring,
  workflowIdOf,
} from '../../src/batch/workflow-ids.ts';

describe('a workflow id', () => {
  it('names its batch', () => {
    const name = { batch: 'portraits-7f3a', mark: '00112233445566aa' };
    expect(batchNameOf(workflowIdOf(name))).toEqual(name);
    expect(batchNameOf('runsheet:portraits-7f3a')).toBeUndefined();
    expect(batchNameOf(firingIdOf('nightly'))).toBeUndefined();
  });

  it('of a pipeline is that of no batch', () => {
    const id = pipelineIdOf({ pipeline: 'poster', mark: '00112233445566aa' });
    expect([id, batchNameOf(id)]).toEqual(['runsheet-pipeline:poster~00112233445566aa', undefined]);
  });

  it('of a firing has its nominal time', () => {
    const id = `${firingIdOf('nightly')}-2026-11-23T01:00:00Z`;
    expect(nominalTimeOf('nightly', id)).toBe(Date.parse('2026-11-23T01:00:00Z'));
    expect(scheduleOfFiring(id)).toBe('nightly');
    expect(scheduleOfFiring(firingIdOf('nightly'))).toBe('nightly');
    expect(scheduleOfFiring('runsheet:nightly-2026-11-23T01:00:00Z')).toBeUndefined();
    expect(nominalTimeOf('weekly0', id)).toBeUndefined();
    expect(nominalTimeOf('night', id)).toBeUndefined();
    expect(nominalTimeOf('nightly', firingIdOf('nightly'))).toBeUndefined();
  });

  it('of a schedule has its name', () => {
    expect(scheduleOf(scheduleIdOf('nightly'))).toBe('nightly');
    expect(scheduleOf('another')).toBeUndefined();
  });
});
