import { describe, expect, it } from 'vitest';
import {
  activityIdIn,
  activityLabel,
  continuedLabel,
  isForClients,
  isOwnWorkflow,
  isOwnWorkflowId,
  memoLabel,
  OTHER,
  signalLabel,
  workflowLabel,
} from '../../../src/batch/payloads/labels.ts';

const CALL = { activityType: 'queueRuns', activityId: '7', workflowType: 'runsheetBatch', runId: 'r' };

describe('the label of a payload', () => {
  it('names kind, name and direction, and no two places have the same', () => {
    const parts = ['input', 'result', 'failure'] as const;
    const labels = [
      ...parts.map((part) => workflowLabel('runsheetBatch', part)),
      continuedLabel('runsheetBatch', 'r'),
      continuedLabel('runsheetBatch', 's'),
      ...([...parts, 'heartbeat'] as const).map((part) => activityLabel(CALL, part)),
      activityLabel({ ...CALL, activityId: '8' }, 'result'),
      activityLabel({ ...CALL, runId: 's' }, 'result'),
      signalLabel('pause'),
      signalLabel('resume'),
      memoLabel('progress'),
      OTHER,
    ];
    expect(new Set(labels).size).toBe(labels.length);
    expect(activityLabel(CALL, 'result')).toBe('activity queueRuns result 7@r');
  });

  it('of an activity names its call, which for workflows that may be reset is not bound to a run', () => {
    expect(activityLabel({ ...CALL, workflowType: 'runsheetFiring' }, 'input')).toBe(
      'activity queueRuns input 7',
    );
    expect(activityIdIn(activityLabel(CALL, 'result'))).toBe('7');
    expect(activityIdIn(signalLabel('pause'))).toBeUndefined();
  });

  it('says whether clients read it', () => {
    const read = [
      workflowLabel('runsheetFiring', 'result'),
      memoLabel('progress'),
      activityLabel(CALL, 'heartbeat'),
      activityLabel(CALL, 'failure'),
      OTHER,
      continuedLabel('runsheetBatch', 'r'),
    ];
    expect(read.every(isForClients)).toBe(true);
    const forWorkers = [
      signalLabel('pause'),
      activityLabel(CALL, 'input'),
      activityLabel(CALL, 'result'),
      'others',
      '',
    ];
    expect(forWorkers.some(isForClients)).toBe(false);
  });
});

describe('workflows of runsheet', () => {
  it('are known by their types and by their ids', () => {
    expect(['runsheetBatch', 'order'].map(isOwnWorkflow)).toEqual([true, false]);
    const ids = ['runsheet:b~1', 'runsheet-pool:p', 'runsheet-firing:f', 'order:1', 'x runsheet:b', ''];
    expect(ids.map(isOwnWorkflowId)).toEqual([true, true, true, false, false, false]);
  });
});
