import { rowsOverALossyApi } from './lossy-api.ts';

rowsOverALossyApi([1, 2, 3]);
