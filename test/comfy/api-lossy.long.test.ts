import { rowsOverALossyApi } from './lossy-api.ts';

rowsOverALossyApi([2, 3]);
