import { afterAll, beforeAll } from 'vitest';
import { Stage } from './stage.ts';

/** A stage for the tests of a group or a file, closed after them. */
export function sharedStage(prepare?: (stage: Stage) => Promise<unknown>): Stage {
  const stage = new Stage();
  if (prepare !== undefined) beforeAll(async () => void (await prepare(stage)));
  afterAll(() => stage.close());
  return stage;
}
