/** A journal of what each device of a test sent and received, to explain a failure. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LiveText } from '../../src/client/index.ts';
import type { ClientMessage, ServerMessage } from '../../src/protocol/types.ts';
import type { ServerProcess } from '../support/process.ts';

interface LoadCounts {
  loads: number;
  loadsWithEdits: number;
  requests: number;
}

export type Journal = ReturnType<typeof createJournal>;

export function createJournal() {
  const startedAt = performance.now();
  const logs = new Map<string, string[]>();
  const files = new Map<string, string>();
  const texts = new Map<string, () => LiveText>();
  const counts = new Map<string, LoadCounts>();

  function log(name: string, line: string): void {
    const lines = logs.get(name) ?? [];
    logs.set(name, lines);
    lines.push(`${Math.round(performance.now() - startedAt)} ${line}`);
  }

  function countsOf(deviceId: string): LoadCounts {
    const known = counts.get(deviceId) ?? { loads: 0, loadsWithEdits: 0, requests: 0 };
    counts.set(deviceId, known);
    return known;
  }

  return {
    log,
    watch: (deviceId: string, text: () => LiveText) => void texts.set(deviceId, text),
    add: (name: string, content: string) => void files.set(name, content),

    onSent(deviceId: string, message: ClientMessage): void {
      log(deviceId, `> ${describeMessage(message)}`);
      const isLoaded = (texts.get(deviceId)?.().version ?? -1) >= 0;
      if (message.type === 'join' && isLoaded && message.version === undefined) countsOf(deviceId).requests += 1;
    },

    /** Before the text receives it. */
    onReceived(deviceId: string, message: ServerMessage): void {
      log(deviceId, `< ${describeMessage(message)}`);
      const text = texts.get(deviceId)?.();
      if (message.type !== 'snapshot' || !text || text.version < 0 || message.content.version === text.version) return;
      log(deviceId, `loads a snapshot over version ${text.version} in state ${text.state}`);
      countsOf(deviceId).loads += 1;
      if (text.state !== 'synchronized') countsOf(deviceId).loadsWithEdits += 1;
    },

    countLoads(room: string): LoadCounts {
      const own = [...counts].filter(([deviceId]) => deviceId.startsWith(room)).map(([, count]) => count);
      const sum = (key: keyof LoadCounts) => own.reduce((total, count) => total + count[key], 0);
      return { loads: sum('loads'), loadsWithEdits: sum('loadsWithEdits'), requests: sum('requests') };
    },

    /** Returns the folder. */
    async write(nodes: readonly ServerProcess[]): Promise<string> {
      const folder = await mkdtemp(join(tmpdir(), 'poproom-outages-'));
      for (const [name, lines] of logs) await writeFile(join(folder, `${name}.log`), lines.join('\n'));
      for (const [name, content] of files) await writeFile(join(folder, name), content);
      for (const [index, node] of nodes.entries())
        await writeFile(join(folder, `node-${index + 1}.log`), node.output() + node.errors());
      return folder;
    },
  };
}

/** The fields that explain a failure. Long ones are shortened. */
function describeMessage({ type, ...fields }: ClientMessage | ServerMessage): string {
  const wanted = ['version', 'baseVersion', 'seq', 'ref', 'deviceId', 'edits', 'error', 'content', 'reason'];
  const shown = Object.entries(fields).filter(([name]) => wanted.includes(name));
  const values = shown.map(([name, value]) => `${name}=${JSON.stringify(describeValue(value))}`);
  return [type, ...values].join(' ').slice(0, 400);
}

function describeValue(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, 80);
  const { content, ...rest } = (value ?? {}) as { content?: unknown };
  return typeof content === 'string' ? { ...rest, length: content.length } : value;
}

/** Reports all messages of the SDK, by the device that joins with them. */
export function recordSockets(journal: Journal): { stop(): void } {
  const Original = globalThis.WebSocket;
  globalThis.WebSocket = class extends Original {
    #deviceId = 'unknown';

    constructor(...options: ConstructorParameters<typeof WebSocket>) {
      super(...options);
      this.addEventListener('message', ({ data }) => journal.onReceived(this.#deviceId, JSON.parse(String(data))));
      this.addEventListener('close', ({ code, reason }) => journal.log(this.#deviceId, `closed ${code} ${reason}`));
    }

    override send(data: string): void {
      const message = JSON.parse(data) as ClientMessage;
      if (message.type === 'join') this.#deviceId = message.deviceId ?? this.#deviceId;
      journal.onSent(this.#deviceId, message);
      super.send(data);
    }
  };
  return {
    stop() {
      globalThis.WebSocket = Original;
    },
  };
}
