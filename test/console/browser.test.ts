import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openBrowser } from '../../src/cli/batch/open.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const SECRETS = {
  RUNSHEET_API_KEY: 'planted-key',
  RUNSHEET_PAYLOAD_KEY: 'planted-payload-key',
  AWS_SECRET_ACCESS_KEY: 'planted-secret',
};
const DESKTOP = { DISPLAY: ':9', WAYLAND_DISPLAY: 'wayland-9', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/bus' };

it.runIf(process.platform === 'linux')(
  'the browser gets the page and what it needs of a desktop, but no secret',
  async () => {
    const folder = freshFolder();
    const [browser, seen] = [join(folder, 'browser'), join(folder, 'seen')];
    writeFileSync(browser, `#!/bin/sh\n{ echo "$1"; env; } > ${seen}.part\nmv ${seen}.part ${seen}\n`);
    chmodSync(browser, 0o755);
    const own = { PATH: process.env['PATH'], HOME: folder, BROWSER: browser };
    // The machine's installed browsers, which come before BROWSER.
    const installed = { XDG_DATA_DIRS: folder, XDG_CONFIG_DIRS: folder };
    const environment = { ...own, ...installed, ...DESKTOP, ...SECRETS };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    await openBrowser('http://127.0.0.1:9/page', { environment });
    const text = await vi.waitFor(() => readFileSync(seen, 'utf8'), { timeout: 20_000 });
    const [page, ...lines] = text.split('\n');
    expect(page).toBe('http://127.0.0.1:9/page');
    expect(lines).toEqual(expect.arrayContaining(Object.entries(DESKTOP).map((pair) => pair.join('='))));
    expect(text).not.toContain('planted');
  },
);
