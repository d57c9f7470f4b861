/** The phases of a room in the page, and the events that lead from one to another. The effects are in room-model.ts. */

import type { ReadonlySignal } from '@preact/signals';
import type { PoproomError } from '../../../src/client/error.ts';
import type { LiveEvent } from '../../../src/client/live-state.ts';
import type { RoomBase } from '../../../src/client/room.ts';
import type { LinkRole } from '../../../src/protocol/link-rights.ts';
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import type { RoomInfo, Snapshot, UpdateRoomRequest } from '../../../src/protocol/types.ts';
import type { RecentRoom } from '../device/recent-rooms.ts';
import type { DraftCipher } from './drafts.ts';
import type { Transitions } from './state-machine.ts';
import type { createTextModel } from './text-model.ts';
import type { Uploads } from './upload-state.ts';

/** The part of a room that the views of its files need. The page of a link has no more. */
export interface RoomOfFiles {
  /** For the names of archives. */
  readonly code: string;
  readonly content: ReadonlySignal<Pick<RoomContent, 'files'>>;
  requests(): Promise<RoomBase>;
}

/** A link with a role, for its page. */
export interface OpenedLink {
  readonly role: LinkRole;
  readonly room: RoomBase;
  readonly info: RoomInfo;
  /** Only of an encrypted room. */
  readonly fileSizes?: FileSizes | undefined;
}

/** A room on this device, for the views. */
export interface RoomModel extends RoomOfFiles {
  readonly code: RoomCode;
  readonly phase: ReadonlySignal<RoomPhase>;
  /** Only for the views of a joined room: it is undefined before. */
  readonly content: ReadonlySignal<RoomContent>;
  readonly uploads: Uploads;
  /** Of this device in the room. */
  readonly deviceId: string;
  /** The room's API, with the PIN of the latest attempt to join. */
  requests(): Promise<RoomBase>;
  /** With a key, the room is opened as an encrypted one, whatever the server says. */
  join(secret?: RoomSecret): void;
  /** Returns whether it succeeded. */
  removeFile(file: SharedFile): Promise<boolean>;
  restoreFile(file: SharedFile): Promise<boolean>;
  /** Returns the error if it failed. */
  update(changes: UpdateRoomRequest): Promise<PoproomError | undefined>;
  delete(): Promise<void>;
  leave(): void;
}

export interface RoomSecret {
  pin?: string | undefined;
  key?: string | undefined;
  /** Keeps the key on this device when it has opened the room. */
  keepsKey?: boolean;
}

export type SharedFile = Snapshot['files'][number];
export type Device = Snapshot['devices'][number];

/** The state of a joined room, except for its text. */
export interface RoomContent extends Readonly<RecentRoom> {
  readonly devices: readonly Device[];
  readonly files: readonly SharedFile[];
  readonly limits: Snapshot['room']['limits'];
  /** Whether each write moves the expiry. */
  readonly extend?: true | undefined;
  /** The number of wrong PINs for this room. */
  readonly pinAttempts: number;
  /** How often the PIN was changed while this page was connected. */
  readonly pinChanges: number;
  /** The user has confirmed that the room is to be deleted. */
  readonly isDeleting?: boolean;
  /** Only in an encrypted room: other files have the same size on the server. */
  readonly fileSizes?: FileSizes | undefined;
  /** The latest one-time file that someone has received while this page was connected. */
  readonly received?: SharedFile | undefined;
}

/** An attempt to join the room, and the live channel that it opens. */
export interface JoinAttempt {
  /** Sends requests with the PIN of this attempt, until someone else changes it. */
  readonly room: Pick<RoomBase, 'code' | 'key' | 'pin' | 'live'> & { requests(): Promise<RoomBase> };
  /** Closes the live channel. */
  readonly aborter: AbortController;
  /** Of this device in the room. */
  readonly deviceId: string;
  /** Undefined unless the user has the key of an encrypted room. */
  readonly encryption?: RoomEncryption;
  /** Only without the key of a room that is known as encrypted: finds out why it cannot be joined. Sends only its code. */
  readonly refuse?: () => Promise<PoproomError>;
}

interface RoomEncryption extends DraftCipher {
  /** In canonical form, or as it was typed if it cannot be a key. */
  readonly key: string;
  /** In base64url. Undefined until the room is unlocked. */
  readonly salt: string | undefined;
  /** The same for equal texts, to store them. Undefined if the keys are not known yet. */
  hideText(text: string): string | undefined;
  readonly fileSizes: FileSizes;
}

/** The sizes of encrypted files, which limits apply to. */
export interface FileSizes {
  /** How many bytes a file of this size takes on the server. */
  storedSize(size: number): number;
  /** The size of the largest file that takes at most this many bytes. */
  largestFile(bytes: number): number;
}

/**
 * The live channel reconnects automatically. In `waiting`, the server cannot be reached or a limit is reached: the error
 * says which, and `until` is the time of the next attempt.
 */
export type ConnectionState = Extract<LiveEvent, { type: 'connecting' | 'connected' | 'waiting' }>;

export type TextModel = ReturnType<typeof createTextModel>;

export interface LoadedText extends TextModel {
  /** Sends the drafts of closed tabs, once the room is joined. */
  sendOtherDrafts(attempt: JoinAttempt): void;
}

/** The server's response to the last PIN or key. */
export interface PinPrompt {
  /** Of the error. For a PIN it starts with `PIN_`, for the key of an encrypted room with `KEY_`. */
  readonly code: string;
  readonly isWrong: boolean;
  readonly triesLeft: number | undefined;
  readonly lockedUntil: number | undefined;
}

/** Every phase has these, and takes over those that it does not change. */
interface Phase<Name extends string> {
  readonly name: Name;
  /** The latest one. */
  readonly attempt: JoinAttempt;
  readonly connection: ConnectionState;
  /** Undefined until it is loaded. */
  readonly text: LoadedText | undefined;
  /** Undefined until the room is joined for the first time. */
  readonly content: RoomContent | undefined;
}

type LoadedPhase<Name extends string> = Phase<Name> & { readonly text: LoadedText };

export type RoomPhase =
  /** Before the first attempt to join. */
  | Phase<'idle'>
  /** Loads the text engine and the drafts. */
  | Phase<'loading'>
  | LoadedPhase<'joining'>
  | (LoadedPhase<'pin-required'> & { readonly prompt: PinPrompt })
  /** The PIN pad stays until the server has accepted the PIN. */
  | (LoadedPhase<'pin-checking'> & { readonly prompt: PinPrompt })
  | (LoadedPhase<'joined'> & { readonly content: RoomContent })
  /** The page does not retry, but the user can. */
  | (Phase<'failed'> & { readonly error: PoproomError })
  | (Phase<'gone'> & { readonly reason: 'deleted' | 'deleted-here' | 'expired' | 'not-found' })
  /** The live channel stays open for a moment to send the last edits. */
  | Phase<'left'>;

export type PhaseNamed<Name extends RoomPhase['name']> = Extract<RoomPhase, { name: Name }>;

export type RoomEvent =
  | { type: 'join'; attempt: JoinAttempt }
  | { type: 'loaded'; text: LoadedText }
  | Exclude<LiveEvent, { type: 'snapshot' }>
  /** `recent`: the entry of the room in the recent rooms. */
  | (Snapshot & { recent: RecentRoom })
  | { type: 'failed'; error: PoproomError; at: number }
  /** The server has accepted a change that the user made. */
  | ({ type: 'changed' } & RoomChange)
  /** The user needs the PIN, which someone else has changed. */
  | { type: 'pin-needed' }
  | { type: 'deleting'; isDeleting: boolean }
  | { type: 'ended'; reason: 'deleted' | 'expired' }
  | { type: 'leave' };

type RoomChange = Pick<Snapshot['room'], 'expiresAt' | 'extend' | 'hasPin' | 'name'>;

type EventOf<Type extends RoomEvent['type']> = Extract<RoomEvent, { type: Type }>;

const onConnection = (phase: RoomPhase, connection: ConnectionState): RoomPhase => ({ ...phase, connection });
const onLeave = (phase: RoomPhase): RoomPhase => ({ ...phase, name: 'left' });

/** Phases with a live channel react to its events. */
const channelEvents = {
  connecting: onConnection,
  connected: onConnection,
  waiting: onConnection,
  snapshot: onSnapshot,
  failed: onFailed,
  ended: onEnded,
  leave: onLeave,
};

export const roomTransitions: Transitions<RoomPhase, RoomEvent> = {
  idle: { join: onJoin, failed: onFailed, leave: onLeave },
  loading: { loaded: (phase, { text }) => ({ ...phase, name: 'joining', text }), failed: onFailed, leave: onLeave },
  joining: { ...channelEvents, join: onJoin },
  'pin-required': { join: (phase, { attempt }) => ({ ...phase, name: 'pin-checking', attempt }), leave: onLeave },
  'pin-checking': channelEvents,
  joined: {
    ...channelEvents,
    'file-added': (phase, { file }) => withContent(phase, { files: [...otherFiles(phase, file.fileId), file] }),
    'file-removed': onFileRemoved,
    devices: (phase, { devices }) => withContent(phase, { devices }),
    room: (phase, { pinChanged, pinAttempts, ...change }) =>
      withContent(phase, {
        ...toContent(change),
        pinAttempts,
        pinChanges: phase.content.pinChanges + Number(pinChanged ?? false),
      }),
    changed: (phase, change) => withContent(phase, toContent(change)),
    'pin-needed': (phase) => ({ ...phase, name: 'pin-required', prompt: emptyPrompt }),
    deleting: (phase, { isDeleting }) => withContent(phase, { isDeleting }),
    'pin-attempts': (phase, { pinAttempts }) => withContent(phase, { pinAttempts }),
  },
  failed: { join: onJoin, leave: onLeave },
  gone: {},
  left: { ended: onEnded },
};

function onJoin(phase: RoomPhase, { attempt }: EventOf<'join'>): RoomPhase {
  const { text } = phase;
  return text ? { ...phase, name: 'joining', attempt, text } : { ...phase, name: 'loading', attempt };
}

function onSnapshot(phase: PhaseNamed<'joining' | 'pin-checking' | 'joined'>, event: EventOf<'snapshot'>): RoomPhase {
  const { recent, devices, files, pinAttempts } = event;
  const { limits, extend } = event.room;
  const { pinChanges = 0 } = phase.content ?? {};
  const { fileSizes } = phase.attempt.encryption ?? {};
  const content = { ...recent, devices, files, limits, extend, pinAttempts, pinChanges, fileSizes };
  return { ...phase, name: 'joined', content };
}

function onFailed(phase: RoomPhase, { error, at }: EventOf<'failed'>): RoomPhase {
  const { code } = error;
  const { text, content } = phase;
  if (text && isAboutSecret(code)) return { ...phase, name: 'pin-required', text, prompt: toPrompt(error, at) };
  if (code === 'ROOM_EXPIRED') return { ...phase, name: 'gone', reason: 'expired' };
  // A room that this page has joined before was deleted.
  if (code === 'ROOM_NOT_FOUND') return { ...phase, name: 'gone', reason: content ? 'deleted' : 'not-found' };
  return { ...phase, name: 'failed', error };
}

function onFileRemoved(phase: PhaseNamed<'joined'>, { fileId, received }: EventOf<'file-removed'>): RoomPhase {
  const removed = phase.content.files.find((file) => file.fileId === fileId);
  return withContent(phase, { files: otherFiles(phase, fileId), ...(received && { received: removed }) });
}

function onEnded(phase: RoomPhase, { reason }: EventOf<'ended'>): RoomPhase {
  const isDeletedHere = reason === 'deleted' && phase.content?.isDeleting;
  return { ...phase, name: 'gone', reason: isDeletedHere ? 'deleted-here' : reason };
}

/** Whether the PIN or the room key is missing, wrong, or was tried too often. */
export const isAboutSecret = (code: string): boolean => /^(PIN|KEY)_/.test(code);

const emptyPrompt: PinPrompt = { code: 'PIN_REQUIRED', isWrong: false, triesLeft: undefined, lockedUntil: undefined };

function toContent({ expiresAt, extend, hasPin, name }: RoomChange): Partial<RoomContent> {
  return { expiresAt: Date.parse(expiresAt), extend, hasPin, name };
}

function withContent(phase: PhaseNamed<'joined'>, changes: Partial<RoomContent>): RoomPhase {
  return { ...phase, content: { ...phase.content, ...changes } };
}

const otherFiles = ({ content }: PhaseNamed<'joined'>, fileId: string): SharedFile[] =>
  content.files.filter((file) => file.fileId !== fileId);

function toPrompt({ code, details, retryAfter }: PoproomError, at: number): PinPrompt {
  return {
    code,
    isWrong: !/REQUIRED|LOCKED/.test(code),
    triesLeft: details.triesLeft as number | undefined,
    lockedUntil: retryAfter === undefined ? undefined : at + retryAfter * 1000,
  };
}
