import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { Stage } from './stage.ts';

type Prepare = (stage: Stage) => Promise<unknown>;

/** A stage for the tests of a group or a file, closed after them. */
export function sharedStage(prepare?: Prepare): Stage {
  const stage = new Stage();
  if (prepare !== undefined) beforeAll(async () => void (await prepare(stage)));
  afterAll(() => stage.close());
  return stage;
}

/** A stage that is closed after each test of a group or a file: the next one begins with a new folder. */
export function freshStage(prepare?: Prepare): Stage {
  const stage = new Stage();
  if (prepare !== undefined) beforeEach(async () => void (await prepare(stage)));
  afterEach(() => stage.close());
  return stage;
}
