/**
 * Returns memory to the system after busy moments. V8 collects garbage when memory is asked for, so a server that has
 * become quiet keeps what it needed at its peak: its young generation (8 KiB for each of 2,000 channels that have just
 * joined), and buffers that lie outside of V8's heap (100 MiB after clients have sent as much that was refused).
 */

/** A minor collection takes about a millisecond. */
const minorEveryBytes = 8 * 1024 * 1024;
const lookEveryMs = 1000;
/** Of a core. */
const quietShare = 0.05;
/** V8 makes its young generation smaller only where little was allocated for the last 5 seconds. */
const quietLooks = 6;
/** A collection is worthwhile after this much CPU time, quiet seconds not counted. */
const busyMs = 300;
const releasedBytes = 8 * 1024 * 1024;
const smallBytes = 4 * 1024 * 1024;
/** A full collection takes some 10 ms, more with a large heap. The pause after it is 100 times as long. */
const pauses = 100;

type Collect = (options?: { type: 'minor' }) => void;

let dropped = 0;
let released = 0;
let exposed: Collect | undefined;

/** The same as `node --expose-gc`, for this module alone. */
function collect(options?: { type: 'minor' }): void {
  if (!exposed) {
    process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc');
    exposed = process.getBuiltinModule('node:vm').runInNewContext('gc') as Collect;
  }
  exposed(options);
}

/** Frees the memory of a buffer right away, where no other buffer shares it. Nobody may use it afterwards. */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

function youngGenerationBytes(): number {
  const spaces = process.getBuiltinModule('node:v8').getHeapSpaceStatistics();
  return spaces.find(({ space_name }) => space_name === 'new_space')?.physical_space_size ?? 0;
}

/** To be called when large buffers were used or dropped. V8 itself looks for such garbage only every 64 MiB. */
export function noteDropped(bytes: number): void {
  dropped += bytes;
  released += bytes;
  if (dropped < minorEveryBytes) return;
  dropped = 0;
  collect({ type: 'minor' });
}

/** To be called when a client no longer makes the server hold so much. */
export function noteReleased(bytes: number): void {
  released += bytes;
}

/** Collects all garbage when the process has become quiet after it was busy. Returns what ends it. */
export function collectWhenQuiet(): () => void {
  let before = process.cpuUsage();
  let usedMs = 0;
  let quiet = 0;
  let nextAt = 0;

  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const lastMs = (user + system) / 1000;
    quiet = lastMs < quietShare * lookEveryMs ? quiet + 1 : 0;
    if (quiet === 0) usedMs += lastMs;
    const startedAt = performance.now();
    const isWorthIt = usedMs >= busyMs || released >= releasedBytes;
    if (quiet < quietLooks || !isWorthIt || startedAt < nextAt) return;
    collect();
    released = 0;
    // If V8 has kept its young generation large, try again later.
    usedMs = youngGenerationBytes() > smallBytes ? busyMs : 0;
    const endedAt = performance.now();
    nextAt = endedAt + pauses * (endedAt - startedAt);
  }, lookEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
