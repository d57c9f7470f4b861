/** The access of this device to a private server. */
import { isRecord, localStore } from './storage.ts';

const name = 'access';

/** The headers with the API key or the token that this device keeps; see `views/access.tsx`. */
export const keptAccess = () => localStore.get(name, isRecord);

/** Undefined forgets them. */
export const keepAccess = (headers: Record<string, string> | undefined): void =>
  localStore.set(name, headers && { ...keptAccess(), ...headers });
