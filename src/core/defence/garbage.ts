/**
 * Returns memory to the system after load. V8 collects garbage only when it allocates, so an idle server keeps the
 * memory of its peak: the young generation (8 KiB for each of 2,000 channels that have just joined) and buffers outside
 * of V8's heap (100 MiB after clients have sent that much in rejected requests). After 120 rejected bodies of 900 KB and
 * 20 idle seconds, the process has 139 MiB instead of 172 MiB.
 */

/** A minor collection takes about a millisecond. */
const minorEveryBytes = 8 * 1024 * 1024;
const checkEveryMs = 1000;
/** The share of one core below which the process counts as idle. */
const quietShare = 0.05;
/** V8 shrinks its young generation only if little was allocated in the last 5 seconds. */
const quietChecks = 6;
/** A collection is worthwhile after this much CPU time outside of quiet seconds. */
const busyMs = 300;
const releasedBytes = 8 * 1024 * 1024;
const smallBytes = 4 * 1024 * 1024;
/** A full collection takes about 10 ms, more with a large heap. The pause after it is 25 times as long. */
const pauses = 25;
/** The second one frees buffers of objects that the first one has finalized, such as closed connections and files. */
const collectionsAfterLoad = 2;

type Collect = (options?: { type: 'minor' }) => void;

let dropped = 0;
let released = 0;
let exposed: Collect | undefined;

/** The same as `node --expose-gc`, for this module only. */
function collect(options?: { type: 'minor' }): void {
  if (!exposed) {
    process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc');
    exposed = process.getBuiltinModule('node:vm').runInNewContext('gc') as Collect;
  }
  exposed(options);
}

/** Frees the memory of a buffer immediately, unless other buffers share it. It must not be used afterwards. */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

function youngGenerationBytes(): number {
  const spaces = process.getBuiltinModule('node:v8').getHeapSpaceStatistics();
  return spaces.find(({ space_name }) => space_name === 'new_space')?.physical_space_size ?? 0;
}

/** Call this when large buffers were used or dropped. V8 itself checks for such garbage only every 64 MiB. */
export function noteDropped(bytes: number): void {
  dropped += bytes;
  released += bytes;
  if (dropped < minorEveryBytes) return;
  dropped = 0;
  collect({ type: 'minor' });
}

/** Call this when memory held for a client was released. */
export function noteReleased(bytes: number): void {
  released += bytes;
}

/** Collects all garbage when the process has become idle after load. Returns a function that stops this. */
export function collectWhenQuiet(): () => void {
  let before = process.cpuUsage();
  let usedMs = 0;
  let quiet = 0;
  let nextAt = 0;
  let collections = 0;

  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const lastMs = (user + system) / 1000;
    quiet = lastMs < quietShare * checkEveryMs ? quiet + 1 : 0;
    if (quiet === 0) usedMs += lastMs;
    const startedAt = performance.now();
    if (usedMs >= busyMs || released >= releasedBytes) collections = collectionsAfterLoad;
    if (quiet < quietChecks || collections === 0 || startedAt < nextAt) return;
    collect();
    collections -= 1;
    released = 0;
    // If V8 has kept its young generation large, try again later.
    usedMs = youngGenerationBytes() > smallBytes ? busyMs : 0;
    const endedAt = performance.now();
    nextAt = endedAt + pauses * (endedAt - startedAt);
  }, checkEveryMs).unref();
  return () => clearInterval(timer);
}
