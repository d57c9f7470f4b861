/** Decides which modules of the page are loaded together. Fewer chunks compress better and need fewer requests. */
import { join } from 'node:path';

interface Graph {
  getModuleInfo(id: string): { importedIds: readonly string[] } | null;
}

/** The first modules of the chunks that show a view. `page` is for all views, `encrypted` for encrypted rooms. */
export const views = {
  page: 'main.tsx',
  home: 'views/home/home.tsx',
  room: 'views/room/room-page.tsx',
  encrypted: 'room/encryption.ts',
};

/** The first modules of all chunks. A module is in the first chunk that needs it. */
const chunks: Record<string, readonly string[]> = {
  page: [views.page],
  // For the home page and for dialogs.
  forms: ['components/form-fields.tsx', 'views/requests.ts'],
  home: [views.home],
  room: [views.room],
  // The other strings, and what all views load on demand.
  more: [
    'i18n/all-strings.ts',
    'components/dialog.tsx',
    'components/more-icon.tsx',
    'components/notice-place.ts',
    'views/settings.tsx',
    'views/access.tsx',
    'views/missing-file.tsx',
    'views/server-notes.tsx',
    'views/share/share-page.tsx',
    'views/home/scanner.tsx',
    'room/closed-tabs.ts',
  ],
  dialogs: ['views/room/dialogs.tsx', 'views/room/pin-pad.tsx', 'views/room/text-actions.tsx'],
  others: ['views/room/others.tsx'],
  files: ['views/files/file-list.tsx'],
  read: ['views/read/read-view.tsx'],
  uploads: ['views/files/upload-rows.tsx', 'room/upload-queue.ts'],
  qr: ['../../node_modules/uqr/dist/index.mjs'],
  transfer: ['room/room-requests.ts'],
  links: ['views/links/link-page.tsx', 'views/links/role-links.tsx'],
  // The cryptography that both need, of which each loads only its own part otherwise.
  ciphers: [],
  invite: ['views/invite/invite-page.tsx'],
  encryption: [views.encrypted, '../../src/client/sealed/index.ts', 'views/encryption/encryption-views.tsx'],
  'sealed-files': ['views/sealed-files/sealed-files.tsx'],
};

/** For `codeSplitting` of Rolldown. `source` is the folder of the page. */
export function chunkGroups(source: string) {
  let assigned: ReadonlyMap<string, string> | undefined;
  const chunkOf = (id: string, graph: Graph) => {
    assigned ??= assign((path) => importedBy(join(source, path), graph));
    return assigned.get(id);
  };
  // A group takes the dependencies of its modules along, unless they are in a group of higher priority.
  return Object.keys(chunks).map((chunk, index, all) => ({
    debugName: chunk,
    name: (id: string, graph: Graph) => (chunkOf(id, graph) === chunk ? chunk : null),
    priority: all.length - index,
  }));
}

/** The chunk of each module. */
function assign(modulesOf: (path: string) => Set<string>): Map<string, string> {
  const assigned = new Map<string, string>();
  const add = (chunk: string, modules: Iterable<string>) => {
    for (const id of modules) if (!assigned.has(id)) assigned.set(id, chunk);
  };
  add('page', modulesOf(views.home).intersection(modulesOf(views.room)));
  const modulesIn = (chunk: string) => new Set(chunks[chunk]?.flatMap((path) => [...modulesOf(path)]));
  for (const chunk of Object.keys(chunks))
    add(chunk, chunk === 'ciphers' ? modulesIn('invite').intersection(modulesIn('encryption')) : modulesIn(chunk));
  return assigned;
}

/** The module and all that it imports, directly or not, except with `import()`. */
function importedBy(id: string, graph: Graph, found = new Set<string>()): Set<string> {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) importedBy(imported, graph, found);
  return found;
}
