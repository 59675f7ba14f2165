import { describe, expect, it } from 'vitest';
import { batchNameOf, workflowIdOf } from '../../src/batch/workflow-id.ts';

describe('the workflow id of a batch', () => {
  it('contains the name and the birth mark, and gives them back', () => {
    const name = { batch: 'owls~2', mark: '0123456789abcdef' };
    expect(workflowIdOf(name)).toBe('runsheet:owls~2~0123456789abcdef');
    expect(batchNameOf(workflowIdOf(name))).toEqual(name);
  });

  it.each(['orders-17', 'runsheet:owls', 'runsheet:owls~0123'])('is not %s', (id) => {
    expect(batchNameOf(id)).toBeUndefined();
  });
});
