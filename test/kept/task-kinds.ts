// The tasks that the run service stores, apart from graphs.

import fc from 'fast-check';
import { MODEL_HOSTS } from '../../src/options/facts/server-kind.ts';
import { NO_FILES } from '../../src/run-service/executors/workflow/filled-workflow.ts';
import type { Program } from '../../src/run-service/executors/target.ts';
import {
  keptTask,
  refusalsIn,
  restoredTask,
  workOf,
  type InputsTask,
} from '../../src/run-service/executors/task.ts';
import type { InputType } from '../../src/run-service/executors/workflow/workflow.ts';
import { kind } from './kind.ts';
import { REQUESTS, through } from './service-kinds.ts';
import { count, list, name, recordOf, scalar, text } from './shapes.ts';

const input = recordOf<Pick<InputType, 'name' | 'type' | 'default' | 'min' | 'max' | 'options' | 'fields'>>(
  {
    name,
    type: fc.constantFrom('string', 'int', 'float', 'bool', 'enum', 'image'),
    default: scalar,
    min: fc.bigInt().map(String),
    max: fc.bigInt().map(String),
    options: list(text),
    fields: name.map((field) => [{ node: '', field, isFile: false }]),
  },
  ['default', 'min', 'max', 'options'],
);

const inputsTask: fc.Arbitrary<InputsTask> = fc
  .tuple(
    fc.record({ id: fc.uuid(), name, isPaid: fc.boolean(), runTimeoutSeconds: count }),
    fc.option(list(input), { nil: undefined }),
    fc.oneof(
      fc.record({ kind: fc.constant('model'), vendor: fc.constantFrom(...MODEL_HOSTS), model: text }),
      fc.record({
        kind: fc.constant('program'),
        program: recordOf<Program>(
          {
            command: text,
            stays: fc.constant(true),
            folder: text,
            environment: fc.dictionary(name, text, { noNullPrototype: true }),
            secrets: list(name),
            files: fc.dictionary(name, text, { noNullPrototype: true }),
          },
          ['stays'],
        ),
      }),
    ),
  )
  .map(([facts, inputs, own]) => ({ ...facts, ...(inputs && { inputs }), ...own }) as InputsTask);

/** The refusals and the work of a task that gets inputs as they are. */
const workIn = (subject: InputsTask): readonly unknown[] =>
  REQUESTS.map((request) => [
    JSON.stringify(refusalsIn(subject, subject.inputs, request)),
    JSON.stringify(workOf(subject, request, { id: 'r', day: '2026-11-29' }, NO_FILES)),
  ]);

export const TASK_KINDS = [
  kind<InputsTask>({
    name: 'task of a program or a model',
    made: inputsTask,
    restored: (original, folder) =>
      through(
        folder,
        (database) => database.keepWorkflow(original.id, keptTask(original)),
        (database) => restoredTask(database.workflows()[0] ?? '') as InputsTask,
      ),
    behaves: workIn,
  }),
];
