/** Rolls a server back to an earlier state, as after a restore from a backup or a failover to a lagging replica. */
import { cp, rm } from 'node:fs/promises';
import type { TestServer } from './server.ts';

/** Saves the data of the server. Returns a function that restores it. The port stays the same. */
export async function saveState(server: TestServer): Promise<() => Promise<void>> {
  const { folder } = server;
  const PORT = String(server.port);
  await server.stop();
  await cp(folder, `${folder}.saved`, { recursive: true });
  await server.restart({ PORT });

  return async () => {
    await server.stop();
    await rm(folder, { recursive: true });
    await cp(`${folder}.saved`, folder, { recursive: true });
    await rm(`${folder}.saved`, { recursive: true });
    await server.restart({ PORT });
  };
}
