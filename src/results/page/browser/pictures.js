// Small pictures of the cards. A card shows a canvas with a scaled copy, because an original of a megapixel takes four megabytes
// for as long as it is on the page: originals are decoded a few at a time, and the last copies are kept.

const AT_ONCE = 6;
const COPIES_BYTES = 64 * 1024 * 1024;

/** @typedef {{ canvas: HTMLCanvasElement, path: string, width: number, height: number, done: (isDrawn: boolean) => void }} Job */

/** @type {Job[]} */
let waiting = [];
let running = 0;
/** @type {Map<string, HTMLCanvasElement>} the last used one is the last */
const copies = new Map();
let copiesBytes = 0;

/** Draws a picture into a canvas, as large as fits into `width` and `height`. @param {Job} job */
export function drawPicture(job) {
  const copy = copies.get(nameOf(job));
  if (copy === undefined) {
    waiting.push(job);
    next();
    return;
  }
  copies.delete(nameOf(job));
  copies.set(nameOf(job), copy);
  show(copy, job);
}

/** A card that left the page needs no picture. @param {HTMLCanvasElement} canvas */
export function forgetPicture(canvas) {
  waiting = waiting.filter((job) => job.canvas !== canvas);
}

function next() {
  while (running < AT_ONCE) {
    const job = waiting.shift();
    if (job === undefined) return;
    running += 1;
    void decode(job).then(ended);
  }
}

function ended() {
  running -= 1;
  next();
}

/** @param {Job} job */
async function decode(job) {
  const image = new Image();
  image.src = job.path;
  try {
    await image.decode();
  } catch {
    job.done(false);
    return;
  }
  const { naturalWidth, naturalHeight } = image;
  // A drawing may have no size of its own.
  const [width, height] = naturalWidth > 0 ? [naturalWidth, naturalHeight] : [job.width, job.height];
  const density = Math.min(2, devicePixelRatio);
  const scale = Math.min(job.width / width, job.height / height) * density;
  const copy = document.createElement('canvas');
  copy.width = Math.max(1, Math.round(width * scale));
  copy.height = Math.max(1, Math.round(height * scale));
  const context = copy.getContext('2d');
  if (context !== null) {
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, copy.width, copy.height);
  }
  image.src = '';
  keep(nameOf(job), copy);
  show(copy, job);
}

/** @type {(name: string, copy: HTMLCanvasElement) => void} */
function keep(name, copy) {
  copies.set(name, copy);
  copiesBytes += copy.width * copy.height * 4;
  for (const [oldest, one] of copies) {
    if (copiesBytes <= COPIES_BYTES) return;
    copies.delete(oldest);
    copiesBytes -= one.width * one.height * 4;
    one.width = 0;
  }
}

/** @type {(copy: HTMLCanvasElement, job: Job) => void} */
function show(copy, { canvas, width, height, done }) {
  canvas.width = copy.width;
  canvas.height = copy.height;
  const scale = Math.min(width / copy.width, height / copy.height);
  canvas.style.width = `${Math.round(copy.width * scale)}px`;
  canvas.style.height = `${Math.round(copy.height * scale)}px`;
  if (copy.width > 0) canvas.getContext('2d')?.drawImage(copy, 0, 0);
  done(true);
}

/** @param {Pick<Job, 'path' | 'width' | 'height'>} job */
const nameOf = ({ path, width, height }) => `${width}x${height} ${path}`;
