// The folder of the Python module for programs that stay, as PYTHONPATH needs it.

import { fileURLToPath } from 'node:url';

const PLACE = import.meta.url.endsWith('.ts') ? '../../python' : '../../../python';

export const PYTHON_FOLDER = fileURLToPath(new URL(PLACE, import.meta.url));
