import { describe, expect, it } from 'vitest';
import { errorsOf } from '../../src/batch/notices/schedule-notice.ts';

describe('the errors of a failed firing', () => {
  it('are the coded error of its activity and the problems of its sheet', () => {
    const problems = [{ code: 'E103', message: 'no prompt', place: { file: 's.csv', line: 3 } }];
    const details = [{ code: 'E100', message: 'the sheet is wrong', hint: 'correct it', problems }];
    const cause = { type: 'E100', message: 'E100: the sheet is wrong', details };
    expect(errorsOf({ message: 'Activity task failed', cause })).toEqual([
      { code: 'E100', message: 'the sheet is wrong', hint: 'correct it' },
      ...problems,
    ]);
  });

  it('are read from the message of a failure without details', () => {
    const failure = { type: 'E306', message: 'E306: another service; set it' };
    expect(errorsOf(failure)).toEqual([{ code: 'E306', message: 'another service; set it' }]);
    expect(errorsOf({ type: 'E306', message: 'another', details: null })).toEqual([
      { code: 'E306', message: 'another' },
    ]);
    expect(errorsOf({ type: 'E306' })).toEqual([{ code: 'E306', message: '' }]);
  });

  it('without a code are the innermost reason', () => {
    const cause = { message: 'activity timed out', cause: { type: 'Error', message: 'no space' } };
    expect(errorsOf({ message: 'failed', cause })).toEqual([{ message: 'no space' }]);
    expect(errorsOf({})).toEqual([{ message: 'it failed' }]);
  });
});
