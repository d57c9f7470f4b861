/**
 * Loads the chunks of a build, with the bytecode that V8 made of them in an earlier run. Node's own compile cache has
 * only what V8 compiles before a module runs. The functions that a start calls would be compiled at each start, which is
 * a sixth of its time.
 */
const { existsSync, readFileSync, rename, renameSync, rm, rmSync, writeFile, writeFileSync } =
  process.getBuiltinModule('node:fs');
const { createRequire, enableCompileCache, getCompileCacheDir } = process.getBuiltinModule('node:module');
const { fileURLToPath } = process.getBuiltinModule('node:url');
const { Script } = process.getBuiltinModule('node:vm');

/** So long that the first responses of a server belong to its start. */
const saveDelayMs = 1000;

const dist = new URL('../dist/', import.meta.url);
const requirePackage = createRequire(dist);
const exportsOf = new Map();
/** Bytecode of an earlier run, by the name of the chunk, which includes a hash of its code. */
let cache;
let cacheFile;
/** The scripts that this run compiled. */
const compiled = new Map();

/** To be called before the first chunk is loaded. Nothing is cached if Node's compile cache is disabled or fails. */
export function openCache(entryPoint) {
  if (cache) return;
  // A thread does not inherit it.
  if (!getCompileCacheDir()) enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/poproom', dist)));
  const folder = getCompileCacheDir();
  if (folder) cacheFile = `${folder}/${entryPoint === 'main' && process.argv[2] === 'serve' ? 'server' : entryPoint}`;
  cache = readCache();
  if (!cacheFile) return;
  setTimeout(save, saveDelayMs).unref();
  process.once('exit', saveNow);
}

/** Evaluates a chunk when it is first loaded. */
export function load(name) {
  if (!exportsOf.has(name)) exportsOf.set(name, evaluate(name));
  return exportsOf.get(name);
}

/** For chunks and packages. */
export async function importModule(name) {
  return name.startsWith('./') ? load(name) : import(name);
}

function evaluate(name) {
  const url = new URL(name, dist);
  const cachedData = cache.get(name);
  const script = new Script(readFileSync(url, 'utf8'), { filename: url.href, cachedData });
  if (!cachedData || script.cachedDataRejected) compiled.set(name, script);
  return script.runInThisContext()(load, importModule, requirePackage, url.href);
}

function readCache() {
  try {
    const bytes = readFileSync(cacheFile);
    let end = bytes.indexOf('\n') + 1;
    return new Map(
      JSON.parse(bytes.toString('latin1', 0, end)).map(([name, length]) => {
        end += length;
        return [name, bytes.subarray(end - length, end)];
      }),
    );
  } catch {
    return new Map();
  }
}

/** V8 does not notice damage, so the file is replaced as a whole, and not before its bytes are on the disk. */
function save() {
  if (compiled.size === 0) return;
  const file = temporaryFile();
  writeFile(file, takeCompiled(), { flush: true }, (error) => {
    if (error) rm(file, { force: true }, () => undefined);
    else rename(file, cacheFile, () => undefined);
  });
}

function saveNow() {
  if (compiled.size === 0) return;
  const file = temporaryFile();
  try {
    writeFileSync(file, takeCompiled(), { flush: true });
    renameSync(file, cacheFile);
  } catch {
    rmSync(file, { force: true });
  }
}

function temporaryFile() {
  const { threadId } = process.getBuiltinModule('node:worker_threads');
  return `${cacheFile}.${process.pid}.${threadId}`;
}

/** What this run compiled, and what others saved of the same build. */
function takeCompiled() {
  const saved = [...readCache()].filter(([name]) => !compiled.has(name) && existsSync(new URL(name, dist)));
  const entries = [...saved, ...[...compiled].map(([name, script]) => [name, script.createCachedData()])];
  compiled.clear();
  const index = JSON.stringify(entries.map(([name, { length }]) => [name, length]));
  return Buffer.concat([Buffer.from(`${index}\n`), ...entries.map(([, bytes]) => bytes)]);
}
