// What a tag of workers looks like: it becomes a part of the name of a task queue.

const TAG = /^[a-z0-9](?:[a-z0-9_.-]{0,38}[a-z0-9])?$/;
export const isTag = (text: string): boolean => TAG.test(text);
export const NO_TAG = 'no tag of at most 40 lower case letters, digits, -, _ and ., such as eu or gpu-lab';
