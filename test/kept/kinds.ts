import { FOLDER_KINDS } from './folder-kinds.ts';
import { HOME_KINDS } from './home-kinds.ts';
import type { AnyKind } from './kind.ts';
import { ROW_KINDS } from './row-kinds.ts';
import { SERVICE_KINDS } from './service-kinds.ts';
import { TASK_KINDS } from './task-kinds.ts';

export const KINDS: readonly AnyKind[] = [
  ...SERVICE_KINDS,
  ...TASK_KINDS,
  ...FOLDER_KINDS,
  ...ROW_KINDS,
  ...HOME_KINDS,
];
