/** A server that loses the newest writes, like one restored from a backup or a lagging replica. */
import { cp, rm } from 'node:fs/promises';
import type { TestServer } from './server.ts';

/** Answers how to go back to what there is now. The port stays the same. */
export async function keepState(server: TestServer): Promise<() => Promise<void>> {
  const { folder } = server;
  const PORT = String(server.port);
  await server.stop();
  await cp(folder, `${folder}.kept`, { recursive: true });
  await server.restart({ PORT });

  return async () => {
    await server.stop();
    await rm(folder, { recursive: true });
    await cp(`${folder}.kept`, folder, { recursive: true });
    await rm(`${folder}.kept`, { recursive: true });
    await server.restart({ PORT });
  };
}
