import type { Store } from './store.ts';

/** The folder `prefix` of a store, as a store of its own. */
export function within(store: Store, prefix: string): Store {
  const at = (name: string): string => (name === '' ? prefix : `${prefix}/${name}`);
  const { localPath, link, copyFrom } = store;
  return {
    location: `${store.location}/${prefix}`,
    read: (name) => store.read(at(name)),
    open: (name, bytes) => store.open(at(name), bytes),
    exists: (name) => store.exists(at(name)),
    list: (folder) => store.list(at(folder)),
    write: (name, content, as) => store.write(at(name), content, as),
    create: (name, content) => store.create(at(name), content),
    update: (name, next) => store.update(at(name), next),
    draft: (name, of) => store.draft(at(name), of),
    facts: (name) => store.facts(at(name)),
    folders: (folder) => store.folders(at(folder)),
    remove: (name) => store.remove(at(name)),
    clear: (folder) => store.clear(at(folder)),
    bring: (folder, path) => store.bring(at(folder), path),
    ...(localPath && { localPath: (name) => localPath(at(name)) }),
    ...(copyFrom && { copyFrom: (location, from, name) => copyFrom(location, from, at(name)) }),
    ...(link && { link: (name, validMs) => link(at(name), validMs) }),
  };
}
