/** Devices on the live channel, over `ws`. */
import { WebSocket } from 'ws';

export interface JoinOptions {
  /** Whether to receive changes of the text as edits. */
  edits?: boolean;
  deviceId?: string;
}

export interface JoinedRoom {
  socket: WebSocket;
  /** The first message: the state of the room. */
  first: string;
}

export async function joinRoom(liveUrl: string, joining: JoinOptions = { edits: true }): Promise<JoinedRoom> {
  const socket = await connect(liveUrl);
  const received = new Promise<string>((resolve) => socket.once('message', (data) => resolve(String(data))));
  socket.send(JSON.stringify({ type: 'join', ...joining }));
  return { socket, first: await received };
}

export async function joinAll(count: number, liveUrl: string, joining?: JoinOptions): Promise<WebSocket[]> {
  const joined = await Promise.all(Array.from({ length: count }, () => joinRoom(liveUrl, joining)));
  return joined.map(({ socket }) => socket);
}

/** Connects without joining, for a bare server. */
export function connect(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => resolve(socket));
  });
}

export function connectAll(count: number, url: string): Promise<WebSocket[]> {
  return Promise.all(Array.from({ length: count }, () => connect(url)));
}
