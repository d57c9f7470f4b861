/** The rooms that an agent uses. It names them by code; their PINs, keys and links stay in this process. */
import { isEncryptedCode, type NewRoom, type Room } from '../../client/index.ts';
import { codeSymbols, linkIdLength } from '../../protocol/room-code.ts';
import type { Input } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { UsageError } from '../errors.ts';
import { openEncryptedRooms, serverIdOf } from '../known-rooms.ts';
import { pinFromEnvironment } from '../prompt.ts';
import { rememberCreated } from '../room/new.ts';
import { connect, parsePrivateRoom, rememberOnSuccess, workInRoom } from '../server-context.ts';

export interface AgentRoom {
  /** How the agent names the room: its code, or a number if it was opened by a link with fewer rights. */
  readonly name: string;
  readonly room: Room;
  /** The files that the agent knows of. Undefined before the first list. */
  fileIds: ReadonlySet<string> | undefined;
}

type RoomSecrets = { pin?: string | undefined; key?: string | undefined };

export type AgentRooms = ReturnType<typeof createAgentRooms>;

/** The least recently used room is forgotten. Its code opens it again. */
const maxRooms = 100;
/** Longer codes are those of links with fewer rights, which are secret. */
const maxCodeLength = 12;

/** Also of links that could not be opened. */
const linkId = new RegExp(`\\b[${codeSymbols}]{${linkIdLength}}\\b`, 'gi');

export function createAgentRooms(input: Input) {
  const environment = readEnvironment();
  const client = connect(input, environment, undefined, 'AI agent');
  const encrypted = openEncryptedRooms(environment);
  const opened = new Map<string, AgentRoom>();
  let links = 0;

  function open(named: string, { pin, key }: RoomSecrets): AgentRoom {
    const { code, url, key: linkedKey } = parsePrivateRoom(named.trim());
    if (url !== undefined && serverIdOf(url) !== serverIdOf(client.url))
      throw new UsageError(`This link is not for ${client.url}, the server that this process was started for.`);
    const known = encrypted.find(client.url, code);
    // The variable is meant for one room, and only encrypted rooms have keys.
    const ownKey = isEncryptedCode(code) ? environment.roomKey : undefined;
    const roomKey = key ?? linkedKey ?? known?.key ?? ownKey;
    const room = client.room(code, {
      pin: pin ?? pinFromEnvironment(environment),
      ...{ key: roomKey, salt: known?.salt, seen: known?.seen },
    });
    const isSame = (other: AgentRoom) => other.room.code === room.code;
    const name = [...opened.values()].find(isSame)?.name ?? (code.length > maxCodeLength ? `link-${++links}` : code);
    return { name, room, fileIds: undefined };
  }

  function remember(used: AgentRoom): void {
    opened.delete(used.name);
    opened.set(used.name, used);
    for (const name of opened.keys()) if (opened.size > maxRooms) opened.delete(name);
  }

  return {
    create: (request: NewRoom, signal: AbortSignal) =>
      rememberOnSuccess(environment, client, async () => {
        const room = await client.createRoom(request, { signal });
        rememberCreated(environment, client, room);
        remember({ name: room.code, room, fileIds: new Set() });
        return room;
      }),

    /** `named` is a name from earlier, a code or a link. Secrets replace those from earlier. */
    async use<T>(named: string, work: (opened: AgentRoom) => Promise<T>, secrets: RoomSecrets = {}): Promise<T> {
      const hasSecrets = secrets.pin !== undefined || secrets.key !== undefined || named.includes('#');
      const known = hasSecrets ? undefined : (opened.get(named.trim()) ?? opened.get(named.trim().toUpperCase()));
      const used = known ?? open(named, secrets);
      const { room } = used;
      return rememberOnSuccess(environment, client, async () => {
        const result = await workInRoom({ environment, url: client.url, room }, () => work(used));
        remember(used);
        return result;
      });
    },

    /** Replaces secrets in a message. */
    redact: (message: string) => [...opened.values()].reduce(withoutSecrets, message).replaceAll(linkId, '…'),
  };
}

function withoutSecrets(message: string, { name, room }: AgentRoom): string {
  const withoutKey = room.key ? message.replaceAll(room.key, '…') : message;
  return name === room.code ? withoutKey : withoutKey.replaceAll(room.code, name);
}
