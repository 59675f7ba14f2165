// The script of the dashboard: asks the service every second and draws what it answers.

import { render } from 'preact';
import type { Dashboard } from '../dashboard.ts';
import { Page } from './page.tsx';

const POLL_MS = 1_000;
const root = document.querySelector('#page');
let live: Dashboard | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

function draw(isAnswering?: boolean): void {
  if (root !== null) render(<Page live={live} isAnswering={isAnswering} />, root);
}

async function look(): Promise<void> {
  clearTimeout(timer);
  // A hidden page sends no requests.
  if (document.hidden) return;
  try {
    const response = await fetch('/live', { cache: 'no-store' });
    if (!response.ok) throw new Error(String(response.status));
    live = (await response.json()) as Dashboard;
    draw(true);
  } catch {
    draw(false);
  }
  timer = setTimeout(() => void look(), POLL_MS);
}

draw();
document.addEventListener('visibilitychange', () => void look());
void look();
