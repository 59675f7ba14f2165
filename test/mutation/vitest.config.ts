import { defineConfig } from 'vitest/config';

// Properties are shrunk for people; a mutant needs only the failure.
export default defineConfig({ test: { include: ['test/batch/**/*.test.ts'], bail: 1 } });
