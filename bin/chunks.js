/**
 * Loads the chunks of a build, with the bytecode that V8 made of them in an earlier run. Node's own compile cache has
 * only what V8 compiles before a module runs, so the functions that a start calls would be compiled each time, which is
 * 14 % of a start.
 */
const { readFileSync, rename, renameSync, rmSync, statSync, writeFile, writeFileSync } =
  process.getBuiltinModule('node:fs');
const { createRequire, enableCompileCache, getCompileCacheDir } = process.getBuiltinModule('node:module');
const { fileURLToPath } = process.getBuiltinModule('node:url');
const { Script } = process.getBuiltinModule('node:vm');

/** So long that the first responses of a server belong to its start. */
const saveDelayMs = 1000;

const dist = new URL('../dist/', import.meta.url);
const requirePackage = createRequire(dist);
const exportsOf = new Map();
/** Bytecode of an earlier run, by the key of its chunk. */
let cache;
let cacheFile;
/** The scripts that this run compiled, by their keys; undefined when they are saved. */
let compiled = new Map();
/** The file that is being written. */
let unfinished;

/** To be called before the first chunk is loaded. Nothing is cached if Node's compile cache is disabled or fails. */
export function openCache(entryPoint) {
  if (cache) return;
  // Threads inherit it only from NODE_COMPILE_CACHE.
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
  const key = keyOf(name);
  const cachedData = cache.get(key);
  cache.delete(key);
  const script = new Script(readFileSync(url, 'utf8'), { filename: url.href, cachedData });
  if (!cachedData || script.cachedDataRejected) compiled?.set(key, script);
  return script.runInThisContext()(load, importModule, requirePackage, url.href);
}

/** A chunk may be changed in place, and V8 compares only its length. */
function keyOf(name) {
  const { ctimeMs, size } = statSync(new URL(name, dist), { throwIfNoEntry: false }) ?? {};
  return `${name} ${size} ${ctimeMs}`;
}

/**
 * Two copies of an index and the bytecode: V8 would crash with damaged bytecode, and comparing them takes a tenth of the
 * time of a checksum.
 */
function readCache() {
  try {
    const bytes = readFileSync(cacheFile);
    const half = bytes.subarray(0, bytes.length / 2);
    if (!half.equals(bytes.subarray(half.length))) return new Map();
    let end = half.indexOf('\n') + 1;
    return new Map(
      JSON.parse(half.toString('utf8', 0, end)).map(([key, length]) => {
        end += length;
        return [key, half.subarray(end - length, end)];
      }),
    );
  } catch {
    return new Map();
  }
}

/** What this run compiled, and what others saved of the same build. */
function newContent() {
  const saved = [...readCache()].filter(([key]) => !compiled.has(key) && key === keyOf(key.split(' ')[0]));
  const entries = [...saved, ...[...compiled].map(([key, script]) => [key, script.createCachedData()])];
  const index = JSON.stringify(entries.map(([key, { length }]) => [key, length]));
  const half = [Buffer.from(`${index}\n`), ...entries.map(([, bytes]) => bytes)];
  return Buffer.concat([...half, ...half]);
}

const temporaryFile = () => `${cacheFile}.${process.pid}.${Math.random().toString(36).slice(2)}`;
const ownFile = { flag: 'wx', mode: 0o600, flush: true };

/**
 * Replaces the file as a whole. If that fails, the next run compiles again. Later chunks are not saved: a server changes
 * flags of V8 that bytecode must match.
 */
function save() {
  if (compiled.size > 0) {
    unfinished = temporaryFile();
    writeFile(unfinished, newContent(), ownFile, (error) => {
      if (error) end(error);
      else rename(unfinished, cacheFile, end);
    });
  }
  compiled = undefined;
}

function end(error) {
  if (error) remove(unfinished);
  unfinished = undefined;
}

function saveNow() {
  if (unfinished) return remove(unfinished);
  if (!compiled?.size) return;
  const file = temporaryFile();
  try {
    writeFileSync(file, newContent(), ownFile);
    renameSync(file, cacheFile);
  } catch {
    remove(file);
  }
}

function remove(file) {
  try {
    rmSync(file, { force: true });
  } catch {
    // It is only a part of the cache.
  }
}
